//! Tests of gpuport from outside: its library and its command, in one binary.
#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

mod apply;
mod capture;
mod judge;
mod ported;
