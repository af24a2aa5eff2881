//! Whether a pattern matches a piece of a tree, and what its metavariables then stand for.

use ruff_python_ast::comparable::{ComparableExpr, ComparableStmt};
use ruff_python_ast::{Comprehension, Expr, ExprCall, Keyword, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::api::Table;
use crate::names::{Names, Resolution};

use super::parse::{Pattern, Root, is_path, path_len, placeholder};
use super::placeholder::Placeholder;

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

/// What matching looks things up in.
#[derive(Clone, Copy)]
pub struct Lookup<'m> {
    /// What names mean in the module.
    pub names: &'m Names,
    /// Signatures, by which an argument is found whether it is given by position or by name.
    pub table: Option<&'m Table>,
    /// The libraries that a pass moves away from: their modules are no receivers of methods.
    pub sources: &'m [String],
}

/// What the metavariables of a pattern stand for at one place.
#[derive(Debug, Clone, Default)]
pub struct Captures<'a> {
    /// By name, in the order they were bound.
    pub bindings: Vec<(String, Bound<'a>)>,
    /// The full name of the path that each component metavariable was found in.
    pub paths: Vec<(String, String)>,
    /// The call whose arguments each rest holds.
    pub calls: Vec<(String, &'a ExprCall)>,
}

impl<'a> Captures<'a> {
    fn bind(&mut self, name: &str, bound: Bound<'a>) -> bool {
        if name.is_empty() {
            return true;
        }
        if let Some(before) = self.get(name) {
            same(before, &bound)
        } else {
            self.bindings.push((name.to_owned(), bound));
            true
        }
    }

    /// What `name` stands for.
    pub fn get(&self, name: &str) -> Option<&Bound<'a>> {
        self.bindings.iter().find(|(bound, _)| bound == name).map(|(_, bound)| bound)
    }

    /// The full name of the path that component `name` was found in.
    pub fn path(&self, name: &str) -> Option<&str> {
        self.paths.iter().find(|(bound, _)| bound == name).map(|(_, path)| path.as_str())
    }

    /// The call whose arguments the rest `name` holds.
    pub fn call(&self, name: &str) -> Option<&'a ExprCall> {
        self.calls.iter().find(|(bound, _)| bound == name).map(|(_, call)| *call)
    }

    /// The text range of what `name` stands for; `None` where it is nothing or a mere component.
    pub fn ranges(&self, name: &str) -> Vec<TextRange> {
        self.get(name).map(Bound::ranges).unwrap_or_default()
    }
}

impl Bound<'_> {
    /// The ranges it covers, in source order.
    pub fn ranges(&self) -> Vec<TextRange> {
        match self {
            Self::Expression(expression) => vec![expression.range()],
            Self::Arguments { positional, keywords } => {
                let mut ranges: Vec<TextRange> = positional.iter().map(Ranged::range).collect();
                ranges.extend(keywords.iter().map(Ranged::range));
                ranges.sort_by_key(Ranged::start);
                ranges
            }
            Self::Statements([first, .., last]) => vec![TextRange::new(first.start(), last.end())],
            Self::Statements([only]) => vec![only.range()],
            Self::Component(_) | Self::Absent | Self::Statements([]) => Vec::new(),
        }
    }
}

impl Pattern {
    /// Matches the pattern against `code`, where the pattern is an expression.
    pub fn match_expression<'a>(&self, lookup: Lookup<'_>, code: &'a Expr) -> Option<Captures<'a>> {
        let Root::Expression(pattern) = &self.root else { return None };
        let mut matcher = Matcher { lookup, captures: Captures::default() };
        matcher.expression(pattern, code).then_some(matcher.captures)
    }

    /// Matches the pattern, where it is nothing but a path, against the dotted name `path`.
    pub fn match_path(&self, path: &str) -> Option<Captures<'static>> {
        let Root::Expression(pattern) = &self.root else { return None };
        let mut captures = Captures::default();
        (is_path(pattern) && components(&mut captures, pattern, path)).then_some(captures)
    }

    /// Matches the pattern against the statements at the start of `code`, where the pattern is statements. Also tells
    /// how many of them it took.
    pub fn match_statements<'a>(
        &self,
        lookup: Lookup<'_>,
        code: &'a [Stmt],
    ) -> Option<(Captures<'a>, usize)> {
        let Root::Statements(pattern) = &self.root else { return None };
        let mut matcher = Matcher { lookup, captures: Captures::default() };
        let taken = matcher.prefix(pattern, code, false)?;
        Some((matcher.captures, taken))
    }
}

pub(super) struct Matcher<'m, 'a> {
    pub(super) lookup: Lookup<'m>,
    pub(super) captures: Captures<'a>,
}

