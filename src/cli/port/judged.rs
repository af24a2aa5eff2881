//! Porting one unit with the judge: pass by pass, each candidate against the best tree so far.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;

use super::super::printer::Printer;
use super::super::sources::Sources;
use super::candidate::Candidate;
use super::said;
use super::units::Unit;
use crate::pass::{Device, Goal, Pass};
use crate::plan::{ChangeId, Pinned, Plan, plan_unit};
use crate::report::UnitReport;
use crate::verify::{
    self, Claim, CopyRules, Evidence, Finding, Judge, JudgeOptions, Judgement, Side, Tree, Verdict, search,
};

/// Candidates that are judged, at most, after the whole set of a pass's changes failed.
const SEARCH_BUDGET: u32 = 6;

/// What judging needs beside the unit.
pub(crate) struct Judging<'a> {
    /// The passes, in the order they are tried.
    pub passes: &'a [Arc<Pass>],
    /// The interpreter of candidates, and of the original where no other is named.
    pub python: &'a Path,
    /// The interpreter of the user's original.
    pub before_python: Option<&'a Path>,
    /// Where evidence goes.
    pub evidence_dir: &'a Path,
    /// Says which passes can't be judged here, and why.
    pub cannot_judge: &'a dyn Fn(&Pass) -> Option<Finding>,
    /// Candidates that can't be judged are taken into the tree all the same: for a dry run.
    pub take_unjudged: bool,
    /// What comes along into copies of the project.
    pub copy: &'a CopyRules,
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// For progress.
    pub printer: &'a Printer,
}

/// What one candidate came to.
struct Decision {
    verdict: Verdict,
    findings: Vec<Finding>,
    evidence: Option<Evidence>,
    uncovered: Vec<ChangeId>,
}

/// Ports `unit` and lays what was accepted over `sources`.
pub(crate) fn port_unit(unit: &Unit, sources: &mut Sources, judging: &Judging<'_>) -> Result<UnitReport> {
    let mut report = UnitReport {
        unit: unit.name.clone(),
        path: unit.entry.clone(),
        verdict: Verdict::Accepted,
        changes: Vec::new(),
        findings: Vec::new(),
        timing: None,
        gpu: None,
        limited_by: None,
        left: Vec::new(),
        advice: Vec::new(),
    };
    let mut before_python = judging.before_python.unwrap_or(judging.python).to_owned();
    for pass in judging.passes {
        if judging.interrupt.load(Ordering::Relaxed) {
            break;
        }
        let stage = Stage { unit, pass, judging, before_python: &before_python };
        let accepted = stage.run(sources, &mut report)?;
        if accepted {
            before_python = judging.python.to_owned();
        }
    }
    report.verdict = said::overall(&report.changes);
    Ok(report)
}

/// One pass over one unit.
struct Stage<'a> {
    unit: &'a Unit,
    pass: &'a Pass,
    judging: &'a Judging<'a>,
    before_python: &'a Path,
}

