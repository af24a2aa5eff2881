//! From a replacement and what its metavariables stand for to pieces of new text and original text that stays.

use ruff_python_ast::token::Tokens;
use ruff_python_ast::{AnyNodeRef, Expr};
use ruff_text_size::{Ranged, TextRange};

use crate::reasons::Code;

use super::effects::{self, GoneCalls};
use super::matching::{Bound, Captures};
use super::parentheses::outer_range;
use super::parse::{Pattern, Root};
use super::split;
use super::template::{Argument, Part, PathPart, Template};

/// A replacement as pieces of new text and ranges of the original that stay. Where the kept ranges are in source
/// order, only the gaps between them are edited, and matches inside them are edited on their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// New text.
    Text(String),
    /// Original text that stays (with whatever edits fall inside).
    Kept(TextRange),
}

impl Piece {
    /// The range that stays; `None` for new text.
    pub fn kept(&self) -> Option<TextRange> {
        match self {
            Self::Kept(range) => Some(*range),
            Self::Text(_) => None,
        }
    }
}

/// Why a match can't be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason code, where there is one.
    pub code: Option<Code>,
    /// One sentence, without a full stop.
    pub message: String,
}

impl Refused {
    /// A refusal without a code of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }
}

/// One argument of a rest in a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestArgument {
    /// An argument of the original, perhaps with `name=` put before it.
    Kept {
        /// What stands before it.
        before: String,
        /// Its range.
        range: TextRange,
    },
    /// An argument that the original left to its default.
    Text(String),
}

/// What a replacement must ask about the module and the libraries.
pub trait Spelling<'a> {
    /// How the module writes the dotted path `path` at this place.
    fn path(&mut self, path: &str) -> Result<String, Refused>;

    /// The arguments of the rest `name` as the arguments of `callee`; `None` where they stay as they are.
    fn rest(
        &mut self,
        name: &str,
        captures: &Captures<'a>,
        callee: Option<&str>,
    ) -> Result<Option<Vec<RestArgument>>, Refused>;
}

/// Where a match is.
#[derive(Clone, Copy)]
pub struct Site<'s, 'a> {
    /// The module's text.
    pub text: &'s str,
    /// The module's tokens.
    pub tokens: &'s Tokens,
    /// The matched nodes: one expression, or statements.
    pub nodes: &'s [AnyNodeRef<'a>],
    /// Calls inside the match that other matches do away with.
    pub gone: &'s GoneCalls,
    /// The indentation of the matched statement.
    pub indent: &'s str,
    /// One level of indentation.
    pub unit: &'s str,
    /// The module's line ending.
    pub newline: &'s str,
}

/// What the outermost operator of a rendered expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Nothing can split it.
    Atom,
    /// A number, which only an attribute can split.
    Number,
    /// Any operator, which can stand as an argument.
    Compound,
    /// What must be parenthesised to be one argument: a tuple without parentheses, `:=`, `yield`.
    Loose,
    /// Statements.
    Statements,
}

/// A rendered replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Its pieces.
    pub pieces: Vec<Piece>,
    /// Its outermost operator.
    pub shape: Shape,
}

/// A piece before parentheses are decided.
#[derive(Debug, Clone)]
pub(super) enum Out<'a> {
    Text(String),
    Kept { range: TextRange, check: Option<&'a Expr>, parentheses: bool },
}

/// Renders `template` for a match of `pattern`.
pub fn render<'a>(
    template: &Template,
    pattern: &Pattern,
    captures: &Captures<'a>,
    site: Site<'_, 'a>,
    spelling: &mut dyn Spelling<'a>,
) -> Result<Rendered, Refused> {
    let mut renderer = Renderer { captures, site, spelling, out: Vec::new() };
    renderer.parts(&template.parts)?;
    let mut out = renderer.out;
    let order: Vec<TextRange> = out
        .iter()
        .filter_map(|it| match it {
            Out::Kept { range, .. } => Some(*range),
            Out::Text(_) => None,
        })
        .collect();
    effects::check(pattern, captures, &order, site.gone)?;
    split::parenthesise(&mut out, site.text, site.indent)?;
    let shape = shape(template, captures, &out);
    Ok(Rendered { pieces: merge(out), shape })
}

fn shape(template: &Template, captures: &Captures<'_>, out: &[Out<'_>]) -> Shape {
    let Root::Expression(root) = &template.root else { return Shape::Statements };
    if let [Part::Variable { name, .. }] = template.parts.as_slice() {
        return match (captures.get(name), out) {
            (
                Some(Bound::Expression(_)),
                [Out::Kept { check: None, .. } | Out::Kept { parentheses: true, .. }],
            ) => Shape::Atom,
            (Some(Bound::Expression(expression)), _) => expression_shape(expression),
            _ => Shape::Statements,
        };
    }
    expression_shape(root)
}

fn expression_shape(expression: &Expr) -> Shape {
    match expression {
        Expr::NumberLiteral(_) => Shape::Number,
        Expr::Tuple(tuple) if !tuple.parenthesized => Shape::Loose,
        Expr::Generator(generator) if !generator.parenthesized => Shape::Loose,
        Expr::Named(_) | Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Starred(_) | Expr::Slice(_) => {
            Shape::Loose
        }
        Expr::Call(_)
        | Expr::Attribute(_)
        | Expr::Subscript(_)
        | Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::EllipsisLiteral(_)
        | Expr::List(_)
        | Expr::Set(_)
        | Expr::Dict(_)
        | Expr::ListComp(_)
        | Expr::SetComp(_)
        | Expr::DictComp(_)
        | Expr::Tuple(_)
        | Expr::Generator(_) => Shape::Atom,
        _ => Shape::Compound,
    }
}

