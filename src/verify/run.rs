//! A run that is over: what the judge saw of it, what the child said, and what it left behind.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::JudgeError;
use super::process::Ended;
use super::protocol::{CaptureDir, End, Exit, Mark, Mode, Outcome};
use super::sandbox::{Sandbox, Written, remove};

/// The largest outcome that is read.
const OUTCOME_CAP: u64 = 64 << 20;

/// Which of the two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The original.
    Before,
    /// The candidate.
    After,
}

impl Role {
    /// What files call it.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "original",
            Self::After => "candidate",
        }
    }
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct Run {
    /// Its name, unique in the work folder: `03-capture-after`.
    pub(super) name: String,
    /// Which program.
    pub(super) role: Role,
    /// What for.
    pub(super) mode: Mode,
    /// What the judge saw.
    pub(super) ended: Ended,
    /// What the child said; why there is nothing, where there is nothing.
    pub(super) outcome: Result<Outcome, String>,
    /// What it did to its copy.
    pub(super) written: Written,
    /// Where its copy was while it ran.
    pub(super) ran_at: PathBuf,
    /// Whether the kernel kept it inside.
    pub(super) confined: bool,
    /// Whether the worker captured.
    pub(super) captured: bool,
    /// Its standard output, as a file of the judge's.
    pub(super) stdout: PathBuf,
    /// Its standard error.
    pub(super) stderr: PathBuf,
    /// Where capture forms of its files go: a folder that it could not write.
    pub(super) converted: PathBuf,
    /// Its copy, moved aside.
    pub(super) sandbox: Sandbox,
}

impl Run {
    /// What comparing reads.
    pub(super) fn capture(&self) -> CaptureDir {
        let outcome = self.outcome.as_ref().ok();
        let dir = self.sandbox.capture();
        CaptureDir {
            dir: if self.captured { dir } else { dir.with_extension("none") },
            stdout: self.stdout.clone(),
            stdout_complete: self.ended.stdout.complete,
            stdout_sha256: self.ended.stdout.sha256.clone(),
            root: self.sandbox.project(),
            written: self.written.files.clone(),
            converted: Some(self.converted.clone()),
            removed: self.written.removed.clone(),
            exit: self.ended.exit,
            exception: outcome
                .and_then(|outcome| outcome.exception.as_ref())
                .map(|raised| raised.type_name.clone()),
            not_compared: outcome.map(|outcome| outcome.not_compared.clone()).unwrap_or_default(),
        }
    }

    /// It ended by itself, with status 0, and said so.
    pub(super) fn succeeded(&self) -> bool {
        self.ended.exit == Exit::Status(0)
            && self.outcome.as_ref().is_ok_and(|outcome| matches!(outcome.end, End::Returned | End::Exited))
    }

    /// When `mark` came for the first time.
    pub(super) fn at(&self, mark: Mark) -> Option<Duration> {
        self.ended.marks.iter().find(|(found, _)| *found == mark).map(|(_, at)| *at)
    }

    /// Start to exit without the time in which the worker captured.
    pub(super) fn net(&self) -> Duration {
        let capturing = match (self.captured, self.at(Mark::ProgramEnd), self.at(Mark::Captured)) {
            (true, Some(from), Some(to)) => to.saturating_sub(from),
            _ => Duration::ZERO,
        };
        self.ended.wall.saturating_sub(capturing)
    }

    /// Seconds of each counted call, in the order of the calls.
    pub(super) fn calls(&self) -> Vec<f64> {
        let begins = self.ended.marks.iter().filter_map(|(mark, at)| match mark {
            Mark::CallBegin(call) => Some((*call, *at)),
            _ => None,
        });
        begins
            .filter_map(|(call, from)| Some(self.at(Mark::CallEnd(call))?.saturating_sub(from).as_secs_f64()))
            .collect()
    }

    /// The last lines of its standard error, for people.
    pub(super) fn stderr_tail(&self) -> String {
        const BYTES: usize = 4000;
        let bytes = fs::read(&self.stderr).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(BYTES)..]).into_owned();
        let lines: Vec<&str> = text.lines().rev().take(12).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Whether both runs left the same bytes at `path`, a plain file in both.
    pub(super) fn has_same_file(&self, other: &Self, path: &Path) -> bool {
        let open = |run: &Self| File::open(run.sandbox.project().join(path)).map(BufReader::new);
        let (Ok(mut one), Ok(mut two)) = (open(self), open(other)) else { return false };
        loop {
            let (Ok(left), Ok(right)) = (one.fill_buf(), two.fill_buf()) else { return false };
            let count = left.len().min(right.len());
            if left[..count] != right[..count] || (count == 0 && left.len() != right.len()) {
                return false;
            }
            if count == 0 {
                return true;
            }
            one.consume(count);
            two.consume(count);
        }
    }

    /// Removes what it left.
    pub(super) fn remove(self) -> Result<(), JudgeError> {
        remove(&self.converted)?;
        self.sandbox.remove()
    }
}

/// Reads what the child handed over: a plain file, no link, of bounded size.
pub(super) fn read_outcome(path: &Path) -> Result<Outcome, String> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "it ended before it could say how".to_owned(),
        _ => format!("its outcome can't be read: {error}"),
    })?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > OUTCOME_CAP {
        return Err("its outcome is no plain file, or too large".to_owned());
    }
    let mut text = String::new();
    file.take(OUTCOME_CAP)
        .read_to_string(&mut text)
        .map_err(|error| format!("its outcome can't be read: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("its outcome is malformed: {error}"))
}