impl Stage<'_> {
    /// Plans, judges, and takes what was accepted; true where something was.
    fn run(&self, sources: &mut Sources, report: &mut UnitReport) -> Result<bool> {
        let plan = self.plan(sources, &Pinned::new())?;
        report.left.extend(plan.left.iter().cloned());
        report.advice.extend(plan.advice.iter().cloned());
        if plan.changes.is_empty() {
            return Ok(false);
        }
        let whole = Candidate::new(sources, &plan)?;
        if let Some(finding) = (self.judging.cannot_judge)(self.pass) {
            said::add(report, &whole.changes, Verdict::Unverified, &[]);
            report.findings.push(finding);
            if self.judging.take_unjudged {
                sources.overlay.extend(whole.files);
            }
            return Ok(false);
        }
        self.judge(sources, report, &whole)
    }

    fn plan(&self, sources: &Sources, pinned: &Pinned) -> Result<Plan> {
        let entry = sources
            .module(&self.unit.entry)
            .map_err(|refusal| anyhow::anyhow!("{}: {}", refusal.place, refusal.message))?;
        let project = sources.project_of(entry);
        Ok(plan_unit(&project, &self.unit.entry, self.pass, pinned))
    }

    fn judge(&self, sources: &mut Sources, report: &mut UnitReport, whole: &Candidate) -> Result<bool> {
        let before = Side {
            tree: Tree { root: sources.root.clone(), overlay: sources.overlay.clone() },
            python: self.before_python.to_owned(),
        };
        let work = tempfile::Builder::new().prefix("gpuport-").tempdir()?;
        let contracts: Vec<verify::Contract> = self
            .unit
            .exercises
            .iter()
            .map(|exercise| {
                let mut contract = exercise.contract.clone();
                if self.pass.goal == Goal::Compatibility {
                    contract.min_speedup = 0.0;
                }
                contract
            })
            .collect();
        let printer = self.judging.printer;
        let unit = &self.unit.name;
        let progress = |progress: &verify::Progress| printer.progress(&format!("{unit}: {progress}"));
        let options = JudgeOptions {
            work_dir: work.path(),
            copy: self.judging.copy,
            confine: true,
            interrupt: self.judging.interrupt,
            progress: &progress,
        };
        let mut judges = Vec::new();
        for contract in &contracts {
            judges.push(Judge::new(&before, contract, options)?);
        }
        let outcome = self.decide(sources, report, whole, &mut judges);
        drop(judges);
        printer.done();
        outcome
    }

    /// Judges the whole candidate, then what of it ran, then a largest set that passes.
    fn decide(
        &self,
        sources: &mut Sources,
        report: &mut UnitReport,
        whole: &Candidate,
        judges: &mut [Judge<'_>],
    ) -> Result<bool> {
        let mut candidate = whole.clone();
        let mut decision = self.ask(sources, &candidate, judges)?;
        let mut pinned = Pinned::new();
        while !decision.uncovered.is_empty() && decision.verdict != Verdict::Accepted {
            let never_ran: Vec<_> = candidate
                .changes
                .iter()
                .filter(|change| decision.uncovered.contains(&change.id))
                .cloned()
                .collect();
            said::add(report, &never_ran, Verdict::Unverified, &decision.findings);
            pinned.extend(decision.uncovered.iter().cloned());
            let plan = self.plan(sources, &pinned)?;
            if plan.changes.is_empty() {
                return Ok(false);
            }
            candidate = Candidate::new(sources, &plan)?;
            decision = self.ask(sources, &candidate, judges)?;
        }
        said::evidence(report, decision.evidence.as_ref());
        if decision.verdict == Verdict::Accepted {
            said::add(report, &candidate.changes, Verdict::Accepted, &[]);
            sources.overlay.extend(candidate.files);
            return Ok(true);
        }
        if said::worth_searching(&decision.findings, candidate.changes.len()) {
            return self.search(sources, report, &candidate, &pinned, &decision, judges);
        }
        report.findings.extend(decision.findings.iter().cloned());
        said::add(report, &candidate.changes, decision.verdict, &[]);
        Ok(false)
    }

    fn search(
        &self,
        sources: &mut Sources,
        report: &mut UnitReport,
        whole: &Candidate,
        pinned: &Pinned,
        failed: &Decision,
        judges: &mut [Judge<'_>],
    ) -> Result<bool> {
        let ids: Vec<ChangeId> = whole.changes.iter().map(|change| change.id.clone()).collect();
        let mut best: Option<(Candidate, Decision)> = None;
        let found = search(&ids, SEARCH_BUDGET, |left_out| -> Result<bool> {
            let all: Pinned = pinned.union(left_out).cloned().collect();
            let plan = self.plan(sources, &all)?;
            if plan.changes.is_empty() || self.judging.interrupt.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let candidate = Candidate::new(sources, &plan)?;
            let decision = self.ask(sources, &candidate, judges)?;
            let passed = decision.verdict == Verdict::Accepted;
            if passed && best.as_ref().is_none_or(|(kept, _)| kept.changes.len() <= candidate.changes.len()) {
                best = Some((candidate, decision));
            }
            Ok(passed)
        })?;
        report.findings.extend(failed.findings.iter().cloned());
        let left_out: Vec<_> =
            whole.changes.iter().filter(|change| found.pinned.contains(&change.id)).cloned().collect();
        said::add(report, &left_out, failed.verdict, &[]);
        let Some((candidate, decision)) = best else { return Ok(false) };
        said::evidence(report, decision.evidence.as_ref());
        said::add(report, &candidate.changes, Verdict::Accepted, &[]);
        sources.overlay.extend(candidate.files);
        Ok(true)
    }

    /// What all workloads say of `candidate`: the first that doesn't accept it decides.
    fn ask(&self, sources: &Sources, candidate: &Candidate, judges: &mut [Judge<'_>]) -> Result<Decision> {
        let claim = Claim {
            device: match self.pass.target.device {
                Device::Cpu => verify::protocol::Device::Cpu,
                Device::Cuda => verify::protocol::Device::Cuda,
            },
            libraries: libraries(self.pass),
            requires: self.pass.target.requires.clone(),
            changed: candidate.changed_lines(sources)?,
            diff_sha256: Some(candidate.patch_sha256(sources)?),
        };
        let side = candidate.side(sources, self.judging.python);
        let mut last = None;
        for (exercise, judge) in self.unit.exercises.iter().zip(judges) {
            let judgement = judge.judge(&side, &claim)?;
            self.keep(&judgement, &exercise.name)?;
            let accepted = judgement.verdict == Verdict::Accepted;
            last = Some(judgement);
            if !accepted {
                break;
            }
        }
        let judgement = last.expect("a unit has at least one workload");
        Ok(Decision {
            verdict: judgement.verdict,
            findings: judgement.findings,
            uncovered: judgement.uncovered,
            evidence: Some(judgement.evidence),
        })
    }

    /// Writes the evidence beside the run's other files, one file for each judgement.
    fn keep(&self, judgement: &Judgement, workload: &str) -> Result<PathBuf> {
        let name: String = format!("{}-{}-{workload}", self.pass.id, self.unit.name)
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let path = (1..=u32::MAX)
            .map(|number| self.judging.evidence_dir.join(format!("evidence-{name}-{number}.json")))
            .find(|path| !path.exists())
            .expect("some number is free");
        judgement.evidence.write(&path)?;
        Ok(path)
    }
}

/// The modules that a port by `pass` uses: those it switches on, or the one it calls.
fn libraries(pass: &Pass) -> Vec<String> {
    let switched: Vec<String> =
        pass.rules.iter().filter_map(|rule| Some(rule.activation.as_ref()?.module().to_owned())).collect();
    if switched.is_empty() { vec![pass.target.module.clone()] } else { switched }
}
