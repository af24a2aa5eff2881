//! Everything that changes the file system here, one announced step at a time.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat,
    fsync, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::ApplyError;
use super::folder::{Folder, Plain};

/// A step that is about to be made on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A folder is made.
    MakeFolder,
    /// A new, empty file is made.
    Create,
    /// Its bytes are written.
    Write,
    /// It gets the owner, permissions and attributes of the file it will replace.
    Describe,
    /// It is forced to disk.
    Sync,
    /// A file takes another's name, replacing what has it.
    Rename,
    /// A file is removed.
    Remove,
    /// A folder's entries are forced to disk.
    SyncFolder,
}

/// Is told of every step before it is made, and may make it fail. Tests kill the process here, or fill the disk.
pub trait Steps {
    /// Called before `step`. An error is taken for the system's answer to the step.
    fn before(&mut self, step: Step) -> io::Result<()>;
}

/// Lets every step happen.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSteps;

impl Steps for NoSteps {
    fn before(&mut self, _step: Step) -> io::Result<()> {
        Ok(())
    }
}

/// The hand that changes folders.
pub(super) struct Disk<'a> {
    steps: &'a mut dyn Steps,
}

impl<'a> Disk<'a> {
    /// A hand that tells `steps` of everything it does.
    pub(super) fn new(steps: &'a mut dyn Steps) -> Self {
        Self { steps }
    }

    fn step(&mut self, step: Step, path: &Path, action: &'static str) -> Result<(), ApplyError> {
        self.steps.before(step).map_err(|error| ApplyError::from_system(path, action, error))
    }

    /// Opens the folder `name` in `parent`, making it where there is none.
    pub(super) fn make_folder(&mut self, parent: &Folder, name: &str) -> Result<Folder, ApplyError> {
        if let Some(folder) = parent.sub(name)? {
            return Ok(folder);
        }
        let path = parent.path_of(name);
        self.step(Step::MakeFolder, &path, "make the folder")?;
        match mkdirat(parent.fd(), name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(ApplyError::from_system(&path, "make the folder", errno)),
        }
        self.sync_folder(parent)?;
        parent.sub(name)?.ok_or(ApplyError::Vanished { path })
    }

    /// Writes the new file `name` and forces it to disk. It looks like `model` to everybody, or is the user's own.
    pub(super) fn create(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        bytes: &[u8],
        model: Option<&Plain>,
    ) -> Result<(), ApplyError> {
        let path = folder.path_of(name);
        self.step(Step::Create, &path, "create the file")?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(folder.fd(), name, flags, Mode::from_raw_mode(0o600))
            .map_err(|errno| ApplyError::from_system(&path, "create the file", errno))?;
        let mut file = File::from(fd);
        self.step(Step::Write, &path, "write the file")?;
        file.write_all(bytes).map_err(|error| ApplyError::from_system(&path, "write the file", error))?;
        if let Some(model) = model {
            self.step(Step::Describe, &path, "set the file's permissions")?;
            describe(&file, model).map_err(|errno| not_described(&path, errno))?;
        }
        self.step(Step::Sync, &path, "force the file to disk")?;
        file.sync_all().map_err(|error| ApplyError::from_system(&path, "force the file to disk", error))
    }

    /// Gives `from` the name `to` in the same folder, replacing what has it.
    pub(super) fn rename(&mut self, folder: &Folder, from: &OsStr, to: &OsStr) -> Result<(), ApplyError> {
        let path = folder.path_of(to);
        self.step(Step::Rename, &path, "replace the file")?;
        renameat(folder.fd(), from, folder.fd(), to)
            .map_err(|errno| ApplyError::from_system(&path, "replace the file", errno))
    }

    /// Removes `name`; nothing is done where there is none.
    pub(super) fn remove(&mut self, folder: &Folder, name: &OsStr) -> Result<(), ApplyError> {
        let path = folder.path_of(name);
        if statat(folder.fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_err_and(|errno| errno == Errno::NOENT) {
            return Ok(());
        }
        self.step(Step::Remove, &path, "remove the file")?;
        match unlinkat(folder.fd(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(ApplyError::from_system(&path, "remove the file", errno)),
        }
    }

    /// Forces the folder's entries to disk.
    pub(super) fn sync_folder(&mut self, folder: &Folder) -> Result<(), ApplyError> {
        self.step(Step::SyncFolder, folder.path(), "force the folder to disk")?;
        match fsync(folder.fd()) {
            // Some file systems can't do this for folders.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(ApplyError::from_system(folder.path(), "force the folder to disk", errno)),
        }
    }
}

/// Gives `file` the owner, permissions and extended attributes (access lists among them) of `model`.
fn describe(file: &File, model: &Plain) -> rustix::io::Result<()> {
    let own = fstat(file)?;
    if (own.st_uid, own.st_gid) != (model.stat.st_uid, model.stat.st_gid) {
        fchown(file, Some(Uid::from_raw(model.stat.st_uid)), Some(Gid::from_raw(model.stat.st_gid)))?;
    }
    fchmod(file, Mode::from_raw_mode(model.stat.st_mode))?;
    match copy_attributes(file, &model.file) {
        Err(Errno::NOTSUP) => Ok(()),
        other => other,
    }
}

/// Not being allowed to give a file away is no reason to call it read-only.
fn not_described(path: &Path, errno: Errno) -> ApplyError {
    let action = "keep the file's owner and permissions";
    match errno {
        Errno::PERM | Errno::ACCESS => ApplyError::Io { path: path.to_owned(), action, error: errno.into() },
        _ => ApplyError::from_system(path, action, errno),
    }
}

/// The system's limit for the names, and for the value, of a file's extended attributes.
const ATTRIBUTE_BYTES: usize = 64 * 1024;

fn copy_attributes(file: &File, model: &File) -> rustix::io::Result<()> {
    let mut names = vec![0; ATTRIBUTE_BYTES];
    let length = flistxattr(model, &mut names[..])?;
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; ATTRIBUTE_BYTES];
        let length = fgetxattr(model, name, &mut value[..])?;
        match fsetxattr(file, name, &value[..length], XattrFlags::empty()) {
            // The system's own labels: it sets them on new files by itself.
            Err(_) if name.starts_with(b"security.") || name.starts_with(b"trusted.") => {}
            other => other?,
        }
    }
    Ok(())
}
