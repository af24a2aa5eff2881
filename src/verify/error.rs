//! What keeps the judge itself from working. Nothing here says anything about a candidate.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::sandbox::CopyRules;

/// A failure of the judge's own, with what the user can do about it.
#[derive(Debug, Error)]
pub enum JudgeError {
    /// The interpreter can't be started.
    #[error("{python}: can't start this Python: {error}; name another one with --python", python = .python.display())]
    Python {
        /// The interpreter.
        python: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The project is too large to be copied for each run.
    #[error(
        "{root}: the project is larger than a copy may be ({bytes} MiB or {files} files); leave out by `exclude` \
         what the workload does not read (largest: {largest})",
        root = .root.display(), bytes = .rules.max_bytes >> 20, files = .rules.max_files, largest = list(.largest)
    )]
    TooLarge {
        /// The project.
        root: PathBuf,
        /// What comes along, and how much it may be.
        rules: CopyRules,
        /// The largest files.
        largest: Vec<PathBuf>,
    },
    /// A pattern under `exclude` can't be read.
    #[error("`exclude`: {pattern}: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// There is no room for the copies.
    #[error(
        "{folder}: no room for a run: {needed} MiB needed, {free} MiB free; free some, or set TMPDIR to a larger disk",
        folder = .folder.display(), needed = .needed_bytes >> 20, free = .free_bytes >> 20
    )]
    DiskFull {
        /// Where the copies go.
        folder: PathBuf,
        /// What a copy needs.
        needed_bytes: u64,
        /// What is there.
        free_bytes: u64,
    },
    /// A replaced file would stand outside the project.
    #[error("{path}: not a path inside the project", path = .path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// The user stopped the judge between two runs.
    #[error("interrupted")]
    Interrupted,
    /// The system refused something.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl JudgeError {
    /// What the system said about `path`.
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
