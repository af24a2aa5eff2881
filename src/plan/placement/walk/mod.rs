//! One walk over a region: with the homes that variables have now, which transfers its text needs, what each variable
//! is used for, and what can't be done.

mod assign;
mod call;
mod cross;
mod expr;
mod iterate;
mod library;
mod stmt;

use std::collections::BTreeMap;

use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::code::{self, Finding};
use super::home::{Ground, Home, View};
use super::loops::Loop;
use super::matches::MatchId;
use super::state::{Side, State};
use crate::kinds::{Kind, RegionId, SlotId};
use crate::reasons::Code;

/// A variable (with all that share its memory), or what a region returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Node {
    /// A variable.
    Slot(SlotId),
    /// The arrays that calls of a region yield.
    Result(RegionId),
}

/// How a value crosses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Host array to device array.
    ToDevice,
    /// Device array to host array.
    ToHost,
    /// Device array without axes to the source library's scalar; an array stays an array.
    ScalarToHost,
    /// Device array without axes to a Python number.
    NumberToHost,
}

/// An edit to make if the region is ported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Puts a transfer around an expression.
    Wrap(TextRange, Way),
    /// Rewrites a match.
    Apply(MatchId),
    /// Binds names anew to their transferred values, in a statement of its own at `at`.
    Rebind {
        /// The start of a line.
        at: TextSize,
        /// What stands before the statement.
        indent: String,
        /// The names.
        names: Vec<(String, Way)>,
    },
}

/// What a variable or a result is used for.
#[derive(Debug, Clone, Default)]
pub(super) struct Use {
    /// It is part of device work.
    pub(super) work: bool,
    /// Device work makes it.
    pub(super) made: bool,
    /// Host code needs it.
    pub(super) host: bool,
    /// A scalar that may not stay an array without axes: it is a view, or is changed by `+=`.
    pub(super) stale: bool,
    /// Why it must live on the host.
    pub(super) forced: Option<Finding>,
}

/// What a walk finds.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The edits.
    pub(super) acts: Vec<Act>,
    /// What can't be done.
    pub(super) refusals: Vec<Finding>,
    /// What to tell.
    pub(super) notes: Vec<Finding>,
    /// Calls that would be device work if it were known what they are given.
    pub(super) doubts: Vec<Finding>,
    /// Uses of variables and results.
    pub(super) uses: BTreeMap<Node, Use>,
    /// Values that go from one to the other as they are.
    pub(super) flows: Vec<(Node, Node)>,
    /// Calls of the project's functions, and whether a hot loop makes them.
    pub(super) calls: Vec<(RegionId, bool)>,
    /// Parameters that a called function must take over to the device itself.
    pub(super) entries: Vec<(RegionId, usize)>,
    /// How many device operations it has.
    pub(super) work: u32,
    /// The arrays that host code makes anew and that it takes over to the device, by the variable they go to.
    pub(super) feeds: Vec<Option<Node>>,
    /// What its hot loops cost.
    pub(super) loops: Vec<LoopCost>,
}

/// What one hot loop does in each turn.
#[derive(Debug)]
pub(super) struct LoopCost {
    /// Where it begins.
    pub(super) at: TextSize,
    /// The arrays that host code makes anew and that go to the device, by the variable they go to.
    pub(super) feeds: Vec<Option<Node>>,
    /// How many device operations there are.
    pub(super) work: u32,
    /// The project's functions that it calls.
    pub(super) calls: Vec<RegionId>,
}

/// What the surroundings of an expression want of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Nothing: any home will do.
    Any,
    /// Its truth.
    Test,
    /// A host value.
    Host,
    /// An operand of device work; `scalars` says whether a scalar may be an array without axes.
    Operand {
        /// Arrays without axes will do for scalars.
        scalars: bool,
    },
    /// An array on the device in a container, a host scalar otherwise.
    Device,
    /// What goes into a variable or result that lives on this side.
    Into(Node, Side),
}

impl Want {
    /// The side that arrays are wanted on.
    fn side(self) -> Option<Side> {
        match self {
            Self::Any | Self::Test => None,
            Self::Host => Some(Side::Host),
            Self::Operand { .. } | Self::Device => Some(Side::Device),
            Self::Into(_, side) => Some(side),
        }
    }
}

pub(super) struct Walk<'w, 'a> {
    view: View<'w, 'a>,
    region: RegionId,
    loops: Vec<Loop>,
    /// True in a branch that few turns of the loop around it take.
    rare: bool,
    out: Walked,
}

/// Walks over `region` with the homes of `state`.
pub(super) fn walk<'w>(ground: &'w Ground<'w, '_>, state: &'w State, region: RegionId) -> Walked {
    let data = ground.program.region(region);
    let view = View { ground, state, source: data.source };
    let mut walk = Walk { view, region, loops: Vec::new(), rare: false, out: Walked::default() };
    walk.enter();
    data.body().iter().for_each(|stmt| walk.stmt(stmt));
    walk.out
}

