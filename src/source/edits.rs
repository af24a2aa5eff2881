//! The only representation of change: disjoint edits of one text, sorted by position.
//!
//! A builder takes replacements, insertions and wraps in any order and either yields such a list or names the
//! overlap. Nothing else in gpuport changes text.

use ruff_text_size::{TextRange, TextSize};
use thiserror::Error;

/// Replaces the text in `range` by `text`. An empty range is an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What goes, as byte offsets of the original text.
    pub range: TextRange,
    /// What comes in its place.
    pub text: String,
}

/// Edits of one text: sorted by start, never overlapping, none without effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits(Vec<Edit>);

/// Two edits that want the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("two edits overlap at bytes {}..{} and {}..{}", u32::from(.first.start()), u32::from(.first.end()), u32::from(.second.start()), u32::from(.second.end()))]
pub struct Overlap {
    /// The earlier range.
    pub first: TextRange,
    /// The later range.
    pub second: TextRange,
}

impl Edits {
    /// True where there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The edits, sorted by position.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.0.iter()
    }

    /// `original` with all edits made. Bytes outside the edits' ranges are untouched.
    pub fn apply(&self, original: &str) -> String {
        let mut out = String::with_capacity(original.len() + 64);
        let mut at = 0;
        for edit in &self.0 {
            out.push_str(&original[at..usize::from(edit.range.start())]);
            out.push_str(&edit.text);
            at = usize::from(edit.range.end());
        }
        out.push_str(&original[at..]);
        out
    }
}

/// How an edit sorts among others at the same offset: text that closes a wrap stands before plain insertions,
/// those before text that opens a wrap, and that before a replacement that begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seat {
    /// Closes a wrap; the narrower wrap closes first.
    Close { width: u32, order: u32 },
    /// A plain insertion, in the order it was asked for.
    Insert { order: u32 },
    /// Opens a wrap; the wider wrap opens first (`narrowness` is `u32::MAX - width`).
    Open { narrowness: u32, order: u32 },
    /// Replaces bytes from here on.
    Replace,
}

/// Gathers edits in any order.
#[derive(Debug, Default)]
pub struct EditsBuilder {
    pieces: Vec<(TextSize, Seat, Edit)>,
    order: u32,
}

