//! Where a match stands: the loop around it, whether it is parenthesised, and what a replacement must mind there.

use ruff_python_ast::token::{Tokens, parenthesized_range};
use ruff_python_ast::{AnyNodeRef, Comprehension, Expr, ExprRef};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::names::{Names, ScopeId, ScopeKind};
use crate::pattern::{Piece, Refused, Rendered, Shape, Template, piece_edits};
use crate::source::Module;

use super::clauses::has_comment;

/// One level of the module's indentation: that of its first indented line.
pub(super) fn indent_unit(module: &Module) -> &str {
    module
        .text()
        .split('\n')
        .find_map(|line| {
            let content = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - content.len()];
            (!indent.is_empty() && !content.trim().is_empty() && !content.starts_with('#')).then_some(indent)
        })
        .filter(|indent| indent.len() <= 8)
        .unwrap_or("    ")
}

/// The innermost loop or comprehension around a match at `range`, in the function it is in. What is evaluated once,
/// before the loop runs, is not inside it.
pub(super) fn loop_around(stack: &[AnyNodeRef<'_>], range: TextRange) -> Option<TextRange> {
    for node in stack.iter().rev() {
        let (once, whole) = match node {
            AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::ExprLambda(_) | AnyNodeRef::StmtClassDef(_) => {
                return None;
            }
            AnyNodeRef::StmtFor(it) => (it.iter.range(), it.range),
            AnyNodeRef::StmtWhile(it) => (TextRange::default(), it.range),
            AnyNodeRef::ExprListComp(it) => (first_iterable(&it.generators), it.range),
            AnyNodeRef::ExprSetComp(it) => (first_iterable(&it.generators), it.range),
            AnyNodeRef::ExprDictComp(it) => (first_iterable(&it.generators), it.range),
            AnyNodeRef::ExprGenerator(it) => (first_iterable(&it.generators), it.range),
            _ => continue,
        };
        if once.is_empty() || !once.contains_range(range) {
            return Some(whole);
        }
    }
    None
}

fn first_iterable(generators: &[Comprehension]) -> TextRange {
    generators.first().map(|it| it.iter.range()).unwrap_or_default()
}

/// The scope in which imports for a replacement of `node` go: a function, where that imports itself what `node` names.
pub(super) fn import_scope(names: &Names, node: AnyNodeRef<'_>) -> ScopeId {
    let Some(name) = leading_name(node) else { return ScopeId(0) };
    let mut scope = Some(names.scope_at(node.start()));
    while let Some(id) = scope {
        let imports = names.imports().iter().any(|it| it.scope == id && &*it.bound == name);
        if imports && names.kind_of(id) == ScopeKind::Function {
            return id;
        }
        scope = names.parent(id);
    }
    ScopeId(0)
}

pub(super) fn leading_name(node: AnyNodeRef<'_>) -> Option<&str> {
    let mut at = match node {
        AnyNodeRef::ExprCall(call) => &*call.func,
        AnyNodeRef::ExprAttribute(attribute) => &*attribute.value,
        AnyNodeRef::ExprName(name) => return Some(name.id.as_str()),
        _ => return None,
    };
    loop {
        match at {
            Expr::Attribute(attribute) => at = &attribute.value,
            Expr::Call(call) => at = &call.func,
            Expr::Name(name) => return Some(name.id.as_str()),
            _ => return None,
        }
    }
}

/// Where the statement that the match is part of begins.
pub(super) fn statement_start(stack: &[AnyNodeRef<'_>], nodes: &[AnyNodeRef<'_>]) -> TextSize {
    nodes
        .first()
        .filter(|node| node.is_statement())
        .or_else(|| stack.iter().rev().find(|node| node.is_statement()))
        .map_or(TextSize::new(0), Ranged::start)
}

/// True where the parentheses around `node` are its own.
pub(super) fn is_parenthesised(node: AnyNodeRef<'_>, parent: AnyNodeRef<'_>, tokens: &Tokens) -> bool {
    node.as_expr_ref().is_some_and(|it: ExprRef<'_>| parenthesized_range(it, parent, tokens).is_some())
}

/// True where a replacement of `shape` would be split by what is around it.
pub(super) fn splits(parent: AnyNodeRef<'_>, node: TextRange, shape: Shape) -> bool {
    let is_operand_of_attribute = matches!(parent, AnyNodeRef::ExprAttribute(_));
    match shape {
        Shape::Atom | Shape::Statements => return false,
        Shape::Number => return is_operand_of_attribute,
        Shape::Loose => return true,
        Shape::Compound => {}
    }
    match parent {
        AnyNodeRef::Arguments(_)
        | AnyNodeRef::Keyword(_)
        | AnyNodeRef::StmtAssign(_)
        | AnyNodeRef::StmtAnnAssign(_)
        | AnyNodeRef::StmtAugAssign(_)
        | AnyNodeRef::StmtReturn(_)
        | AnyNodeRef::StmtExpr(_)
        | AnyNodeRef::StmtFor(_)
        | AnyNodeRef::StmtIf(_)
        | AnyNodeRef::StmtWhile(_)
        | AnyNodeRef::StmtAssert(_)
        | AnyNodeRef::ElifElseClause(_)
        | AnyNodeRef::ParameterWithDefault(_)
        | AnyNodeRef::Decorator(_)
        | AnyNodeRef::ExprList(_)
        | AnyNodeRef::ExprSet(_)
        | AnyNodeRef::ExprTuple(_)
        | AnyNodeRef::ExprSlice(_) => false,
        AnyNodeRef::ExprDict(dict) => {
            dict.items.iter().any(|item| item.key.is_none() && item.value.range() == node)
        }
        AnyNodeRef::ExprSubscript(subscript) => subscript.value.range() == node,
        _ => true,
    }
}

/// Some places take only part of the language: `case` takes dotted names, and an f-string's text is what it prints.
pub(super) fn check_place(
    stack: &[AnyNodeRef<'_>],
    template: &Template,
    rendered: &Rendered,
) -> Result<(), Refused> {
    let texts = || {
        rendered.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Kept(_) => None,
        })
    };
    let in_case =
        matches!(stack.last(), Some(AnyNodeRef::PatternMatchValue(_) | AnyNodeRef::PatternMatchClass(_)));
    if in_case && !(template.is_path() && texts().all(|text| text.contains('.'))) {
        return Err(Refused::new("a `case` takes only dotted names"));
    }
    for node in stack {
        let AnyNodeRef::InterpolatedElement(element) = node else { continue };
        if element.debug_text.is_some() {
            return Err(Refused::new("the f-string prints the text of this expression"));
        }
        if texts().any(|text| text.contains(['"', '\'', '\n', '\r', '\\', '#'])) {
            return Err(Refused::new("the replacement can't be written into an f-string"));
        }
    }
    Ok(())
}

/// True where a match runs over the border of two cells of a notebook.
pub(super) fn spans_cells(module: &Module, range: TextRange) -> bool {
    module.file.is_notebook() && !module.file.cells().any(|cell| cell.range.contains_range(range))
}

/// A replacement of several lines needs lines of its own.
pub(super) fn check_layout(
    module: &Module,
    statement: TextSize,
    rendered: &Rendered,
    nodes: &[AnyNodeRef<'_>],
) -> Result<(), Refused> {
    let has_lines =
        rendered.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(['\n', '\r'])));
    if rendered.shape != Shape::Statements || !has_lines {
        return Ok(());
    }
    let text = module.text();
    let before = &text[..usize::from(statement)];
    let line = &before[before.rfind(['\n', '\r']).map_or(0, |at| at + 1)..];
    let end = nodes.last().map_or(statement, Ranged::end);
    let rest = text[usize::from(end)..].trim_start_matches([' ', '\t', ')']);
    let alone = line.chars().all(|c| matches!(c, ' ' | '\t' | '\x0c'))
        && (rest.is_empty() || rest.starts_with(['\n', '\r', '#']));
    if alone { Ok(()) } else { Err(Refused::new("the statement shares its line with another")) }
}

