//! A private copy of the project for one run: made, handed to the program, looked through, set aside or removed.
//!
//! At most one run is active in a work folder, always at the same path, so that paths which a program prints are the
//! same from run to run. A run that is over is moved aside, out of the reach of those that follow.

mod confine;
mod copy;
mod environment;
mod scan;
mod settings;
mod written;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub(super) use self::confine::Confinement;
use self::copy::copy;
use self::environment::{Folders, environment};
pub use self::scan::CopyRules;
use self::scan::{Plan, scan};
use self::settings::SETTINGS;
use self::written::Manifest;
pub use self::written::Written;
use super::Tree;
use super::error::JudgeError;

/// The folder in which one judge works: copies, inputs, what runs left behind; removed when the judge is.
#[derive(Debug)]
pub(super) struct WorkFolder {
    /// Shared with other judges, whose folders no run may look into.
    shared: PathBuf,
    root: PathBuf,
}

impl WorkFolder {
    /// Makes a folder of its own in `shared`, which is made where it does not exist. Its real path is taken, so that a
    /// program sees the same path however it asks.
    pub(super) fn new(shared: &Path) -> Result<Self, JudgeError> {
        let made = fs::create_dir_all(shared).and_then(|()| fs::canonicalize(shared));
        let shared = made.map_err(|error| JudgeError::io(shared, error))?;
        let root = new_folder(&shared)?;
        let work = Self { shared, root };
        for folder in [work.inputs(), work.worker(), work.logs(), work.finished()] {
            fs::create_dir(&folder).map_err(|error| JudgeError::io(&folder, error))?;
        }
        Ok(work)
    }

    /// What runs may not look into.
    pub(super) fn hidden(&self) -> &Path {
        &self.shared
    }

    /// Saved inputs of functions.
    pub(super) fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// Compiled kernels, for each program its own: what a candidate left there must not reach the original.
    pub(super) fn cache(&self, program: &str) -> PathBuf {
        self.shared.join("cache").join(program)
    }

    /// The worker and its job.
    pub(super) fn worker(&self) -> PathBuf {
        self.root.join("worker")
    }

    /// Streams of the runs.
    pub(super) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Capture forms of files that the run `name` wrote.
    pub(super) fn converted(&self, name: &str) -> PathBuf {
        self.root.join("converted").join(name)
    }

    fn active(&self) -> PathBuf {
        self.root.join("active")
    }

    fn finished(&self) -> PathBuf {
        self.root.join("finished")
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = remove(&self.root);
    }
}

/// A folder in `shared` that was not there before.
fn new_folder(shared: &Path) -> Result<PathBuf, JudgeError> {
    let mut number = 0;
    loop {
        let root = shared.join(format!("judge-{number}"));
        match fs::create_dir(&root) {
            Ok(()) => return Ok(root),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(JudgeError::io(&root, error)),
        }
    }
}

/// The copy of one run.
#[derive(Debug)]
pub(super) struct Sandbox {
    root: PathBuf,
    manifest: Manifest,
}

impl Sandbox {
    /// Copies `tree` with its replaced files into the active folder of `work`.
    pub(super) fn create(
        tree: &Tree,
        work: &WorkFolder,
        rules: &CopyRules,
        interrupt: &AtomicBool,
    ) -> Result<Self, JudgeError> {
        let root = work.active();
        remove(&root)?;
        let plan = scan(&tree.root, &[work.hidden()], rules)?;
        Self::fill(&root, &plan, &tree.overlay, interrupt)
    }

    fn fill(
        root: &Path,
        plan: &Plan,
        overlay: &BTreeMap<PathBuf, Vec<u8>>,
        interrupt: &AtomicBool,
    ) -> Result<Self, JudgeError> {
        fs::create_dir(root).map_err(|error| JudgeError::io(root, error))?;
        let mut sandbox = Self { root: root.to_owned(), manifest: Manifest::default() };
        let temporary = sandbox.temporary();
        fs::create_dir(&temporary).map_err(|error| JudgeError::io(&temporary, error))?;
        copy(plan, &sandbox.project(), interrupt)?;
        for (path, bytes) in overlay {
            overlay_file(&sandbox.project(), path, bytes)?;
        }
        let project = sandbox.project();
        sandbox.manifest = Manifest::of(&project).map_err(|error| JudgeError::io(&project, error))?;
        Ok(sandbox)
    }

    /// Everything the run may write to.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The copy of the project.
    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Its folder for temporary files.
    fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Where the worker captures to.
    pub(super) fn capture(&self) -> PathBuf {
        self.root.join("capture")
    }

    /// Where the worker leaves its outcome.
    pub(super) fn outcome(&self) -> PathBuf {
        self.root.join("outcome.json")
    }

    /// The environment of a program that runs here, the user's project being at `original`.
    pub(super) fn environment(&self, original: &Path, cache: &Path) -> Vec<(OsString, OsString)> {
        let folders = Folders { original, project: &self.project(), temporary: &self.temporary(), cache };
        environment(std::env::vars_os(), folders)
    }

    /// What the run did to the copy. Only to be asked when no process of the run lives.
    pub(super) fn written(&self) -> Result<Written, JudgeError> {
        let project = self.project();
        self.manifest.written(&project).map_err(|error| JudgeError::io(&project, error))
    }

    /// Moves all of it aside, under `name`, for as long as somebody compares with it.
    pub(super) fn set_aside(mut self, work: &WorkFolder, name: &str) -> Result<Self, JudgeError> {
        let target = work.finished().join(name);
        remove(&target)?;
        fs::rename(&self.root, &target).map_err(|error| JudgeError::io(&target, error))?;
        self.root = target;
        Ok(self)
    }

    /// Removes all of it, and says where that fails; a dropped copy is removed in silence.
    pub(super) fn remove(self) -> Result<(), JudgeError> {
        remove(&self.root)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = remove(&self.root);
    }
}

/// True for files that the worker can turn into the capture form.
pub(super) fn is_convertible(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| SETTINGS.converted.contains(&extension))
}

/// Removes `folder` with everything in it, also where a program took its own rights away.
pub(super) fn remove(folder: &Path) -> Result<(), JudgeError> {
    let removed = fs::remove_dir_all(folder).or_else(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return Ok(());
        }
        open_up(folder);
        fs::remove_dir_all(folder)
    });
    removed.map_err(|error| JudgeError::io(folder, error))
}

/// Gives the owner all rights to the folders below `folder`.
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

fn overlay_file(project: &Path, path: &Path, bytes: &[u8]) -> Result<(), JudgeError> {
    let plain = path.components().all(|component| matches!(component, Component::Normal(_)));
    if !plain || path.as_os_str().is_empty() {
        return Err(JudgeError::Outside { path: path.to_owned() });
    }
    let target = project.join(path);
    let failed = |error| JudgeError::io(&target, error);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
        // A link to a folder inside the copy is fine; nothing else can be there.
        let real = fs::canonicalize(parent).map_err(failed)?;
        if !real.starts_with(project) {
            return Err(JudgeError::Outside { path: path.to_owned() });
        }
    }
    // The mode stays that of the file it replaces, which may be executable.
    let mode = fs::metadata(&target).map(|metadata| metadata.permissions());
    let _ = fs::remove_file(&target);
    fs::write(&target, bytes).map_err(failed)?;
    match mode {
        Ok(mode) => fs::set_permissions(&target, mode).map_err(failed),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
