//! Writes an accepted patch into the tree: the only door through which gpuport changes user files.

use std::path::{Path, PathBuf};

use super::disk::{Disk, Steps};
use super::folder::Folder;
use super::journal::Journal;
use super::recover::{Recovered, recover_locked};
use super::runs::{lock, make_runs_folder};
use super::transaction::{Replacement, Site, replace};
use super::{ApplyError, FileChange, RunId, sha256};

/// A patch that is in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The run, for [`undo`](super::undo()).
    pub run: RunId,
    /// The files that were replaced, in order.
    pub files: Vec<PathBuf>,
    /// What an earlier, killed process had left, and was put back first.
    pub recovered: Vec<Recovered>,
}

/// Gives the files of `changes` under `root` their new bytes, all or none, and keeps the old ones with `run`.
///
/// Each file must still have the bytes it was planned on; owner, permissions and extended attributes stay. On an error
/// the tree is as it was, but for [`ApplyError::Stuck`], after which [`recover`](super::recover()) tries again.
pub fn apply(
    root: &Path,
    run: &RunId,
    changes: &[FileChange],
    steps: &mut dyn Steps,
) -> Result<Applied, ApplyError> {
    let folder = Folder::open_root(root)?;
    let mut disk = Disk::new(steps);
    let runs = make_runs_folder(&folder, &mut disk)?;
    let _lock = lock(&folder, root)?;
    let recovered = recover_locked(&folder, &mut disk)?;
    let home = disk.make_folder(&runs, &run.to_string())?;
    if Journal::read(&home)?.is_some() {
        return Err(ApplyError::Taken { run: run.clone() });
    }
    let replacements: Vec<Replacement> = changes
        .iter()
        .filter(|change| change.before != change.after)
        .map(|change| Replacement {
            path: change.path.clone(),
            before_sha256: sha256(&change.before),
            after: change.after.clone(),
        })
        .collect();
    if !replacements.is_empty() {
        replace(Site { root: &folder, home: &home, label: &run.to_string() }, &replacements, &mut disk)?;
    }
    let files = replacements.into_iter().map(|replacement| replacement.path).collect();
    Ok(Applied { run: run.clone(), files, recovered })
}
