//! The repository's text files, as git would list them.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file.
pub(crate) struct File {
    /// Relative to the repository's root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// The repository's root, as Cargo says now or said when this was compiled.
pub(crate) fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// All text files that `.gitignore` leaves, sorted by path.
pub(crate) fn all() -> Vec<File> {
    let entries = ignore::WalkBuilder::new(root())
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut files: Vec<File> = entries
        .map(|entry| entry.expect("a readable tree"))
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| read(entry.path()))
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn read(path: &Path) -> Option<File> {
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    let path: PathBuf = path.strip_prefix(root()).ok()?.to_owned();
    Some(File { path: path.to_str()?.to_owned(), text })
}

impl File {
    /// Whether it lies in `folder`.
    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether its name ends with a dot and one of `extensions`.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|it| extensions.iter().any(|extension| it == *extension))
    }

    /// Whether it is a program in Python: by its name, or by its first line.
    pub(crate) fn is_python(&self) -> bool {
        let first = self.text.lines().next().unwrap_or_default();
        self.has_extension(&["py"]) || (first.starts_with("#!") && first.contains("python"))
    }

    /// Its lines with their numbers, from 1.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}
