//! What a run left behind, as the worker wrote it: parsed as plain data, with every size and name checked.
//!
//! A candidate's process wrote these files, so nothing in them is believed: names can't leave the folder, links are
//! not followed, headers must match file sizes, and what doesn't fit is an error that says where.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub mod node;
pub mod npy;
pub mod source;

use node::Node;
use source::Source;

/// The value of `format` in a manifest.
pub const FORMAT: &str = "gpuport/capture/1";
/// The largest manifest that is read. The worker's own limit on nodes keeps honest ones far below.
const MANIFEST_LIMIT: u64 = 256 << 20;

/// Why a capture, or a file of it, can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Reading failed, or the file isn't there.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is a folder, link, pipe or device.
    #[error("{} is no plain file", .0.display())]
    NoFile(PathBuf),
    /// The manifest is no JSON, or no manifest.
    #[error("the capture's manifest can't be read: {0}")]
    Manifest(String),
    /// A file is named that no worker would write.
    #[error("{0:?} is no name of a captured file")]
    Name(String),
    /// An array's file is damaged or is no array that can be compared.
    #[error(transparent)]
    Npy(#[from] npy::NpyError),
    /// Sizes that don't fit together.
    #[error("{0}")]
    Inconsistent(String),
}

/// A parsed capture.
#[derive(Debug)]
pub struct Capture {
    dir: PathBuf,
    /// The main module's names at the end of a program.
    pub globals: Option<Node>,
    /// The calls of a function, in order.
    pub calls: Vec<Call>,
    /// The value that a file was converted to.
    pub value: Option<Node>,
}

/// What one call of a function left behind.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// Which of all calls it is, warm-up included, from 0.
    pub index: u32,
    /// Which set of inputs the function was called with.
    pub set: u32,
    /// What it returned.
    #[serde(rename = "return")]
    pub returned: Node,
    /// Its arguments after the call.
    pub arguments: Node,
}

#[derive(Deserialize)]
struct Manifest {
    format: String,
    #[serde(default)]
    globals: Option<Node>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    value: Option<Node>,
}

impl Capture {
    /// Reads the manifest in `dir`. Arrays are opened when they are compared.
    pub fn open(dir: &Path) -> Result<Self, CaptureError> {
        let path = dir.join("manifest.json");
        let mut file = open_plain(&path)?;
        let io_error = |source| CaptureError::Io { path: path.clone(), source };
        let size = file.metadata().map_err(io_error)?.len();
        if size > MANIFEST_LIMIT {
            return Err(CaptureError::Manifest(format!("it has {size} bytes")));
        }
        let mut text = Vec::new();
        Read::by_ref(&mut file).take(MANIFEST_LIMIT).read_to_end(&mut text).map_err(io_error)?;
        Self::parse(dir, &text)
    }

    /// Reads a manifest's text. `dir` is where its files are.
    pub fn parse(dir: &Path, text: &[u8]) -> Result<Self, CaptureError> {
        let manifest: Manifest =
            serde_json::from_slice(text).map_err(|error| CaptureError::Manifest(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(CaptureError::Manifest(format!("its format is {:?}", manifest.format)));
        }
        Ok(Self {
            dir: dir.to_owned(),
            globals: manifest.globals,
            calls: manifest.calls,
            value: manifest.value,
        })
    }

    /// Opens a file that the manifest names.
    pub fn file(&self, name: &str) -> Result<Source, CaptureError> {
        if !is_captured_name(name) {
            return Err(CaptureError::Name(name.to_owned()));
        }
        let path = self.dir.join(name);
        let file = open_plain(&path)?;
        Source::from_file(file).map_err(|source| CaptureError::Io { path, source })
    }
}

/// The names that the worker gives: six digits or more, and an extension.
fn is_captured_name(name: &str) -> bool {
    let Some((stem, extension)) = name.split_once('.') else { return false };
    stem.len() >= 6
        && stem.bytes().all(|byte| byte.is_ascii_digit())
        && matches!(extension, "npy" | "bin" | "txt")
}

/// Opens a plain file for reading, never through a link in its last part, never waiting for a pipe's other end.
pub fn open_plain(path: &Path) -> Result<File, CaptureError> {
    let io_error = |source| CaptureError::Io { path: path.to_owned(), source };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)
        .map_err(io_error)?;
    if file.metadata().map_err(io_error)?.is_file() {
        Ok(file)
    } else {
        Err(CaptureError::NoFile(path.to_owned()))
    }
}

/// The nodes of one tree by their number, for resolving references.
pub type Numbers<'a> = HashMap<u64, &'a Node>;

/// Collects the numbered nodes of trees that share references.
pub fn numbers<'a>(roots: &[&'a Node]) -> Numbers<'a> {
    let mut found = Numbers::new();
    let mut pending = roots.to_vec();
    while let Some(node) = pending.pop() {
        if let Some(id) = node.id() {
            found.entry(id).or_insert(node);
        }
        pending.extend(node.children());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_workers_own_names_are_opened() {
        for good in ["000001.npy", "123456.bin", "1234567.txt"] {
            assert!(is_captured_name(good), "{good}");
        }
        for bad in ["", "1.npy", "../000001.npy", "000001.pkl", "000001.npy/x", "/etc/passwd", "00000a.npy"] {
            assert!(!is_captured_name(bad), "{bad}");
        }
    }

    #[test]
    fn links_folders_and_pipes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("real"), b"x").unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("link")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap();
        assert!(pipe.success());
        assert!(open_plain(&dir.path().join("real")).is_ok());
        for bad in ["link", "pipe", ".", "absent"] {
            assert!(open_plain(&dir.path().join(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_manifest_that_is_none_is_an_error() {
        let check = |text: &str, expected: &str| {
            let error = Capture::parse(Path::new("."), text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("", "manifest");
        check("[]", "manifest");
        check(r#"{"format": "other"}"#, "other");
        check(r#"{"format": "gpuport/capture/1", "globals": {"type": "thing"}}"#, "thing");
        check(&"[".repeat(10_000), "manifest");
        let deep = format!(
            r#"{{"format": "gpuport/capture/1", "value": {}{}"#,
            r#"{"type":"sequence","class":"list","items":["#.repeat(1000),
            "]}".repeat(1000)
        );
        check(&deep, "manifest");
    }
}
