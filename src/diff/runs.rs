//! The folder `.gpuport/`: one folder for each run, and the lock that lets one process at a time change the tree.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use serde::{Deserialize, Serialize};

use super::ApplyError;
use super::disk::{Disk, NoSteps};
use super::folder::Folder;
use super::journal::{Journal, State};

/// Where runs, observations, journals and evidence live, in the project's root.
const STATE_FOLDER: &str = ".gpuport";
const RUNS_FOLDER: &str = "runs";
/// The part of a run's folder that holds the journal of its undoing.
pub(super) const UNDO_FOLDER: &str = "undo";
/// What makes version control ignore the folder, and this file with it.
const IGNORE_ALL: &[u8] = b"*\n";
/// Digits of a run's name, so that names sort as numbers do for the first ten thousand runs.
const RUN_DIGITS: usize = 4;

/// A run's name: its number, from 1, with at least four digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(u64);

impl RunId {
    /// The run that people call `text`: `7`, `0007`. `None` where that is no number.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.0, width = RUN_DIGITS)
    }
}

impl TryFrom<String> for RunId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a run"))
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> Self {
        run.to_string()
    }
}

/// What a run did to the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Nothing.
    Untouched,
    /// It was killed while it changed files; [`recover`](super::recover()) puts them back.
    Interrupted,
    /// Its patch is in the tree.
    Applied,
    /// Its patch was in the tree and has been taken back.
    Undone,
}

/// Makes the folder of a new run under `root` and returns the run's name.
pub fn new_run(root: &Path) -> Result<RunId, ApplyError> {
    let mut steps = NoSteps;
    let mut disk = Disk::new(&mut steps);
    let runs = make_runs_folder(&Folder::open_root(root)?, &mut disk)?;
    let mut number = run_ids(&runs)?.last().map_or(1, |last| last.0 + 1);
    loop {
        let run = RunId(number);
        match rustix::fs::mkdirat(runs.fd(), run.to_string(), Mode::from_raw_mode(0o777)) {
            Ok(()) => return Ok(run),
            // Another process was quicker.
            Err(rustix::io::Errno::EXIST) => number += 1,
            Err(errno) => {
                let path = runs.path_of(run.to_string());
                return Err(ApplyError::from_system(&path, "make the folder", errno));
            }
        }
    }
}

/// The folder of `run` under `root`, whether or not it is there.
pub fn run_folder(root: &Path, run: &RunId) -> PathBuf {
    root.join(STATE_FOLDER).join(RUNS_FOLDER).join(run.to_string())
}

/// The runs under `root`, oldest first.
pub fn runs(root: &Path) -> Result<Vec<RunId>, ApplyError> {
    match runs_folder(&Folder::open_root(root)?)? {
        Some(folder) => run_ids(&folder),
        None => Ok(Vec::new()),
    }
}

/// What `run` did to the tree under `root`.
pub fn run_state(root: &Path, run: &RunId) -> Result<RunState, ApplyError> {
    let folder = open_run(&Folder::open_root(root)?, run)?;
    state_of(&folder)
}

/// The newest run under `root` whose patch is in the tree.
pub fn last_applied(root: &Path) -> Result<Option<RunId>, ApplyError> {
    last_applied_in(&Folder::open_root(root)?)
}

