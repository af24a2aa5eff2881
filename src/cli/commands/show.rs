//! What `scan` and `apply` print: the patch or the report to standard output, the rest to standard error.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::super::args::{ApplyArgs, Format};
use super::super::port::{Candidate, FilePlan, Planned};
use super::super::printer::Printer;
use super::super::sources::Sources;
use super::apply::unit_report;
use crate::diff::Patch;
use crate::pass::Pass;
use crate::plan::{Pinned, plan_unit};
use crate::report::{self, ChangeReport, Reasons, RunReport, UnitReport};
use crate::verify::{Finding, Verdict, codes};

/// Plans the script at `entry` with the modules it reaches, pass after pass.
pub(super) fn plan_script(sources: &mut Sources, entry: &Path, passes: &[Arc<Pass>]) -> Result<Planned> {
    let mut planned = Planned::default();
    let mut working = sources.clone();
    let mut file = FilePlan::default();
    for pass in passes {
        let module = match working.module(entry) {
            Ok(module) => module,
            Err(refusal) => {
                planned.skipped.push(refusal);
                return Ok(planned);
            }
        };
        let project = working.project_of(module);
        let plan = plan_unit(&project, entry, pass, &Pinned::new());
        let candidate = Candidate::new(&working, &plan)?;
        working.overlay.extend(candidate.files);
        file.changes.extend(plan.changes);
        file.left.extend(plan.left);
        file.advice.extend(plan.advice);
    }
    planned.overlay = working.overlay;
    planned.files.insert(entry.to_owned(), file);
    Ok(planned)
}

/// A planned file, as a unit that nobody asked to verify.
pub(super) fn unverified(path: PathBuf, plan: FilePlan) -> UnitReport {
    let verdict = if plan.changes.is_empty() { Verdict::Accepted } else { Verdict::Unverified };
    with_changes(unit_report(path, verdict), plan)
}

/// A planned file that no workload reaches.
pub(super) fn unreached(path: PathBuf, plan: FilePlan) -> UnitReport {
    let finding = Finding {
        code: codes::NEVER_RAN,
        message: "no workload exercises this file, so its changes are not verified and not written"
            .to_owned(),
        place: None,
    };
    let findings = if plan.changes.is_empty() { Vec::new() } else { vec![finding] };
    let verdict = if plan.changes.is_empty() { Verdict::Accepted } else { Verdict::Unverified };
    let mut unit = with_changes(unit_report(path, verdict), plan);
    unit.findings = findings;
    unit
}

fn with_changes(mut unit: UnitReport, plan: FilePlan) -> UnitReport {
    let report = |change| ChangeReport { change, verdict: Verdict::Unverified, findings: Vec::new() };
    unit.changes = plan.changes.into_iter().map(report).collect();
    unit.left = plan.left;
    unit.advice = plan.advice;
    unit
}

/// Prints a run of `apply`.
pub(super) fn run(run: &RunReport, patch: &Patch, args: &ApplyArgs, printer: &Printer) {
    match args.format {
        Format::Json => printer.out(report::json(run).as_bytes()),
        Format::Sarif => printer.out(report::sarif(run, Reasons::shipped()).as_bytes()),
        Format::Text if args.dry_run => {
            printer.out(&report::patch(patch, printer.out_style()));
            let changes = run.units.iter().flat_map(|unit| &unit.changes);
            let unverified = changes.filter(|change| change.verdict == Verdict::Unverified).count();
            if unverified > 0 && !patch.is_empty() {
                printer
                    .warning(&format!("UNVERIFIED: {unverified} of the changes in this patch were not run"));
            }
        }
        Format::Text => {}
    }
    let style = printer.err_style();
    let left: Vec<_> = run.units.iter().flat_map(|unit| unit.left.iter().cloned()).collect();
    let advice: Vec<_> = run.units.iter().flat_map(|unit| unit.advice.iter().cloned()).collect();
    for text in [
        report::refusals(&run.skipped, style),
        report::refusals(&left, style),
        report::advice(&advice, style),
        report::summary(run, style),
    ] {
        if !text.trim().is_empty() {
            printer.note(&text);
        }
    }
}
