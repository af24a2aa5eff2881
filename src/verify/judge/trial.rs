//! One candidate before the judge: the order of the questions, and what is gathered on the way.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::{Claim, Judge, Judgement, Progress, TIMED_CALLS, WARMUP_CALLS};
use crate::plan::ChangeId;
use crate::reasons::{Code, Place};
use crate::verify::bench::Order;
use crate::verify::error::JudgeError;
use crate::verify::evidence::{EVIDENCE_SCHEMA, Evidence, Machine, RunRecord, file_hashes};
use crate::verify::protocol::{ChangedFile, Device, Exit, Mode, Raised};
use crate::verify::run::{Role, Run};
use crate::verify::why::Limit;
use crate::verify::{Arrays, Finding, Side, Verdict, Workload, codes};

/// A note for the evidence.
const UNCONFINED: &str =
    "this kernel has no Landlock: programs were not kept from writing outside their copies";

/// A verdict where the question was answered against the candidate, nothing where it goes on.
pub(super) type Answer = Result<Option<Verdict>, JudgeError>;

/// What is known of the candidate so far.
pub(super) struct Trial<'j, 'a> {
    pub(super) judge: &'j mut Judge<'a>,
    pub(super) after: &'j Side,
    pub(super) claim: &'j Claim,
    pub(super) evidence: Evidence,
    pub(super) uncovered: Vec<ChangeId>,
    pub(super) cannot_verify: bool,
    pub(super) interrupted: bool,
    /// The run whose outputs were compared.
    pub(super) captured: Option<Run>,
    /// The run under the profilers.
    pub(super) active: Option<Run>,
}

impl<'j, 'a> Trial<'j, 'a> {
    pub(super) fn new(judge: &'j mut Judge<'a>, after: &'j Side, claim: &'j Claim) -> Self {
        let changed: Vec<PathBuf> = claim.changed.iter().map(|lines| lines.path.clone()).collect();
        let evidence = Evidence {
            schema: EVIDENCE_SCHEMA.to_owned(),
            verdict: Verdict::Unverified,
            findings: Vec::new(),
            limit: None,
            contract: judge.contract.clone(),
            diff_sha256: claim.diff_sha256.clone(),
            files: file_hashes(&judge.before.tree, &after.tree, &changed),
            machine: Machine::here(&judge.gpu),
            runs: Vec::new(),
            comparisons: Vec::new(),
            coverage: Vec::new(),
            timing: None,
            notes: Vec::new(),
        };
        Self {
            judge,
            after,
            claim,
            evidence,
            uncovered: Vec::new(),
            cannot_verify: false,
            interrupted: false,
            captured: None,
            active: None,
        }
    }

