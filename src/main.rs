//! The command. Everything is in the library, so that the Python package can run the same.

use std::process::ExitCode;

fn main() -> ExitCode {
    gpuport::cli::run(std::env::args_os())
}