impl EditsBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces `range` by `text`.
    pub fn replace(&mut self, range: TextRange, text: impl Into<String>) {
        if range.is_empty() {
            self.insert(range.start(), text);
        } else {
            self.pieces.push((range.start(), Seat::Replace, Edit { range, text: text.into() }));
        }
    }

    /// Inserts `text` at `offset`. Insertions at one offset keep the order they were asked for in.
    pub fn insert(&mut self, offset: TextSize, text: impl Into<String>) {
        self.order += 1;
        let seat = Seat::Insert { order: self.order };
        self.pieces.push((offset, seat, Edit { range: TextRange::empty(offset), text: text.into() }));
    }

    /// Puts `before` and `after` around `range`, which other edits may change inside. Wraps nest: where two begin
    /// or end together, the wider one stands outside; of two equally wide ones, the one asked for first.
    pub fn wrap(&mut self, range: TextRange, before: impl Into<String>, after: impl Into<String>) {
        self.order += 1;
        let width = u32::from(range.len());
        let open = Seat::Open { narrowness: u32::MAX - width, order: self.order };
        let close = Seat::Close { width, order: u32::MAX - self.order };
        self.pieces.push((
            range.start(),
            open,
            Edit { range: TextRange::empty(range.start()), text: before.into() },
        ));
        self.pieces.push((
            range.end(),
            close,
            Edit { range: TextRange::empty(range.end()), text: after.into() },
        ));
    }

    /// The sorted edits, or the first two that overlap. Insertions at one offset become one edit.
    pub fn finish(mut self) -> Result<Edits, Overlap> {
        self.pieces.retain(|(_, _, edit)| !(edit.range.is_empty() && edit.text.is_empty()));
        self.pieces.sort_by_key(|(at, seat, _)| (*at, *seat));
        let mut edits: Vec<Edit> = Vec::with_capacity(self.pieces.len());
        for (_, _, edit) in self.pieces {
            if let Some(last) = edits.last_mut() {
                if edit.range.start() < last.range.end() {
                    return Err(Overlap { first: last.range, second: edit.range });
                }
                if last.range.is_empty() && last.range.start() == edit.range.start() {
                    last.text.push_str(&edit.text);
                    last.range = edit.range;
                    continue;
                }
            }
            edits.push(edit);
        }
        Ok(Edits(edits))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(start: u32, end: u32) -> TextRange {
        TextRange::new(start.into(), end.into())
    }

    #[test]
    fn wraps_nest_by_width_and_close_before_the_next_opens() {
        let mut edits = EditsBuilder::new();
        edits.wrap(range(0, 1), "(", ")");
        edits.wrap(range(0, 3), "[", "]");
        edits.wrap(range(1, 3), "<", ">");
        edits.replace(range(0, 1), "x");
        assert_eq!(edits.finish().unwrap().apply("a+b"), "[(x)<+b>]");
    }

    /// Edits asked for over a text of `length` characters: replacements, insertions and wraps.
    fn requests(length: u32) -> impl Strategy<Value = Vec<(u32, u32, u8)>> {
        prop::collection::vec((0..=length, 0..=length, 0u8..3), 0..12)
            .prop_map(|list| list.into_iter().map(|(a, b, kind)| (a.min(b), a.max(b), kind)).collect())
    }

    fn build(requests: &[(u32, u32, u8)]) -> Result<Edits, Overlap> {
        let mut edits = EditsBuilder::new();
        for (number, &(start, end, kind)) in requests.iter().enumerate() {
            match kind {
                0 => edits.replace(range(start, end), format!("<{number}>")),
                1 => edits.insert(start.into(), format!("<{number}>")),
                _ => edits.wrap(range(start, end), format!("({number} "), format!(" {number})")),
            }
        }
        edits.finish()
    }

    proptest! {
        #[test]
        fn edits_are_disjoint_and_leave_the_rest(requests in requests(40)) {
            let text: String = ('a'..='z').cycle().take(40).collect();
            let Ok(edits) = build(&requests) else { return Ok(()) };
            let list: Vec<&Edit> = edits.iter().collect();
            for pair in list.windows(2) {
                prop_assert!(pair[0].range.end() <= pair[1].range.start());
                prop_assert!(!(pair[0].range.is_empty() && pair[0].range.start() == pair[1].range.start()));
            }
            let mut rest = &*edits.apply(&text);
            let mut at = 0;
            for edit in &list {
                let kept = &text[at..usize::from(edit.range.start())];
                rest = rest.strip_prefix(kept).unwrap().strip_prefix(edit.text.as_str()).unwrap();
                at = usize::from(edit.range.end());
            }
            prop_assert_eq!(rest, &text[at..]);
        }

        #[test]
        fn all_that_was_asked_for_is_there(requests in requests(40)) {
            let text = "-".repeat(40);
            let Ok(edits) = build(&requests) else { return Ok(()) };
            let out = edits.apply(&text);
            for (number, (_, _, kind)) in requests.iter().enumerate() {
                let expected = if *kind == 2 { format!("({number} ") } else { format!("<{number}>") };
                prop_assert!(out.contains(&expected));
            }
            let replaced: u32 = requests.iter().filter(|it| it.2 == 0).map(|it| it.1 - it.0).sum();
            prop_assert_eq!(out.matches('-').count() as u32, 40 - replaced);
        }

        #[test]
        fn no_edits_change_nothing(text in ".*") {
            prop_assert_eq!(EditsBuilder::new().finish().unwrap().apply(&text), text);
        }
    }

    #[test]
    fn overlapping_replacements_are_named() {
        let mut edits = EditsBuilder::new();
        edits.replace(range(0, 4), "x");
        edits.replace(range(2, 6), "y");
        assert_eq!(edits.finish(), Err(Overlap { first: range(0, 4), second: range(2, 6) }));
    }
}