fn merge(out: Vec<Out<'_>>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let push_text = |pieces: &mut Vec<Piece>, text: &str| match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(Piece::Text(text.to_owned())),
    };
    for it in out {
        match it {
            Out::Text(text) => push_text(&mut pieces, &text),
            Out::Kept { range, parentheses, .. } => {
                if parentheses {
                    push_text(&mut pieces, "(");
                }
                pieces.push(Piece::Kept(range));
                if parentheses {
                    push_text(&mut pieces, ")");
                }
            }
        }
    }
    pieces
}

/// A replacement on its way out.
pub(super) struct Renderer<'r, 's, 'a> {
    pub(super) captures: &'r Captures<'a>,
    pub(super) site: Site<'s, 'a>,
    pub(super) spelling: &'r mut dyn Spelling<'a>,
    pub(super) out: Vec<Out<'a>>,
}

impl<'a> Renderer<'_, '_, 'a> {
    fn parts(&mut self, parts: &[Part]) -> Result<(), Refused> {
        parts.iter().try_for_each(|part| self.part(part))
    }

    fn part(&mut self, part: &Part) -> Result<(), Refused> {
        match part {
            Part::Text(text) => self.text(self.indented(text)),
            Part::Component(name) => self.text(self.component(name)?),
            Part::Path(path) => {
                let path = self.path(path)?;
                let spelled = self.spelling.path(&path)?;
                self.text(spelled);
            }
            Part::Variable { name, enclosed } => self.variable(name, *enclosed)?,
            Part::Arguments { callee, items } => self.arguments(callee.as_deref(), items)?,
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.out.push(Out::Text(text.into()));
    }

    /// A text of the replacement with the module's line ending and the match's indentation.
    fn indented(&self, text: &str) -> String {
        let mut lines = text.split('\n');
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let content = line.trim_start_matches(' ');
            let levels = (line.len() - content.len()) / 4;
            out.push_str(self.site.newline);
            out.push_str(self.site.indent);
            out.push_str(&self.site.unit.repeat(levels));
            out.push_str(content);
        }
        out
    }

    fn component(&self, name: &str) -> Result<String, Refused> {
        match self.captures.get(name) {
            Some(Bound::Component(text)) => Ok(text.clone()),
            _ => Err(Refused::new(format!("`${name}` stands for nothing here"))),
        }
    }

    fn path(&self, path: &[PathPart]) -> Result<String, Refused> {
        let names: Result<Vec<String>, Refused> = path
            .iter()
            .map(|part| match part {
                PathPart::Literal(name) => Ok(name.clone()),
                PathPart::Variable(name) => self.component(name),
            })
            .collect();
        Ok(names?.join("."))
    }

    fn variable(&mut self, name: &str, enclosed: bool) -> Result<(), Refused> {
        match self.captures.get(name) {
            Some(Bound::Expression(expression)) => {
                self.expression(expression, enclosed);
                Ok(())
            }
            Some(Bound::Component(text)) => {
                let text = text.clone();
                self.text(text);
                Ok(())
            }
            Some(bound @ Bound::Statements(_)) => {
                if let [range] = bound.ranges().as_slice() {
                    self.out.push(Out::Kept { range: *range, check: None, parentheses: false });
                    Ok(())
                } else {
                    self.text("pass");
                    Ok(())
                }
            }
            _ => Err(Refused::new(format!("`${name}` stands for nothing here"))),
        }
    }

    fn expression(&mut self, expression: &'a Expr, enclosed: bool) {
        let range = outer_range(self.site, expression);
        let whole = range != expression.range();
        let safe = whole || (enclosed && stays_whole(expression));
        let check = (!safe).then_some(expression);
        self.out.push(Out::Kept { range, check, parentheses: false });
    }

    fn arguments(&mut self, callee: Option<&[PathPart]>, items: &[Argument]) -> Result<(), Refused> {
        let callee = callee.map(|callee| self.path(callee)).transpose()?;
        let mut first = true;
        for item in items {
            let before = self.out.len();
            if !first {
                self.text(", ");
            }
            let content = self.out.len();
            match item {
                Argument::Plain(parts) => self.parts(parts)?,
                Argument::Optional { name, parts } => {
                    if self.captures.get(name).is_some_and(|bound| !matches!(bound, Bound::Absent)) {
                        self.parts(parts)?;
                    }
                }
                Argument::Rest(name) => self.rest(name, callee.as_deref())?,
            }
            if self.out.len() == content {
                self.out.truncate(before);
            } else {
                first = false;
            }
        }
        Ok(())
    }
}

/// True where `expression` stays one argument when it is made an argument.
fn stays_whole(expression: &Expr) -> bool {
    match expression {
        Expr::Tuple(tuple) => tuple.parenthesized,
        Expr::Generator(generator) => generator.parenthesized,
        Expr::Slice(_) | Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Named(_) | Expr::Starred(_) => false,
        _ => true,
    }
}
