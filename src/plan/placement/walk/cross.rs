//! Crossings: where an expression lives on one side and is wanted on the other.

use ruff_python_ast::Expr;
use ruff_python_trivia::{has_leading_content, has_trailing_content};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{Act, Node, Walk, Want, Way};
use crate::kinds::{Dtype, Kind, SlotId};
use crate::names::Variable;
use crate::plan::placement::code::{self, Finding};
use crate::plan::placement::home::Home;
use crate::plan::placement::loops;
use crate::plan::placement::origins::{Origin, is_fresh, origins};
use crate::plan::placement::state::Side;

/// A replacement can't be written where it belongs.
const NOT_WRITABLE: crate::reasons::Code = crate::reasons::Code::new("GP110");

impl Walk<'_, '_> {
    /// Puts a transfer around `expression`, which is evaluated on `side`, where `want` asks for the other.
    pub(super) fn cross(&mut self, expression: &Expr, side: Side, want: Want) {
        match (side, want.side()) {
            (Side::Device, Some(Side::Host)) => self.to_host(expression),
            (Side::Device, Some(Side::Device)) => {
                let scalars = matches!(want, Want::Operand { scalars: true });
                if !scalars && !self.kind(expression).holds_arrays() {
                    self.to_host(expression);
                }
            }
            (Side::Host, Some(Side::Device)) => self.to_device(expression, want),
            _ => {}
        }
    }

    fn to_host(&mut self, expression: &Expr) {
        let way = match self.kind(expression) {
            Kind::Array(array) if array.maybe_none => {
                let message = format!("`{}` may be `None`", self.text(expression));
                return self.refuse(expression, code::UNKNOWN, message);
            }
            Kind::Array(array) if !array.maybe_scalar => Way::ToHost,
            Kind::Array(_) | Kind::Numpy | Kind::Number => Way::ScalarToHost,
            Kind::Python => Way::NumberToHost,
            // What made it unknown has been told.
            Kind::Unknown | Kind::Never => return,
            _ => return self.container_conflict(expression),
        };
        if self.kind(expression).is_array() {
            self.count_transfer(expression);
        }
        self.out.acts.push(Act::Wrap(expression.range(), way));
    }

    fn to_device(&mut self, expression: &Expr, want: Want) {
        let operand = matches!(want, Want::Operand { .. });
        match self.kind(expression) {
            Kind::Array(array) if array.maybe_none => {
                let message = format!("`{}` may be `None`", self.text(expression));
                self.refuse(expression, code::UNKNOWN, message);
            }
            Kind::Array(array) if array.dtype == Dtype::Unsupported => {
                let message = format!("no device has the elements of `{}`", self.text(expression));
                self.refuse(expression, code::DTYPE, message);
            }
            Kind::Array(_) | Kind::Loaded => {
                self.count_feed(expression, want);
                self.out.acts.push(Act::Wrap(expression.range(), Way::ToDevice));
            }
            Kind::Unknown | Kind::Never if operand => {
                let message =
                    format!("`{}` is of unknown kind and meets device arrays", self.text(expression));
                self.refuse(expression, code::UNKNOWN, message);
            }
            kind @ (Kind::List(_) | Kind::Tuple(_)) if kind.holds_arrays() => {
                self.container_conflict(expression)
            }
            Kind::List(_) | Kind::Tuple(_) if operand => {
                self.out.acts.push(Act::Wrap(expression.range(), Way::ToDevice));
            }
            _ => {}
        }
    }

    /// A list or tuple of arrays can't cross as a whole: it must be made on the side where it is needed.
    fn container_conflict(&mut self, expression: &Expr) {
        let message = format!("`{}` holds arrays that are needed on both sides", self.text(expression));
        match self.slot(expression) {
            Some(slot) if self.home(expression) == Home::Device => {
                let finding = Finding::new(expression.start(), code::UNKNOWN, message);
                self.force_host(slot, finding);
            }
            _ => self.refuse(expression, code::UNKNOWN, message),
        }
    }

    /// An array crosses here: in every turn of a loop that is no port.
    pub(super) fn count_transfer(&mut self, at: impl Ranged) {
        if self.is_hot() {
            let message = format!("`{}` would cross in every turn of a loop", self.text(at.range()));
            self.refuse(at.range(), code::LOOP_TRANSFER, message);
        }
    }

    /// A host array goes to the device here. Where it is made anew in every turn of a loop, what is done to it decides.
    pub(super) fn count_feed(&mut self, expression: &Expr, want: Want) {
        let ground = self.ground();
        if is_fresh(ground, ground.effects, self.view.source, expression) {
            let into = match want {
                Want::Into(node, _) => Some(node),
                _ => None,
            };
            self.out.feeds.push(into);
        } else {
            self.count_transfer(expression);
            if let Want::Into(Node::Slot(slot), _) = want {
                self.guard_copy(slot, expression);
            }
        }
    }

