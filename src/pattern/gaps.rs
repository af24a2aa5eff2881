//! The smallest edits that turn a match into its replacement: between what stays, only the tokens that differ.

use ruff_python_parser::{parse_expression, parse_module};
use ruff_text_size::{TextRange, TextSize};

use crate::source::Edit;

use super::placeholder::opaque_len;
use super::render::{Piece, Refused};

/// The edits that make `pieces` of the match at `range`. `None` where what stays would change its order, so that the
/// whole match must be written anew.
pub fn piece_edits(text: &str, range: TextRange, pieces: &[Piece]) -> Result<Option<Vec<Edit>>, Refused> {
    if !in_order(range, pieces) {
        return Ok(None);
    }
    let edits = gap_edits(text, range, pieces)?;
    if breaks_line(text, range, pieces, &edits) {
        return Ok(None);
    }
    Ok(Some(edits))
}

/// True where a line end that stood in brackets would stand outside any.
fn breaks_line(text: &str, range: TextRange, pieces: &[Piece], edits: &[Edit]) -> bool {
    let has_line_end = |range: TextRange| text[range].contains(['\n', '\r']);
    let mut at = range.start();
    let mut in_gap = false;
    for piece in pieces {
        if let Piece::Kept(kept) = piece {
            in_gap |= has_line_end(TextRange::new(at, kept.start()));
            at = kept.end();
        }
    }
    in_gap |= has_line_end(TextRange::new(at, range.end()));
    if !in_gap {
        return false;
    }
    let stands_alone = |text: &str| parse_expression(text).is_ok() || parse_module(text).is_ok();
    if !stands_alone(&text[range]) {
        return false;
    }
    let mut result = String::new();
    let mut at = range.start();
    for edit in edits {
        result.push_str(&text[TextRange::new(at, edit.range.start())]);
        result.push_str(&edit.text);
        at = edit.range.end();
    }
    result.push_str(&text[TextRange::new(at, range.end())]);
    !stands_alone(&result)
}

fn gap_edits(text: &str, range: TextRange, pieces: &[Piece]) -> Result<Vec<Edit>, Refused> {
    let closes = call_closers(pieces);
    let mut edits = Vec::new();
    let mut at = range.start();
    let mut new = String::new();
    let mut first_token = 0;
    let mut tokens_seen = 0;
    for piece in pieces.iter().map(Some).chain([None]) {
        match piece {
            Some(Piece::Text(more)) => {
                new.push_str(more);
                tokens_seen += tokens(more).len();
            }
            Some(Piece::Kept(kept)) => {
                let gap = TextRange::new(at, kept.start());
                edits.extend(gap_edit(&text[gap], &new, &closes[first_token..tokens_seen], gap.start())?);
                at = kept.end();
                new.clear();
                first_token = tokens_seen;
            }
            None => {
                let gap = TextRange::new(at, range.end());
                edits.extend(gap_edit(&text[gap], &new, &closes[first_token..tokens_seen], gap.start())?);
            }
        }
    }
    Ok(edits)
}

fn in_order(range: TextRange, pieces: &[Piece]) -> bool {
    let mut at = range.start();
    pieces.iter().all(|piece| match piece {
        Piece::Text(_) => true,
        Piece::Kept(kept) => {
            let fits = kept.start() >= at && range.contains_range(*kept);
            at = kept.end();
            fits
        }
    })
}

/// For each token of the texts of `pieces`, whether it is the parenthesis that closes a call.
fn call_closers(pieces: &[Piece]) -> Vec<bool> {
    let mut closers = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    let mut after_operand = false;
    for piece in pieces {
        let Piece::Text(text) = piece else {
            after_operand = true;
            continue;
        };
        for token in tokens(text) {
            let token = &text[token];
            closers.push(match token {
                "(" | "[" | "{" => {
                    open.push(token == "(" && after_operand);
                    false
                }
                ")" | "]" | "}" => open.pop().unwrap_or(false),
                _ => false,
            });
            after_operand = matches!(token, ")" | "]" | "}" | "\"" | "'")
                || token.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        }
    }
    closers
}

/// The edit, if any, that turns the gap `old` at `offset` into `new`.
fn gap_edit(old: &str, new: &str, closes: &[bool], offset: TextSize) -> Result<Option<Edit>, Refused> {
    if old == new {
        return Ok(None);
    }
    let old_tokens = tokens(old);
    let new_tokens = tokens(new);
    let alike = |(o, n): &(&Token, &Token)| old[(*o).clone()] == new[(*n).clone()];
    let head = old_tokens.iter().zip(&new_tokens).take_while(alike).count();
    if head == old_tokens.len() && head == new_tokens.len() {
        return Ok(None);
    }
    let tail = old_tokens[head..].iter().rev().zip(new_tokens[head..].iter().rev()).take_while(alike).count();
    let (old_end, new_end) = (old_tokens.len() - tail, new_tokens.len() - tail);
    let trailing_comma = new_end == head
        && old_end == head + 1
        && &old[old_tokens[head].clone()] == ","
        && closes.get(new_end).copied().unwrap_or(false);
    if trailing_comma {
        return Ok(None);
    }
    let (start, end, mut text) = if new.contains('\n') || new_tokens.is_empty() {
        (0, old.len(), new.to_owned())
    } else {
        differing(old, new, &old_tokens, &new_tokens, (head, old_end, new_end))
    };
    if has_comment(&old[start..end]) {
        return Err(Refused::new("the replacement would drop a comment"));
    }
    let (start, end) = trim(old, start, end, &mut text);
    let at = |byte: usize| offset + TextSize::new(byte as u32);
    Ok(Some(Edit { range: TextRange::new(at(start), at(end)), text }))
}

