//! Why the tree could not be changed. Each error leaves the tree as it was, or says that it could not.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use crate::reasons::Code;

use super::runs::RunId;

/// Why files were not written. Paths are relative to the root where they lie in it.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The file no longer has the bytes it was planned on, or those an applied run gave it.
    #[error("{}: changed since gpuport read or wrote it", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// There is no such file any more.
    #[error("{}: no longer exists", .path.display())]
    Vanished {
        /// The file.
        path: PathBuf,
    },
    /// A symbolic link, or something else that is neither file nor folder, is in the way.
    #[error("{}: is {what}, which gpuport never writes through", .path.display())]
    NotPlain {
        /// What is in the way.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// The path leads out of the root.
    #[error("{}: leads out of the project's root", .path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// The file, its folder or its file system takes no writes.
    #[error("{}: is read-only", .path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
    },
    /// No space, or no quota, is left.
    #[error("{}: the disk is full", .path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
    },
    /// Another process is changing files under the root.
    #[error("{}: another gpuport is changing files here", .root.display())]
    Busy {
        /// The root.
        root: PathBuf,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    NoRun {
        /// Its name.
        run: RunId,
    },
    /// No run was applied that could be taken back.
    #[error("no applied run is left to undo")]
    NothingToUndo,
    /// The run did not change the tree, or has been taken back already.
    #[error("run {run} {why}")]
    NotApplied {
        /// The run.
        run: RunId,
        /// Why there is nothing to take back.
        why: &'static str,
    },
    /// The run has been applied already.
    #[error("run {run} has been applied already")]
    Taken {
        /// The run.
        run: RunId,
    },
    /// What was kept of a run can't be used.
    #[error("{}: {what}", .path.display())]
    Damaged {
        /// The file in the run's folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The files could not be put back after another error.
    #[error("{cause}; then putting files back failed: {error}")]
    Stuck {
        /// The first error.
        cause: Box<ApplyError>,
        /// The second one.
        error: Box<ApplyError>,
    },
    /// Anything else the system said.
    #[error("{}: can't {action}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done, as a verb with its object.
        action: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

impl ApplyError {
    /// The reason code whose page explains this error and its remedy.
    pub fn code(&self) -> Code {
        Code::new(match self {
            Self::Changed { .. } => "GP670",
            Self::Vanished { .. } => "GP671",
            Self::NotPlain { .. } | Self::Outside { .. } => "GP672",
            Self::ReadOnly { .. } => "GP673",
            Self::DiskFull { .. } => "GP674",
            Self::Busy { .. } => "GP675",
            Self::NoRun { .. } | Self::NothingToUndo | Self::NotApplied { .. } | Self::Taken { .. } => {
                "GP676"
            }
            Self::Damaged { .. } => "GP677",
            Self::Stuck { .. } => "GP678",
            Self::Io { .. } => "GP679",
        })
    }

    /// What the system's `error` at `path` means.
    pub(super) fn from_system(path: &Path, action: &'static str, error: impl Into<io::Error>) -> Self {
        let (path, error) = (path.to_owned(), error.into());
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC | Errno::DQUOT) => Self::DiskFull { path },
            Some(Errno::ROFS | Errno::ACCESS | Errno::PERM) => Self::ReadOnly { path },
            Some(Errno::NOENT) => Self::Vanished { path },
            Some(Errno::LOOP) => Self::NotPlain { path, what: "a symbolic link" },
            _ => Self::Io { path, action, error },
        }
    }
}
