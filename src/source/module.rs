//! A parsed file: the text, its tree and its line index, all of the same bytes.

use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{ParseError, Parsed, parse_unchecked_source};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::reasons::Place;

use super::SourceFile;

/// A source file that parses.
#[derive(Debug)]
pub struct Module {
    /// The file.
    pub file: SourceFile,
    parsed: Parsed<ModModule>,
    lines: LineIndex,
}

impl Module {
    /// Parses `file`. The error is the first one the parser reports, with its place.
    pub fn parse(file: SourceFile) -> Result<Self, (SourceFile, Place, ParseError)> {
        let parsed = parse_unchecked_source(&file.text, PySourceType::Python);
        let lines = LineIndex::from_source_text(&file.text);
        if let Some(error) = parsed.errors().first().cloned() {
            let place = place(&file, &lines, error.range().start());
            return Err((file, place, error));
        }
        Ok(Self { file, parsed, lines })
    }

    /// The module's statements.
    pub fn body(&self) -> &[Stmt] {
        &self.parsed.syntax().body
    }

    /// The parse result, for tokens and the whole tree.
    pub fn parsed(&self) -> &Parsed<ModModule> {
        &self.parsed
    }

    /// Whether `text` parses as this module's kind of source does.
    pub fn parses(&self, text: &str) -> Result<(), ParseError> {
        match parse_unchecked_source(text, PySourceType::Python).errors().first() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// The text of `range`.
    pub fn slice(&self, range: impl Ranged) -> &str {
        let range: TextRange = range.range();
        &self.file.text[range]
    }

    /// Where `offset` is, for people.
    pub fn place(&self, offset: TextSize) -> Place {
        place(&self.file, &self.lines, offset)
    }
}

fn place(file: &SourceFile, lines: &LineIndex, offset: TextSize) -> Place {
    let at = lines.line_column(offset, &file.text);
    Place {
        path: file.path.clone(),
        line_number: u32::try_from(at.line.get()).unwrap_or(u32::MAX),
        column_number: u32::try_from(at.column.get()).unwrap_or(u32::MAX),
    }
}
