//! From a pattern's text to a tree with metavariables, refusing what could never match as meant.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::{parse_expression, parse_module};
use ruff_text_size::{Ranged, TextRange};

use super::check::Checker;
use super::errors::{PatternError, Problem};
use super::placeholder::{Encoded, Placeholder};

/// What a metavariable stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `$X`: one expression.
    Expression,
    /// `$X?`: one argument or none.
    Optional,
    /// `$F` in a path or as the name of an attribute.
    Component,
    /// `$$$ARGS` in a call or display.
    Arguments,
    /// `$$$BODY` among statements.
    Statements,
}

/// A parsed pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub(crate) root: Root,
    pub(crate) variables: BTreeMap<String, Role>,
    /// How deep below the pattern's own statements each rest of statements stands.
    pub(crate) depths: BTreeMap<String, usize>,
    weight: u32,
}

/// The tree of a pattern or replacement.
#[derive(Debug, Clone)]
pub(crate) enum Root {
    /// One expression.
    Expression(Box<Expr>),
    /// One or more statements.
    Statements(Vec<Stmt>),
}

impl Pattern {
    /// Parses `text`. Errors carry the place inside `text`.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let encoded = Encoded::new(text)?;
        let root = parse_root(&encoded)?;
        let mut checker = Checker::new(&encoded);
        checker.root(&root)?;
        if checker.weight == 0 {
            return Err(PatternError::new(Problem::MatchesEverything, whole(text)));
        }
        let Checker { variables, depths, weight, .. } = checker;
        Ok(Self { root, variables, depths, weight })
    }

    /// The metavariables it binds, with what they stand for.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Role)> {
        self.variables.iter().map(|(name, role)| (name.as_str(), *role))
    }

    /// What `name` stands for, if the pattern binds it.
    pub fn role(&self, name: &str) -> Option<Role> {
        self.variables.get(name).copied()
    }

    /// How many literal nodes it has: names, operators, literals, keywords. Of two patterns that match the same node,
    /// the one with more is the more special.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// True where it matches statements, not an expression.
    pub fn is_statements(&self) -> bool {
        matches!(self.root, Root::Statements(_))
    }
}

/// Parses `encoded` as an expression, or else as statements.
pub(crate) fn parse_root(encoded: &Encoded) -> Result<Root, PatternError> {
    let text = encoded.text.trim_end();
    if text.trim_start().is_empty() {
        return Err(PatternError::new(
            Problem::Empty,
            encoded.original_range(TextRange::up_to((text.len() as u32).into())),
        ));
    }
    if let Ok(parsed) = parse_expression(text) {
        return Ok(Root::Expression(Box::new(parsed.into_expr())));
    }
    match parse_module(text) {
        Ok(parsed) => {
            let mut body: Vec<Stmt> = parsed.into_suite().into_iter().collect();
            match body.as_mut_slice() {
                [] => Err(PatternError::new(Problem::Empty, whole(text))),
                [Stmt::Expr(only)] => Ok(Root::Expression(only.value.clone())),
                _ => Ok(Root::Statements(body)),
            }
        }
        Err(error) => {
            let range = encoded.original_range(error.range());
            Err(PatternError::new(Problem::Syntax(error.error.to_string()), range))
        }
    }
}

/// All of `text`.
pub(crate) fn whole(text: &str) -> TextRange {
    TextRange::up_to((text.len() as u32).into())
}

/// The rest that a statement consists of, if it is one.
pub(crate) fn rest_statement(statement: &Stmt) -> Option<&str> {
    let Stmt::Expr(expression) = statement else { return None };
    match placeholder(&expression.value) {
        Some(Placeholder::Rest(name)) => Some(name),
        _ => None,
    }
}

/// The metavariable that an expression consists of, if it is one.
pub(crate) fn placeholder(expression: &Expr) -> Option<Placeholder<'_>> {
    match expression {
        Expr::Name(name) => Placeholder::decode(&name.id),
        _ => None,
    }
}

/// True where `expression` is a dotted path of plain names: its first name no metavariable.
pub(crate) fn is_path(expression: &Expr) -> bool {
    match expression {
        Expr::Name(name) => Placeholder::decode(&name.id).is_none(),
        Expr::Attribute(attribute) => is_path(&attribute.value),
        _ => false,
    }
}

/// How many components the path `expression` has.
pub(crate) fn path_len(expression: &Expr) -> usize {
    match expression {
        Expr::Attribute(attribute) => 1 + path_len(&attribute.value),
        _ => 1,
    }
}
