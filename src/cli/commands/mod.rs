//! One file a command.

pub(super) mod apply;
pub(super) mod dev;
pub(super) mod doctor;
pub(super) mod explain;
pub(super) mod passes;
pub(super) mod scan;
mod show;
pub(super) mod undo;

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::printer::Printer;
use crate::diff::{self, NoSteps};
use crate::source::Discovered;

/// Puts back what a killed process left half done.
fn recover(root: &Path, printer: &Printer) -> Result<()> {
    for recovered in diff::recover(root, &mut NoSteps)? {
        printer.warning(&format!("run {} was interrupted; its files were put back", recovered.run));
        for conflict in &recovered.conflicts {
            printer.warning(&format!(
                "{} was edited since; its former bytes are in {}",
                conflict.path.display(),
                conflict.former.display()
            ));
        }
    }
    Ok(())
}

/// Names what was asked for and can't be taken.
fn warn_about(found: &Discovered, printer: &Printer) {
    for (path, why) in &found.problems {
        printer.warning(&format!("{}: {why}", path.display()));
    }
}

/// Sets the number of planning threads. Each has room for deeply nested code.
fn set_threads(jobs: usize) -> Result<()> {
    if jobs == 0 {
        bail!("--jobs must be at least 1");
    }
    super::start_threads(Some(jobs)).context("the planning threads can't be started")
}