    /// Asks all questions in their order.
    pub(super) fn judge(mut self) -> Result<Judgement, JudgeError> {
        let questions: [fn(&mut Self) -> Answer; 7] = [
            Self::can_be_verified_here,
            Self::original_can_be_compared_with,
            Self::results_agree,
            Self::was_loaded_from_the_copy,
            Self::changed_lines_ran,
            Self::ran_on_the_gpu,
            Self::is_faster,
        ];
        let mut verdict = Verdict::Accepted;
        for question in questions {
            match question(&mut self) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    verdict = answer;
                    break;
                }
                Err(JudgeError::Interrupted) => {
                    self.interrupted = true;
                    verdict =
                        self.decide(Verdict::Inconclusive, codes::INTERRUPTED, "stopped between two runs");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.finish(verdict)
    }

    fn finish(mut self, verdict: Verdict) -> Result<Judgement, JudgeError> {
        for run in [self.captured.take(), self.active.take()].into_iter().flatten() {
            run.remove()?;
        }
        self.evidence.verdict = verdict;
        Ok(Judgement {
            verdict,
            findings: self.evidence.findings.clone(),
            uncovered: self.uncovered,
            cannot_verify: self.cannot_verify,
            interrupted: self.interrupted,
            evidence: self.evidence,
        })
    }

    /// Adds a finding.
    pub(super) fn find(&mut self, code: Code, message: impl Into<String>, place: Option<Place>) {
        self.evidence.findings.push(Finding { code, message: message.into(), place });
    }

    /// Adds a finding that decides for `verdict`.
    pub(super) fn decide(&mut self, verdict: Verdict, code: Code, message: impl Into<String>) -> Verdict {
        self.find(code, message, None);
        verdict
    }

    /// Says what limits the candidate.
    pub(super) fn limited(&mut self, limit: Limit) {
        self.find(limit.factor.code(), limit.message.clone(), None);
        self.evidence.limit = Some(limit);
    }

    /// Makes a run and keeps its record.
    pub(super) fn run(
        &mut self,
        role: Role,
        mode: Mode,
        capture: bool,
        pair: Option<(u32, u32)>,
    ) -> Result<Run, JudgeError> {
        (self.judge.options.progress)(&Progress { role, mode, pair });
        let order = self.order(role, mode, capture);
        let run = self.judge.bench.run(&order)?;
        self.evidence.runs.push(RunRecord::of(&run));
        if self.judge.options.confine
            && !run.confined
            && !self.evidence.notes.iter().any(|note| note == UNCONFINED)
        {
            self.evidence.notes.push(UNCONFINED.to_owned());
        }
        Ok(run)
    }

    fn order(&self, role: Role, mode: Mode, capture: bool) -> Order<'j>
    where
        'a: 'j,
    {
        let contract = self.judge.contract;
        let on_device = role == Role::After && self.claim.device == Device::Cuda;
        let device_arrays = on_device && contract.arrays == Arrays::Device;
        Order {
            role,
            side: match role {
                Role::Before => self.judge.before,
                Role::After => self.after,
            },
            workload: &contract.workload,
            mode,
            capture,
            changed: self.changed_files(role),
            device: if on_device { Device::Cuda } else { Device::Cpu },
            libraries: if role == Role::After { self.claim.libraries.clone() } else { Vec::new() },
            arrays: if device_arrays { Arrays::Device } else { Arrays::Host },
            calls: match mode {
                Mode::Time => (WARMUP_CALLS, TIMED_CALLS),
                _ => (0, WARMUP_CALLS + TIMED_CALLS),
            },
            timeout: self.limit_of(role, mode),
        }
    }

    /// The files that differ; for the candidate with all lines of all changes.
    fn changed_files(&self, role: Role) -> Vec<ChangedFile> {
        let mut files: BTreeMap<&PathBuf, Vec<(u32, u32)>> = BTreeMap::new();
        for changed in &self.claim.changed {
            let lines = files.entry(&changed.path).or_default();
            if role == Role::After {
                lines.extend(&changed.lines);
            }
        }
        files.into_iter().map(|(path, lines)| ChangedFile { path: path.clone(), lines }).collect()
    }

    /// Answers where `run` was stopped, or left processes that can't be stopped: nothing can be read from it.
    pub(super) fn unusable(&mut self, run: &Run) -> Option<Verdict> {
        if run.ended.exit == Exit::Interrupted {
            self.interrupted = true;
            self.find(codes::INTERRUPTED, format!("stopped while the {} ran", run.role.name()), None);
            return Some(Verdict::Inconclusive);
        }
        if !run.ended.survivors.is_empty() {
            let message = format!(
                "processes of the {} would not end ({:?}): its outputs were not opened",
                run.role.name(),
                run.ended.survivors
            );
            self.find(codes::SURVIVORS, message, None);
            return Some(Verdict::Inconclusive);
        }
        None
    }

    /// True for workloads that are functions.
    pub(super) fn is_function(&self) -> bool {
        matches!(self.judge.contract.workload, Workload::Function { .. })
    }
}

/// How a run that did not succeed ended, as the end of a sentence that begins with the program.
pub(super) fn end_of(run: &Run) -> String {
    let raised = run.outcome.as_ref().ok().and_then(|outcome| outcome.exception.as_ref());
    let mut text = match (run.ended.exit, raised, &run.outcome) {
        (Exit::TimedOut, ..) => format!("did not end within {:.0} s", run.ended.wall.as_secs_f64()),
        (Exit::Interrupted, ..) => "was interrupted".to_owned(),
        (Exit::Signal(signal), ..) => format!("was killed by signal {signal}"),
        (Exit::Status(_), Some(raised), _) => {
            format!("raised {}: {}", short(&raised.type_name), first_line(&raised.message))
        }
        (Exit::Status(status), None, Err(problem)) => format!("ended with status {status}: {problem}"),
        (Exit::Status(status), None, Ok(_)) => format!("ended with status {status}"),
    };
    if raised.is_none() && run.outcome.is_err() {
        let tail = run.stderr_tail();
        if let Some(line) = tail.lines().last() {
            let _ = write!(text, "; its last words: {line}");
        }
    }
    text
}

/// Where an exception arose.
pub(super) fn place_of(raised: &Raised) -> Option<Place> {
    let (path, line_number) = raised.place.clone()?;
    Some(Place { path, line_number, column_number: 1 })
}

/// `builtins.ValueError` as Python itself shows it.
pub(super) fn short(type_name: &str) -> &str {
    type_name.strip_prefix("builtins.").unwrap_or(type_name)
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}