    /// A variable gets a copy of what other code holds: neither may be changed in place from now on.
    pub(super) fn guard_copy(&mut self, slot: SlotId, expression: &Expr) {
        let effects = self.ground().effects;
        let around = loops::around(&self.loops);
        let text = self.text(expression);
        let message = if effects.is_changed(slot) {
            format!("`{text}` is changed in place, which others would not see")
        } else if effects.unseen_after(self.region, expression.start(), around).is_some() {
            format!("`{text}` may be changed in place by code that holds it")
        } else {
            return;
        };
        let finding = Finding::new(expression.start(), code::CHANGE_UNSEEN, message);
        self.force_host(slot, finding);
    }

    /// Binds `names` anew in a statement after the one at `stmt`.
    pub(super) fn rebind_after(&mut self, stmt: TextRange, names: Vec<(String, Way)>) {
        let module = self.view.program().source(self.view.source).module;
        let text = module.text();
        if has_leading_content(stmt.start(), text) || has_trailing_content(stmt.end(), text) {
            return self.refuse(stmt, NOT_WRITABLE, "a statement can't be put after this one");
        }
        let end = line_end(text, stmt.end());
        let indent = line_indent(text, stmt.start());
        self.push_rebind(end, indent, names);
    }

    /// Binds `names` anew before the first statement of a block.
    pub(super) fn rebind_before(&mut self, first: TextSize, names: Vec<(String, Way)>) {
        let module = self.view.program().source(self.view.source).module;
        let text = module.text();
        if has_leading_content(first, text) {
            let at = TextRange::empty(first);
            return self.refuse(at, NOT_WRITABLE, "a statement can't be put before this one");
        }
        let indent = line_indent(text, first);
        let start = first - TextSize::of(indent.as_str());
        self.push_rebind(start, indent, names);
    }

    /// Binds `names` anew at the start of the region, after its documentation.
    pub(super) fn rebind_at_start(&mut self, names: Vec<(String, Way)>) {
        let body = self.view.program().region(self.region).body();
        let is_doc = |stmt: &ruff_python_ast::Stmt| matches!(stmt, ruff_python_ast::Stmt::Expr(it) if it.value.is_string_literal_expr());
        match body {
            [doc, first, ..] if is_doc(doc) => self.rebind_before(first.start(), names),
            [first, ..] => self.rebind_before(first.start(), names),
            [] => {}
        }
    }

    fn push_rebind(&mut self, at: TextSize, indent: String, names: Vec<(String, Way)>) {
        self.out.acts.push(Act::Rebind { at, indent, names });
    }

    /// Host code keeps the value of `expression`: where it gets a copy, later changes in place would not reach it.
    pub(super) fn keep(&mut self, expression: &Expr) {
        if self.home(expression) != Home::Device || !self.kind(expression).holds_arrays() {
            return;
        }
        let ground = self.ground();
        for origin in origins(ground, ground.effects, self.view.source, expression) {
            let Origin::Slot(slot) = origin else { continue };
            let around = loops::around(&self.loops);
            let read_again = || {
                let call = ground.effects.unseen_after(self.region, expression.end(), around);
                call.is_some_and(|call| self.is_read_after(slot, call, around))
            };
            if ground.effects.is_changed_after(slot, self.region, expression.start(), around) || read_again()
            {
                let message =
                    format!("`{}` is changed in place after host code holds it", self.text(expression));
                self.refuse(expression, code::CHANGE_UNSEEN, message);
            }
        }
    }

    /// True where a variable is read after `at`, or in a loop around that.
    fn is_read_after(&self, slot: SlotId, at: TextSize, around: Option<TextRange>) -> bool {
        let slot = self.view.program().slot(slot);
        let names = self.view.program().source(slot.source).names;
        let variable = Variable { scope: slot.scope, name: slot.name.clone() };
        names.uses(&variable).iter().any(|read| {
            read.start() > at
                || around.is_some_and(|range| range.contains(read.start()) && range.contains(at))
        })
    }

    /// The side of the arrays in a variable.
    pub(super) fn side(&self, slot: SlotId) -> Side {
        self.state().side(slot)
    }
}

/// The white space before the statement at `offset`.
fn line_indent(text: &str, offset: TextSize) -> String {
    let before = &text[..usize::from(offset)];
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    before[start..].chars().take_while(|c| c.is_whitespace()).collect()
}

/// The start of the line after the one that `offset` is in.
fn line_end(text: &str, offset: TextSize) -> TextSize {
    let after = &text[usize::from(offset)..];
    let length = after.find('\n').map_or(after.len(), |at| at + 1);
    offset + TextSize::new(length as u32)
}
