//! Which of overlapping matches stay: an inner match is kept only inside what the outer one keeps.
//!
//! With the rules `f($X, 1)` and `g($Y)`, `f(g(2), 1)` has both matches: `g(2)` lies in what `$X` stands for. A match of
//! `1` in it would collide with the outer one and is dropped. Of two matches of one node the earlier stays.

use ruff_text_size::TextRange;

/// A match as far as others are concerned.
pub struct Extent {
    /// Its range.
    pub range: TextRange,
    /// The parts in which other matches may lie; `None` where they may lie anywhere in it.
    pub open: Option<Vec<TextRange>>,
}

/// For each of `extents`, in the order of a walk from outside in, the index of the innermost kept one around it, or
/// `Err` where it collides with one and is dropped.
pub fn nest(extents: &[Extent]) -> Vec<Result<Option<usize>, Dropped>> {
    let mut kept: Vec<Result<Option<usize>, Dropped>> = Vec::with_capacity(extents.len());
    let mut stack: Vec<usize> = Vec::new();
    for extent in extents {
        while let Some(&top) = stack.last()
            && extents[top].range.end() <= extent.range.start()
        {
            stack.pop();
        }
        let collides = stack.iter().any(|&outer| !admits(&extents[outer], extent.range));
        if collides {
            kept.push(Err(Dropped));
            continue;
        }
        let parent = stack.iter().rev().copied().find(|&outer| extents[outer].open.is_some());
        stack.push(kept.len());
        kept.push(Ok(parent));
    }
    kept
}

/// A match that collides with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped;

fn admits(outer: &Extent, inner: TextRange) -> bool {
    match &outer.open {
        None => true,
        Some(open) => open.iter().any(|part| part.contains_range(inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> TextRange {
        TextRange::new(start.into(), end.into())
    }

    fn rewrite(start: u32, end: u32, open: &[(u32, u32)]) -> Extent {
        Extent { range: range(start, end), open: Some(open.iter().map(|(s, e)| range(*s, *e)).collect()) }
    }

    #[test]
    fn inner_matches_stay_only_in_what_the_outer_one_keeps() {
        let extents = [
            rewrite(0, 10, &[(2, 5)]),
            rewrite(0, 1, &[]),
            rewrite(2, 5, &[(3, 4)]),
            rewrite(3, 4, &[]),
            rewrite(6, 7, &[]),
            rewrite(12, 13, &[]),
        ];
        assert_eq!(
            nest(&extents),
            [Ok(None), Err(Dropped), Ok(Some(0)), Ok(Some(2)), Err(Dropped), Ok(None)]
        );
    }

    #[test]
    fn what_edits_nothing_is_in_nobodys_way() {
        let extents = [Extent { range: range(0, 10), open: None }, rewrite(0, 1, &[]), rewrite(4, 6, &[])];
        assert_eq!(nest(&extents), [Ok(None), Ok(None), Ok(None)]);
    }
}