/// A comment must not be lost.
pub(super) fn check_comments(module: &Module, range: TextRange, pieces: &[Piece]) -> Result<(), Refused> {
    if piece_edits(module.text(), range, pieces)?.is_some() {
        return Ok(());
    }
    let mut kept: Vec<TextRange> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Kept(range) => Some(*range),
            Piece::Text(_) => None,
        })
        .collect();
    kept.sort_by_key(Ranged::start);
    let mut at = range.start();
    for part in kept.into_iter().chain([TextRange::empty(range.end())]) {
        if part.start() > at && has_comment(module, TextRange::new(at, part.start())) {
            return Err(Refused::new("the replacement would drop a comment"));
        }
        at = at.max(part.end());
    }
    Ok(())
}

/// Puts a space where a replacement would grow together with a word beside it: `1if np.any(x)else 2`.
pub(super) fn space_edges(text: &str, range: TextRange, pieces: &mut Vec<Piece>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let edge = |piece: &Piece, first: bool| match piece {
        Piece::Text(new) => {
            if first {
                new.chars().next()
            } else {
                new.chars().next_back()
            }
        }
        Piece::Kept(kept) => {
            if first {
                text[*kept].chars().next()
            } else {
                text[*kept].chars().next_back()
            }
        }
    };
    let before = text[..usize::from(range.start())].chars().next_back();
    let after = text[usize::from(range.end())..].chars().next();
    let opens = pieces.first().and_then(|piece| edge(piece, true));
    let closes = pieces.last().and_then(|piece| edge(piece, false));
    let quoted = |c: char| is_word(c) || c == '"' || c == '\'';
    if before.is_some_and(is_word) && opens.is_some_and(quoted) {
        pieces.insert(0, Piece::Text(" ".to_owned()));
    }
    if after.is_some_and(is_word) && closes.is_some_and(is_word) {
        pieces.push(Piece::Text(" ".to_owned()));
    }
}
