//! Why a file is left alone, with a place and a reason code.

use std::path::Path;

use thiserror::Error;

use crate::reasons::{Code, Place, Refusal};

/// A file that can't be read, decoded, parsed or written as it should be.
#[derive(Debug, Error)]
#[error("{place}: {kind}")]
pub struct SourceProblem {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a file.
#[derive(Debug, Error)]
pub enum ProblemKind {
    /// Python's parser would not take it.
    #[error("not valid Python: {0}")]
    Syntax(String),
    /// The encoding that it declares is not known, or can't be used.
    #[error("unknown encoding `{0}`")]
    UnknownEncoding(String),
    /// It begins with a UTF-8 byte order mark and declares another encoding.
    #[error("a UTF-8 byte order mark contradicts the declared encoding `{0}`")]
    Contradiction(String),
    /// Some bytes are no text in its encoding.
    #[error("not valid {encoding}: the byte at offset {offset} can't be decoded")]
    Undecodable {
        /// The encoding's name.
        encoding: &'static str,
        /// The first such byte, from 0.
        offset: usize,
    },
    /// Its text, encoded again, has other bytes.
    #[error("its bytes can't be kept exactly in {0}")]
    Irreversible(&'static str),
    /// New text has a character that its encoding lacks.
    #[error("{encoding} has no character for {character:?}")]
    Unencodable {
        /// The encoding's name.
        encoding: &'static str,
        /// The first such character.
        character: char,
    },
    /// Brackets, blocks or operators are nested too deeply to be walked safely.
    #[error("nested more than {0} levels deep")]
    TooDeep(u32),
    /// It uses names that stand for metavariables inside gpuport.
    #[error("names that begin with `{0}` are reserved")]
    Reserved(&'static str),
    /// The system can't read it.
    #[error("can't be read: {0}")]
    Io(std::io::Error),
    /// Offsets into it don't fit 32 bits.
    #[error("larger than 4 GiB")]
    TooLarge,
    /// It is no Python notebook of a format we know.
    #[error("not a Python notebook: {0}")]
    Notebook(String),
    /// An edit reaches from one notebook cell into another.
    #[error("a change would join two cells")]
    AcrossCells,
    /// The notebook's JSON spells the text of a changed cell in a way that can't be kept.
    #[error("the cell's JSON can't be kept as it is written")]
    Spelling,
}

impl SourceProblem {
    /// A problem with the file as a whole.
    pub(super) fn at_start(path: &Path, kind: ProblemKind) -> Self {
        Self { place: Place { path: path.to_owned(), line_number: 1, column_number: 1 }, kind }
    }

    /// The code under which `patterns/reasons.yaml` explains it.
    pub fn code(&self) -> Code {
        Code::new(match self.kind {
            ProblemKind::Syntax(_) => "GP101",
            ProblemKind::UnknownEncoding(_)
            | ProblemKind::Contradiction(_)
            | ProblemKind::Undecodable { .. }
            | ProblemKind::Irreversible(_)
            | ProblemKind::Unencodable { .. } => "GP102",
            ProblemKind::TooDeep(_) => "GP103",
            ProblemKind::Reserved(_) => "GP104",
            ProblemKind::Io(_) | ProblemKind::TooLarge => "GP105",
            ProblemKind::Notebook(_) | ProblemKind::AcrossCells | ProblemKind::Spelling => "GP106",
        })
    }

    /// The same as an entry of the report.
    pub fn refusal(&self) -> Refusal {
        Refusal { place: self.place.clone(), code: self.code(), message: self.kind.to_string(), pass: None }
    }
}
