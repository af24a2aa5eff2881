//! From old and new bytes to a patch, and from a patch to the tree and back.
//!
//! [`Patch`] is text that `git apply` and `patch` take. [`apply`] is the only function that writes user files, and
//! [`undo`] and [`recover`] put back what it replaced; all three go through one journaled transaction.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::source::hex;

mod apply;
mod disk;
mod error;
mod folder;
mod journal;
mod recover;
mod runs;
mod transaction;
mod undo;
mod unified;
mod vcs;

#[cfg(test)]
mod tests;

pub use apply::{Applied, apply};
pub use disk::{NoSteps, Step, Steps};
pub use error::ApplyError;
pub use recover::{Conflict, Interrupted, Recovered, recover};
pub use runs::{RunId, RunState, last_applied, new_run, run_folder, run_state, runs};
pub use undo::{Undone, undo};
pub use unified::Patch;
pub use vcs::{Dirt, DirtKind, NoVcs, TreeState, VcsError, prefix_in_repository, tree_state};

/// One file with other content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the root, without `.` and `..`.
    pub path: PathBuf,
    /// The bytes it was planned on.
    pub before: Vec<u8>,
    /// The bytes it shall have.
    pub after: Vec<u8>,
}

impl FileChange {
    /// A change of the file at `path`.
    pub fn new(path: impl AsRef<Path>, before: impl Into<Vec<u8>>, after: impl Into<Vec<u8>>) -> Self {
        Self { path: path.as_ref().to_owned(), before: before.into(), after: after.into() }
    }
}

/// SHA-256 of `bytes`, lower-case hex.
fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
