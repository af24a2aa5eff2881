//! Matching the arguments of a call: by position, by name, or, where a signature is known, by either.

use ruff_python_ast::{Expr, ExprCall};

use crate::api::{Callable, ParameterKind};
use crate::names::Resolution;

use super::matching::{Bound, Lookup, Matcher};
use super::parse::placeholder;
use super::placeholder::Placeholder;

/// The signature of what `call` calls, where the table has it.
pub fn signature<'m>(lookup: &Lookup<'m>, call: &ExprCall) -> Option<&'m Callable> {
    let table = lookup.table?;
    match lookup.names.resolve(&call.func) {
        Resolution::Qualified(path) => table.callables.get(&path),
        _ => None,
    }
}

/// The name by which the argument at `position` could also be given.
fn name_at(callable: &Callable, position: usize) -> Option<&str> {
    let parameter = callable.source_parameters.get(position)?;
    let before = &callable.source_parameters[..position];
    let plain =
        before.iter().all(|it| matches!(it.kind, ParameterKind::PositionalOnly | ParameterKind::Either));
    (plain && parameter.kind == ParameterKind::Either).then_some(parameter.name.as_str())
}

/// The position at which the argument `name` could also be given.
fn position_of(callable: &Callable, name: &str) -> Option<usize> {
    let position = callable.source_parameters.iter().position(|parameter| parameter.name == name)?;
    (name_at(callable, position) == Some(name)).then_some(position)
}

/// Which arguments of the call are still to be accounted for.
struct Left {
    positional: Vec<bool>,
    keywords: Vec<bool>,
}

impl<'a> Matcher<'_, 'a> {
    pub(super) fn arguments(&mut self, pattern: &ExprCall, code: &'a ExprCall) -> bool {
        let (rest, fixed): (Vec<&Expr>, Vec<&Expr>) = pattern
            .arguments
            .args
            .iter()
            .partition(|argument| matches!(placeholder(argument), Some(Placeholder::Rest(_))));
        let unpacks = code.arguments.args.iter().any(Expr::is_starred_expr)
            || code.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        if unpacks && rest.is_empty() && !fixed.iter().any(|argument| argument.is_starred_expr()) {
            return false;
        }
        let mut left = Left {
            positional: vec![true; code.arguments.args.len()],
            keywords: vec![true; code.arguments.keywords.len()],
        };
        let matched = fixed.iter().enumerate().all(|(i, p)| self.positional(p, i, code, &mut left))
            && pattern.arguments.keywords.iter().all(|keyword| {
                keyword.arg.as_ref().is_some_and(|name| {
                    self.keyword(&keyword.value, name.as_str(), fixed.len(), code, &mut left)
                })
            });
        matched && self.rest(rest.first().copied(), code, &left)
    }

    fn positional(&mut self, pattern: &Expr, i: usize, code: &'a ExprCall, left: &mut Left) -> bool {
        if let Some(argument) = code.arguments.args.get(i) {
            left.positional[i] = false;
            let starred_fits = !argument.is_starred_expr() || pattern.is_starred_expr();
            return starred_fits && self.expression(pattern, argument);
        }
        let named = signature(&self.lookup, code).and_then(|callable| name_at(callable, i));
        if let Some(name) = named
            && let Some(k) = keyword_index(code, name)
        {
            left.keywords[k] = false;
            return self.expression(pattern, &code.arguments.keywords[k].value);
        }
        self.absent(pattern, code)
    }

    fn keyword(
        &mut self,
        pattern: &Expr,
        name: &str,
        fixed_len: usize,
        code: &'a ExprCall,
        left: &mut Left,
    ) -> bool {
        if let Some(k) = keyword_index(code, name) {
            left.keywords[k] = false;
            return self.expression(pattern, &code.arguments.keywords[k].value);
        }
        let position = signature(&self.lookup, code)
            .and_then(|callable| position_of(callable, name))
            .filter(|position| *position >= fixed_len);
        if let Some(position) = position
            && position < code.arguments.args.len()
        {
            let starred = code.arguments.args[..=position].iter().any(Expr::is_starred_expr);
            left.positional[position] = false;
            return !starred && self.expression(pattern, &code.arguments.args[position]);
        }
        self.absent(pattern, code)
    }

    /// An optional metavariable may stand for nothing, unless `*` or `**` may hide the argument.
    fn absent(&mut self, pattern: &Expr, code: &ExprCall) -> bool {
        let hidden = code.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
            || code.arguments.args.iter().any(Expr::is_starred_expr);
        match placeholder(pattern) {
            Some(Placeholder::Optional(name)) if !hidden => self.bind(name, Bound::Absent),
            _ => false,
        }
    }

    fn rest(&mut self, rest: Option<&Expr>, code: &'a ExprCall, left: &Left) -> bool {
        let positional: Vec<&'a Expr> = chosen(&code.arguments.args, &left.positional);
        let keywords = chosen(&code.arguments.keywords, &left.keywords);
        match rest.and_then(placeholder) {
            Some(Placeholder::Rest(name)) => {
                if !name.is_empty() {
                    self.captures.calls.push((name.to_owned(), code));
                }
                self.bind(name, Bound::Arguments { positional, keywords })
            }
            _ => positional.is_empty() && keywords.is_empty(),
        }
    }
}

fn chosen<'a, T>(all: &'a [T], left: &[bool]) -> Vec<&'a T> {
    all.iter().zip(left).filter(|(_, left)| **left).map(|(it, _)| it).collect()
}

fn keyword_index(code: &ExprCall, name: &str) -> Option<usize> {
    code.arguments
        .keywords
        .iter()
        .position(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name))
}
