//! Taking single names out of an import statement.

use ruff_python_ast::token::TokenKind;
use ruff_text_size::{Ranged, TextRange};

use crate::source::{Edit, Module};

/// The edits that remove the clauses `outgoing` of a statement whose clauses are `all`, in source order. At least one
/// clause stays, and so do comments.
pub(super) fn remove(module: &Module, all: &[TextRange], outgoing: &[TextRange]) -> Vec<Edit> {
    let goes = |clause: &TextRange| outgoing.contains(clause);
    let mut edits = Vec::new();
    let mut at = 0;
    while at < all.len() {
        if !goes(&all[at]) {
            at += 1;
            continue;
        }
        let first = at;
        while at < all.len() && goes(&all[at]) {
            at += 1;
        }
        // With the comma before it, so that lines stay as they are broken.
        let range = match (first.checked_sub(1), all.get(at)) {
            (Some(before), _) => TextRange::new(all[before].end(), all[at - 1].end()),
            (None, Some(next)) => TextRange::new(all[first].start(), next.start()),
            (None, None) => continue,
        };
        if has_comment(module, range) {
            let single = all[first..at].iter().map(|clause| with_comma(module, *clause));
            edits.extend(single.map(|range| Edit { range, text: String::new() }));
        } else {
            edits.push(Edit { range, text: String::new() });
        }
    }
    edits
}

/// A clause with the comma after it. Comments stand only in parentheses, where a comma may come last.
fn with_comma(module: &Module, clause: TextRange) -> TextRange {
    let next = module.parsed().tokens().after(clause.end()).iter().find(|token| !token.kind().is_trivia());
    match next {
        Some(token) if token.kind() == TokenKind::Comma => TextRange::new(clause.start(), token.end()),
        _ => clause,
    }
}

/// True where a comment stands in `range`.
pub(super) fn has_comment(module: &Module, range: TextRange) -> bool {
    module
        .parsed()
        .tokens()
        .in_range(range)
        .iter()
        .any(|token| token.kind().is_comment() && !token.range().is_empty())
}
