//! Gives a verdict on a candidate: runs it and the original, and asks one question after the other until one is
//! answered against it, or all are answered for it.

mod baseline;
mod candidate;
mod proof;
mod race;
mod trial;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use self::baseline::Baseline;
use self::trial::Trial;
use super::bench::Bench;
use super::error::JudgeError;
use super::evidence::{Evidence, RunRecord};
use super::protocol::{Device, Mode};
use super::run::Role;
use super::sandbox::CopyRules;
use super::{Contract, Finding, Side, Verdict};
use crate::gpu::{Absent, Probe, probe};
use crate::plan::ChangeId;

/// Calls of a function before the clock counts.
const WARMUP_CALLS: u32 = 1;
/// Calls that count, in each timed process. Every call, warm-up included, has inputs of its own: nothing can be
/// remembered from one to the next.
const TIMED_CALLS: u32 = 3;

/// How to judge.
#[derive(Clone, Copy)]
pub struct JudgeOptions<'a> {
    /// A folder of gpuport's own. Each judge makes one for itself in it, which goes with the judge; compiled kernels
    /// stay for the next one.
    pub work_dir: &'a std::path::Path,
    /// What comes along into a copy of the project.
    pub copy: &'a CopyRules,
    /// Whether the kernel keeps programs from writing outside their copy, where it can.
    pub confine: bool,
    /// Set by others when the user wants to stop; the verdict then is inconclusive.
    pub interrupt: &'a AtomicBool,
    /// Told before each run.
    pub progress: &'a dyn Fn(&Progress),
}

/// What a candidate is said to be, and must turn out to be.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Where it does its work. [`Device::Cuda`]: without evidence of that it is rejected.
    pub device: Device,
    /// Modules of the libraries it uses for that: `cupy`, `cudf.pandas`.
    pub libraries: Vec<String>,
    /// What these must be: `cupy>=13`.
    pub requires: Vec<String>,
    /// The lines in which it differs from the original.
    pub changed: Vec<ChangedLines>,
    /// SHA-256 of the diff between the two, for the evidence.
    pub diff_sha256: Option<String>,
}

/// Changed lines of one file, by the change they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// The change that must have run for the verdict to count; `None`: the file as a whole.
    pub change: Option<ChangeId>,
    /// The file, relative to the root.
    pub path: PathBuf,
    /// 1-based inclusive ranges in the candidate's text.
    pub lines: Vec<(u32, u32)>,
}

/// What the judge is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Which program runs.
    pub role: Role,
    /// What for.
    pub mode: Mode,
    /// The number of the timed pair, from 1, and the most there will be.
    pub pair: Option<(u32, u32)>,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let purpose = match self.mode {
            Mode::Inputs => "making the inputs with",
            Mode::Capture => "running",
            Mode::Time => "timing",
            Mode::Activity => "watching the device under",
            Mode::Coverage => "tracing",
        };
        write!(f, "{purpose} the {}", self.role.name())?;
        match self.pair {
            Some((number, limit)) => write!(f, ", pair {number} of at most {limit}"),
            None => Ok(()),
        }
    }
}

/// A verdict with everything it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why. Empty only where it is accepted.
    pub findings: Vec<Finding>,
    /// Changes whose lines never ran: planned again without them, the rest may be judged.
    pub uncovered: Vec<ChangeId>,
    /// This machine can't verify it: no GPU, or a library is missing.
    pub cannot_verify: bool,
    /// The user stopped it.
    pub interrupted: bool,
    /// All of it, for the file.
    pub evidence: Evidence,
}

/// Judges one candidate. See [`Judge`] for several against the same original.
pub fn judge(
    before: &Side,
    after: &Side,
    claim: &Claim,
    contract: &Contract,
    options: JudgeOptions<'_>,
) -> Result<Judgement, JudgeError> {
    Judge::new(before, contract, options)?.judge(after, claim)
}

/// Judges candidates against one original, whose own runs are made once.
pub struct Judge<'a> {
    before: &'a Side,
    contract: &'a Contract,
    options: JudgeOptions<'a>,
    bench: Bench<'a>,
    gpu: Result<Probe, Absent>,
    baseline: Option<Baseline>,
    /// Of the original's runs, for the evidence of each candidate.
    records: Vec<RunRecord>,
}

impl<'a> Judge<'a> {
    /// Prepares to judge against `before`.
    pub fn new(
        before: &'a Side,
        contract: &'a Contract,
        options: JudgeOptions<'a>,
    ) -> Result<Self, JudgeError> {
        let sets = WARMUP_CALLS + TIMED_CALLS;
        let bench = Bench::new(options.work_dir, options.copy, options.confine, sets, options.interrupt)?;
        Ok(Self { before, contract, options, bench, gpu: probe(), baseline: None, records: Vec::new() })
    }

    /// Judges `after`, of which `claim` is said.
    pub fn judge(&mut self, after: &Side, claim: &Claim) -> Result<Judgement, JudgeError> {
        Trial::new(self, after, claim).judge()
    }
}
