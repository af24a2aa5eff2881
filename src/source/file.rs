//! One source file: bytes in, text out, and back again without a changed byte outside the edits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ruff_text_size::{TextRange, TextSize};
use sha2::{Digest, Sha256};

use super::encoding::EncodingProblem;
use super::notebook::Notebook;
use super::{Edits, Encoding, ProblemKind, SourceProblem};
use crate::reasons::Place;

/// A decoded file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path relative to the project's root, with `/`.
    pub path: PathBuf,
    /// The text; for a notebook, the joined code cells, each with a newline after it. Line endings are the file's own.
    pub text: String,
    /// How the bytes were decoded.
    pub encoding: Encoding,
    notebook: Option<Arc<Notebook>>,
    sha256: OnceLock<String>,
}

/// A code cell of a notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Its number among all cells of the notebook, from 1.
    pub cell_number: usize,
    /// Its text in the joined text, without the newline that was added. It may begin with a cell magic that takes Python
    /// (`%%time`), which must stay first.
    pub range: TextRange,
}

impl SourceFile {
    /// Reads the file at `path` below `root`.
    pub fn read(root: &Path, path: &Path) -> Result<Self, SourceProblem> {
        let bytes = std::fs::read(root.join(path));
        let bytes = bytes.map_err(|error| SourceProblem::at_start(path, ProblemKind::Io(error)))?;
        Self::from_bytes(path, &bytes)
    }

    /// Decodes `bytes` as Python does: BOM, PEP 263 comment, UTF-8. A path that ends in `.ipynb` is a notebook.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, SourceProblem> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(SourceProblem::at_start(path, ProblemKind::TooLarge));
        }
        if is_notebook(path) {
            let (notebook, text) =
                Notebook::read(bytes).map_err(|kind| SourceProblem::at_start(path, kind))?;
            return Ok(Self::new(path, text, Encoding::Utf8, Some(Arc::new(notebook))));
        }
        let encoding = Encoding::of(bytes).map_err(|problem| {
            SourceProblem::at_start(
                path,
                match problem {
                    EncodingProblem::Unknown(name) => ProblemKind::UnknownEncoding(name),
                    EncodingProblem::Contradiction(name) => ProblemKind::Contradiction(name),
                },
            )
        })?;
        let text = encoding.decode(bytes).map_err(|offset| SourceProblem {
            place: place_of_byte(path, bytes, offset),
            kind: ProblemKind::Undecodable { encoding: encoding.name(), offset },
        })?;
        if !encoding.is_reversible() && encoding.encode(&text).as_deref() != Ok(bytes) {
            return Err(SourceProblem::at_start(path, ProblemKind::Irreversible(encoding.name())));
        }
        if u32::try_from(text.len()).is_err() {
            return Err(SourceProblem::at_start(path, ProblemKind::TooLarge));
        }
        Ok(Self::new(path, text, encoding, None))
    }

    fn new(path: &Path, text: String, encoding: Encoding, notebook: Option<Arc<Notebook>>) -> Self {
        Self { path: path.to_owned(), text, encoding, notebook, sha256: OnceLock::new() }
    }

    /// The bytes of this file with `edits` made. Without edits they are the bytes it was read from.
    pub fn rewritten(&self, edits: &Edits) -> Result<Vec<u8>, SourceProblem> {
        let written = match &self.notebook {
            Some(notebook) => notebook.rewritten(&self.text, edits),
            None => self
                .encoding
                .encode(&edits.apply(&self.text))
                .map_err(|character| ProblemKind::Unencodable { encoding: self.encoding.name(), character }),
        };
        written.map_err(|kind| SourceProblem { place: self.place_of_first(edits), kind })
    }

    /// SHA-256 of the bytes as read, lower-case hex.
    pub fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| {
            let bytes = match &self.notebook {
                Some(notebook) => notebook.json().as_bytes().to_vec(),
                None => self.encoding.encode(&self.text).expect("the text was decoded from this encoding"),
            };
            hex(&Sha256::digest(bytes))
        })
    }

    /// True for a notebook.
    pub fn is_notebook(&self) -> bool {
        self.notebook.is_some()
    }

    /// The Python cells of a notebook, in order; none for other files. Cells with a magic for
    /// another language (`%%bash`) are left out.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.notebook.iter().flat_map(|notebook| notebook.cells())
    }

    fn place_of_first(&self, edits: &Edits) -> Place {
        let offset = edits.iter().next().map_or(TextSize::default(), |edit| edit.range.start());
        place_of_byte(&self.path, self.text.as_bytes(), offset.into())
    }
}

