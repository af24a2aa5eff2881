//! The evidence file: everything a verdict rests on, what the judge saw apart from what the children said.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::process::Observed;
use super::protocol::{Comparison, Exit, Mode, Outcome};
use super::run::{Role, Run};
use super::timing::{Pair, Speedup};
use super::why::Limit;
use super::{Contract, Finding, Metric, Tree, Verdict};
use crate::gpu::{Absent, Probe};
use crate::plan::ChangeId;
use crate::source::hex;

/// The value of `schema` in an evidence file.
pub const EVIDENCE_SCHEMA: &str = "gpuport/evidence/1";

/// What a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// [`EVIDENCE_SCHEMA`].
    pub schema: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Its reasons.
    pub findings: Vec<Finding>,
    /// What limits the candidate's speed, where that was asked.
    pub limit: Option<Limit>,
    /// What was asked of the candidate.
    pub contract: Contract,
    /// SHA-256 of the unified diff that this verdict is about, lower-case hex; `None` where there is no diff.
    pub diff_sha256: Option<String>,
    /// The files that differ, with SHA-256 on both sides. The verdict holds for these bytes and no others.
    pub files: Vec<FileHashes>,
    /// Where it was judged.
    pub machine: Machine,
    /// All runs, in the order they were made.
    pub runs: Vec<RunRecord>,
    /// All comparisons.
    pub comparisons: Vec<ComparisonRecord>,
    /// Which changed lines ran.
    pub coverage: Vec<ChangeCoverage>,
    /// The timed pairs.
    pub timing: Option<TimingRecord>,
    /// What else people should know.
    pub notes: Vec<String>,
}

/// One file on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHashes {
    /// Relative to the project's root.
    pub path: PathBuf,
    /// SHA-256 of the original's bytes, lower-case hex; `None` where it has no such file.
    pub before_sha256: Option<String>,
    /// SHA-256 of the candidate's.
    pub after_sha256: Option<String>,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Processors this process may use.
    pub processors: usize,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
    /// The kernel's version.
    pub kernel: String,
    /// Driver and devices.
    pub gpu: Option<Probe>,
    /// Why there are none.
    pub gpu_absent: Option<Absent>,
    /// gpuport's version.
    pub gpuport: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its name.
    pub name: String,
    /// Which program.
    pub role: Role,
    /// What for.
    pub mode: Mode,
    /// What the judge saw itself.
    pub observed: RunObserved,
    /// What the child said.
    pub attested: Option<Outcome>,
    /// Why the child said nothing.
    pub problem: Option<String>,
}

/// What the judge saw of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunObserved {
    /// How it ended.
    pub exit: Exit,
    /// Start to exit, in seconds.
    pub wall_seconds: f64,
    /// The same without the time in which the worker captured.
    pub net_seconds: f64,
    /// Seconds of each counted call of a function, between the worker's marks.
    pub call_seconds: Vec<f64>,
    /// Bytes on standard output.
    pub stdout_bytes: u64,
    /// Bytes on standard error.
    pub stderr_bytes: u64,
    /// Files written or changed.
    pub files_written: usize,
    /// Files removed.
    pub files_removed: usize,
    /// Links, pipes, sockets and devices made.
    pub special_files: Vec<PathBuf>,
    /// Descendants that outlived the program and were killed.
    pub killed_descendants: usize,
    /// The kernel kept it from writing outside its copy.
    pub confined: bool,
    /// Its use of the machine.
    pub machine: Observed,
    /// The end of its standard error, where it did not succeed.
    pub last_words: Option<String>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRecord {
    /// Name of the original's run.
    pub before: String,
    /// Name of the run compared with it.
    pub after: String,
    /// What was found.
    pub result: Comparison,
}

/// Which lines of one change ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCoverage {
    /// The change; `None` where the caller has no changes, only lines.
    pub change: Option<ChangeId>,
    /// Its file.
    pub path: PathBuf,
    /// Its lines that can be executed.
    pub executable: Vec<u32>,
    /// Those of them that were.
    pub executed: Vec<u32>,
}

/// The timed pairs and what they show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimingRecord {
    /// What was timed.
    pub metric: Metric,
    /// The pairs, in the order they were run.
    pub pairs: Vec<Pair>,
    /// What they come to.
    pub speedup: Speedup,
    /// What was asked for.
    pub min_speedup: f64,
    /// The original's relative spread, where it is that of a noisy machine.
    pub noise: Option<f64>,
}

impl RunRecord {
    /// The record of `run`.
    pub(super) fn of(run: &Run) -> Self {
        let (attested, problem) = match &run.outcome {
            Ok(outcome) => (Some(outcome.clone()), None),
            Err(problem) => (None, Some(problem.clone())),
        };
        Self {
            name: run.name.clone(),
            role: run.role,
            mode: run.mode,
            observed: RunObserved {
                exit: run.ended.exit,
                wall_seconds: run.ended.wall.as_secs_f64(),
                net_seconds: run.net().as_secs_f64(),
                call_seconds: run.calls(),
                stdout_bytes: run.ended.stdout.bytes,
                stderr_bytes: run.ended.stderr.bytes,
                files_written: run.written.files.len(),
                files_removed: run.written.removed.len(),
                special_files: run.written.special.clone(),
                killed_descendants: run.ended.killed_count,
                confined: run.confined,
                machine: run.ended.observed.clone(),
                last_words: (!run.succeeded()).then(|| run.stderr_tail()),
            },
            attested,
            problem,
        }
    }
}

impl Machine {
    /// This machine.
    pub(super) fn here(gpu: &Result<Probe, Absent>) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib = memory.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        Self {
            cpu: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kib.unwrap_or(0) * 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            gpu: gpu.as_ref().ok().cloned(),
            gpu_absent: gpu.as_ref().err().cloned(),
            gpuport: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Evidence {
    /// Writes the evidence to `path`, whole or not at all.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

/// Hashes of the files that `before` and `after` may differ in: those replaced on either side, or all of `also`.
pub(super) fn file_hashes(before: &Tree, after: &Tree, also: &[PathBuf]) -> Vec<FileHashes> {
    let paths: BTreeSet<&PathBuf> = before.overlay.keys().chain(after.overlay.keys()).chain(also).collect();
    paths
        .into_iter()
        .map(|path| FileHashes {
            path: path.clone(),
            before_sha256: sha256(before, path),
            after_sha256: sha256(after, path),
        })
        .collect()
}

fn sha256(tree: &Tree, path: &Path) -> Option<String> {
    let bytes = match tree.overlay.get(path) {
        Some(bytes) => bytes.clone(),
        None => fs::read(tree.root.join(path)).ok()?,
    };
    Some(hex(&Sha256::digest(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn hashes_are_those_of_what_ran() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.py"), "a").unwrap();
        let before = Tree { root: folder.path().to_owned(), overlay: BTreeMap::new() };
        let overlay =
            BTreeMap::from([(PathBuf::from("a.py"), b"b".to_vec()), (PathBuf::from("new.py"), Vec::new())]);
        let after = Tree { overlay, ..before.clone() };
        let found = file_hashes(&before, &after, &[]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].before_sha256, Some(hex(&Sha256::digest(b"a"))));
        assert_eq!(found[0].after_sha256, Some(hex(&Sha256::digest(b"b"))));
        assert_eq!(found[1].before_sha256, None);
    }
}
