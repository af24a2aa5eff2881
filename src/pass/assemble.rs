//! From matches and other wishes to the edits of one module.

use ruff_text_size::{Ranged, TextRange, TextSize};
use thiserror::Error;

use crate::names::Names;
use crate::pattern::{Piece, Refused, piece_edits};
use crate::source::{Edit, Edits, EditsBuilder, Module, Overlap};

use super::Match;
use super::imports::{Needs, plan_imports};

/// Why wishes can't be edits: always a mistake of the planner's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AssembleError {
    /// Two want the same bytes.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// A replacement was accepted that can't be made.
    #[error("a replacement can't be made: {0}")]
    Refused(String),
}

impl From<Refused> for AssembleError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused.message)
    }
}

/// The edits that make `matches`, which are of `module`, with the imports that they and `more` ask for.
pub fn edits_of(
    module: &Module,
    names: &Names,
    matches: &[&Match<'_>],
    more: &Needs,
) -> Result<Edits, AssembleError> {
    let mut assembler = Assembler::new(module);
    let mut needs = more.clone();
    for matched in matches {
        assembler.rewrite(matched)?;
        needs.extend(&matched.needs);
    }
    assembler.imports(plan_imports(module, names, &needs, assembler.removed()));
    assembler.finish()
}

/// Gathers what is to change in a module, in any order.
pub struct Assembler<'m> {
    module: &'m Module,
    wishes: Vec<Wish>,
    /// Matches whose captures change their order: the whole range is written anew, with the other wishes inside.
    moved: Vec<(TextRange, Vec<Piece>)>,
    removed: Vec<TextRange>,
}

#[derive(Debug, Clone)]
enum Wish {
    Edit(Edit),
    Wrap(TextRange, String, String),
}

impl Wish {
    fn range(&self) -> TextRange {
        match self {
            Self::Edit(edit) => edit.range,
            Self::Wrap(range, ..) => *range,
        }
    }
}

impl<'m> Assembler<'m> {
    /// Nothing to change in `module` yet.
    pub fn new(module: &'m Module) -> Self {
        Self { module, wishes: Vec::new(), moved: Vec::new(), removed: Vec::new() }
    }

    /// Replaces `matched` by its pieces.
    pub fn rewrite(&mut self, matched: &Match<'_>) -> Result<(), AssembleError> {
        self.pieces(matched.range, &matched.pieces)
    }

    /// Replaces `range` by `pieces`.
    pub fn pieces(&mut self, range: TextRange, pieces: &[Piece]) -> Result<(), AssembleError> {
        self.removed.extend(replaced(range, pieces));
        match piece_edits(self.module.text(), range, pieces)? {
            Some(edits) => self.wishes.extend(edits.into_iter().map(|edit| at_edge(edit, range))),
            None => self.moved.push((range, pieces.to_vec())),
        }
        Ok(())
    }

    /// Makes the edits of imports, which stand before what other wishes insert at the same places.
    pub fn imports(&mut self, edits: Vec<Edit>) {
        self.wishes.splice(0..0, edits.into_iter().map(Wish::Edit));
    }

    /// Makes `edit` as it is.
    pub fn edit(&mut self, edit: Edit) {
        self.wishes.push(Wish::Edit(edit));
    }

    /// Replaces `range` by `text`.
    pub fn replace(&mut self, range: TextRange, text: impl Into<String>) {
        self.edit(Edit { range, text: text.into() });
    }

    /// Inserts `text` at `offset`.
    pub fn insert(&mut self, offset: TextSize, text: impl Into<String>) {
        self.replace(TextRange::empty(offset), text);
    }

    /// Puts `before` and `after` around `range`; wraps nest as those of [`EditsBuilder`].
    pub fn wrap(&mut self, range: TextRange, before: impl Into<String>, after: impl Into<String>) {
        self.wishes.push(Wish::Wrap(range, before.into(), after.into()));
    }

    /// The ranges of the original that rewrites leave nothing of: reads of names in them are gone.
    pub fn removed(&self) -> &[TextRange] {
        &self.removed
    }

    /// True where nothing is to change.
    pub fn is_empty(&self) -> bool {
        self.wishes.is_empty() && self.moved.is_empty()
    }

