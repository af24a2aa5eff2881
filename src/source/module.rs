//! A parsed file: the text, its tree and its line index, all of the same bytes.

use std::sync::OnceLock;

use ruff_python_ast::{ModModule, PySourceType, Stmt};
use ruff_python_parser::{ParseOptions, Parsed, parse_cells_unchecked, parse_unchecked_source};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::nesting::{MAX_DEPTH, deeper_than};
use super::{ProblemKind, SourceFile, SourceProblem};
use crate::reasons::Place;

/// Names that begin so stand for metavariables inside the parser; sources that contain it are refused (GP104).
/// ASCII, because identifiers are NFKC-normalised by the parser.
pub const RESERVED_PREFIX: &str = "__gpuport_";

/// Stack for dropping a tree that is too deep to be walked.
const DEEP_STACK_BYTES: usize = 1 << 30;

/// A source file that parses.
#[derive(Debug)]
pub struct Module {
    /// The file.
    pub file: SourceFile,
    parsed: Parsed<ModModule>,
    lines: OnceLock<LineIndex>,
}

impl Module {
    /// Parses `file`, each cell of a notebook on its own. Refuses what isn't Python (with the first error that the
    /// parser reports), what is nested so deeply that walking its tree could exhaust the stack, and what uses names
    /// that gpuport needs for itself.
    pub fn parse(file: SourceFile) -> Result<Self, SourceProblem> {
        let problem = |file: &SourceFile, offset: TextSize, kind: ProblemKind| SourceProblem {
            place: place(file, &LineIndex::from_source_text(&file.text), offset),
            kind,
        };
        if let Some(at) = file.text.find(RESERVED_PREFIX) {
            return Err(problem(&file, TextSize::new(at as u32), ProblemKind::Reserved(RESERVED_PREFIX)));
        }
        let parsed = parse(&file);
        if let Some(at) = deeper_than(parsed.tokens(), MAX_DEPTH) {
            drop_deep(parsed);
            return Err(problem(&file, at, ProblemKind::TooDeep(MAX_DEPTH)));
        }
        if let Some(error) = parsed.errors().first() {
            return Err(problem(&file, error.range().start(), ProblemKind::Syntax(error.error.to_string())));
        }
        Ok(Self { file, parsed, lines: OnceLock::new() })
    }

    /// The module's statements.
    pub fn body(&self) -> &[Stmt] {
        &self.parsed.syntax().body
    }

    /// The parse result, for tokens and the whole tree.
    pub fn parsed(&self) -> &Parsed<ModModule> {
        &self.parsed
    }

    /// Whether `text` parses as this module's kind of source does. The error is what the parser reports first.
    pub fn parses(&self, text: &str) -> Result<(), String> {
        let kind = if self.file.is_notebook() { PySourceType::Ipynb } else { PySourceType::Python };
        match parse_unchecked_source(text, kind).errors().first() {
            Some(error) => Err(error.to_string()),
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
        let lines = self.lines.get_or_init(|| LineIndex::from_source_text(&self.file.text));
        place(&self.file, lines, offset)
    }
}

fn parse(file: &SourceFile) -> Parsed<ModModule> {
    if file.is_notebook() {
        let options = ParseOptions::from(PySourceType::Ipynb);
        return parse_cells_unchecked(&file.text, file.cells().map(|cell| cell.range), &options);
    }
    let is_stub = file.path.extension().is_some_and(|extension| extension == "pyi");
    parse_unchecked_source(&file.text, if is_stub { PySourceType::Stub } else { PySourceType::Python })
}

/// Drops a tree, which recurses as deep as it is nested, where the stack is large enough.
fn drop_deep(parsed: Parsed<ModModule>) {
    let dropping = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn(move || drop(parsed));
    if let Ok(thread) = dropping {
        // A panic while dropping has been reported already, and there is nothing left to do.
        let _ = thread.join();
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn refusal(text: &str) -> Option<String> {
        let file = SourceFile::from_bytes(Path::new("m.py"), text.as_bytes()).unwrap();
        Module::parse(file).err().map(|problem| format!("{} {problem}", problem.code()))
    }

    #[test]
    fn what_cannot_be_walked_safely_is_refused() {
        for (text, expected) in [
            ("x = 1\n".to_owned(), None),
            ("x = 1 +\n".to_owned(), Some("GP101 m.py:1:8: not valid Python: Expected an expression")),
            ("y\nprint 'x'\n".to_owned(), Some("GP101 m.py:2:7: not valid Python: ")),
            (
                format!("x = {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
                Some("GP103 m.py:1:2005: nested more than 2000 levels deep"),
            ),
            (format!("x = {}", "(".repeat(100_000)), Some("GP103 m.py:1:2005")),
            (format!("x = 1{}", " + 1".repeat(100_000)), Some("GP103 m.py:1:8007")),
            (format!("x = {}1", "-".repeat(100_000)), Some("GP103")),
            (format!("x = {}1", "lambda: ".repeat(20_000)), Some("GP103")),
            (format!("x = 1{}", " + 1".repeat(1_900)), None),
            (
                "x\ny = __gpuport_var_X\n".to_owned(),
                Some("GP104 m.py:2:5: names that begin with `__gpuport_` are reserved"),
            ),
        ] {
            let found = refusal(&text);
            let matches = match (&found, expected) {
                (None, None) => true,
                (Some(found), Some(expected)) => found.starts_with(expected),
                _ => false,
            };
            assert!(matches, "{found:?} is not {expected:?}");
        }
    }
}
