//! Where in a module's text import statements go, and how they can be taken out.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::names::{Names, ScopeId};
use crate::source::Module;

/// A place for new statements.
pub(super) struct Spot {
    pub(super) offset: TextSize,
    pub(super) indent: String,
    /// True at the end of a line; else at the beginning of a statement.
    pub(super) after_line: bool,
}

/// The module's line ending: that of its first line.
pub(crate) fn newline(module: &Module) -> &'static str {
    let text = module.text();
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) if text[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// Where an import for `scope` goes: below the last of the statements `near` that stand in it, else below the imports
/// that open it, else below its docstring.
pub(super) fn insertion(module: &Module, names: &Names, scope: ScopeId, near: &[TextRange]) -> Spot {
    let function = names.functions().iter().find(|it| it.scope == scope);
    let suite = function.and_then(|it| function_body(module.body(), it.range)).unwrap_or(module.body());
    let anchor = near
        .iter()
        .filter_map(|range| suite.iter().find(|statement| statement.range().contains_range(*range)))
        .max_by_key(Ranged::start)
        .or_else(|| last_opening_import(suite));
    let first = suite.first();
    match anchor.or_else(|| first.filter(|it| is_docstring(it))) {
        Some(anchor) => Spot {
            offset: line_end(module, anchor.end()),
            indent: indent(module, anchor).to_owned(),
            after_line: true,
        },
        None => Spot {
            offset: first.map_or(TextSize::new(0), Ranged::start),
            indent: first.map_or_else(String::new, |first| indent(module, first).to_owned()),
            after_line: false,
        },
    }
}

fn last_opening_import(suite: &[Stmt]) -> Option<&Stmt> {
    suite
        .iter()
        .enumerate()
        .take_while(|(i, it)| {
            matches!(it, Stmt::Import(_) | Stmt::ImportFrom(_)) || (*i == 0 && is_docstring(it))
        })
        .map(|(_, statement)| statement)
        .filter(|it| !is_docstring(it))
        .last()
}

fn is_docstring(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(it) if matches!(*it.value, Expr::StringLiteral(_)))
}

/// The white space before a statement that begins its line; empty for one that doesn't.
pub(crate) fn indent<'m>(module: &'m Module, statement: &Stmt) -> &'m str {
    indent_at(module.text(), statement.start())
}

/// The white space before `offset`, if there is nothing else on its line before it.
pub(crate) fn indent_at(text: &str, offset: TextSize) -> &str {
    let before = &text[..usize::from(offset)];
    let line = &before[before.rfind(['\n', '\r']).map_or(0, |at| at + 1)..];
    if line.chars().all(|c| matches!(c, ' ' | '\t' | '\x0c')) { line } else { "" }
}

/// The end of the logical line that `offset` is on, before its line end.
fn line_end(module: &Module, offset: TextSize) -> TextSize {
    let tokens = module.parsed().tokens();
    tokens
        .after(offset)
        .iter()
        .find(|token| token.kind() == TokenKind::Newline)
        .map_or(TextSize::of(module.text()), Ranged::start)
}

/// The text to delete so that `statement` is gone with its line; `None` where it shares its line with something else,
/// or is all that its block consists of.
pub(super) fn removable(module: &Module, statement: TextRange) -> Option<TextRange> {
    let text = module.text();
    let suite = suite_of(module.body(), statement)?;
    let top_level = std::ptr::eq(suite.as_ptr(), module.body().as_ptr());
    if suite.len() == 1 && !top_level {
        return None;
    }
    let before = &text[..usize::from(statement.start())];
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    if !before[line_start..].trim_matches([' ', '\t']).is_empty() {
        return None;
    }
    let after = &text[usize::from(statement.end())..];
    let rest = after.trim_start_matches([' ', '\t']);
    let blank = after.len() - rest.len();
    let ending = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with(['\n', '\r'])) };
    if ending == 0 && !rest.is_empty() {
        return None;
    }
    let end = usize::from(statement.end()) + blank + ending;
    Some(TextRange::new((line_start as u32).into(), (end as u32).into()))
}

/// The suites directly below a statement.
fn suites(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::FunctionDef(it) => vec![&it.body],
        Stmt::ClassDef(it) => vec![&it.body],
        Stmt::For(it) => vec![&it.body, &it.orelse],
        Stmt::While(it) => vec![&it.body, &it.orelse],
        Stmt::With(it) => vec![&it.body],
        Stmt::If(it) => {
            let mut all: Vec<&[Stmt]> = vec![&it.body];
            all.extend(it.elif_else_clauses.iter().map(|clause| &*clause.body));
            all
        }
        Stmt::Try(it) => {
            let mut all: Vec<&[Stmt]> = vec![&it.body];
            for handler in &it.handlers {
                let ExceptHandler::ExceptHandler(handler) = handler;
                all.push(&handler.body);
            }
            all.extend([&*it.orelse, &*it.finalbody]);
            all
        }
        Stmt::Match(it) => it.cases.iter().map(|case| &*case.body).collect(),
        _ => Vec::new(),
    }
}

/// The suite that the statement at `range` is an item of.
pub(crate) fn suite_of(body: &[Stmt], range: TextRange) -> Option<&[Stmt]> {
    let around = body.iter().find(|statement| statement.range().contains_range(range))?;
    if around.range() == range {
        return Some(body);
    }
    suites(around).into_iter().find_map(|suite| suite_of(suite, range))
}

fn function_body(body: &[Stmt], range: TextRange) -> Option<&[Stmt]> {
    let around = body.iter().find(|statement| statement.range().contains_range(range))?;
    match around {
        Stmt::FunctionDef(it) if it.range == range => Some(&it.body),
        _ => suites(around).into_iter().find_map(|suite| function_body(suite, range)),
    }
}