    /// The edits.
    pub fn finish(mut self) -> Result<Edits, AssembleError> {
        self.moved.sort_by_key(|(range, _)| (range.start(), std::cmp::Reverse(range.end())));
        let all = TextRange::up_to(TextSize::of(self.module.text()));
        let wishes: Vec<&Wish> = self.wishes.iter().collect();
        let moved: Vec<&(TextRange, Vec<Piece>)> = self.moved.iter().collect();
        self.edits_in(all, &wishes, &moved)
    }

    /// The edits of the original's `region`, with offsets from its start.
    fn edits_in(
        &self,
        region: TextRange,
        wishes: &[&Wish],
        moved: &[&(TextRange, Vec<Piece>)],
    ) -> Result<Edits, AssembleError> {
        let shifted = |range: TextRange| range - region.start();
        let mut builder = EditsBuilder::new();
        let mut outside: Vec<&Wish> = wishes.to_vec();
        let mut at = 0;
        while let Some((range, pieces)) = moved.get(at).copied() {
            let inner: Vec<_> =
                moved[at + 1..].iter().copied().take_while(|(it, _)| range.contains_range(*it)).collect();
            let (inside, others): (Vec<&Wish>, Vec<&Wish>) =
                outside.into_iter().partition(|wish| is_inside(wish, *range));
            outside = others;
            at += 1 + inner.len();
            let text = self.moved_text(pieces, &inside, &inner)?;
            builder.replace(shifted(*range), text);
        }
        for wish in outside {
            match wish {
                Wish::Edit(edit) if edit.range.is_empty() => {
                    builder.insert(edit.range.start() - region.start(), edit.text.clone());
                }
                Wish::Edit(edit) => builder.replace(shifted(edit.range), edit.text.clone()),
                Wish::Wrap(range, before, after) => {
                    builder.wrap(shifted(*range), before.clone(), after.clone());
                }
            }
        }
        Ok(builder.finish()?)
    }

    fn moved_text(
        &self,
        pieces: &[Piece],
        wishes: &[&Wish],
        moved: &[&(TextRange, Vec<Piece>)],
    ) -> Result<String, AssembleError> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(new) => text.push_str(new),
                Piece::Kept(kept) => {
                    let within: Vec<&Wish> =
                        wishes.iter().copied().filter(|wish| kept.contains_range(wish.range())).collect();
                    let inner: Vec<_> =
                        moved.iter().copied().filter(|(range, _)| kept.contains_range(*range)).collect();
                    let edits = self.edits_in(*kept, &within, &inner)?;
                    text.push_str(&edits.apply(&self.module.text()[*kept]));
                }
            }
        }
        Ok(text)
    }
}

/// What a replacement puts at the edges of its match stands inside whatever else is put around the match.
fn at_edge(edit: Edit, range: TextRange) -> Wish {
    match edit.range {
        it if it == TextRange::empty(range.start()) => Wish::Wrap(range, edit.text, String::new()),
        it if it == TextRange::empty(range.end()) => Wish::Wrap(range, String::new(), edit.text),
        _ => Wish::Edit(edit),
    }
}

/// True where a wish is about something in `range`, not about what is around it.
fn is_inside(wish: &Wish, range: TextRange) -> bool {
    match wish {
        Wish::Edit(edit) if edit.range.is_empty() => {
            range.start() < edit.range.start() && edit.range.start() < range.end()
        }
        Wish::Edit(edit) => range.contains_range(edit.range),
        Wish::Wrap(around, ..) => range.contains_range(*around) && *around != range,
    }
}

impl Match<'_> {
    /// The parts of its range of which its replacement keeps nothing; none where it replaces nothing.
    pub fn removed(&self) -> Vec<TextRange> {
        if self.pieces.is_empty() { Vec::new() } else { replaced(self.range, &self.pieces) }
    }
}

/// What of `range` is not kept.
fn replaced(range: TextRange, pieces: &[Piece]) -> Vec<TextRange> {
    let mut kept: Vec<TextRange> = pieces.iter().filter_map(Piece::kept).collect();
    kept.sort_by_key(Ranged::start);
    let mut parts = Vec::new();
    let mut at = range.start();
    for part in kept.into_iter().chain([TextRange::empty(range.end())]) {
        if part.start() > at {
            parts.push(TextRange::new(at, part.start()));
        }
        at = at.max(part.end());
    }
    parts
}
