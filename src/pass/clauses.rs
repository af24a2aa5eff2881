//! Taking single names out of an import statement.

use ruff_text_size::{Ranged, TextRange};

use crate::source::{Edit, Module};

/// The edits that remove the clauses `outgoing` of a statement whose clauses are `all`, in source order. At least one
/// clause stays. A clause whose removal would take a comment with it stays too.
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
        let range = match (all.get(at), first.checked_sub(1)) {
            (Some(next), _) => TextRange::new(all[first].start(), next.start()),
            (None, Some(before)) => TextRange::new(all[before].end(), all[at - 1].end()),
            (None, None) => continue,
        };
        if !has_comment(module, range) {
            edits.push(Edit { range, text: String::new() });
        }
    }
    edits
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
