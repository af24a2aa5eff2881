//! `gpuport apply`: plan, verify, apply.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Result, bail};

use super::super::args::{ApplyArgs, Verify};
use super::super::environment::Environment;
use super::super::exit::Exit;
use super::super::interrupt;
use super::super::port::{Judging, Unit, Work, changes_between, plan_files, port_unit, work_of};
use super::super::printer::Printer;
use super::super::project;
use super::super::settings::Settings;
use super::super::sources::Sources;
use super::{doctor, show};
use crate::diff::{self, FileChange, NoSteps, Patch, RunId, TreeState};
use crate::gpu;
use crate::pass::{Device, Pass};
use crate::report::{RunReport, TreeOutcome, UnitReport};
use crate::verify::{CopyRules, Finding, Verdict, codes};

/// Runs the command.
pub(crate) fn run(args: &ApplyArgs, printer: &Printer) -> Result<Exit> {
    let settings = Settings::new(&args.paths, &args.passes.passes)?;
    super::recover(&settings.root, printer)?;
    if !args.dry_run {
        if args.verify == Verify::Never {
            bail!("`apply` always verifies; add --dry-run to see an unverified candidate");
        }
        check_tree(&settings.root, args)?;
    }
    let work = work_of(&settings, args)?;
    // Planning alone can be killed at any time. From here on children run and the tree may change.
    if args.verify != Verify::Never {
        interrupt::watch();
    }
    let mut session = Session::new(settings, args, printer)?;
    super::warn_about(&work.found, printer);
    if args.verify == Verify::Never {
        session.plan_all(&work)?;
    } else {
        session.judge_all(&work)?;
    }
    session.finish()
}

/// Like `cargo fix`: no change of a tree that version control couldn't give back.
fn check_tree(root: &Path, args: &ApplyArgs) -> Result<()> {
    match diff::tree_state(root, &[])? {
        TreeState::Clean => Ok(()),
        TreeState::NoVcs(_) if args.allow_no_vcs => Ok(()),
        TreeState::Dirty(_) if args.allow_dirty => Ok(()),
        TreeState::NoVcs(_) => bail!(
            "{} is under no version control; add --allow-no-vcs to let gpuport change it all the same (GP681)",
            root.display()
        ),
        TreeState::Dirty(files) => {
            let named: Vec<String> =
                files.iter().take(5).map(|dirt| format!("{} ({})", dirt.path.display(), dirt.kind)).collect();
            let more = files.len().saturating_sub(named.len());
            let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
            bail!(
                "the tree has uncommitted changes: {}{rest}; commit or stash them, or add --allow-dirty (GP680)",
                named.join(", ")
            )
        }
    }
}

/// One run of the command.
struct Session<'a> {
    settings: Settings,
    args: &'a ApplyArgs,
    printer: &'a Printer,
    sources: Sources,
    report: RunReport,
    run: Option<RunId>,
}

impl<'a> Session<'a> {
    fn new(settings: Settings, args: &'a ApplyArgs, printer: &'a Printer) -> Result<Self> {
        if let Some(jobs) = args.jobs {
            super::set_threads(jobs)?;
        }
        let sources = Sources::new(settings.root.clone());
        Ok(Self { settings, args, printer, sources, report: RunReport::default(), run: None })
    }

    /// Plans everything, judges nothing.
    fn plan_all(&mut self, work: &Work) -> Result<()> {
        let files = &work.found.files;
        self.printer.progress(&format!("planning {} files", files.len()));
        let planned = if let ([unit], []) = (&*work.units, &*work.others) {
            show::plan_script(&mut self.sources, unit.entry.as_path(), &self.settings.passes)?
        } else {
            plan_files(&self.sources, files, &self.settings.passes)?
        };
        self.printer.done();
        self.sources.overlay.extend(planned.overlay);
        self.report.skipped.extend(planned.skipped);
        self.report.units.extend(planned.files.into_iter().map(|(path, plan)| show::unverified(path, plan)));
        Ok(())
    }

    /// Ports every unit that has a workload; plans the other files to say what was not tried.
    fn judge_all(&mut self, work: &Work) -> Result<()> {
        if work.units.is_empty() && self.args.verify != Verify::Auto {
            self.printer.warning("no workload exercises these files, so nothing can be verified; name one by --workload or in the configuration");
        }
        if !work.units.is_empty() {
            self.judge_units(&work.units)?;
        }
        let planned = plan_files(&self.sources, &work.others, &self.settings.passes)?;
        self.report.skipped.extend(planned.skipped);
        for (path, plan) in planned.files {
            self.report.units.push(show::unreached(path, plan));
        }
        if self.args.dry_run && self.args.verify == Verify::Auto {
            self.sources.overlay.extend(planned.overlay);
        }
        Ok(())
    }

