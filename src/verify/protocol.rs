//! What the judge and its worker say to each other: the job, the marks on the pipe, the outcome; and what comparing yields.
//!
//! The judge writes `job.json` and starts `PYTHON worker.py job.json`, the working directory being the copy of the
//! project. The worker runs the workload as if it had been started by itself (`__main__`, `sys.argv`, `sys.path[0]`,
//! `__file__`), hands over `outcome.json` and, where asked, a capture, and ends with the exit status that the program
//! would have ended with. Everything in an outcome is attested by the child, never observed: it can take a verdict
//! away, and only together with what the judge saw itself can it give one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Arrays, Finding, Workload};

/// The value of `schema` in a job.
pub const JOB_SCHEMA: &str = "gpuport/job/1";
/// The value of `schema` in an outcome.
pub const OUTCOME_SCHEMA: &str = "gpuport/outcome/1";

/// What one child process is to do. Written by the judge as JSON; paths are absolute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// [`JOB_SCHEMA`].
    pub schema: String,
    /// What the run is for.
    pub mode: Mode,
    /// What to run. Its paths are relative to `root`.
    pub workload: Workload,
    /// The copy of the project; also the working directory at the start.
    pub root: PathBuf,
    /// An empty folder for the capture; `None`: capture nothing.
    pub capture_dir: Option<PathBuf>,
    /// Where a function's saved inputs are: written in mode `inputs`, read in every other. One file for each set,
    /// `set-000.pkl`, `set-001.pkl`, …: `make(seed + set, scale)`.
    pub inputs_dir: Option<PathBuf>,
    /// How many input sets there are.
    pub input_sets: u32,
    /// Where to write the [`Outcome`].
    pub outcome_path: PathBuf,
    /// The file descriptor for [`Mark`]s, one a line; each is written by one unbuffered write, never by a forked child.
    pub phase_fd: i32,
    /// The files that differ between the two sides, and the lines of interest.
    pub changed_files: Vec<ChangedFile>,
    /// Where this side is expected to run.
    pub device: Device,
    /// Modules of the libraries that this side switches on or calls (`cupy`, `cudf.pandas`, `cuml.accel`): whose
    /// versions to report, whose queues to wait for, whose profilers to read in mode `activity`.
    pub libraries: Vec<String>,
    /// `Device` only where the function is to be called with device arrays: the worker then moves inputs to the
    /// device and results back between the marks of the call.
    pub arrays: Arrays,
    /// Calls of a function before those that count. In the modes other than `time`, 0.
    pub warmup: u32,
    /// Calls of a function that count. Call `i` of all, warm-up included, takes input set `i % input_sets`. Only those
    /// that count are marked; a capture holds all, warm-up included, named by `i`.
    pub runs: u32,
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Make a function's inputs with `make`, save them, run nothing else.
    Inputs,
    /// Run once and capture everything observable.
    Capture,
    /// Run under the clock: nothing but the program runs between the marks. With a `capture_dir`, capture after
    /// [`Mark::ProgramEnd`].
    Time,
    /// Run under the profilers, count what happens on the device.
    Activity,
    /// Run under a tracer, note which of the changed lines are executed.
    Coverage,
}

/// Where a side is expected to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// Anywhere.
    Cpu,
    /// On an NVIDIA GPU.
    Cuda,
}

/// A file that differs between the two sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Relative to the project's root, with `/`.
    pub path: PathBuf,
    /// 1-based inclusive ranges of changed lines in this side's text.
    pub lines: Vec<(u32, u32)>,
}

/// A moment the worker names and the judge stamps with its own clock when the line arrives.
///
/// On the pipe: `program-begin`, `program-end`, `captured`, `call-begin 3`, `call-end 3`, each with a line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The worker is about to run the program's first line, or to import the function's module.
    ProgramBegin,
    /// A counted call of the function begins: its inputs are loaded, the device is idle.
    CallBegin(u32),
    /// That call ended, its results are where `arrays` wants them, the device is idle.
    CallEnd(u32),
    /// The program ended, by falling off its end, by an exception or by `SystemExit`; the device is idle.
    ProgramEnd,
    /// Capture and outcome are written; what follows is the program's own shutdown.
    Captured,
}

