//! Which files a run wrote, changed or removed, told by what the kernel keeps of them, without following links.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::settings::SETTINGS;

/// The most entries that are looked at after a run: more is a fault, not an output.
const ENTRY_LIMIT: usize = 100_000;

/// Identity and age of every file of a copy.
#[derive(Debug, Default)]
pub(super) struct Manifest(BTreeMap<PathBuf, Stamp>);

/// What tells a file from an untouched one. A program can set back the times of a file, but not the time of that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Other,
}

/// What a run did to its copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Plain files written or changed, relative to the root, sorted.
    pub files: Vec<PathBuf>,
    /// Files and links removed, sorted.
    pub removed: Vec<PathBuf>,
    /// Links, pipes, sockets and devices made, sorted: they are never opened.
    pub special: Vec<PathBuf>,
    /// There was more than the judge looks at.
    pub truncated: bool,
}

impl Manifest {
    /// The state of the copy at `root`.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let mut entries = BTreeMap::new();
        // A copy holds no more entries than its limits allow: no cap is needed here.
        walk(root, Path::new(""), usize::MAX, &mut entries)?;
        Ok(Self(entries))
    }

    /// How the copy at `root` differs from this state.
    pub(super) fn written(&self, root: &Path) -> io::Result<Written> {
        let mut now = BTreeMap::new();
        let truncated = !walk(root, Path::new(""), ENTRY_LIMIT + self.0.len(), &mut now)?;
        let mut written = Written { truncated, ..Written::default() };
        for (path, stamp) in &now {
            if self.0.get(path) == Some(stamp) || is_library_log(path) {
                continue;
            }
            match stamp.kind {
                Kind::File => written.files.push(path.clone()),
                Kind::Other => written.special.push(path.clone()),
            }
        }
        written.removed = self.0.keys().filter(|path| !now.contains_key(*path)).cloned().collect();
        Ok(written)
    }
}

/// Gathers everything but folders. False where there is more than `limit`.
fn walk(folder: &Path, at: &Path, limit: usize, entries: &mut BTreeMap<PathBuf, Stamp>) -> io::Result<bool> {
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        // The program removed its own root, or made a folder that can't be read.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    for entry in listing {
        let entry = entry?;
        if entries.len() >= limit {
            return Ok(false);
        }
        let at = at.join(entry.file_name());
        let metadata = fs::symlink_metadata(entry.path())?;
        if !metadata.is_dir() {
            entries.insert(at, stamp(&metadata));
        } else if !is_cache(&at) && !walk(&entry.path(), &at, limit, entries)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Folders that a copy leaves out are no output either.
fn is_cache(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| SETTINGS.left_out.iter().any(|left_out| left_out == name))
}

fn is_library_log(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| SETTINGS.library_logs.iter().any(|log| log == name))
}

fn stamp(metadata: &Metadata) -> Stamp {
    Stamp {
        inode: metadata.ino(),
        bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        kind: if metadata.is_file() { Kind::File } else { Kind::Other },
    }
}