/// True where `path` names a notebook.
pub(super) fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ipynb")
}

fn place_of_byte(path: &Path, bytes: &[u8], offset: usize) -> Place {
    let before = &bytes[..offset.min(bytes.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    Place {
        path: path.to_owned(),
        line_number: u32::try_from(line).unwrap_or(u32::MAX),
        column_number: u32::try_from(column).unwrap_or(u32::MAX),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::EditsBuilder;
    use super::*;

    fn read(bytes: &[u8]) -> Result<SourceFile, String> {
        SourceFile::from_bytes(Path::new("a/m.py"), bytes)
            .map_err(|problem| format!("{} {problem}", problem.code()))
    }

    #[test]
    fn text_is_kept_byte_for_byte() {
        for bytes in [
            &b"x = 1\r\ny = 2\rz = 3\n"[..],
            b"\x0cx = 1\n\ty\n",
            b"\xef\xbb\xbfx = 1\n",
            b"# coding: latin-1\nx = '\xe9'\n",
            b"# coding: cp1252\nx = '\x80'\n",
            b"# coding: shift_jis\nx = '\x83\x65'\n",
            b"",
        ] {
            let file = read(bytes).unwrap();
            assert_eq!(file.rewritten(&Edits::default()).unwrap(), bytes, "{file:?}");
            assert_eq!(file.sha256(), hex(&Sha256::digest(bytes)));
        }
    }

    #[test]
    fn edits_are_encoded_as_the_file_is() {
        let file = read(b"# coding: latin-1\nx = '\xe9'\n").unwrap();
        let mut edits = EditsBuilder::new();
        edits.replace(TextRange::new(18.into(), 19.into()), "\u{fc}");
        let edits = edits.finish().unwrap();
        assert_eq!(file.rewritten(&edits).unwrap(), b"# coding: latin-1\n\xfc = '\xe9'\n");
        let mut edits = EditsBuilder::new();
        edits.insert(18.into(), "\u{3b1}");
        let problem = file.rewritten(&edits.finish().unwrap()).unwrap_err();
        assert_eq!(problem.to_string(), "a/m.py:2:1: iso-8859-1 has no character for 'α'");
    }

    #[test]
    fn refusals_name_the_place() {
        for (bytes, expected) in [
            (
                &b"x\ny = '\xff'"[..],
                "GP102 a/m.py:2:6: not valid utf-8: the byte at offset 7 can't be decoded",
            ),
            (b"# coding: nope\n", "GP102 a/m.py:1:1: unknown encoding `nope`"),
            (
                b"\xef\xbb\xbf# coding: ascii\n",
                "GP102 a/m.py:1:1: a UTF-8 byte order mark contradicts the declared encoding `ascii`",
            ),
        ] {
            assert_eq!(read(bytes).unwrap_err(), expected);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_back(
            head in prop::sample::select(vec!["", "# coding: latin-1\n", "# coding: euc-jp\n", "# coding: gbk\n", "# coding: koi8-r\n", "\u{feff}"]),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let bytes = [head.as_bytes(), &bytes].concat();
            if let Ok(file) = read(&bytes) {
                prop_assert_eq!(file.rewritten(&Edits::default()).unwrap(), bytes);
            }
        }
    }
}
