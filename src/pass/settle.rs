//! Which of the matches found stay, and which need parentheses where they stand.

use std::cmp::Reverse;

use ruff_text_size::TextRange;

use super::{Action, Match, Pass};
use crate::pattern::{Extent, Piece, Shape, nest};

/// A match before it is known which others are around it.
pub(super) struct Found<'a> {
    pub(super) matched: Match<'a>,
    /// What the outermost operator of its replacement is.
    pub(super) shape: Shape,
    /// What is around it would split a replacement of this shape.
    pub(super) splits: bool,
    /// Parentheses of its own are around it.
    pub(super) parenthesised: bool,
}

/// The matches that stay of `found`, which were found from inside out; in source order, outer ones first.
pub(super) fn settle<'a>(pass: &Pass, mut found: Vec<Found<'a>>) -> Vec<Match<'a>> {
    // Of two at one range, the outer one was found later.
    found.reverse();
    found.sort_by_key(|it| (it.matched.range.start(), Reverse(it.matched.range.end())));
    let extents: Vec<Extent> = found
        .iter()
        .map(|it| {
            let action = pass.rules[it.matched.rule_index].action;
            let open = (action != Action::Advise).then(|| open_parts(action, &it.matched));
            Extent { range: it.matched.range, open }
        })
        .collect();
    let nested = nest(&extents);
    let bare: Vec<bool> = nested
        .iter()
        .zip(&found)
        .map(|(nested, inner)| match nested {
            Ok(Some(outer)) => is_bare_operand(&found[*outer].matched, inner.matched.range),
            _ => false,
        })
        .collect();
    let mut matches = Vec::new();
    for ((mut it, nested), bare) in found.into_iter().zip(nested).zip(bare) {
        if nested.is_err() {
            continue;
        }
        let splits = it.splits || (bare && matches!(it.shape, Shape::Compound | Shape::Loose));
        if splits && !it.parenthesised && !it.matched.pieces.is_empty() {
            it.matched.pieces.insert(0, Piece::Text("(".to_owned()));
            it.matched.pieces.push(Piece::Text(")".to_owned()));
            merge_texts(&mut it.matched.pieces);
        }
        matches.push(it.matched);
    }
    matches
}

/// Where in a match others may lie.
fn open_parts(action: Action, matched: &Match<'_>) -> Vec<TextRange> {
    if action == Action::Rewrite {
        return matched.pieces.iter().filter_map(Piece::kept).collect();
    }
    matched.bindings.iter().flat_map(|(_, bound)| bound.ranges()).collect()
}

/// True where all that a metavariable of `outer` stands for is at `inner`, and the replacement puts it beside an
/// operator.
fn is_bare_operand(outer: &Match<'_>, inner: TextRange) -> bool {
    let pieces = &outer.pieces;
    pieces.iter().enumerate().any(|(i, piece)| {
        let before = i.checked_sub(1).map(|i| &pieces[i]);
        piece.kept() == Some(inner) && !(is_opened(before) && is_closed(pieces.get(i + 1)))
    })
}

fn is_opened(before: Option<&Piece>) -> bool {
    matches!(before, Some(Piece::Text(text)) if text.trim_end().ends_with(['(', '[', ',', '=']))
}

fn is_closed(after: Option<&Piece>) -> bool {
    matches!(after, Some(Piece::Text(text)) if text.trim_start().starts_with([')', ']', ',']))
}

fn merge_texts(pieces: &mut Vec<Piece>) {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.drain(..) {
        match (merged.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(more)) => last.push_str(&more),
            (_, piece) => merged.push(piece),
        }
    }
    *pieces = merged;
}