impl Mark {
    /// Reads one line of the pipe, without its line feed.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let name = words.next()?;
        let number = words.next().map(str::parse::<u32>);
        if words.next().is_some() {
            return None;
        }
        match (name, number) {
            ("program-begin", None) => Some(Self::ProgramBegin),
            ("call-begin", Some(Ok(call))) => Some(Self::CallBegin(call)),
            ("call-end", Some(Ok(call))) => Some(Self::CallEnd(call)),
            ("program-end", None) => Some(Self::ProgramEnd),
            ("captured", None) => Some(Self::Captured),
            _ => None,
        }
    }
}

/// What the worker reports at the end. Fields that a mode has nothing for are absent or empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// [`OUTCOME_SCHEMA`].
    pub schema: String,
    /// How the program ended.
    pub end: End,
    /// The exception that ended it, or that the function raised.
    pub exception: Option<Raised>,
    /// The module loaded from each changed file.
    pub modules: Vec<LoadedModule>,
    /// Versions by distribution or module: Python itself, NumPy and its like where loaded, `libraries`.
    pub versions: BTreeMap<String, String>,
    /// Threads that the numeric libraries may use, where known.
    pub threads: Option<u32>,
    /// What happened on the device; mode `activity`.
    pub activity: Option<Activity>,
    /// What accelerators say of each function, by accelerator module; mode `activity`.
    pub accelerators: BTreeMap<String, BTreeMap<String, Calls>>,
    /// The device the libraries used, as they name it.
    pub device: Option<String>,
    /// Which changed lines ran; mode `coverage`.
    pub covered: Vec<Covered>,
    /// What could not be captured.
    pub not_compared: Vec<NotCompared>,
    /// Anything the worker wants people to know: a profiler that failed to start, …
    pub notes: Vec<String>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            schema: OUTCOME_SCHEMA.to_owned(),
            end: End::Returned,
            exception: None,
            modules: Vec::new(),
            versions: BTreeMap::new(),
            threads: None,
            activity: None,
            accelerators: BTreeMap::new(),
            device: None,
            covered: Vec::new(),
            not_compared: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It ran to its end, or the function returned.
    Returned,
    /// It raised `SystemExit`.
    Exited,
    /// It raised another exception.
    Raised,
    /// The worker could not run it: no such module or function, inputs that don't load. `exception` says why.
    NotRun,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// Qualified name of its type: `builtins.ValueError`, `cupy_backends.cuda.api.runtime.CUDARuntimeError`.
    pub type_name: String,
    /// The type's qualified bases, nearest first, without `object`: `builtins.ImportError`, … .
    #[serde(default)]
    pub bases: Vec<String>,
    /// Its text. Reported, not compared.
    pub message: String,
    /// For an `ImportError`, the module that is missing.
    #[serde(default)]
    pub module: Option<String>,
    /// Innermost line inside the project: path relative to the root, and 1-based line.
    #[serde(default)]
    pub place: Option<(PathBuf, u32)>,
}

/// Where a changed file's module really came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadedModule {
    /// The changed file, as the job names it.
    pub path: PathBuf,
    /// The module's name; `__main__` for the script.
    pub name: String,
    /// `os.path.realpath` of the file it was loaded from.
    pub file: PathBuf,
}

/// Counters of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    /// Who counted: the driver's own tracing, or the libraries.
    pub source: ActivitySource,
    /// Kernels launched.
    pub kernels: Option<u64>,
    /// Seconds in which the device was busy.
    pub busy_seconds: Option<f64>,
    /// Bytes copied to the device.
    pub bytes_to_device: Option<u64>,
    /// Bytes copied to the host.
    pub bytes_to_host: Option<u64>,
    /// Seconds in copies both ways.
    pub copy_seconds: Option<f64>,
    /// The most device memory that the libraries' pools held, in bytes.
    pub peak_bytes: Option<u64>,
}

