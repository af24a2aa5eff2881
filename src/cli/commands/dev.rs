//! `gpuport dev`: tools for developing gpuport itself. Hidden from help, and may change at any time.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use rayon::prelude::*;

use super::super::args::DevCommand;
use super::super::exit::Exit;
use super::super::printer::Printer;
use super::super::project;
use super::super::sources::Sources;
use super::super::start_threads;
use crate::source;

/// Runs the command.
pub(crate) fn run(command: &DevCommand, printer: &Printer) -> Result<Exit> {
    match command {
        DevCommand::Parse { paths, jobs } => parse(paths, *jobs, printer),
    }
}

/// Reads and parses files, and prints how many, how large, and how long that took: what rewriting is measured against.
fn parse(paths: &[PathBuf], jobs: Option<usize>, printer: &Printer) -> Result<Exit> {
    start_threads(jobs)?;
    let root = project::root_of(paths)?;
    let found = source::discover(&root, paths, &source::DiscoverOptions::default())?;
    let sources = Sources::new(root);
    let start = Instant::now();
    let bytes: usize =
        found.files.par_iter().map(|path| sources.module(path).map_or(0, |module| module.text().len())).sum();
    let seconds = start.elapsed().as_secs_f64();
    let files = found.files.len();
    printer
        .out(format!("{{\"files\": {files}, \"bytes\": {bytes}, \"seconds\": {seconds:.6}}}\n").as_bytes());
    Ok(Exit::Done)
}
