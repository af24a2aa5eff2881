//! Assignments.

use ruff_python_ast::{Expr, ExprNamed, ExprSubscript, Operator, Stmt};
use ruff_text_size::Ranged;

use super::{Walk, Want, Way};
use crate::kinds::{Kind, SlotId};
use crate::plan::placement::code;
use crate::plan::placement::home::Home;
use crate::plan::placement::origins::is_fresh;
use crate::plan::placement::state::Side;

impl Walk<'_, '_> {
    /// `target = value`.
    pub(super) fn assign(&mut self, target: &Expr, value: &Expr, stmt: &Stmt) {
        match (target, value) {
            (Expr::Name(_), _) => self.bind(target, value),
            (Expr::Tuple(targets), Expr::Tuple(values)) if pairs(&targets.elts, &values.elts) => {
                for (target, value) in targets.elts.iter().zip(&values.elts) {
                    self.assign_at_once(target, value, stmt);
                }
            }
            (Expr::Tuple(targets), _) => self.unpack(&targets.elts, value, stmt),
            (Expr::List(targets), _) => self.unpack(&targets.elts, value, stmt),
            (Expr::Subscript(it), _) => self.store(it, target, value, None),
            (Expr::Attribute(it), _) => {
                let on_array = self.kind(&it.value).is_array();
                if on_array && self.home(&it.value) == Home::Device && it.attr.as_str() != "shape" {
                    let message = format!("`{}` of a device array can't be assigned", it.attr);
                    self.refuse(target, code::NO_COUNTERPART, message);
                }
                self.visit(&it.value, Want::Any);
                self.keep(value);
                self.visit(value, Want::Host);
            }
            _ => self.visit(value, Want::Host),
        }
    }

    /// One of several assignments that happen at once: a single element must be a copy, as it is on the host.
    fn assign_at_once(&mut self, target: &Expr, value: &Expr, stmt: &Stmt) {
        match target {
            Expr::Subscript(it) if !self.kind(value).holds_arrays() => {
                self.visit(&it.value, Want::Any);
                let side = if self.home(&it.value) == Home::Device { Side::Device } else { Side::Host };
                self.index(&it.slice, side);
                self.visit(value, Want::Host);
            }
            _ => self.assign(target, value, stmt),
        }
    }

    /// A further target of `a = b = value`.
    pub(super) fn also_assign(&mut self, target: &Expr, value: &Expr) {
        let fits = match target {
            Expr::Name(_) => self.slot(target).is_none_or(|slot| {
                !self.ground().kinds.slot(slot).holds_arrays()
                    || self.side(slot) == self.value_side(value, slot)
            }),
            Expr::Subscript(it) => {
                !self.kind(value).holds_arrays() || self.home(&it.value) == self.home(value)
            }
            _ => !self.kind(value).holds_arrays(),
        };
        if !fits {
            self.refuse(target, code::UNKNOWN, "one value is assigned to names on both sides");
        }
        if let Expr::Subscript(it) = target {
            self.visit(&it.value, Want::Any);
            let side = if self.home(&it.value) == Home::Device { Side::Device } else { Side::Host };
            self.index(&it.slice, side);
        }
    }

    /// Where `value` comes to live when it is first assigned.
    fn value_side(&self, value: &Expr, slot: SlotId) -> Side {
        match self.home(value) {
            Home::Device => Side::Device,
            Home::Either => self.side(slot),
            _ => Side::Host,
        }
    }

    /// `name = value`.
    fn bind(&mut self, target: &Expr, value: &Expr) {
        let Some(slot) = self.slot(target) else { return self.visit(value, Want::Host) };
        let node = self.node(slot);
        let kind = self.ground().kinds.slot(slot);
        match kind {
            Kind::Numpy => self.bind_scalar(slot, value),
            Kind::Number | Kind::Python => self.visit(value, Want::Host),
            _ if kind.holds_arrays() => {
                self.check_element(slot, value);
                let side = self.side(slot);
                self.visit(value, Want::Into(node, side));
            }
            _ => {
                self.keep(value);
                self.visit(value, Want::Host);
            }
        }
    }

