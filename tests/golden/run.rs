//! Plans a scenario's program and says what came of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gpuport::diff::{FileChange, Patch};
use gpuport::names::Project;
use gpuport::pass::{Registry, Sources};
use gpuport::plan::{ChangeId, Pinned, Plan, plan_unit};
use gpuport::reasons::Refusal;
use gpuport::source::{Module, SourceFile};

use crate::checks::{self, Files};
use crate::scenario::Scenario;

/// What planning a scenario came to.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The program as it was.
    before: Files,
    /// Files that can't be read as Python.
    unreadable: Vec<Refusal>,
    /// Each pass with the program it was planned on and its plan.
    steps: Vec<(Files, Plan)>,
    /// The program after all passes.
    after: Files,
}

impl Outcome {
    fn patch(&self) -> Patch {
        let changes: Vec<FileChange> = self
            .before
            .iter()
            .map(|(path, bytes)| FileChange::new(path, bytes.as_slice(), self.after[path].as_slice()))
            .collect();
        Patch::new(&changes)
    }

    /// The patch as a scenario has it.
    pub(crate) fn diff_text(&self) -> String {
        let text = String::from_utf8_lossy(self.patch().bytes()).replace('\r', "␍");
        text.lines().fold(String::new(), |mut out, line| {
            out.push_str(line.trim_end());
            out.push('\n');
            out
        })
    }

    /// Changes in the order they were planned, then refusals and advice sorted by place.
    pub(crate) fn report_text(&self) -> String {
        let mut out = String::new();
        for change in self.steps.iter().flat_map(|(_, plan)| &plan.changes) {
            let _ = writeln!(out, "change: {} — {}", change.id.0, change.what);
        }
        let mut lines = BTreeSet::new();
        for refusal in &self.unreadable {
            lines.insert((refusal.place.clone(), format!("{} {}", refusal.code, refusal.message)));
        }
        for (_, plan) in &self.steps {
            for refusal in &plan.left {
                lines.insert((refusal.place.clone(), format!("{} {}", refusal.code, refusal.message)));
            }
            for advice in &plan.advice {
                let code = advice.code.as_ref().map_or_else(String::new, |code| format!("{code} "));
                lines.insert((
                    advice.place.clone(),
                    format!("advice {}: {code}{}", advice.rule, advice.message),
                ));
            }
        }
        for (place, text) in lines {
            let _ = writeln!(out, "{place} {text}");
        }
        out
    }
}

/// The passes, embedded or from `GPUPORT_DATA`, loaded once.
fn registry() -> Result<&'static Registry, String> {
    static REGISTRY: OnceLock<Result<Registry, String>> = OnceLock::new();
    let load = || {
        Registry::load(&Sources::from_environment())
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    REGISTRY.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// Plans the passes of `scenario`, each on what the one before it made.
pub(crate) fn run(scenario: &Scenario) -> Result<Outcome, String> {
    let before: Files =
        scenario.inputs.iter().map(|input| (input.path.clone(), input.bytes.clone())).collect();
    run_on(scenario, before)
}

fn run_on(scenario: &Scenario, before: Files) -> Result<Outcome, String> {
    let registry = registry()?;
    let pinned: Pinned = scenario.options.pinned.iter().cloned().map(ChangeId).collect();
    let mut files = before.clone();
    let mut steps = Vec::new();
    let mut unreadable = Vec::new();
    for id in &scenario.options.passes {
        let pass = registry.pass(id).ok_or_else(|| format!("there is no pass `{id}`"))?;
        let (modules, problems) = modules(&files);
        unreadable = problems;
        let project = Project::load(Path::new(""), modules);
        let plan = plan_unit(&project, &scenario.entry(), &pass, &pinned);
        let planned_on = files.clone();
        for (path, edits) in &plan.edits {
            let file = SourceFile::from_bytes(path, &files[path]).map_err(|error| error.to_string())?;
            let bytes = file.rewritten(edits).map_err(|error| error.to_string())?;
            files.insert(path.clone(), bytes);
        }
        steps.push((planned_on, plan));
    }
    Ok(Outcome { before, unreadable, steps, after: files })
}

/// The files that are Python and parse, and what is wrong with those that don't.
fn modules(files: &Files) -> (Vec<Arc<Module>>, Vec<Refusal>) {
    let mut modules = Vec::new();
    let mut problems = Vec::new();
    let is_python =
        |path: &Path| path.extension().is_some_and(|extension| extension == "py" || extension == "ipynb");
    for (path, bytes) in files.iter().filter(|(path, _)| is_python(path)) {
        match SourceFile::from_bytes(path, bytes).and_then(Module::parse) {
            Ok(module) => modules.push(Arc::new(module)),
            Err(problem) => problems.push(problem.refusal()),
        }
    }
    (modules, problems)
}

/// What must hold whatever the scenario expects.
pub(crate) fn invariants(scenario: &Scenario, outcome: &Outcome) -> Result<(), String> {
    for (files, plan) in &outcome.steps {
        for (path, edits) in &plan.edits {
            let before = checks::module(path, &files[path]).ok_or("a file that doesn't parse was changed")?;
            let text = edits.apply(before.text());
            let bytes = before.file.rewritten(edits).map_err(|error| error.to_string())?;
            let after = checks::module(path, &bytes)
                .ok_or_else(|| format!("the candidate does not parse:\n{text}"))?;
            checks::keeps_the_rest(&before, edits, &after)?;
        }
    }
    known_codes(outcome)?;
    checks::git_applies(outcome.patch().bytes(), &outcome.before, &outcome.after)?;
    same_again(scenario, outcome)?;
    nothing_left(scenario, outcome)
}

/// Every code that is reported can be looked up.
fn known_codes(outcome: &Outcome) -> Result<(), String> {
    let library = registry()?.library();
    let refusals = outcome.steps.iter().flat_map(|(_, plan)| &plan.left).chain(&outcome.unreadable);
    let advice = outcome.steps.iter().flat_map(|(_, plan)| &plan.advice);
    let codes = refusals.map(|it| &it.code).chain(advice.filter_map(|it| it.code.as_ref()));
    for code in codes {
        if !library.knows_reason(code.as_str()) {
            return Err(format!("{code} is not in patterns/reasons.yaml"));
        }
    }
    Ok(())
}

fn same_again(scenario: &Scenario, outcome: &Outcome) -> Result<(), String> {
    let again = run(scenario)?;
    let same = again.diff_text() == outcome.diff_text() && again.report_text() == outcome.report_text();
    same.then_some(()).ok_or_else(|| "a second run on the same program says something else".to_owned())
}

fn nothing_left(scenario: &Scenario, outcome: &Outcome) -> Result<(), String> {
    let again = run_on(scenario, outcome.after.clone())?;
    let edited: Vec<&PathBuf> = again.steps.iter().flat_map(|(_, plan)| plan.edits.keys()).collect();
    if edited.is_empty() {
        return Ok(());
    }
    Err(format!("a run on the result changes {edited:?} again:\n{}", again.diff_text()))
}
