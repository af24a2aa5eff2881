//! What a report is made from: one value for a run, one for each unit, filled in by whoever ran it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::diff::RunId;
use crate::plan::{Advice, Change};
use crate::reasons::Refusal;
use crate::verify::{Finding, Metric, Verdict};

/// A run of `scan`, `apply` or `verify`.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    /// Its name, where it has a folder.
    pub run: Option<RunId>,
    /// What became of the tree.
    pub tree: TreeOutcome,
    /// SHA-256 of the patch that was written or printed, lower-case hex.
    pub patch_sha256: Option<String>,
    /// The units, in the order of their paths.
    pub units: Vec<UnitReport>,
    /// Files that could not be read, decoded or parsed.
    pub skipped: Vec<Refusal>,
}

/// What became of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TreeOutcome {
    /// It is as it was.
    #[default]
    Untouched,
    /// These files have new bytes.
    Applied(Vec<PathBuf>),
}

/// One unit: what was planned for it and what came of it.
#[derive(Debug, Clone)]
pub struct UnitReport {
    /// What people call it: a file's path, `pkg.mod:function`.
    pub unit: String,
    /// The file it begins in, relative to the root.
    pub path: PathBuf,
    /// The outcome for the unit as a whole.
    pub verdict: Verdict,
    /// Its changes, in source order, those left out included.
    pub changes: Vec<ChangeReport>,
    /// Why the verdict is what it is.
    pub findings: Vec<Finding>,
    /// How long both sides took, where that was measured.
    pub timing: Option<Timing>,
    /// What the GPU did, where that was observed.
    pub gpu: Option<GpuUse>,
    /// What kept it from being faster, where that is known.
    pub limited_by: Option<LimitingFactor>,
    /// What was left as it was.
    pub left: Vec<Refusal>,
    /// What people should know.
    pub advice: Vec<Advice>,
}

/// One change and what came of it.
#[derive(Debug, Clone)]
pub struct ChangeReport {
    /// The change.
    pub change: Change,
    /// Its own outcome: a rejected unit may hold accepted changes.
    pub verdict: Verdict,
    /// Why it is not accepted.
    pub findings: Vec<Finding>,
}

/// How long the original and the port took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// What was timed.
    pub metric: Metric,
    /// Median of the original.
    pub before: Duration,
    /// Median of the port.
    pub after: Duration,
    /// Original over port: above 1 the port is faster.
    pub speedup: f64,
    /// The confidence interval of the speed-up, lower end first.
    pub interval: (f64, f64),
    /// How sure the interval is, e.g. 0.95.
    pub confidence: f64,
    /// What the lower end had to beat; 0 where speed was not asked for.
    pub min_speedup: f64,
    /// Timed runs of each side.
    pub runs: u32,
    /// How to read `before` and `speedup`.
    pub baseline: Baseline,
}

/// Whether the original finished within the time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Baseline {
    /// It did.
    #[default]
    Measured,
    /// It did not: `before` and `speedup` are lower bounds.
    LowerBound,
}

/// What the GPU did in one run of the port.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GpuUse {
    /// Kernels launched.
    pub kernels: u64,
    /// Time in which the GPU ran any of them, where that was measured.
    pub busy: Option<Duration>,
    /// Bytes copied to the device.
    pub bytes_to_device: Option<u64>,
    /// Bytes copied back.
    pub bytes_to_host: Option<u64>,
    /// Most bytes of device memory in use at once.
    pub peak_bytes: Option<u64>,
    /// Calls that an accelerator ran on the CPU.
    pub fallbacks: Vec<Fallback>,
}

/// Calls of one function that an accelerator ran on the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The function's full name.
    pub callable: String,
    /// How often.
    pub calls: u64,
}

/// What keeps a port from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitingFactor {
    /// Too little work for a GPU.
    ProblemSize,
    /// Copies between host and device.
    Transfers,
    /// Calls that ran on the CPU after all.
    CpuFallback,
    /// Device memory.
    MemoryPressure,
    /// Many small kernels.
    LaunchGranularity,
    /// The algorithm does the same work one step after another.
    Algorithm,
}

impl LimitingFactor {
    /// The factor as JSON spells it.
    pub fn id(self) -> &'static str {
        match self {
            Self::ProblemSize => "problem-size",
            Self::Transfers => "transfers",
            Self::CpuFallback => "cpu-fallback",
            Self::MemoryPressure => "memory-pressure",
            Self::LaunchGranularity => "launch-granularity",
            Self::Algorithm => "algorithm",
        }
    }
}

impl fmt::Display for LimitingFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProblemSize => "the problem's size",
            Self::Transfers => "transfers",
            Self::CpuFallback => "calls that fell back to the CPU",
            Self::MemoryPressure => "device memory",
            Self::LaunchGranularity => "many small kernels",
            Self::Algorithm => "the algorithm itself",
        })
    }
}

/// A verdict as people and JSON spell it.
pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Unverified => "unverified",
    }
}

/// A metric as people and JSON spell it.
pub(super) fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Process => "process",
        Metric::Warm => "warm",
    }
}
