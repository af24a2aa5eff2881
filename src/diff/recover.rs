//! Puts back what a killed process left half done.

use std::path::{Path, PathBuf};

use super::disk::{Disk, Steps};
use super::folder::Folder;
use super::journal::{Journal, State};
use super::runs::{UNDO_FOLDER, lock, open_run, run_ids, runs_folder};
use super::transaction::{Site, put_back};
use super::{ApplyError, RunId};

/// What a process was doing when it was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// Writing a patch into the tree.
    Apply,
    /// Taking one back.
    Undo,
}

/// What was put back after one interruption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The run whose files were being changed.
    pub run: RunId,
    /// What was interrupted.
    pub interrupted: Interrupted,
    /// Files that were changed already and have their former bytes again.
    pub restored: Vec<PathBuf>,
    /// Files that could not be given theirs, for somebody changed them after the interruption.
    pub conflicts: Vec<Conflict>,
}

/// A file that was left as somebody made it after an interruption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file, relative to the root.
    pub path: PathBuf,
    /// A copy of the bytes it had before the interrupted run, relative to the root.
    pub former: PathBuf,
}

/// Puts back whatever a killed process left half done under `root`, so that each run is in the tree whole or not at all.
/// Every command begins with it; where nothing is pending it writes nothing.
pub fn recover(root: &Path, steps: &mut dyn Steps) -> Result<Vec<Recovered>, ApplyError> {
    let folder = Folder::open_root(root)?;
    if pending(&folder)?.is_empty() {
        return Ok(Vec::new());
    }
    let _lock = lock(&folder, root)?;
    recover_locked(&folder, &mut Disk::new(steps))
}

/// The same for whoever holds the lock.
pub(super) fn recover_locked(root: &Folder, disk: &mut Disk<'_>) -> Result<Vec<Recovered>, ApplyError> {
    let mut done = Vec::new();
    for (run, interrupted, home, journal) in pending(root)? {
        let label = label(&run, interrupted);
        let outcome = put_back(Site { root, home: &home, label: &label }, &journal, disk)?;
        let conflicts =
            outcome.conflicts.into_iter().map(|(path, former)| Conflict { path, former }).collect();
        done.push(Recovered { run, interrupted, restored: outcome.restored, conflicts });
    }
    Ok(done)
}

/// What names the temporary files of a transaction.
pub(super) fn label(run: &RunId, interrupted: Interrupted) -> String {
    match interrupted {
        Interrupted::Apply => run.to_string(),
        Interrupted::Undo => format!("{run}-undo"),
    }
}

type Pending = (RunId, Interrupted, Folder, Journal);

fn pending(root: &Folder) -> Result<Vec<Pending>, ApplyError> {
    let mut found = Vec::new();
    let Some(runs) = runs_folder(root)? else { return Ok(found) };
    for run in run_ids(&runs)? {
        let home = open_run(root, &run)?;
        let undo_home = home.sub(UNDO_FOLDER)?;
        let homes = [Some((Interrupted::Apply, home)), undo_home.map(|home| (Interrupted::Undo, home))];
        for (interrupted, home) in homes.into_iter().flatten() {
            if let Some(journal) = Journal::read(&home)?
                && journal.state == State::Prepared
            {
                found.push((run.clone(), interrupted, home, journal));
            }
        }
    }
    Ok(found)
}