    /// A scalar may stay an array without axes on the device while nothing tells the difference.
    fn bind_scalar(&mut self, slot: SlotId, value: &Expr) {
        let ground = self.ground();
        let made =
            self.home(value) == Home::Device && is_fresh(ground, ground.effects, self.view.source, value);
        let node = self.node(slot);
        let used = self.used(node);
        used.stale |= !made;
        used.made |= made;
        let stays = made && self.side(slot) == Side::Device;
        self.visit(value, if stays { Want::Any } else { Want::Host });
    }

    /// `row = table[i]`: where that may be one element, it is a copy on the host and a view on the device.
    fn check_element(&mut self, slot: SlotId, value: &Expr) {
        let ground = self.ground();
        let Kind::Array(array) = self.kind(value) else { return };
        if !array.maybe_scalar || self.home(value) != Home::Device {
            return;
        }
        let fresh = is_fresh(ground, ground.effects, self.view.source, value);
        if !fresh && ground.effects.is_changed(slot) && !self.view.program().slot(slot).indexed {
            let message =
                format!("`{}` may be one element or a row, and is changed in place", self.text(value));
            self.refuse(value, code::UNKNOWN, message);
        }
    }

    pub(super) fn named(&mut self, named: &ExprNamed, want: Want) {
        self.bind(&named.target, &named.value);
        if let Some(slot) = self.slot(&named.target)
            && self.ground().kinds.slot(slot).holds_arrays()
            && want.side().is_some_and(|side| side != self.side(slot))
        {
            self.refuse(&*named.target, code::UNKNOWN, "one value is needed on both sides");
        }
    }

    /// `base[index] = value`, or `base[index] += value`.
    pub(super) fn store(&mut self, target: &ExprSubscript, whole: &Expr, value: &Expr, op: Option<Operator>) {
        let base = &*target.value;
        match self.kind(base) {
            Kind::Array(_) => {}
            Kind::List(_) => return self.put(base, &target.slice, value),
            _ => {
                self.visit(base, Want::Any);
                self.visit(&target.slice, Want::Host);
                self.keep(value);
                return self.visit(value, Want::Host);
            }
        }
        let on_device = self.home(base) == Home::Device;
        self.visit(base, Want::Any);
        self.index(&target.slice, if on_device { Side::Device } else { Side::Host });
        if !on_device {
            return self.visit(value, Want::Host);
        }
        if op == Some(Operator::MatMult) {
            self.refuse(whole, code::NO_COUNTERPART, "device arrays have no `@=`");
        }
        let made = self.home(value) == Home::Device;
        if let Some(slot) = self.slot(base) {
            let node = self.node(slot);
            let used = self.used(node);
            used.made |= made;
            used.work |= op.is_some();
        }
        self.out.work += u32::from(made || op.is_some());
        if self.is_element(whole, target) && (!made || op.is_some()) {
            self.element_access(whole, base);
        }
        self.visit(value, Want::Operand { scalars: true });
    }

    /// `list[index] = value`.
    fn put(&mut self, list: &Expr, index: &Expr, value: &Expr) {
        self.visit(list, Want::Any);
        self.visit(index, Want::Host);
        match self.slot(list) {
            Some(slot) => {
                let (node, side) = (self.node(slot), self.side(slot));
                self.visit(value, Want::Into(node, side));
            }
            None => {
                self.keep(value);
                self.visit(value, Want::Host);
            }
        }
    }

