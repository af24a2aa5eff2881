//! The judge: runs original and candidate, compares everything observable, times both, and gives a verdict.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::reasons::{Code, Place};

mod bench;
pub mod capture;
pub mod codes;
pub mod compare;
mod error;
mod evidence;
mod judge;
mod process;
pub mod protocol;
mod requires;
mod run;
mod sandbox;
mod search;
pub mod timing;
mod why;
mod worker;

pub use error::JudgeError;
pub use evidence::{
    ChangeCoverage, ComparisonRecord, EVIDENCE_SCHEMA, Evidence, FileHashes, Machine, RunObserved, RunRecord,
    TimingRecord,
};
pub use judge::{ChangedLines, Claim, Judge, JudgeOptions, Judgement, Progress, judge};
pub use process::Observed;
pub use run::Role;
pub use sandbox::{CopyRules, Written};
pub use search::{Found, search};
pub use why::{Factor, Limit};

/// One version of a program: a tree on disk with some files replaced.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The project's root.
    pub root: PathBuf,
    /// Replaced files, by path relative to the root.
    pub overlay: BTreeMap<PathBuf, Vec<u8>>,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    /// The program's files.
    pub tree: Tree,
    /// The Python interpreter that runs it.
    pub python: PathBuf,
}

/// What exercises the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Workload {
    /// A script, as `python PATH ARGS…` in the project's root.
    Script {
        /// Relative to the root.
        path: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// A function `package.module:function` with inputs from `make(seed, scale) -> (args, kwargs)`.
    Function {
        /// `package.module:function`.
        target: String,
        /// `file.py:make`, relative to the root.
        inputs: String,
        /// The second argument of `make`.
        scale: String,
        /// The first argument of `make`.
        seed: u64,
    },
}

/// What must hold for a candidate to be accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// What is run.
    pub workload: Workload,
    /// The gate's metric.
    pub metric: Metric,
    /// Relative tolerance for float64, float32 and float16, before noise is taken into account.
    pub rtol: [f64; 3],
    /// Absolute tolerance; `None`: scale-aware.
    pub atol: Option<f64>,
    /// The speed-up that the interval's lower end must beat; 0 where speed is not asked for.
    pub min_speedup: f64,
    /// Whether device arrays may be returned to callers.
    pub arrays: Arrays,
    /// The largest share of accelerator calls that may run on the CPU.
    pub max_fallback: f64,
    /// Timed runs of each side.
    pub runs: u32,
    /// The limit of one run.
    pub timeout: Duration,
    /// Regular expressions of output lines that are not compared.
    pub volatile: Vec<String>,
    /// How single outputs are compared, by pattern: `globals.u`, `return[0]`, `out/*.npy`, `stdout`; or by dtype:
    /// `float64`. A pattern also stands for everything below what it names; the longest one wins.
    #[serde(default)]
    pub tolerance: BTreeMap<String, compare::tolerance::Comparator>,
}

/// The gate's metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Whole process, start to exit.
    Process,
    /// One call on fresh inputs after warm-up, device synchronised.
    Warm,
}

/// Whose array types callers see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrays {
    /// NumPy arrays.
    Host,
    /// Device arrays are as good.
    Device,
}

/// The outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Right, on the GPU where that is asked for, and fast enough.
    Accepted,
    /// Wrong, not on the GPU, or not fast enough.
    Rejected,
    /// Could not be decided.
    Inconclusive,
    /// No verification was possible or asked for.
    Unverified,
}

/// One reason for a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its code.
    pub code: Code,
    /// One sentence with the figures.
    pub message: String,
    /// Where in the outputs or sources, where that is known.
    pub place: Option<Place>,
}
