//! The search: walks over the regions again and again, each time with fewer variables and regions on the device, until
//! a walk takes nothing back.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::bars::Bars;
use super::code::{self, Finding};
use super::home::Ground;
use super::state::{RegionState, Side, State, may_move};
use super::walk::{Act, LoopCost, Node, Use, Walked, walk};
use crate::kinds::program::Given;
use crate::kinds::{Kind, RegionId, Role, SlotId};
use crate::names::ScopeId;

/// How many device operations must follow each array that host code makes anew in every turn of a loop. A copy to the
/// device runs at about 8 GB/s and a NumPy operation at about 4 GB/s, so that a copy costs what two operations cost;
/// it has to save more than that.
const WORK_PER_FEED: u32 = 4;

/// What the search comes to.
pub(super) struct Solution {
    pub(super) state: State,
    pub(super) bars: Bars,
    /// By region: its edits, where it is ported.
    pub(super) acts: Vec<Vec<Act>>,
}

/// Searches for a plan.
pub(super) fn solve(ground: &Ground<'_, '_>, bars: Bars) -> Solution {
    let mut search = Search { ground, state: start(ground, &bars), members: members(ground), bars };
    search.find_hot_regions();
    search.settle_regions();
    loop {
        let walks = search.walk_all();
        if search.take_back(&walks) {
            continue;
        }
        if search.hold_back_feeds(&walks) {
            continue;
        }
        if search.close_refused(&walks) {
            search.settle_regions();
            continue;
        }
        return search.conclude(walks);
    }
}

/// The first guess: whatever may live on the device does.
fn start(ground: &Ground<'_, '_>, bars: &Bars) -> State {
    let program = ground.program;
    let regions = program
        .region_ids()
        .map(|id| {
            let barred = bars.barred[id.0 as usize].as_ref();
            let holds = ground.kinds.returned(id).holds_arrays() && may_move(ground.kinds.returned(id));
            RegionState {
                open: barred.is_none(),
                border: false,
                hot: false,
                returns: if holds { Side::Device } else { Side::Host },
                entries: BTreeSet::new(),
                refusals: barred.cloned().unwrap_or_default(),
                notes: Vec::new(),
            }
        })
        .collect();
    let mut slots: Vec<Side> = (0..program.slots.len() as u32)
        .map(|slot| if may_move(ground.kinds.slot(SlotId(slot))) { Side::Device } else { Side::Host })
        .collect();
    for region in &program.regions {
        for param in &region.params {
            let kind = ground.kinds.slot(param.slot);
            if *kind == Kind::Numpy || param.given == Given::Rest {
                slots[param.slot.0 as usize] = Side::Host;
            }
        }
    }
    for (at, slot) in program.slots.iter().enumerate() {
        // A module's scalars are read by functions, which take them for scalars.
        let shared = slot.captured && matches!(ground.kinds.slot(SlotId(at as u32)), Kind::Numpy);
        if shared || slot.nonlocal {
            slots[at] = Side::Host;
        }
    }
    State { regions, slots }
}

/// The variables that share memory, by the one that stands for them.
fn members(ground: &Ground<'_, '_>) -> FxHashMap<SlotId, Vec<SlotId>> {
    let mut out: FxHashMap<SlotId, Vec<SlotId>> = FxHashMap::default();
    for slot in (0..ground.program.slots.len() as u32).map(SlotId) {
        out.entry(ground.effects.root(slot)).or_default().push(slot);
    }
    out
}

struct Search<'s, 'a> {
    ground: &'s Ground<'s, 'a>,
    state: State,
    members: FxHashMap<SlotId, Vec<SlotId>>,
    bars: Bars,
}

impl Search<'_, '_> {
    /// Regions that a loop calls, however far out.
    fn find_hot_regions(&mut self) {
        let mut calls: Vec<Vec<(RegionId, bool)>> = Vec::new();
        for id in self.ground.program.region_ids() {
            let worth_it = !self.ground.program.region(id).body().is_empty();
            calls.push(if worth_it { walk(self.ground, &self.state, id).calls } else { Vec::new() });
        }
        loop {
            let mut stable = true;
            for (caller, calls) in calls.iter().enumerate() {
                for (callee, in_loop) in calls {
                    let hot = *in_loop || self.state.regions[caller].hot;
                    let callee = self.state.region_mut(*callee);
                    stable &= callee.hot || !hot;
                    callee.hot |= hot;
                }
            }
            if stable {
                return;
            }
        }
    }

