//! Folders held open while files in them are read and replaced.
//!
//! Every name is looked up in an open folder and never through a symbolic link, so nothing that is swapped into a path
//! meanwhile can lead a write elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat, accessat, fstat, openat, statat};
use rustix::io::Errno;

use super::{ApplyError, sha256};

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
    /// For messages: relative to the root; empty for the root itself.
    path: PathBuf,
}

/// A plain file as it was read.
#[derive(Debug)]
pub(super) struct Plain {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// The open file, whose owner, permissions and attributes a replacement takes over.
    pub(super) file: File,
    /// Its owner and permissions.
    pub(super) stat: Stat,
}

impl Plain {
    /// SHA-256 of the bytes, lower-case hex.
    pub(super) fn sha256(&self) -> String {
        sha256(&self.bytes)
    }
}

impl Folder {
    /// Opens a project's root. The path to it may lead through links; paths in it may not.
    pub(super) fn open_root(root: &Path) -> Result<Self, ApplyError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(root, flags, Mode::empty())
            .map_err(|errno| ApplyError::from_system(root, "open the project's root", errno))?;
        Ok(Self { fd, path: PathBuf::new() })
    }

    /// Where `name` in this folder is, for messages.
    pub(super) fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// This folder's path, for messages.
    pub(super) fn path(&self) -> &Path {
        if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path }
    }

    /// The open folder.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Opens the folder `name` in this one; `None` where there is none.
    pub(super) fn sub(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, ApplyError> {
        let path = self.path_of(&name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.fd, name.as_ref(), flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path })),
            Err(Errno::NOENT) => Ok(None),
            // A link in a folder's place is not a folder either; which of the two the system says differs.
            Err(Errno::NOTDIR | Errno::LOOP) => Err(self.not_a_folder(name.as_ref())),
            Err(errno) => Err(ApplyError::from_system(&path, "open the folder", errno)),
        }
    }

    fn not_a_folder(&self, name: &OsStr) -> ApplyError {
        let is_link = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
        ApplyError::NotPlain {
            path: self.path_of(name),
            what: if is_link { "a symbolic link" } else { "not a folder" },
        }
    }

    /// The folder that holds the file at `relative`, and the file's name in it.
    pub(super) fn parent_of(&self, relative: &Path) -> Result<(Self, OsString), ApplyError> {
        let outside = || ApplyError::Outside { path: relative.to_owned() };
        let mut names = Vec::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        let file_name = names.pop().ok_or_else(outside)?.to_owned();
        let mut folder = Self {
            fd: self
                .fd
                .try_clone()
                .map_err(|error| ApplyError::from_system(self.path(), "open the folder", error))?,
            path: self.path.clone(),
        };
        for name in names {
            let vanished = || ApplyError::Vanished { path: relative.to_owned() };
            folder = folder.sub(name)?.ok_or_else(vanished)?;
        }
        Ok((folder, file_name))
    }

    /// Reads the plain file `name`; `None` where there is none.
    pub(super) fn read(&self, name: impl AsRef<OsStr>) -> Result<Option<Plain>, ApplyError> {
        let path = self.path_of(&name);
        let failed = |errno: std::io::Error| ApplyError::from_system(&path, "read the file", errno);
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = match openat(&self.fd, name.as_ref(), flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(errno.into())),
        };
        let stat = fstat(&file).map_err(|errno| failed(errno.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(ApplyError::NotPlain { path, what: "not a plain file" });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(Plain { bytes, file, stat }))
    }

    /// Reads the plain file `name`, which must be there.
    pub(super) fn read_existing(&self, name: impl AsRef<OsStr>) -> Result<Plain, ApplyError> {
        let path = self.path_of(&name);
        self.read(name)?.ok_or(ApplyError::Vanished { path })
    }

    /// Whether the owner of this process may write `name`, and somebody is meant to: a file without any write
    /// permission is left alone even where the process may do everything.
    pub(super) fn check_writable(&self, name: &OsStr, plain: &Plain) -> Result<(), ApplyError> {
        let path = self.path_of(name);
        if !Mode::from_raw_mode(plain.stat.st_mode).intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH) {
            return Err(ApplyError::ReadOnly { path });
        }
        accessat(&self.fd, name, Access::WRITE_OK, AtFlags::EACCESS)
            .map_err(|errno| ApplyError::from_system(&path, "write the file", errno))
    }

    /// The names in this folder, sorted.
    pub(super) fn names(&self) -> Result<Vec<OsString>, ApplyError> {
        use std::os::unix::ffi::OsStringExt as _;
        let failed = |errno: Errno| ApplyError::from_system(self.path(), "list the folder", errno);
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }
}