    /// `a, b = value`, where `value` is not written as a tuple.
    fn unpack(&mut self, targets: &[Expr], value: &Expr, stmt: &Stmt) {
        let home = self.view.iteration_home(value);
        let slots = self.array_slots(targets);
        let wanted =
            if slots.iter().any(|slot| self.side(*slot) == Side::Device) { Side::Device } else { Side::Host };
        let side = match home {
            Home::Device => Side::Device,
            Home::Either => wanted,
            _ => Side::Host,
        };
        let fetched = home == Home::Host && self.home(value) == Home::Device;
        let want = match (home, side) {
            _ if fetched => Want::Host,
            (Home::Either, Side::Device) => Want::Device,
            (Home::Either, Side::Host) => Want::Host,
            _ => Want::Any,
        };
        self.visit(value, want);
        self.unpacked_to(&slots, value, side);
        let mut names = Vec::new();
        targets.iter().for_each(|target| self.element(target, side, &mut names));
        if !names.is_empty() {
            self.rebind_after(stmt.range(), names);
        }
    }

    /// Notes what the elements of `value`, which lives on `side`, mean for the variables that take them.
    pub(super) fn unpacked_to(&mut self, slots: &[SlotId], value: &Expr, side: Side) {
        let from = self.passed_on(value);
        for slot in slots {
            let node = self.node(*slot);
            match from {
                Some(from) => self.out.flows.push((from, node)),
                None if side == Side::Device && self.home(value) == Home::Device => {
                    self.used(node).made = true
                }
                None => {}
            }
        }
    }

    /// An element that lives on `side` goes to `target`.
    pub(super) fn element(&mut self, target: &Expr, side: Side, names: &mut Vec<(String, Way)>) {
        match target {
            Expr::Name(name) => {
                let Some(slot) = self.slot(target) else { return };
                let kind = self.ground().kinds.slot(slot);
                let way = match (kind, side, self.side(slot)) {
                    (Kind::Array(array), Side::Device, Side::Host) if array.maybe_scalar => Way::ScalarToHost,
                    (Kind::Array(_), Side::Device, Side::Host) => Way::ToHost,
                    (Kind::Array(_), Side::Host, Side::Device) => Way::ToDevice,
                    (Kind::List(_) | Kind::Tuple(_), a, b) if kind.holds_arrays() && a != b => {
                        return self.refuse(target, code::UNKNOWN, format!("`{}` holds arrays", name.id));
                    }
                    _ => return,
                };
                if way == Way::ToDevice {
                    self.guard_copy(slot, target);
                }
                names.push((name.id.to_string(), way));
            }
            Expr::Tuple(it) => it.elts.iter().for_each(|target| self.element(target, side, names)),
            Expr::List(it) => it.elts.iter().for_each(|target| self.element(target, side, names)),
            Expr::Starred(it) => self.element(&it.value, side, names),
            Expr::Subscript(it) => {
                let there = self.home(&it.value) == Home::Device;
                self.visit(&it.value, Want::Any);
                self.index(&it.slice, if there { Side::Device } else { Side::Host });
                if there != (side == Side::Device) {
                    self.refuse(target, code::UNKNOWN, "an element goes to an array on the other side");
                }
            }
            Expr::Attribute(_) if side == Side::Device => {
                self.refuse(target, code::UNKNOWN, "a device array goes to an attribute");
            }
            _ => {}
        }
    }

    /// The variables in `targets` that hold arrays.
    pub(super) fn array_slots(&self, targets: &[Expr]) -> Vec<SlotId> {
        let mut out = Vec::new();
        targets.iter().for_each(|target| self.gather_array_slots(target, &mut out));
        out
    }

    fn gather_array_slots(&self, target: &Expr, out: &mut Vec<SlotId>) {
        match target {
            Expr::Name(_) => {
                let slot = self.slot(target).filter(|slot| self.ground().kinds.slot(*slot).holds_arrays());
                out.extend(slot);
            }
            Expr::Tuple(it) => it.elts.iter().for_each(|target| self.gather_array_slots(target, out)),
            Expr::List(it) => it.elts.iter().for_each(|target| self.gather_array_slots(target, out)),
            Expr::Starred(it) => self.gather_array_slots(&it.value, out),
            _ => {}
        }
    }
}

fn pairs(targets: &[Expr], values: &[Expr]) -> bool {
    targets.len() == values.len() && !targets.iter().chain(values).any(Expr::is_starred_expr)
}