impl<'a> Matcher<'_, 'a> {
    pub(super) fn bind(&mut self, name: &str, bound: Bound<'a>) -> bool {
        self.captures.bind(name, bound)
    }

    pub(super) fn expression(&mut self, pattern: &Expr, code: &'a Expr) -> bool {
        match placeholder(pattern) {
            Some(Placeholder::Any) => return true,
            Some(Placeholder::One(name) | Placeholder::Optional(name)) => {
                return self.bind(name, Bound::Expression(code));
            }
            Some(Placeholder::Rest(_)) => return false,
            None => {}
        }
        match (pattern, code) {
            (Expr::Name(_) | Expr::Attribute(_), Expr::Name(_) | Expr::Attribute(_)) if is_path(pattern) => {
                self.path(pattern, code)
            }
            (Expr::Attribute(p), Expr::Attribute(c)) if !is_path(pattern) => {
                component(&mut self.captures, &p.attr.id, &c.attr.id)
                    && !self.is_module(&c.value)
                    && self.expression(&p.value, &c.value)
            }
            (Expr::Call(p), Expr::Call(c)) => self.expression(&p.func, &c.func) && self.arguments(p, c),
            (Expr::Tuple(p), Expr::Tuple(c)) => self.items(&p.elts, &c.elts),
            (Expr::List(p), Expr::List(c)) => self.items(&p.elts, &c.elts),
            (Expr::Set(p), Expr::Set(c)) => self.items(&p.elts, &c.elts),
            (
                Expr::StringLiteral(_)
                | Expr::BytesLiteral(_)
                | Expr::NumberLiteral(_)
                | Expr::BooleanLiteral(_)
                | Expr::NoneLiteral(_)
                | Expr::EllipsisLiteral(_),
                _,
            ) => ComparableExpr::from(pattern) == ComparableExpr::from(code),
            _ => self.operator(pattern, code),
        }
    }

    fn operator(&mut self, pattern: &Expr, code: &'a Expr) -> bool {
        match (pattern, code) {
            (Expr::BoolOp(p), Expr::BoolOp(c)) => p.op == c.op && self.all(&p.values, &c.values),
            (Expr::Named(p), Expr::Named(c)) => {
                self.expression(&p.target, &c.target) && self.expression(&p.value, &c.value)
            }
            (Expr::BinOp(p), Expr::BinOp(c)) => {
                p.op == c.op && self.expression(&p.left, &c.left) && self.expression(&p.right, &c.right)
            }
            (Expr::UnaryOp(p), Expr::UnaryOp(c)) => p.op == c.op && self.expression(&p.operand, &c.operand),
            (Expr::If(p), Expr::If(c)) => {
                self.expression(&p.body, &c.body)
                    && self.expression(&p.test, &c.test)
                    && self.expression(&p.orelse, &c.orelse)
            }
            (Expr::Await(p), Expr::Await(c)) => self.expression(&p.value, &c.value),
            (Expr::Compare(p), Expr::Compare(c)) => {
                p.ops == c.ops
                    && self.expression(&p.left, &c.left)
                    && self.all(&p.comparators, &c.comparators)
            }
            (Expr::Subscript(p), Expr::Subscript(c)) => {
                self.expression(&p.value, &c.value) && self.expression(&p.slice, &c.slice)
            }
            (Expr::Starred(p), Expr::Starred(c)) => self.expression(&p.value, &c.value),
            (Expr::Slice(p), Expr::Slice(c)) => {
                self.optional(p.lower.as_deref(), c.lower.as_deref())
                    && self.optional(p.upper.as_deref(), c.upper.as_deref())
                    && self.optional(p.step.as_deref(), c.step.as_deref())
            }
            (Expr::Dict(p), Expr::Dict(c)) => {
                p.items.len() == c.items.len()
                    && p.items.iter().zip(&c.items).all(|(p, c)| {
                        self.optional(p.key.as_ref(), c.key.as_ref()) && self.expression(&p.value, &c.value)
                    })
            }
            _ => self.comprehension(pattern, code),
        }
    }

    fn comprehension(&mut self, pattern: &Expr, code: &'a Expr) -> bool {
        match (pattern, code) {
            (Expr::ListComp(p), Expr::ListComp(c)) => {
                self.expression(&p.elt, &c.elt) && self.generators(&p.generators, &c.generators)
            }
            (Expr::SetComp(p), Expr::SetComp(c)) => {
                self.expression(&p.elt, &c.elt) && self.generators(&p.generators, &c.generators)
            }
            (Expr::Generator(p), Expr::Generator(c)) => {
                self.expression(&p.elt, &c.elt) && self.generators(&p.generators, &c.generators)
            }
            (Expr::DictComp(p), Expr::DictComp(c)) => {
                self.optional(p.key.as_deref(), c.key.as_deref())
                    && self.expression(&p.value, &c.value)
                    && self.generators(&p.generators, &c.generators)
            }
            _ => false,
        }
    }

    fn generators(&mut self, pattern: &[Comprehension], code: &'a [Comprehension]) -> bool {
        pattern.len() == code.len()
            && pattern.iter().zip(code).all(|(p, c)| {
                p.is_async == c.is_async
                    && self.expression(&p.target, &c.target)
                    && self.expression(&p.iter, &c.iter)
                    && self.all(&p.ifs, &c.ifs)
            })
    }

    pub(super) fn optional(&mut self, pattern: Option<&Expr>, code: Option<&'a Expr>) -> bool {
        match (pattern, code) {
            (Some(pattern), Some(code)) => self.expression(pattern, code),
            (None, None) => true,
            _ => false,
        }
    }

    pub(super) fn all(&mut self, pattern: &[Expr], code: &'a [Expr]) -> bool {
        pattern.len() == code.len() && pattern.iter().zip(code).all(|(p, c)| self.expression(p, c))
    }

    /// The items of a display, the last of which may be a rest.
    fn items(&mut self, pattern: &[Expr], code: &'a [Expr]) -> bool {
        if let Some((last, first)) = pattern.split_last()
            && let Some(Placeholder::Rest(name)) = placeholder(last)
        {
            return code.len() >= first.len()
                && self.all(first, &code[..first.len()])
                && self.bind(
                    name,
                    Bound::Arguments {
                        positional: code[first.len()..].iter().collect(),
                        keywords: Vec::new(),
                    },
                );
        }
        self.all(pattern, code)
    }

    /// A dotted path matches every name or attribute that resolves to it.
    fn path(&mut self, pattern: &Expr, code: &Expr) -> bool {
        let is_read = match code {
            Expr::Name(name) => name.ctx.is_load(),
            Expr::Attribute(attribute) => attribute.ctx.is_load(),
            _ => false,
        };
        if !is_read {
            return false;
        }
        let (Resolution::Qualified(full) | Resolution::Builtin(full)) = self.lookup.names.resolve(code)
        else {
            return false;
        };
        components(&mut self.captures, pattern, &full)
    }

    /// True where `code` names a module, so that what follows is a function of it and no method.
    fn is_module(&self, code: &Expr) -> bool {
        let Resolution::Qualified(path) = self.lookup.names.resolve(code) else { return false };
        let root = path.split('.').next().unwrap_or_default();
        self.lookup.sources.iter().any(|source| source.split('.').next() == Some(root))
            || self.lookup.names.imports().iter().any(|import| import.module == path)
    }
}

