//! The command line: arguments and configuration in, exit status out, one file per command.

mod args;
mod commands;
mod config;
mod environment;
mod exit;
mod interrupt;
mod passes;
mod port;
mod printer;
mod project;
mod settings;
mod sources;
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Cli, Command};
use exit::Exit;
use printer::Printer;

/// Stack of a planning thread, in bytes. Visitors recurse once for each level of nesting, and reading refuses files
/// nested so deep that this would not do.
const STACK_BYTES: usize = 64 << 20;

/// Runs the command with the program's arguments and returns its exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let printer = Printer::new(cli.color);
    // The main thread's stack is the shell's to choose; work with a known one.
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
    std::thread::scope(|scope| {
        let outcome =
            worker.spawn_scoped(scope, || dispatch(&cli.command, &printer)).map(|thread| thread.join());
        printer.done();
        match outcome {
            Ok(Ok(Ok(exit))) => exit.into(),
            Ok(Ok(Err(error))) => {
                printer.error(&message(&error), None);
                Exit::Usage.into()
            }
            // The panic hook has said what and where.
            Ok(Err(_)) => ExitCode::from(101),
            Err(error) => {
                printer.error(&format!("no thread can be started: {error}"), None);
                Exit::Usage.into()
            }
        }
    })
}

fn dispatch(command: &Command, printer: &Printer) -> Result<Exit> {
    if !matches!(command, Command::Scan(scan) if scan.jobs.is_some())
        && !matches!(command, Command::Apply(apply) if apply.jobs.is_some())
        && !matches!(command, Command::Dev(_))
    {
        start_threads(None)?;
    }
    match command {
        Command::Scan(args) => commands::scan::run(args, printer),
        Command::Apply(args) => commands::apply::run(args, printer),
        Command::Passes(command) => commands::passes::run(command, printer),
        Command::Explain(args) => commands::explain::run(args, printer),
        Command::Doctor(args) => commands::doctor::run(args, printer),
        Command::Undo(args) => commands::undo::run(args, printer),
        Command::Dev(command) => commands::dev::run(command, printer),
    }
}

/// Starts the planning threads: `jobs` of them, or one for each core.
fn start_threads(jobs: Option<usize>) -> Result<()> {
    let builder = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).num_threads(jobs.unwrap_or(0));
    Ok(builder.build_global()?)
}

/// The error with what caused it, nested as far as it adds something.
fn message(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if !parts.last().is_some_and(|last| last.ends_with(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}