    /// Which regions host code calls, and which variables host code reads, after regions have been closed.
    fn settle_regions(&mut self) {
        let program = self.ground.program;
        for id in program.region_ids() {
            let border = self.state.region(id).border || self.is_border(id);
            self.state.region_mut(id).border = border;
        }
        for (at, slot) in program.slots.iter().enumerate() {
            let closed = |id: RegionId| !self.state.region(id).open;
            let read_by_host =
                self.bars.readers.get(&SlotId(at as u32)).is_some_and(|it| it.iter().any(|id| closed(*id)));
            if closed(slot.region) || read_by_host {
                self.state.slots[at] = Side::Host;
            }
        }
        // What shares memory lives on one side.
        #[expect(clippy::iter_over_hash_type, reason = "each group is treated on its own, in whatever order")]
        for members in self.members.values() {
            if members.iter().any(|slot| self.is_held(*slot)) {
                for slot in members {
                    self.state.slots[slot.0 as usize] = Side::Host;
                }
            }
        }
    }

    /// True where a variable that holds arrays lives on the host.
    fn is_held(&self, slot: SlotId) -> bool {
        self.state.side(slot) == Side::Host && self.ground.kinds.slot(slot).holds_arrays()
    }

    fn is_border(&self, id: RegionId) -> bool {
        let program = self.ground.program;
        let region = program.region(id);
        if region.def.is_none() {
            return false;
        }
        let callers = self.ground.kinds.callers(id);
        let public = region.bound_to.is_none_or(|slot| {
            let slot = program.slot(slot);
            slot.scope == ScopeId(0) && !slot.name.starts_with('_')
        });
        let library = program.source(region.source).role == Role::Library && public;
        library
            || callers.is_empty()
            || self.ground.kinds.is_opaque(id)
            || callers.iter().any(|caller| !self.state.region(*caller).open)
    }

    fn walk_all(&self) -> Vec<Option<Walked>> {
        let ids = self.ground.program.region_ids();
        ids.map(|id| self.state.region(id).open.then(|| walk(self.ground, &self.state, id))).collect()
    }

    /// Moves variables and results to the host that have no business on the device; true where any moved.
    fn take_back(&mut self, walks: &[Option<Walked>]) -> bool {
        let mut uses: BTreeMap<Node, Use> = BTreeMap::new();
        let mut flows = Vec::new();
        let mut changed = false;
        for walked in walks.iter().flatten() {
            for (node, used) in &walked.uses {
                join(uses.entry(*node).or_default(), used);
            }
            flows.extend_from_slice(&walked.flows);
            for (region, at) in &walked.entries {
                changed |= self.state.region_mut(*region).entries.insert(*at);
            }
        }
        spread(&mut uses, &flows);
        let nothing = Use::default();
        let roots: BTreeSet<SlotId> = self.members.keys().copied().collect();
        for root in roots {
            let used = uses.get(&Node::Slot(root)).unwrap_or(&nothing);
            changed |= self.take_back_slot(root, used);
        }
        for at in 0..self.state.regions.len() {
            let used = uses.get(&Node::Result(RegionId(at as u32))).unwrap_or(&nothing);
            let region = &mut self.state.regions[at];
            if region.returns == Side::Device && !used.work && !used.made {
                region.returns = Side::Host;
                changed = true;
            }
        }
        changed
    }

    fn take_back_slot(&mut self, root: SlotId, used: &Use) -> bool {
        let mut changed = false;
        for slot in &self.members[&root] {
            if self.state.side(*slot) == Side::Host {
                continue;
            }
            let stays = match self.ground.kinds.slot(*slot) {
                Kind::Numpy => used.made && !used.host && !used.stale && used.forced.is_none(),
                _ => used.forced.is_none() && (used.work || used.made),
            };
            if !stays {
                self.state.slots[slot.0 as usize] = Side::Host;
                changed = true;
            }
        }
        if changed && let Some(finding) = used.forced.as_ref().filter(|it| it.code != code::UNKNOWN) {
            let region = self.ground.program.slot(root).region;
            self.state.region_mut(region).notes.push(finding.clone());
        }
        changed
    }

