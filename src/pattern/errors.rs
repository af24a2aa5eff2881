//! What can be wrong with a pattern or a replacement, with the place inside its text.

use ruff_text_size::{TextRange, TextSize};
use thiserror::Error;

/// A pattern or replacement that can't be used. `range` counts bytes of the text as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct PatternError {
    /// What is wrong.
    pub problem: Problem,
    /// Where, in the pattern's own text.
    pub range: TextRange,
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// It is not Python once its metavariables are taken for names.
    #[error("not a Python expression or statement: {0}")]
    Syntax(String),
    /// There is nothing in it.
    #[error("the pattern is empty")]
    Empty,
    /// A `$` that no name follows.
    #[error("`$` begins a metavariable: an upper-case name must follow")]
    LoneDollar,
    /// A metavariable in lower case.
    #[error("metavariables are written in upper case: `${0}`")]
    LowerCase(String),
    /// The prefix that stands for `$` inside the parser.
    #[error("names that begin with `{RESERVED_PREFIX}` are reserved")]
    Reserved,
    /// A construct that patterns don't know.
    #[error("{0} can't be used in a pattern")]
    Unsupported(&'static str),
    /// `$X?` where nothing may be left out.
    #[error("an optional metavariable can only stand for an argument of a call")]
    MisplacedOptional,
    /// `$$$X` where no list is.
    #[error("a rest can only stand for arguments, items of a list, components of a path, or statements")]
    MisplacedRest,
    /// A second rest in one list.
    #[error("only one rest can stand in one list")]
    SecondRest,
    /// A positional argument after the rest.
    #[error("the rest must be the last positional argument")]
    ArgumentAfterRest,
    /// A required argument after an optional one.
    #[error("a required argument can't follow an optional one")]
    RequiredAfterOptional,
    /// A statement sequence that begins or ends with a rest.
    #[error("a sequence of statements can't begin or end with a rest: leave it out")]
    RestAtEdge,
    /// A plain name as the target of an assignment.
    #[error("plain names in a pattern are modules and builtins: write a metavariable for `{0}`")]
    PlainTarget(String),
    /// One metavariable in two roles.
    #[error("`${0}` stands for different kinds of things")]
    MixedUse(String),
    /// The whole pattern is one metavariable.
    #[error("the pattern matches everything")]
    MatchesEverything,
    /// A replacement that uses what its pattern doesn't bind.
    #[error("`${0}` is not bound by the pattern")]
    Unbound(String),
    /// A replacement with `$_`.
    #[error("`$_` stands for anything and can't be used in a replacement")]
    AnonymousInReplacement,
    /// A plain name in a replacement that is neither a builtin nor a dotted path.
    #[error("`{0}` is neither a builtin nor a dotted path of a module")]
    UnknownName(String),
    /// A body at another depth than in the pattern.
    #[error("statements must stand as deep in the replacement as in the pattern: `$$${0}`")]
    BodyDepth(String),
}

pub use crate::source::RESERVED_PREFIX;

impl PatternError {
    /// An error at `range`.
    pub(crate) fn new(problem: Problem, range: TextRange) -> Self {
        Self { problem, range }
    }

    /// An error at one byte.
    pub(crate) fn at(problem: Problem, offset: usize) -> Self {
        Self { problem, range: TextRange::at(TextSize::new(offset as u32), TextSize::new(1)) }
    }
}
