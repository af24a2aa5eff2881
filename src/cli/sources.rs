//! The project's files with the changes accepted so far laid over them: what planning reads and judging runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::names::Project;
use crate::reasons::{Code, Place, Refusal};
use crate::source::{Module, SourceFile};

/// A tree with some files replaced.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    /// The project's root.
    pub root: PathBuf,
    /// Replaced files by path relative to the root.
    pub overlay: BTreeMap<PathBuf, Vec<u8>>,
}

impl Sources {
    /// The tree as it is on disk.
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, overlay: BTreeMap::new() }
    }

    /// The bytes of the file at `path`, relative to the root.
    pub(super) fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.overlay.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => std::fs::read(self.root.join(path)),
        }
    }

    /// The file at `path`, decoded and parsed; a refusal where it can't be.
    pub(super) fn module(&self, path: &Path) -> Result<Arc<Module>, Refusal> {
        let bytes = self.bytes(path).map_err(|error| {
            let place = Place { path: path.to_owned(), line_number: 1, column_number: 1 };
            Refusal {
                place,
                code: Code::new("GP105"),
                message: format!("can't be read: {error}"),
                pass: None,
            }
        })?;
        parse(path, &bytes)
    }

    /// The project of `entry` and the modules it reaches.
    pub(super) fn project_of(&self, entry: Arc<Module>) -> Project {
        Project::for_entry(&self.root, entry, &|path| self.module(path).ok())
    }
}

/// Decodes and parses `bytes`.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Arc<Module>, Refusal> {
    let file = SourceFile::from_bytes(path, bytes).map_err(|problem| problem.refusal())?;
    Module::parse(file).map(Arc::new).map_err(|problem| problem.refusal())
}
