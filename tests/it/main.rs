//! Tests of the whole, through the library and the command line.

mod capture;
