//! Python patterns with metavariables: parsed from a pass, matched against a tree, rendered into a replacement.

use ruff_python_ast::{Expr, Keyword, Stmt};
use ruff_text_size::TextRange;

/// What a metavariable stands for in one match.
#[derive(Debug, Clone)]
pub enum Bound<'a> {
    /// `$X`: one expression.
    Expression(&'a Expr),
    /// `$F` as a component of a dotted path: that component's text.
    Component(String),
    /// `$$$ARGS` in a call: the arguments left over, in source order.
    Arguments {
        /// Positional ones, starred included.
        positional: Vec<&'a Expr>,
        /// Keyword ones, `**` included.
        keywords: Vec<&'a Keyword>,
    },
    /// `$$$BODY` among statements.
    Statements(&'a [Stmt]),
    /// An optional metavariable that matched nothing.
    Absent,
}

/// A replacement as pieces of new text and ranges of the original that stay. Where the kept ranges are in source
/// order, only the gaps between them are edited, and matches inside them are edited on their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// New text.
    Text(String),
    /// Original text that stays (with whatever edits fall inside).
    Kept(TextRange),
}
