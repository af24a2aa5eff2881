//! `gpuport scan`: what could be ported, by which layer, and what stands in the way. Runs nothing.

use anyhow::Result;

use super::super::args::{Format, ScanArgs};
use super::super::exit::Exit;
use super::super::port::{discover, plan_files};
use super::super::printer::Printer;
use super::super::settings::Settings;
use super::super::sources::Sources;
use super::{set_threads, show, warn_about};
use crate::report::{self, Reasons, RunReport};

/// Plans all files and prints what came of it.
pub(crate) fn run(args: &ScanArgs, printer: &Printer) -> Result<Exit> {
    let settings = Settings::new(&args.paths, &args.passes.passes)?;
    if let Some(jobs) = args.jobs {
        set_threads(jobs)?;
    }
    let found = discover(&settings, &args.paths)?;
    printer.progress(&format!("planning {} files", found.files.len()));
    let planned = plan_files(&Sources::new(settings.root.clone()), &found.files, &settings.passes)?;
    printer.done();
    let mut run = RunReport::default();
    warn_about(&found, printer);
    run.skipped.extend(planned.skipped);
    run.units.extend(planned.files.into_iter().map(|(path, plan)| show::unverified(path, plan)));
    match args.format {
        Format::Json => printer.out(report::json(&run).as_bytes()),
        Format::Sarif => printer.out(report::sarif(&run, Reasons::shipped()).as_bytes()),
        Format::Text => printer.out(text(&run, printer).as_bytes()),
    }
    Ok(Exit::Done)
}

fn text(run: &RunReport, printer: &Printer) -> String {
    let style = printer.out_style();
    let mut left: Vec<_> = run.skipped.clone();
    left.extend(run.units.iter().flat_map(|unit| unit.left.iter().cloned()));
    let advice: Vec<_> = run.units.iter().flat_map(|unit| unit.advice.iter().cloned()).collect();
    [
        report::summary(run, style),
        report::refusals(&left, style),
        report::advice(&advice, style),
        report::by_code(&left, Reasons::shipped(), style),
    ]
    .into_iter()
    .filter(|text| !text.trim().is_empty())
    .collect::<Vec<_>>()
    .join("\n")
}