/// Who counted device activity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActivitySource {
    /// CUPTI, the driver's tracing interface: sees every library.
    Cupti,
    /// The libraries' own counters: pools, profilers.
    #[default]
    Library,
}

/// Calls of one function under an accelerator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// Calls that ran on the GPU.
    pub gpu: u64,
    /// Calls that fell back to the CPU.
    pub cpu: u64,
    /// Seconds of the former.
    pub gpu_seconds: f64,
    /// Seconds of the latter.
    pub cpu_seconds: f64,
}

/// Which lines of a changed file ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The changed file, as the job names it.
    pub path: PathBuf,
    /// Those of the job's lines that some code object of the file can execute.
    pub executable: Vec<u32>,
    /// Those that were executed.
    pub executed: Vec<u32>,
}

/// An output that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotCompared {
    /// The output, as `globals.model`, `return[0]`, `files/out.h5`, `stdout`.
    pub what: String,
    /// Why, as a sentence without a full stop.
    pub why: String,
}

/// Everything that one run left behind, after all of its processes have ended: what comparing reads.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureDir {
    /// The worker's capture: manifest and arrays. Where this folder does not exist, nothing of the program's inside
    /// was asked for: only what the judge saw itself (status, standard output, files) is then compared.
    pub dir: PathBuf,
    /// What the program wrote to its standard output, up to a cap, as a plain file of the judge's.
    pub stdout: PathBuf,
    /// Whether all of standard output is in that file.
    pub stdout_complete: bool,
    /// SHA-256 of all of standard output, lower-case hex.
    pub stdout_sha256: String,
    /// The copy of the project as the run left it.
    pub root: PathBuf,
    /// Plain files the run wrote or changed, relative to `root`, sorted. Links and devices are never among them.
    pub written: Vec<PathBuf>,
    /// Where the judge's own clean process put the capture form of written files that are neither text nor arrays:
    /// `<converted>/<path>/manifest.json`. Never a folder that the run could write.
    pub converted: Option<PathBuf>,
    /// Files the run removed, relative to `root`, sorted.
    pub removed: Vec<PathBuf>,
    /// How the process ended, as the judge saw it.
    pub exit: Exit,
    /// The exception's type, as the worker attests it. `None` where none was raised.
    pub exception: Option<String>,
    /// What the worker could not capture.
    pub not_compared: Vec<NotCompared>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "value")]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Killed by the judge when its time was up.
    TimedOut,
    /// Killed by the judge because the user interrupted.
    Interrupted,
}

/// What comparing two captures yields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Each difference beyond what is allowed. Empty: the two agree.
    pub findings: Vec<Finding>,
    /// What could not be decided, because two runs of the original differ by more than the tolerance may grow to.
    pub undecided: Vec<Finding>,
    /// The largest error in proportion to what was allowed, also where it is within.
    pub worst: Option<Worst>,
    /// Outputs that could not be compared.
    pub not_compared: Vec<NotCompared>,
    /// Outputs or lines that differ between two runs of the original, or that the contract names: listed, not compared.
    pub volatile: Vec<String>,
    /// Outputs that were compared (files, globals, returned values, streams).
    pub compared_count: u64,
    /// Elements that were compared.
    pub element_count: u64,
}

/// The worst element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The output and index: `globals.total`, `return[0][17, 3]`, `stdout:12`.
    pub what: String,
    /// The original's value, as text.
    pub before: String,
    /// The candidate's value, as text.
    pub after: String,
    /// Absolute error; `None` where the values are no numbers.
    pub absolute: Option<f64>,
    /// Relative error.
    pub relative: Option<f64>,
    /// The largest absolute error that was allowed there.
    pub allowed: Option<f64>,
}

/// Compares two captures; the signature of `compare::compare_captures`. `noise` is a second run of the original.
pub type Compare = fn(
    before: &CaptureDir,
    after: &CaptureDir,
    noise: Option<&CaptureDir>,
    contract: &super::Contract,
) -> Comparison;

#[cfg(test)]
mod tests;
