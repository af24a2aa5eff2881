//! What is wrong with a file of `transforms/` or `patterns/`, shown at its place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use ruff_source_file::LineIndex;
use ruff_text_size::TextSize;

use super::located::byte_range;

/// All that is wrong with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileErrors {
    /// The file.
    pub path: PathBuf,
    /// Its text; empty where it couldn't be read.
    pub text: String,
    /// What is wrong, in the order of the file. Never empty.
    pub errors: Vec<FileError>,
}

/// One thing wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// What, as one sentence without a full stop.
    pub message: String,
    /// Where, as bytes of the file; `None` where the whole file is meant.
    pub bytes: Option<Range<usize>>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl FileError {
    /// An error at `bytes`.
    pub fn at(bytes: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), bytes: Some(bytes), hint: None }
    }

    /// An error of the whole file.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { message: message.into(), bytes: None, hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the YAML reader says.
    pub(super) fn from_yaml(error: &serde_saphyr::Error, text: &str) -> Self {
        use serde_saphyr::{DefaultMessageFormatter, MessageFormatter as _};
        let message = DefaultMessageFormatter.format_message(error.without_snippet()).into_owned();
        let bytes = error.location().map(|location| {
            let bytes = byte_range(&location);
            if bytes.start == 0 && location.line() > 1 {
                at_line(text, location.line(), location.column())
            } else {
                bytes
            }
        });
        Self { message, bytes, hint: None }
    }
}

fn at_line(text: &str, line: u64, column: u64) -> Range<usize> {
    let line = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let skipped: usize = text[start..]
        .chars()
        .take(usize::try_from(column).unwrap_or(1).saturating_sub(1))
        .map(char::len_utf8)
        .sum();
    start + skipped..start + skipped
}

impl FileErrors {
    /// Errors of `path`, whose text is `text`.
    pub fn new(path: &Path, text: &str, mut errors: Vec<FileError>) -> Self {
        errors.sort_by_key(|error| error.bytes.as_ref().map_or(0, |bytes| bytes.start));
        Self { path: path.to_owned(), text: text.to_owned(), errors }
    }

    /// One error of `path`.
    pub fn one(path: &Path, text: &str, error: FileError) -> Self {
        Self::new(path, text, vec![error])
    }

    /// The place of `error` for people: `path:line:column`.
    pub fn place(&self, error: &FileError) -> String {
        let path = self.path.display();
        match &error.bytes {
            None => path.to_string(),
            Some(bytes) => {
                let offset = TextSize::new(bytes.start.min(self.text.len()) as u32);
                let at = LineIndex::from_source_text(&self.text).line_column(offset, &self.text);
                format!("{path}:{}:{}", at.line, at.column)
            }
        }
    }

    /// All errors with an excerpt of the file, as a compiler would show them. `styled` is for terminals.
    pub fn render(&self, styled: bool) -> String {
        let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
        self.errors.iter().map(|error| self.render_one(error, &renderer)).collect::<Vec<_>>().join("\n\n")
    }

    fn render_one(&self, error: &FileError, renderer: &Renderer) -> String {
        let path = self.path.display().to_string();
        let title = Level::ERROR.primary_title(error.message.clone());
        let mut group = match &error.bytes {
            Some(bytes) if !self.text.is_empty() => {
                let start = floor_boundary(&self.text, bytes.start);
                let end = floor_boundary(&self.text, bytes.end.max(start)).max(start);
                // A multi-line value would fill the screen: its first line says enough.
                let first_line = self.text[start..end].find('\n').map_or(end, |at| start + at);
                title.element(
                    Snippet::source(self.text.as_str())
                        .path(path)
                        .annotation(AnnotationKind::Primary.span(start..first_line)),
                )
            }
            _ => title.element(annotate_snippets::Origin::path(path)),
        };
        if let Some(hint) = &error.hint {
            group = group.element(Level::HELP.message(hint.clone()));
        }
        renderer.render(&[group])
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for FileErrors {}
