//! Takes an applied patch back.

use std::path::{Path, PathBuf};

use super::disk::{Disk, Steps};
use super::folder::Folder;
use super::journal::{Entry, Journal};
use super::recover::{Interrupted, Recovered, label, recover_locked};
use super::runs::{RunState, UNDO_FOLDER, last_applied_in, lock, open_run, runs_folder, state_of};
use super::transaction::{Replacement, Site, read_backup, replace};
use super::{ApplyError, RunId};

/// A patch that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// Its run.
    pub run: RunId,
    /// The files that have their former bytes again, in order.
    pub files: Vec<PathBuf>,
    /// What an earlier, killed process had left, and was put back first.
    pub recovered: Vec<Recovered>,
}

/// Gives all files that `run` changed under `root` their former bytes, or none: every one of them must still have the
/// bytes that the run gave it. Without `run`, the newest applied run is taken back.
pub fn undo(root: &Path, run: Option<&RunId>, steps: &mut dyn Steps) -> Result<Undone, ApplyError> {
    let folder = Folder::open_root(root)?;
    if runs_folder(&folder)?.is_none() {
        return Err(run.map_or(ApplyError::NothingToUndo, |run| ApplyError::NoRun { run: run.clone() }));
    }
    let _lock = lock(&folder, root)?;
    let mut disk = Disk::new(steps);
    let recovered = recover_locked(&folder, &mut disk)?;
    let run = match run {
        Some(run) => run.clone(),
        None => last_applied_in(&folder)?.ok_or(ApplyError::NothingToUndo)?,
    };
    let home = open_run(&folder, &run)?;
    let not_applied = |why| ApplyError::NotApplied { run: run.clone(), why };
    match state_of(&home)? {
        RunState::Applied => {}
        RunState::Undone => return Err(not_applied("has been undone already")),
        RunState::Untouched | RunState::Interrupted => return Err(not_applied("did not change any file")),
    }
    let journal = Journal::read(&home)?.ok_or_else(|| not_applied("did not change any file"))?;
    let replacements = journal
        .files
        .into_iter()
        .enumerate()
        .map(|(index, entry)| replacement(&home, entry, index))
        .collect::<Result<Vec<_>, _>>()?;
    let undo_home = disk.make_folder(&home, UNDO_FOLDER)?;
    let site = Site { root: &folder, home: &undo_home, label: &label(&run, Interrupted::Undo) };
    replace(site, &replacements, &mut disk)?;
    let files = replacements.into_iter().map(|replacement| replacement.path).collect();
    Ok(Undone { run, files, recovered })
}

fn replacement(home: &Folder, entry: Entry, index: usize) -> Result<Replacement, ApplyError> {
    let after = read_backup(home, &entry, index)?;
    Ok(Replacement { path: entry.path, before_sha256: entry.after_sha256, after })
}