/// What of `old` goes, as byte offsets, and what comes instead.
fn differing(
    old: &str,
    new: &str,
    old_tokens: &[Token],
    new_tokens: &[Token],
    (head, old_end, new_end): (usize, usize, usize),
) -> (usize, usize, String) {
    if head < old_end {
        let mut start = old_tokens[head].start;
        let mut end = old_tokens[old_end - 1].end;
        if head == new_end {
            // Nothing comes instead: the white space after what goes, goes too.
            if let Some(next) = old_tokens.get(old_end)
                && old[end..next.start].trim_matches(' ').is_empty()
            {
                end = next.start;
            }
            return (start, end, String::new());
        }
        let mut text = new[new_tokens[head].start..new_tokens[new_end - 1].end].to_owned();
        // White space at the edge of the gap stays as it is, unless only one side has it.
        let lead = &new[..new_tokens[head].start];
        if head == 0 && (start == 0) != lead.is_empty() {
            text.insert_str(0, lead);
            start = 0;
        }
        let trail = &new[new_tokens[new_end - 1].end..];
        if new_end == new_tokens.len() && (end == old.len()) != trail.is_empty() {
            text.push_str(trail);
            end = old.len();
        }
        return (start, end, text);
    }
    inserted(old, new, old_tokens, new_tokens, head, new_end)
}

/// An edit that only adds tokens. The white space that is there serves on the side where the replacement has some too.
fn inserted(
    old: &str,
    new: &str,
    old_tokens: &[Token],
    new_tokens: &[Token],
    head: usize,
    new_end: usize,
) -> (usize, usize, String) {
    let (old_before, new_before) =
        if head > 0 { (old_tokens[head - 1].end, new_tokens[head - 1].end) } else { (0, 0) };
    let old_after = old_tokens.get(head).map_or(old.len(), |token| token.start);
    let new_after = new_tokens.get(new_end).map_or(new.len(), |token| token.start);
    let text = &new[new_tokens[head].start..new_tokens[new_end - 1].end];
    let before = &new[new_before..new_tokens[head].start];
    let after = &new[new_tokens[new_end - 1].end..new_after];
    let there = &old[old_before..old_after];
    if there.contains(['\n', '\r']) || there.is_empty() == after.is_empty() {
        (old_before, old_before, format!("{before}{text}"))
    } else if there.is_empty() == before.is_empty() {
        (old_after, old_after, format!("{text}{after}"))
    } else {
        (old_before, old_before, format!("{before}{text}{after}"))
    }
}

/// Leaves out of an edit what is the same at its beginning and end.
fn trim(old: &str, mut start: usize, mut end: usize, text: &mut String) -> (usize, usize) {
    let same_head: usize = old[start..end]
        .chars()
        .zip(text.chars())
        .take_while(|(o, n)| o == n)
        .map(|(o, _)| o.len_utf8())
        .sum();
    text.drain(..same_head);
    start += same_head;
    let same_tail: usize = old[start..end]
        .chars()
        .rev()
        .zip(text.chars().rev())
        .take_while(|(o, n)| o == n)
        .map(|(o, _)| o.len_utf8())
        .sum();
    text.truncate(text.len() - same_tail);
    end -= same_tail;
    (start, end)
}

type Token = std::ops::Range<usize>;

/// The tokens of a fragment of Python, without white space, line ends, continuations and comments. Operators are
/// taken character by character.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let opaque = opaque_len(&text[at..]);
        if opaque > 0 {
            at += opaque;
            if c != '#' {
                found.push(start..at);
            }
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            at += text[at..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - at);
            found.push(start..at);
            continue;
        }
        at += c.len_utf8();
        if !c.is_whitespace() && c != '\\' {
            found.push(start..at);
        }
    }
    found
}

fn has_comment(text: &str) -> bool {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c == '#' {
            return true;
        }
        at += opaque_len(&text[at..]).max(c.len_utf8());
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let edit = gap_edit(old, new, &vec![true; new.len()], 0.into()).unwrap();
        let result = edit.map_or(old.to_owned(), |edit| {
            format!(
                "{}[{}]{}",
                &old[..usize::from(edit.range.start())],
                edit.text,
                &old[usize::from(edit.range.end())..]
            )
        });
        assert_eq!(result, expected, "{old:?} -> {new:?}");
    }

    #[test]
    fn only_what_differs_is_edited() {
        check("np.sum(\n    ", "cp.sum(", "[c]p.sum(\n    ");
        check("np . product(", "np.prod(", "np . prod[](");
        check("np.sum(", "float(np.sum(", "[float(]np.sum(");
        check(",\n)", ")", ",\n)");
        check(",\n)", ", axis=0)", ",[ axis=0]\n)");
        check(")", ", axis=0)", "[, axis=0])");
        check(", dtype=float)", ")", "[])");
        check(" + ", "+", " + ");
    }

    #[test]
    fn a_comment_is_not_eaten() {
        assert!(gap_edit("np.f(  # why\n", "", &[], 0.into()).is_err());
        assert!(gap_edit("np.f(  # why\n", "cp.f(", &[false; 4], 0.into()).unwrap().is_some());
    }
}