    /// Closes the regions that can't be ported as things are; true where there are any.
    fn close_refused(&mut self, walks: &[Option<Walked>]) -> bool {
        let mut closed = false;
        for (at, walked) in walks.iter().enumerate() {
            let Some(walked) = walked else { continue };
            let mut refusals = walked.refusals.clone();
            refusals.extend(walked.loops.iter().filter_map(|cost| starved(walks, cost)));
            if refusals.is_empty() {
                continue;
            }
            let region = &mut self.state.regions[at];
            // What kept variables on the host belongs to the reasons.
            refusals.append(&mut region.notes);
            refusals.sort();
            refusals.dedup();
            region.open = false;
            region.refusals = refusals;
            closed = true;
        }
        closed
    }

    /// Variables that take new host arrays in every turn of a loop, with too little done to them, stay on the host;
    /// true where there are any.
    fn hold_back_feeds(&mut self, walks: &[Option<Walked>]) -> bool {
        let mut changed = false;
        for cost in walks.iter().flatten().flat_map(|walked| &walked.loops) {
            let Some(finding) = starved(walks, cost) else { continue };
            for node in cost.feeds.iter().flatten() {
                if let Node::Slot(root) = node {
                    let used = Use { forced: Some(finding.clone()), ..Use::default() };
                    changed |= self.take_back_slot(*root, &used);
                }
            }
        }
        changed
    }

    fn conclude(self, walks: Vec<Option<Walked>>) -> Solution {
        let mut state = self.state;
        let mut acts = Vec::new();
        for (at, walked) in walks.into_iter().enumerate() {
            let Some(walked) = walked else {
                acts.push(Vec::new());
                continue;
            };
            state.regions[at].notes.extend(walked.notes);
            if walked.acts.is_empty() {
                state.regions[at].notes.extend(walked.doubts);
            }
            state.regions[at].notes.sort();
            state.regions[at].notes.dedup();
            acts.push(walked.acts);
        }
        Solution { state, bars: self.bars, acts }
    }
}

/// What is wrong with a loop to which the host hands new arrays in every turn, with too little done to them.
fn starved(walks: &[Option<Walked>], cost: &LoopCost) -> Option<Finding> {
    let (mut feeds, mut work) = (cost.feeds.len() as u32, cost.work);
    let mut seen = BTreeSet::new();
    let mut queue: Vec<RegionId> = cost.calls.clone();
    while let Some(id) = queue.pop() {
        if let Some(Some(inner)) = walks.get(id.0 as usize)
            && seen.insert(id)
        {
            feeds += inner.feeds.len() as u32;
            work += inner.work;
            queue.extend(inner.calls.iter().map(|(callee, _)| *callee));
        }
    }
    (feeds > 0 && work < WORK_PER_FEED * feeds).then(|| {
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let message = format!(
            "{feeds} host array{} would cross in every turn of a loop, for {work} device operation{}",
            plural(feeds),
            plural(work)
        );
        Finding::new(cost.at, code::LOOP_TRANSFER, message)
    })
}

fn join(into: &mut Use, used: &Use) {
    into.work |= used.work;
    into.made |= used.made;
    into.host |= used.host;
    into.stale |= used.stale;
    if into.forced.is_none() {
        into.forced.clone_from(&used.forced);
    }
}

/// Follows values that go from one variable to another: work on the one is work on the other, and so is making it.
fn spread(uses: &mut BTreeMap<Node, Use>, flows: &[(Node, Node)]) {
    loop {
        let mut stable = true;
        for (from, to) in flows {
            let work = uses.get(to).is_some_and(|it| it.work);
            let made = uses.get(from).is_some_and(|it| it.made);
            let source = uses.entry(*from).or_default();
            stable &= source.work || !work;
            source.work |= work;
            let target = uses.entry(*to).or_default();
            stable &= target.made || !made;
            target.made |= made;
        }
        if stable {
            return;
        }
    }
}