/// The newest applied run of an open root.
pub(super) fn last_applied_in(root: &Folder) -> Result<Option<RunId>, ApplyError> {
    let Some(runs) = runs_folder(root)? else { return Ok(None) };
    for run in run_ids(&runs)?.into_iter().rev() {
        if state_of(&open_run(root, &run)?)? == RunState::Applied {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// What the run with this folder did.
pub(super) fn state_of(run: &Folder) -> Result<RunState, ApplyError> {
    let Some(journal) = Journal::read(run)? else { return Ok(RunState::Untouched) };
    let undo = match run.sub(UNDO_FOLDER)? {
        Some(folder) => Journal::read(&folder)?.map(|journal| journal.state),
        None => None,
    };
    Ok(match (journal.state, undo) {
        (State::Prepared, _) | (_, Some(State::Prepared)) => RunState::Interrupted,
        (State::Committed, None) => RunState::Applied,
        (State::Committed, Some(State::Committed)) => RunState::Undone,
    })
}

/// The open folder of a run that exists.
pub(super) fn open_run(root: &Folder, run: &RunId) -> Result<Folder, ApplyError> {
    let folder = match runs_folder(root)? {
        Some(runs) => runs.sub(run.to_string())?,
        None => None,
    };
    folder.ok_or_else(|| ApplyError::NoRun { run: run.clone() })
}

/// The open folder of all runs, where there is one.
pub(super) fn runs_folder(root: &Folder) -> Result<Option<Folder>, ApplyError> {
    match root.sub(STATE_FOLDER)? {
        Some(state) => state.sub(RUNS_FOLDER),
        None => Ok(None),
    }
}

/// The runs that have a folder in `runs`, oldest first.
pub(super) fn run_ids(runs: &Folder) -> Result<Vec<RunId>, ApplyError> {
    let mut ids: Vec<RunId> = runs.names()?.iter().filter_map(|name| RunId::parse(name.to_str()?)).collect();
    ids.sort_by_key(|run| run.0);
    Ok(ids)
}

/// Makes `.gpuport/runs`, and has version control ignore it.
pub(super) fn make_runs_folder(root: &Folder, disk: &mut Disk<'_>) -> Result<Folder, ApplyError> {
    let state = disk.make_folder(root, STATE_FOLDER)?;
    let ignore = OsStr::new(".gitignore");
    if state.read(ignore)?.is_none_or(|file| file.bytes != IGNORE_ALL) {
        let beside = format!(".gitignore.{}", std::process::id());
        disk.remove(&state, beside.as_ref())?;
        disk.create(&state, beside.as_ref(), IGNORE_ALL, None)?;
        disk.rename(&state, beside.as_ref(), ignore)?;
    }
    disk.make_folder(&state, RUNS_FOLDER)
}

/// Keeps other processes from changing the tree until it is dropped, or its process ends in whatever way.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that another thread is just starting holds the file open for a moment.
        let _ = self.file.unlock();
    }
}

/// Takes the lock of the open `root`, which lies at `root_path`. There must be a state folder.
pub(super) fn lock(root: &Folder, root_path: &Path) -> Result<Lock, ApplyError> {
    let vanished = || ApplyError::Vanished { path: root.path_of(STATE_FOLDER) };
    let state = root.sub(STATE_FOLDER)?.ok_or_else(vanished)?;
    let path = state.path_of("lock");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = openat(state.fd(), "lock", flags, Mode::from_raw_mode(0o666))
        .map_err(|errno| ApplyError::from_system(&path, "open the lock", errno))?;
    let file = File::from(fd);
    match file.try_lock() {
        Ok(()) => Ok(Lock { file }),
        Err(TryLockError::WouldBlock) => Err(ApplyError::Busy { root: root_path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(ApplyError::from_system(&path, "take the lock", error)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn runs_are_numbered_and_ignored_by_git() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(runs(root.path()).unwrap(), []);
        let first = new_run(root.path()).unwrap();
        let second = new_run(root.path()).unwrap();
        assert_eq!((first.to_string().as_str(), second.to_string().as_str()), ("0001", "0002"));
        assert_eq!(runs(root.path()).unwrap(), [first.clone(), second]);
        assert!(run_folder(root.path(), &first).is_dir());
        assert_eq!(fs::read(root.path().join(".gpuport/.gitignore")).unwrap(), b"*\n");
        assert_eq!(run_state(root.path(), &first).unwrap(), RunState::Untouched);
        assert_eq!(last_applied(root.path()).unwrap(), None);
    }

    #[test]
    fn a_run_is_called_by_its_number() {
        for (text, expected) in [
            ("7", Some("0007")),
            ("0007", Some("0007")),
            ("12345", Some("12345")),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("../7", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(RunId::parse(text).map(|run| run.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_linked_state_folder_is_not_followed() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(".gpuport")).unwrap();
        assert!(matches!(new_run(root.path()), Err(ApplyError::NotPlain { what: "a symbolic link", .. })));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_lock_is_held_by_one() {
        let path = tempfile::tempdir().unwrap();
        new_run(path.path()).unwrap();
        let root = Folder::open_root(path.path()).unwrap();
        let held = lock(&root, path.path()).unwrap();
        assert!(matches!(lock(&root, path.path()), Err(ApplyError::Busy { .. })));
        drop(held);
        lock(&root, path.path()).unwrap();
    }
}
