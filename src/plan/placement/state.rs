//! What the search for a plan knows so far: homes of variables and of results, and what becomes of each region.

use std::collections::BTreeSet;

use super::code::Finding;
use crate::kinds::program::{Given, Region};
use crate::kinds::{Dtype, Kind, RegionId, SlotId};

/// Where a variable's arrays live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// In host memory.
    Host,
    /// In device memory.
    Device,
}

/// What becomes of a region.
#[derive(Debug, Clone)]
pub(super) struct RegionState {
    /// True while it may be ported.
    pub(super) open: bool,
    /// True where host code calls it: arrays come and go as host arrays.
    pub(super) border: bool,
    /// True where a loop calls it.
    pub(super) hot: bool,
    /// Where the arrays that it returns live.
    pub(super) returns: Side,
    /// Parameters that it must take over to the device itself, by number.
    pub(super) entries: BTreeSet<usize>,
    /// Why it stays on the host.
    pub(super) refusals: Vec<Finding>,
    /// What to tell of it although it is ported.
    pub(super) notes: Vec<Finding>,
}

/// The whole.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) regions: Vec<RegionState>,
    pub(super) slots: Vec<Side>,
}

impl State {
    pub(super) fn region(&self, id: RegionId) -> &RegionState {
        &self.regions[id.0 as usize]
    }

    pub(super) fn region_mut(&mut self, id: RegionId) -> &mut RegionState {
        &mut self.regions[id.0 as usize]
    }

    pub(super) fn side(&self, slot: SlotId) -> Side {
        self.slots[slot.0 as usize]
    }

    /// True where calls from ported code go to ported code.
    pub(super) fn is_internal(&self, id: RegionId) -> bool {
        let region = self.region(id);
        region.open && !region.border
    }
}

/// True where a variable of this kind may live on the device.
pub(super) fn may_move(kind: &Kind) -> bool {
    match kind {
        Kind::Array(array) => array.dtype != Dtype::Unsupported,
        Kind::Numpy => true,
        Kind::Tuple(elements) => {
            kind.holds_arrays() && elements.iter().all(|it| !it.holds_arrays() || may_move(it))
        }
        Kind::List(element) => element.holds_arrays() && may_move(element),
        _ => false,
    }
}

/// True where a parameter may be given an array on the device.
pub(super) fn takes_device(region: &Region<'_>, at: usize, kind: &Kind) -> bool {
    region.params[at].given != Given::Rest && kind.holds_arrays() && may_move(kind)
}