    fn judge_units(&mut self, units: &[Unit]) -> Result<()> {
        let configured = self.settings.config.python.as_deref();
        let python = project::python_of(self.args.python.as_deref(), configured, &self.settings.root)?;
        let before_python = match &self.args.before_python {
            Some(path) => Some(project::python_of(Some(path), None, &self.settings.root)?),
            None => None,
        };
        let environment = Environment::probe(&python, &doctor::modules(&self.settings.passes))?;
        let gpu = gpu::probe();
        let cannot_judge = |pass: &Pass| cannot_judge(pass, &environment, gpu.as_ref().err());
        let run = diff::new_run(&self.settings.root)?;
        let evidence_dir = diff::run_folder(&self.settings.root, &run);
        self.run = Some(run);
        let passes = self.settings.passes.clone();
        let copy =
            CopyRules { exclude: self.settings.config.sandbox_exclude.clone(), ..CopyRules::default() };
        let judging = Judging {
            copy: &copy,
            passes: &passes,
            python: &python,
            before_python: before_python.as_deref(),
            evidence_dir: &evidence_dir,
            cannot_judge: &cannot_judge,
            take_unjudged: self.args.dry_run && self.args.verify == Verify::Auto,
            interrupt: interrupt::flag(),
            printer: self.printer,
        };
        for unit in units {
            if interrupt::flag().load(Ordering::Relaxed) {
                break;
            }
            self.report.units.push(port_unit(unit, &mut self.sources, &judging)?);
        }
        Ok(())
    }

    /// Prints or applies the patch, then the report.
    fn finish(mut self) -> Result<Exit> {
        if interrupt::flag().load(Ordering::Relaxed) {
            self.printer.error("interrupted; the tree is untouched", None);
            return Ok(Exit::Interrupted);
        }
        let changes = changes_between(&self.settings.root, &self.sources)?;
        let prefix = diff::prefix_in_repository(&self.settings.root).ok().flatten().unwrap_or_default();
        let patch = Patch::below(&prefix, &changes);
        self.report.run.clone_from(&self.run);
        if !patch.is_empty() {
            self.report.patch_sha256 = Some(patch.sha256().to_owned());
            self.write_patch(&patch, &changes)?;
        }
        show::run(&self.report, &patch, self.args, self.printer);
        Ok(self.exit())
    }

    fn write_patch(&mut self, patch: &Patch, changes: &[FileChange]) -> Result<()> {
        if let Some(run) = &self.run {
            let folder = diff::run_folder(&self.settings.root, run);
            std::fs::write(folder.join("patch.diff"), patch.bytes())?;
        }
        if self.args.dry_run {
            return Ok(());
        }
        let run = match &self.run {
            Some(run) => run.clone(),
            None => diff::new_run(&self.settings.root)?,
        };
        let applied = diff::apply(&self.settings.root, &run, changes, &mut NoSteps)?;
        self.report.tree = TreeOutcome::Applied(applied.files);
        Ok(())
    }

    fn exit(&self) -> Exit {
        let changes = || self.report.units.iter().flat_map(|unit| &unit.changes);
        let cannot = |unit: &UnitReport| unit.findings.iter().any(is_about_this_machine);
        if self.args.dry_run && self.args.verify != Verify::Always {
            let failed =
                changes().any(|change| matches!(change.verdict, Verdict::Rejected | Verdict::Inconclusive));
            return if failed { Exit::Rejected } else { Exit::Done };
        }
        let nothing_written = self.report.tree == TreeOutcome::Untouched;
        if self.report.units.iter().any(cannot) && nothing_written {
            return Exit::CannotVerify;
        }
        if changes().any(|change| change.verdict != Verdict::Accepted) { Exit::Rejected } else { Exit::Done }
    }
}

fn is_about_this_machine(finding: &Finding) -> bool {
    [codes::NO_GPU, codes::LIBRARY_MISSING].contains(&finding.code)
}

/// Why candidates of `pass` can't be judged on this machine.
fn cannot_judge(pass: &Pass, environment: &Environment, absent: Option<&gpu::Absent>) -> Option<Finding> {
    let finding = |code, message| Some(Finding { code, message, place: None });
    if pass.target.device == Device::Cuda
        && let Some(absent) = absent
    {
        return finding(codes::NO_GPU, format!("{absent}, so {} can't be verified here", pass.id));
    }
    let (_, text, found) = doctor::unsatisfied(pass, environment).into_iter().next()?;
    let found = found.map_or("it is not installed".to_owned(), |version| format!("{version} is installed"));
    let python = environment.executable.display();
    finding(
        codes::LIBRARY_MISSING,
        format!("{} needs {text}, and {found} in {python}; `gpuport doctor` says what to install", pass.id),
    )
}

/// A path and what was planned for it.
pub(super) fn unit_report(path: PathBuf, verdict: Verdict) -> UnitReport {
    UnitReport {
        unit: path.display().to_string(),
        path,
        verdict,
        changes: Vec::new(),
        findings: Vec::new(),
        timing: None,
        gpu: None,
        limited_by: None,
        left: Vec::new(),
        advice: Vec::new(),
    }
}