/// Matches a path against a dotted name, and notes in which name each component was found.
fn components(captures: &mut Captures<'_>, pattern: &Expr, path: &str) -> bool {
    let before = captures.bindings.len();
    let matched = inner_components(captures, pattern, path);
    for i in before..captures.bindings.len() {
        let (name, _) = &captures.bindings[i];
        captures.paths.push((name.clone(), path.to_owned()));
    }
    matched
}

fn inner_components(captures: &mut Captures<'_>, pattern: &Expr, path: &str) -> bool {
    match pattern {
        Expr::Name(name) => name.id.as_str() == path,
        Expr::Attribute(attribute) => {
            if let Some(Placeholder::Rest(name)) = Placeholder::decode(&attribute.attr.id) {
                let Some(cut) = nth_dot(path, path_len(&attribute.value)) else { return false };
                return inner_components(captures, &attribute.value, &path[..cut])
                    && captures.bind(name, Bound::Component(path[cut + 1..].to_owned()));
            }
            let Some((head, last)) = path.rsplit_once('.') else { return false };
            inner_components(captures, &attribute.value, head)
                && component(captures, &attribute.attr.id, last)
        }
        _ => false,
    }
}

fn component(captures: &mut Captures<'_>, pattern: &str, code: &str) -> bool {
    match Placeholder::decode(pattern) {
        None => pattern == code,
        Some(Placeholder::One(name)) => captures.bind(name, Bound::Component(code.to_owned())),
        Some(Placeholder::Any) => true,
        Some(Placeholder::Optional(_) | Placeholder::Rest(_)) => false,
    }
}

/// The offset of the `n`th dot of `path`, counting from 1.
fn nth_dot(path: &str, n: usize) -> Option<usize> {
    path.match_indices('.').nth(n.checked_sub(1)?).map(|(at, _)| at)
}

/// Whether two occurrences of one metavariable stand for the same.
fn same(left: &Bound<'_>, right: &Bound<'_>) -> bool {
    match (left, right) {
        (Bound::Expression(l), Bound::Expression(r)) => ComparableExpr::from(*l) == ComparableExpr::from(*r),
        (Bound::Component(l), Bound::Component(r)) => l == r,
        (
            Bound::Arguments { positional: lp, keywords: lk },
            Bound::Arguments { positional: rp, keywords: rk },
        ) => {
            lp.len() == rp.len()
                && lk.len() == rk.len()
                && lp.iter().zip(rp).all(|(l, r)| ComparableExpr::from(*l) == ComparableExpr::from(*r))
                && lk.iter().zip(rk).all(|(l, r)| {
                    l.arg.as_ref().map(|arg| &arg.id) == r.arg.as_ref().map(|arg| &arg.id)
                        && ComparableExpr::from(&l.value) == ComparableExpr::from(&r.value)
                })
        }
        (Bound::Statements(l), Bound::Statements(r)) => {
            l.len() == r.len()
                && l.iter().zip(*r).all(|(l, r)| ComparableStmt::from(l) == ComparableStmt::from(r))
        }
        (Bound::Absent, Bound::Absent) => true,
        _ => false,
    }
}
