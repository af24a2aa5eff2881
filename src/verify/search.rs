//! Finds a largest set of changes that passes, when all together do not.
//!
//! Delta debugging by halves: what passes is kept, what fails is halved, what fails alone is left out. In the end
//! every change left out is tried once more with all that was kept, so that no single one could be added.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{ChangeId, Pinned};

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The changes that pass together, in the order given. Empty: none passes.
    pub kept: Vec<ChangeId>,
    /// The changes left out: what planning has to pin.
    pub pinned: Pinned,
    /// Sets that were judged.
    pub judged_count: u32,
    /// The budget ran out: adding another change may still pass.
    pub exhausted: bool,
}

/// Searches among `changes`, of which all together are known to fail. `passes` plans without the pinned changes and
/// judges the result; it is asked at most `budget` times, and never twice for the same set.
pub fn search<E>(
    changes: &[ChangeId],
    budget: u32,
    passes: impl FnMut(&Pinned) -> Result<bool, E>,
) -> Result<Found, E> {
    let mut search =
        Search { changes, budget, judged_count: 0, exhausted: false, known: BTreeMap::new(), passes };
    let all: Vec<usize> = (0..changes.len()).collect();
    search.known.insert(all.iter().copied().collect(), false);
    let mut kept = BTreeSet::new();
    let (first, second) = all.split_at(all.len() / 2);
    if all.len() > 1 {
        search.grow(&mut kept, first)?;
        search.grow(&mut kept, second)?;
        search.complete(&mut kept, &all)?;
    }
    let name = |index: &usize| changes[*index].clone();
    Ok(Found {
        pinned: all.iter().filter(|index| !kept.contains(*index)).map(name).collect(),
        kept: kept.iter().map(name).collect(),
        judged_count: search.judged_count,
        exhausted: search.exhausted,
    })
}

struct Search<'a, F> {
    changes: &'a [ChangeId],
    budget: u32,
    judged_count: u32,
    exhausted: bool,
    known: BTreeMap<BTreeSet<usize>, bool>,
    passes: F,
}

impl<F> Search<'_, F> {
    /// Adds to `kept` what of `candidates` passes with it.
    fn grow<E>(&mut self, kept: &mut BTreeSet<usize>, candidates: &[usize]) -> Result<(), E>
    where
        F: FnMut(&Pinned) -> Result<bool, E>,
    {
        if candidates.is_empty() || self.exhausted {
            return Ok(());
        }
        let union: BTreeSet<usize> = kept.iter().chain(candidates).copied().collect();
        if self.judge(&union)? {
            *kept = union;
        } else if candidates.len() > 1 {
            let (first, second) = candidates.split_at(candidates.len() / 2);
            self.grow(kept, first)?;
            self.grow(kept, second)?;
        }
        Ok(())
    }

    /// Tries each change left out with all that is kept, until none can be added.
    fn complete<E>(&mut self, kept: &mut BTreeSet<usize>, all: &[usize]) -> Result<(), E>
    where
        F: FnMut(&Pinned) -> Result<bool, E>,
    {
        loop {
            let before = kept.len();
            for index in all {
                if !kept.contains(index) {
                    self.grow(kept, &[*index])?;
                }
            }
            if kept.len() == before || self.exhausted {
                return Ok(());
            }
        }
    }

    fn judge<E>(&mut self, kept: &BTreeSet<usize>) -> Result<bool, E>
    where
        F: FnMut(&Pinned) -> Result<bool, E>,
    {
        if let Some(known) = self.known.get(kept) {
            return Ok(*known);
        }
        if self.judged_count >= self.budget {
            self.exhausted = true;
            return Ok(false);
        }
        self.judged_count += 1;
        let pinned: Pinned = self
            .changes
            .iter()
            .enumerate()
            .filter(|(index, _)| !kept.contains(index))
            .map(|(_, change)| change.clone())
            .collect();
        let passed = (self.passes)(&pinned)?;
        self.known.insert(kept.clone(), passed);
        Ok(passed)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn changes(count: usize) -> Vec<ChangeId> {
        (0..count).map(|index| ChangeId(format!("pass:main.py:{index:02}"))).collect()
    }

    /// Searches with an oracle over the kept indices; also yields the sets it was asked for.
    fn run(
        count: usize,
        budget: u32,
        oracle: impl Fn(&BTreeSet<usize>) -> bool,
    ) -> (Found, BTreeSet<usize>, Vec<BTreeSet<usize>>) {
        let changes = changes(count);
        let indices = |pinned: &Pinned| -> BTreeSet<usize> {
            (0..count).filter(|index| !pinned.contains(&changes[*index])).collect()
        };
        let mut asked = Vec::new();
        let found = search(&changes, budget, |pinned| {
            asked.push(indices(pinned));
            Ok::<_, Infallible>(oracle(&indices(pinned)))
        })
        .unwrap();
        let kept = indices(&found.pinned);
        assert_eq!(found.kept.len(), kept.len());
        (found, kept, asked)
    }

    #[test]
    fn one_bad_change_is_left_out_in_few_judgements() {
        for bad in 0..16 {
            let (found, kept, _) = run(16, 100, |set| !set.contains(&bad));
            assert_eq!(kept, (0..16).filter(|index| *index != bad).collect());
            assert!(found.judged_count <= 9, "{} for {bad}", found.judged_count);
            assert!(!found.exhausted);
        }
    }

    #[test]
    fn what_fails_alone_in_any_company_leaves_nothing() {
        let (found, kept, _) = run(4, 100, |_| false);
        assert!(kept.is_empty() && found.kept.is_empty());
        let (found, kept, _) = run(1, 100, |_| true);
        assert!(kept.is_empty());
        assert_eq!(found.judged_count, 0);
    }

    #[test]
    fn a_change_that_needs_a_later_one_is_tried_again() {
        // 0 passes only with 3, and 1 never.
        let (_, kept, _) = run(4, 100, |set| !set.contains(&1) && (!set.contains(&0) || set.contains(&3)));
        assert_eq!(kept, BTreeSet::from([0, 2, 3]));
    }

    #[test]
    fn the_budget_is_kept_and_what_was_found_stays() {
        let (found, kept, asked) = run(16, 2, |set| !set.contains(&0));
        assert_eq!(asked.len(), 2);
        assert!(found.exhausted);
        assert!(kept.is_empty() || !kept.contains(&0));
    }

    #[test]
    fn an_error_ends_the_search() {
        let result = search(&changes(3), 9, |_| Err::<bool, _>("disk full"));
        assert_eq!(result, Err("disk full"));
    }

    proptest! {
        /// Under any deterministic oracle: the result passes, and no single change can be added to it.
        #[test]
        fn the_result_passes_and_is_maximal(count in 2usize..7, table in prop::collection::vec(any::<bool>(), 128)) {
            let number = |set: &BTreeSet<usize>| set.iter().map(|index| 1usize << index).sum::<usize>();
            let full: BTreeSet<usize> = (0..count).collect();
            let oracle = |set: &BTreeSet<usize>| *set != full && table[number(set)];
            let (found, kept, asked) = run(count, 10_000, oracle);
            prop_assert!(!found.exhausted);
            prop_assert!(kept.is_empty() || oracle(&kept));
            for index in (0..count).filter(|index| !kept.contains(index)) {
                let mut more = kept.clone();
                more.insert(index);
                prop_assert!(!oracle(&more));
            }
            let unique: BTreeSet<_> = asked.iter().collect();
            prop_assert_eq!(unique.len(), asked.len());
        }
    }
}
