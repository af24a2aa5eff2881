//! Iteration: over containers of arrays, and over arrays themselves.

use ruff_python_ast::{Expr, StmtFor};
use ruff_text_size::{Ranged, TextRange};

use super::{Walk, Want};
use crate::kinds::{Kind, SlotId};
use crate::plan::placement::builtins::{Builtin, builtin};
use crate::plan::placement::code;
use crate::plan::placement::home::Home;
use crate::plan::placement::state::Side;

impl Walk<'_, '_> {
    /// `for target in iterated`, as far as it happens before the loop, which is `around`.
    pub(super) fn iterate(&mut self, target: &Expr, iterated: &Expr, around: TextRange) {
        if let Some(parts) = self.through(target, iterated) {
            for (target, part) in parts {
                match target {
                    Some(target) => self.iterate(target, part, around),
                    None => self.visit_iterated(part, None, &[], around),
                }
            }
            return;
        }
        let slots = self.array_slots(std::slice::from_ref(target));
        let wanted = self.wanted(&slots);
        self.visit_iterated(iterated, wanted, &slots, around);
        let side = self.element_side(iterated, wanted);
        self.unpacked_to(&slots, iterated, side);
    }

    /// The parts of `enumerate(x)`, `zip(x, y)` and the like with the targets of their elements.
    fn through<'e>(&self, target: &'e Expr, iterated: &'e Expr) -> Option<Vec<(Option<&'e Expr>, &'e Expr)>> {
        let Expr::Call(call) = iterated else { return None };
        let name = self.view.program().builtin(self.view.source, &call.func)?;
        if builtin(name) != Builtin::Iterates {
            return None;
        }
        let targets = match target {
            Expr::Tuple(tuple) => &tuple.elts[..],
            Expr::List(list) => &list.elts[..],
            _ => &[],
        };
        let args = &call.arguments.args;
        match name {
            "enumerate" if targets.len() == 2 => Some(vec![(Some(&targets[1]), args.first()?)]),
            "zip" if targets.len() == args.len() => Some(targets.iter().map(Some).zip(args).collect()),
            "enumerate" | "zip" => None,
            _ => Some(vec![(Some(target), args.first()?)]),
        }
    }

    fn wanted(&self, slots: &[SlotId]) -> Option<Side> {
        if slots.is_empty() {
            return None;
        }
        let device = slots.iter().any(|slot| self.side(*slot) == Side::Device);
        Some(if device { Side::Device } else { Side::Host })
    }

    /// The side that elements of `iterated` live on, where the loop's variables want them on `wanted`.
    fn element_side(&self, iterated: &Expr, wanted: Option<Side>) -> Side {
        let whole_rows =
            matches!(self.kind(iterated), Kind::Array(array) if array.rank.is_some_and(|rank| rank > 1));
        match (self.view.iteration_home(iterated), wanted) {
            (Home::Device, Some(Side::Host)) if whole_rows => Side::Host,
            (Home::Device, _) | (Home::Either, Some(Side::Device)) => Side::Device,
            (Home::Host, Some(Side::Device)) if whole_rows => Side::Device,
            _ => Side::Host,
        }
    }

    /// Looks at what a loop goes over. An array crosses as a whole, once, where its elements are wanted elsewhere.
    fn visit_iterated(&mut self, iterated: &Expr, wanted: Option<Side>, slots: &[SlotId], around: TextRange) {
        let side = self.element_side(iterated, wanted);
        let is_array = matches!(self.kind(iterated), Kind::Array(_));
        let crosses = is_array && (self.home(iterated) == Home::Device) != (side == Side::Device);
        let changed = |slot: &SlotId| self.ground().effects.is_changed_within(*slot, self.region, around);
        if crosses && slots.iter().any(changed) {
            let message = format!("the loop changes the elements of `{}` in place", self.text(iterated));
            self.refuse(iterated, code::ITERATION, message);
        }
        let want = match (is_array, side) {
            (true, Side::Host) => Want::Host,
            (true, Side::Device) if self.home(iterated) != Home::Device => Want::Device,
            (true, Side::Device) => Want::Any,
            (false, Side::Device) if self.home(iterated) == Home::Either => Want::Device,
            (false, _) => Want::Any,
        };
        self.visit(iterated, want);
    }

    /// Elements that live on the other side than the loop's variable does cross at the start of each turn.
    pub(super) fn rebind_elements(&mut self, stmt: &StmtFor) {
        let mut names = Vec::new();
        self.mismatched(&stmt.target, &stmt.iter, &mut names);
        if names.is_empty() {
            return;
        }
        self.count_transfer(&*stmt.target);
        if let Some(first) = stmt.body.first() {
            self.rebind_before(ruff_text_size::Ranged::start(first), names);
        }
    }

    /// A comprehension has no place for a statement: its variables live where the elements do.
    pub(super) fn hold_elements(&mut self, target: &Expr, iterated: &Expr) {
        let mut names = Vec::new();
        self.mismatched(target, iterated, &mut names);
        if names.is_empty() {
            return;
        }
        for slot in self.array_slots(std::slice::from_ref(target)) {
            let message = format!("the elements of `{}` live on the host", self.text(iterated));
            self.force_host(slot, code::Finding::new(iterated.start(), code::UNKNOWN, message));
        }
    }

    fn mismatched(&mut self, target: &Expr, iterated: &Expr, names: &mut Vec<(String, super::Way)>) {
        if let Some(parts) = self.through(target, iterated) {
            for (target, part) in parts {
                if let Some(target) = target {
                    self.mismatched(target, part, names);
                }
            }
            return;
        }
        let slots = self.array_slots(std::slice::from_ref(target));
        if slots.is_empty() {
            return;
        }
        let side = self.element_side(iterated, self.wanted(&slots));
        self.element(target, side, names);
    }
}