impl<'w, 'a> Walk<'w, 'a> {
    fn ground(&self) -> &'w Ground<'w, 'a> {
        self.view.ground
    }

    fn state(&self) -> &'w State {
        self.view.state
    }

    fn kind(&self, expression: &Expr) -> &'w Kind {
        self.view.kind(expression)
    }

    fn home(&self, expression: &Expr) -> Home {
        self.view.home(expression)
    }

    fn text(&self, node: impl Ranged) -> &'w str {
        self.view.program().source(self.view.source).module.slice(node)
    }

    /// The node that `slot` is part of.
    fn node(&self, slot: SlotId) -> Node {
        Node::Slot(self.ground().effects.root(slot))
    }

    fn slot(&self, expression: &Expr) -> Option<SlotId> {
        self.view.program().slot_of(self.view.source, expression)
    }

    fn used(&mut self, node: Node) -> &mut Use {
        self.out.uses.entry(node).or_default()
    }

    fn refuse(&mut self, at: impl Ranged, code: Code, message: impl Into<String>) {
        self.out.refusals.push(Finding::new(at.start(), code, message));
    }

    fn note(&mut self, at: impl Ranged, code: Code, message: impl Into<String>) {
        self.out.notes.push(Finding::new(at.start(), code, message));
    }

    fn force_host(&mut self, slot: SlotId, finding: Finding) {
        let node = self.node(slot);
        self.used(node).forced.get_or_insert(finding);
    }

    /// True where the code that is looked at may run many times.
    fn is_hot(&self) -> bool {
        let in_loop = self.loops.iter().any(|it| it.hot);
        (in_loop || self.state().region(self.region).hot) && !self.rare
    }

    /// Runs `body` inside a loop.
    fn looping(&mut self, inner: Loop, body: impl FnOnce(&mut Self)) {
        let rare = self.rare && !inner.hot;
        let outer = std::mem::replace(&mut self.rare, rare);
        let (at, hot) = (inner.range.start(), inner.hot);
        let (feeds, work, calls) = (self.out.feeds.len(), self.out.work, self.out.calls.len());
        self.loops.push(inner);
        body(self);
        self.loops.pop();
        self.rare = outer;
        if hot {
            let calls = self.out.calls[calls..].iter().map(|(callee, _)| *callee).collect();
            let (feeds, work) = (self.out.feeds[feeds..].to_vec(), self.out.work - work);
            self.out.loops.push(LoopCost { at, feeds, work, calls });
        }
    }

    /// True where `index` depends on the turn of a hot loop.
    fn varies(&self, index: &Expr) -> bool {
        let mut slots = Vec::new();
        self.slots_in(index, &mut slots);
        let in_loop = |slot: &SlotId| self.loops.iter().any(|it| it.hot && it.assigned.contains(slot));
        let given = |slot: &SlotId| {
            let region = self.view.program().region(self.region);
            self.state().region(self.region).hot && region.params.iter().any(|param| param.slot == *slot)
        };
        slots.iter().any(|slot| in_loop(slot) || given(slot))
    }

    fn slots_in(&self, expression: &Expr, out: &mut Vec<SlotId>) {
        match expression {
            Expr::Name(_) => out.extend(self.slot(expression)),
            Expr::BinOp(it) => {
                self.slots_in(&it.left, out);
                self.slots_in(&it.right, out);
            }
            Expr::UnaryOp(it) => self.slots_in(&it.operand, out),
            Expr::Tuple(it) => it.elts.iter().for_each(|part| self.slots_in(part, out)),
            Expr::Call(it) => it.arguments.args.iter().for_each(|part| self.slots_in(part, out)),
            _ => {}
        }
    }

    /// What a border function does first: its array parameters go to the device.
    fn enter(&mut self) {
        let program = self.view.program();
        let region = program.region(self.region);
        let state = self.state().region(self.region);
        let mut names = Vec::new();
        for (at, param) in region.params.iter().enumerate() {
            let kind = self.ground().kinds.slot(param.slot);
            let given_host_array = param.default.is_some_and(|it| self.kind(it).holds_arrays());
            let needed = state.border || state.entries.contains(&at) || given_host_array;
            if !needed || !kind.holds_arrays() || self.state().side(param.slot) == Side::Host {
                continue;
            }
            let at = region.start();
            match kind {
                Kind::Array(array) if array.maybe_none => {
                    let message = format!("`{}` may be `None`", param.name);
                    self.refuse(TextRange::empty(at), code::UNKNOWN, message);
                }
                Kind::Array(_) => names.push((param.name.to_owned(), Way::ToDevice)),
                _ => {
                    let finding = Finding::new(at, code::UNKNOWN, format!("`{}` holds arrays", param.name));
                    self.force_host(param.slot, finding);
                }
            }
            if self.ground().effects.is_changed(param.slot) {
                let message =
                    format!("`{}` is changed in place, which its callers would not see", param.name);
                self.refuse(TextRange::empty(at), code::CHANGE_UNSEEN, message);
            }
        }
        if !names.is_empty() {
            if state.border && state.hot {
                let at = TextRange::empty(region.start());
                let message = format!("arrays would cross in every call of `{}` from a loop", region.name);
                self.refuse(at, code::LOOP_TRANSFER, message);
            }
            let fed = if state.border { 0 } else { names.len() };
            self.out.feeds.extend(std::iter::repeat_n(None, fed));
            self.rebind_at_start(names);
        }
    }
}
