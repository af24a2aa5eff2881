//! `gpuport undo`: takes an applied patch back.

use anyhow::{Result, bail};

use super::super::args::UndoArgs;
use super::super::exit::Exit;
use super::super::printer::Printer;
use super::super::project;
use crate::diff::{self, NoSteps, RunId};

/// Restores the files of the run asked for, or of the last applied one.
pub(crate) fn run(args: &UndoArgs, printer: &Printer) -> Result<Exit> {
    let root = project::root_of(std::slice::from_ref(&args.root))?;
    let run = match &args.run {
        Some(text) => match RunId::parse(text) {
            Some(run) => Some(run),
            None => bail!("`{text}` is no run; the folders under {}/.gpuport/runs are", root.display()),
        },
        None => None,
    };
    let undone = diff::undo(&root, run.as_ref(), &mut NoSteps)?;
    printer.note(&format!("took run {} back:", undone.run));
    for file in &undone.files {
        printer.note(&format!("  {}", file.display()));
    }
    Ok(Exit::Done)
}
