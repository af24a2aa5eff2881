//! gpuport ports Python programs to NVIDIA GPUs and proves each port before it touches the tree.
//!
//! The modules stand in the order data takes: sources are read ([`source`]), their names resolved
//! ([`names`]), API tables ([`api`]) and kinds of values ([`kinds`]) looked up, patterns matched
//! ([`pattern`]) by passes ([`pass`]), changes planned ([`plan`]) and turned into patches ([`diff`]),
//! judged ([`verify`]) and told ([`report`], [`cli`]). A module may use those before it, never after.

pub mod reasons;
pub mod source;
pub mod names;
pub mod api;
pub mod kinds;
pub mod pattern;
pub mod pass;
pub mod plan;
pub mod diff;
pub mod gpu;
pub mod verify;
pub mod report;
pub mod cli;
