//! Which variables share memory, and what is changed in place: within functions and through calls.

mod gather;

use std::collections::BTreeSet;

use ruff_python_ast::visitor::Visitor;
use ruff_text_size::{TextRange, TextSize};

use super::home::Ground;
use super::matches::Matches;
use super::origins::Returned;
use crate::kinds::{Kinds, Program, RegionId, SlotId, SourceId};
use crate::pass::Pass;
use gather::Walk;

/// How often the effects of calls are followed: deeper chains of calls count as changing everything they are given.
const MAX_ROUNDS: usize = 16;

/// What a program does to its arrays.
#[derive(Debug, Default)]
pub(super) struct Effects {
    parent: Vec<u32>,
    elsewhere: Vec<bool>,
    changes: Vec<Change>,
    /// Calls that hand an object or a mapping over, or are methods of one: the arrays in it may be changed.
    unseen: Vec<(RegionId, TextSize)>,
    /// By region: true where it changes arrays that objects and mappings hold.
    meddles: Vec<bool>,
    /// By region: the parameters that it changes.
    changed: Vec<BTreeSet<usize>>,
    /// By region: what its results may share.
    shared: Vec<(Vec<usize>, bool)>,
}

/// A change in place of what a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    slot: SlotId,
    region: RegionId,
    at: TextSize,
}

impl Returned for Effects {
    fn shares(&self, region: RegionId) -> (Vec<usize>, bool) {
        self.shared[region.0 as usize].clone()
    }
}

impl Effects {
    /// One variable that stands for all that share memory with `slot`.
    pub(super) fn root(&self, slot: SlotId) -> SlotId {
        let mut at = slot.0;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        SlotId(at)
    }

    /// The first call after `at`, or in a loop around it, that may change arrays which objects and mappings hold.
    pub(super) fn unseen_after(
        &self,
        region: RegionId,
        at: TextSize,
        around: Option<TextRange>,
    ) -> Option<TextSize> {
        let may = |call: &TextSize| *call > at || around.is_some_and(|range| range.contains(*call));
        self.unseen.iter().filter(|(id, _)| *id == region).map(|(_, call)| *call).find(may)
    }

    /// True where what `slot` holds is changed in place.
    pub(super) fn is_changed(&self, slot: SlotId) -> bool {
        let root = self.root(slot);
        self.changes.iter().any(|it| self.root(it.slot) == root)
    }

    /// True where what `slot` holds is changed in place inside `range` of `region`.
    pub(super) fn is_changed_within(&self, slot: SlotId, region: RegionId, range: TextRange) -> bool {
        let root = self.root(slot);
        let inside = |it: &&Change| it.region == region && range.contains(it.at);
        self.changes.iter().filter(inside).any(|it| self.root(it.slot) == root)
    }

    /// True where what `slot` holds is changed in place after `at`, or in a loop around it.
    pub(super) fn is_changed_after(
        &self,
        slot: SlotId,
        region: RegionId,
        at: TextSize,
        around: Option<TextRange>,
    ) -> bool {
        let root = self.root(slot);
        self.changes.iter().any(|it| {
            self.root(it.slot) == root
                && (it.region != region || it.at > at || around.is_some_and(|range| range.contains(it.at)))
        })
    }

    /// True where `region` changes what it is given for its parameter number `at`.
    pub(super) fn changes_parameter(&self, region: RegionId, at: usize) -> bool {
        self.changed[region.0 as usize].contains(&at)
    }

    fn union(&mut self, a: SlotId, b: SlotId) {
        let (a, b) = (self.root(a).0, self.root(b).0);
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            self.parent[high as usize] = low;
            self.elsewhere[low as usize] |= self.elsewhere[high as usize];
        }
    }
}

/// Finds the effects of `program`.
pub(super) fn effects<'a>(
    pass: &Pass,
    program: &Program<'a>,
    kinds: &Kinds,
    matches: &Matches<'a>,
) -> Effects {
    let regions = program.regions.len();
    let mut effects = Effects {
        parent: (0..program.slots.len() as u32).collect(),
        elsewhere: vec![false; program.slots.len()],
        changes: Vec::new(),
        unseen: Vec::new(),
        meddles: vec![false; regions],
        changed: vec![BTreeSet::new(); regions],
        shared: vec![(Vec::new(), false); regions],
    };
    let nothing = Effects::default();
    let ground = Ground { pass, program, kinds, matches, effects: &nothing };
    for _ in 0..MAX_ROUNDS {
        let mut walk = Walk {
            ground: &ground,
            effects,
            source: SourceId(0),
            region: RegionId(0),
            returned: vec![BTreeSet::new(); regions],
            meddling: Vec::new(),
        };
        walk.effects.changes.clear();
        walk.effects.unseen.clear();
        for id in program.region_ids() {
            (walk.region, walk.source) = (id, program.region(id).source);
            program.region(id).body().iter().for_each(|stmt| walk.visit_stmt(stmt));
        }
        let stable = walk.conclude();
        effects = walk.effects;
        if stable {
            return effects;
        }
    }
    for (at, changed) in effects.changed.iter_mut().enumerate() {
        changed.extend(0..program.regions[at].params.len());
    }
    effects
}
