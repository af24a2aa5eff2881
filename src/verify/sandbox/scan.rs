//! Decides what of a project comes along into a copy, before anything is copied.
//!
//! Links that stay inside the project and lead to something that comes along remain links. Any other link is replaced
//! by a copy of what it leads to, so that no program can write through it; where it leads nowhere, it is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::settings::SETTINGS;
use crate::verify::error::JudgeError;

/// What comes along into a copy, and what that may come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRules {
    /// The most bytes of all files together.
    pub max_bytes: u64,
    /// The most files.
    pub max_files: u64,
    /// What is left out beyond version control, environments and caches: patterns as in `.gitignore`. One that begins
    /// with `!` takes along what would be left out.
    pub exclude: Vec<String>,
}

impl Default for CopyRules {
    /// Enough for a project with data, and far below what would fill a disk unnoticed.
    fn default() -> Self {
        Self { max_bytes: 16 << 30, max_files: 200_000, exclude: Vec::new() }
    }
}

impl CopyRules {
    fn matcher(&self, root: &Path) -> Result<Gitignore, JudgeError> {
        let mut builder = GitignoreBuilder::new(root);
        for pattern in &self.exclude {
            builder.add_line(None, pattern).map_err(|error| JudgeError::Pattern {
                pattern: pattern.clone(),
                message: error.to_string(),
            })?;
        }
        builder
            .build()
            .map_err(|error| JudgeError::Pattern { pattern: String::new(), message: error.to_string() })
    }
}

/// One entry of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A folder.
    Folder,
    /// A file, copied from here.
    File(PathBuf),
    /// A link with this target.
    Link(PathBuf),
}

/// What comes along, by path relative to the root; folders before what is in them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The entries.
    pub(super) entries: BTreeMap<PathBuf, Entry>,
    /// Bytes of all files.
    pub(super) bytes: u64,
    files: u64,
    /// The largest files, with their size, for a message.
    largest: Vec<(u64, PathBuf)>,
}

/// Looks through the project at `root`. Paths in `skipped` (absolute) are left out whatever they are called.
pub(super) fn scan(root: &Path, skipped: &[&Path], rules: &CopyRules) -> Result<Plan, JudgeError> {
    let real_root = fs::canonicalize(root).map_err(|error| JudgeError::io(root, error))?;
    let excluded = rules.matcher(&real_root)?;
    let mut scan =
        Scan { root: real_root.clone(), skipped, rules, excluded, plan: Plan::default(), links: Vec::new() };
    scan.folder(&real_root, Path::new(""), &mut BTreeSet::new())?;
    scan.links()?;
    Ok(scan.plan)
}

struct Scan<'a> {
    root: PathBuf,
    skipped: &'a [&'a Path],
    rules: &'a CopyRules,
    excluded: Gitignore,
    plan: Plan,
    /// Links, decided once it is known what comes along.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Scan<'_> {
    /// Takes what is in `folder`, to stand at `at` in the copy. `open` are the real folders around, to notice loops.
    fn folder(
        &mut self,
        folder: &Path,
        at: &Path,
        open: &mut BTreeSet<(u64, u64)>,
    ) -> Result<(), JudgeError> {
        let failed = |error: io::Error| JudgeError::io(folder, error);
        let metadata = fs::metadata(folder).map_err(failed)?;
        if !open.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(name) = path.file_name() else { continue };
            let metadata = fs::symlink_metadata(&path).map_err(|error| JudgeError::io(&path, error))?;
            let at = at.join(name);
            if !self.is_left_out(&path, &at, metadata.is_dir()) {
                self.entry(&path, at, &metadata, open)?;
            }
        }
        open.remove(&(metadata.dev(), metadata.ino()));
        Ok(())
    }

    fn entry(
        &mut self,
        path: &Path,
        at: PathBuf,
        metadata: &Metadata,
        open: &mut BTreeSet<(u64, u64)>,
    ) -> Result<(), JudgeError> {
        if metadata.is_symlink() {
            self.links.push((path.to_owned(), at));
        } else if metadata.is_dir() {
            self.plan.entries.insert(at.clone(), Entry::Folder);
            self.folder(path, &at, open)?;
        } else if metadata.is_file() {
            self.file(path, at, metadata.len())?;
        }
        // Sockets, pipes and devices are no data.
        Ok(())
    }

    fn file(&mut self, path: &Path, at: PathBuf, bytes: u64) -> Result<(), JudgeError> {
        self.plan.bytes += bytes;
        self.plan.files += 1;
        self.plan.largest.push((bytes, at.clone()));
        if self.plan.largest.len() > 64 {
            self.plan.largest.sort_unstable_by(|one, other| other.cmp(one));
            self.plan.largest.truncate(3);
        }
        if self.plan.bytes > self.rules.max_bytes || self.plan.files > self.rules.max_files {
            return Err(self.too_large());
        }
        self.plan.entries.insert(at, Entry::File(path.to_owned()));
        Ok(())
    }

    fn too_large(&mut self) -> JudgeError {
        self.plan.largest.sort_unstable_by(|one, other| other.cmp(one));
        let largest = self.plan.largest.iter().take(3).map(|(_, path)| path.clone()).collect();
        JudgeError::TooLarge { root: self.root.clone(), rules: self.rules.clone(), largest }
    }

    /// Whether the entry at `path`, which would stand at `at`, stays behind.
    fn is_left_out(&self, path: &Path, at: &Path, is_folder: bool) -> bool {
        match self.excluded.matched(at, is_folder) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => is_folder && self.is_no_part(path),
        }
    }

    /// Whether a folder is version control, an environment, a cache or the judge's own.
    fn is_no_part(&self, folder: &Path) -> bool {
        let named = folder
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| SETTINGS.left_out.iter().any(|left_out| left_out == name));
        named
            || self.skipped.contains(&folder)
            || SETTINGS.markers.iter().any(|marker| folder.join(marker).symlink_metadata().is_ok())
    }

    /// Decides about the links. Those inside what a link leads to are found on the way and decided in turn.
    fn links(&mut self) -> Result<(), JudgeError> {
        while let Some((path, at)) = self.links.pop() {
            let Ok(real) = fs::canonicalize(&path) else { continue };
            let inside = real.strip_prefix(&self.root).ok().map(Path::to_owned);
            match inside {
                Some(inside) if inside.as_os_str().is_empty() || self.plan.entries.contains_key(&inside) => {
                    self.plan.entries.insert(at.clone(), Entry::Link(relative_target(&at, &inside)));
                }
                _ => self.replaced(&real, at)?,
            }
        }
        Ok(())
    }

    fn replaced(&mut self, real: &Path, at: PathBuf) -> Result<(), JudgeError> {
        let metadata = fs::metadata(real).map_err(|error| JudgeError::io(real, error))?;
        if !metadata.is_dir() {
            return self.entry(real, at, &metadata, &mut BTreeSet::new());
        }
        // A folder that holds the project would hold itself.
        if self.root.starts_with(real) || self.is_no_part(real) {
            return Ok(());
        }
        self.plan.entries.insert(at.clone(), Entry::Folder);
        self.folder(real, &at, &mut BTreeSet::new())
    }
}

/// How the link at `at` reaches `target`, both relative to the root.
fn relative_target(at: &Path, target: &Path) -> PathBuf {
    let depth = at.parent().map_or(0, |parent| parent.components().count());
    let up = std::iter::repeat_n(Component::ParentDir, depth);
    let path: PathBuf = up.chain(target.components()).collect();
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}
