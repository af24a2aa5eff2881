//! Expressions: where each is evaluated, and what that asks of its parts.

use ruff_python_ast::{
    CmpOp, Comprehension, Expr, ExprAttribute, ExprCompare, ExprFString, ExprSubscript,
    InterpolatedStringElement, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use super::{Act, Node, Walk, Want};
use crate::kinds::Kind;
use crate::kinds::program::Ref;
use crate::plan::placement::builtins::{Builtin, builtin};
use crate::plan::placement::code::{self, Finding};
use crate::plan::placement::home::{Home, asks_identity};
use crate::plan::placement::loops::Loop;
use crate::plan::placement::matches::Verdict;
use crate::plan::placement::state::Side;

/// An operand that may be a scalar on the device.
const OPERAND: Want = Want::Operand { scalars: true };

impl Walk<'_, '_> {
    /// Looks at `expression`, of whose value `want` is wanted.
    pub(super) fn visit(&mut self, expression: &Expr, want: Want) {
        match expression {
            Expr::BoolOp(it) => return it.values.iter().for_each(|part| self.visit(part, want)),
            Expr::If(it) => {
                self.visit(&it.test, Want::Test);
                self.visit(&it.body, want);
                return self.visit(&it.orelse, want);
            }
            Expr::Named(it) => return self.named(it, want),
            Expr::Starred(it) => return self.visit(&it.value, want),
            Expr::Tuple(it) => return self.display(expression, &it.elts, want),
            Expr::List(it) => return self.display(expression, &it.elts, want),
            Expr::Set(it) => return self.display(expression, &it.elts, want),
            Expr::ListComp(it) => return self.comprehension(expression, &it.generators, &it.elt, want),
            Expr::SetComp(it) => return self.comprehension(expression, &it.generators, &it.elt, want),
            Expr::Generator(it) => return self.comprehension(expression, &it.generators, &it.elt, want),
            _ => {}
        }
        let home = self.home(expression);
        let side = match (home, want.side()) {
            (Home::Device, _) | (Home::Either, Some(Side::Device)) => Side::Device,
            _ => Side::Host,
        };
        self.parts(expression, side, want);
        self.made(expression, home, want);
        if home == Home::Free && !matches!(self.kind(expression), Kind::List(_) | Kind::Tuple(_)) {
            return;
        }
        self.cross(expression, side, want);
    }

    /// Notes what goes into a variable: the value of another as it is, or the result of device work.
    fn made(&mut self, expression: &Expr, home: Home, want: Want) {
        let Want::Into(node, _) = want else { return };
        match self.passed_on(expression) {
            Some(from) if self.kind(expression).holds_arrays() => self.out.flows.push((from, node)),
            _ if home == Home::Device => self.used(node).made = true,
            _ => {}
        }
    }

    /// The variable or result whose value (or one of whose elements) `expression` yields as it is.
    pub(super) fn passed_on(&self, expression: &Expr) -> Option<Node> {
        match expression {
            Expr::Name(_) => self.slot(expression).map(|slot| self.node(slot)),
            Expr::Call(it) => match self.called_function(expression, it) {
                Some(function) => Some(Node::Result(function)),
                None => {
                    let name = self.view.program().builtin(self.view.source, &it.func)?;
                    let hands_on = matches!(builtin(name), Builtin::Iterates | Builtin::Folds);
                    let first = it.arguments.args.first().filter(|_| hands_on && name != "sum")?;
                    self.passed_on(first)
                }
            },
            _ => None,
        }
    }

    fn parts(&mut self, expression: &Expr, side: Side, want: Want) {
        let operand = if side == Side::Device { OPERAND } else { Want::Host };
        match expression {
            Expr::Name(_) => self.name(expression, want),
            Expr::BinOp(it) => {
                self.count_work(expression, side);
                self.visit(&it.left, operand);
                self.visit(&it.right, operand);
            }
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => self.visit(&it.operand, Want::Test),
            Expr::UnaryOp(it) => {
                self.count_work(expression, side);
                self.visit(&it.operand, operand);
            }
            Expr::Compare(it) => {
                self.count_work(expression, side);
                self.compare(it, side);
            }
            Expr::Attribute(it) => {
                self.part_used(&it.value, want);
                self.attribute(expression, it, side);
            }
            Expr::Subscript(it) => {
                self.part_used(&it.value, want);
                self.subscript(expression, it, side);
            }
            Expr::Call(it) => self.call(expression, it, side, want),
            _ => self.rarer_parts(expression),
        }
    }

    fn rarer_parts(&mut self, expression: &Expr) {
        match expression {
            Expr::FString(it) => self.interpolated(it),
            Expr::Dict(it) => {
                for item in &it.items {
                    item.key.iter().for_each(|key| self.visit(key, Want::Host));
                    self.keep(&item.value);
                    self.visit(&item.value, Want::Host);
                }
            }
            Expr::DictComp(it) => {
                self.generators(expression.range(), &it.generators, |walk| {
                    if let Some(key) = &it.key {
                        walk.visit(key, Want::Host);
                    }
                    walk.visit(&it.value, Want::Host);
                });
            }
            Expr::Slice(it) => {
                [&it.lower, &it.upper, &it.step]
                    .into_iter()
                    .flatten()
                    .for_each(|part| self.visit(part, Want::Host));
            }
            Expr::Lambda(it) => {
                let before = (self.out.acts.len(), self.out.refusals.len());
                self.visit(&it.body, Want::Host);
                if (self.out.acts.len(), self.out.refusals.len()) > before {
                    self.out.acts.truncate(before.0);
                    self.out.refusals.truncate(before.1);
                    self.refuse(expression, code::DEFERRED, "a lambda works with arrays");
                }
            }
            _ => {}
        }
    }

    /// A part of `base` is what `want` asks for: work on the part is work on the whole.
    fn part_used(&mut self, base: &Expr, want: Want) {
        let is_array = |it: &Expr| matches!(self.kind(it), Kind::Array(_) | Kind::List(_) | Kind::Tuple(_));
        let mut owner = base;
        loop {
            owner = match owner {
                Expr::Subscript(it) if is_array(&it.value) => &it.value,
                Expr::Attribute(it) if is_array(&it.value) => &it.value,
                _ => break,
            };
        }
        let Some(slot) = self.slot(owner) else { return };
        let node = self.node(slot);
        match want {
            Want::Operand { .. } | Want::Device => self.used(node).work = true,
            Want::Into(to, _) => self.out.flows.push((node, to)),
            Want::Any | Want::Test | Want::Host => {}
        }
    }

    fn count_work(&mut self, expression: &Expr, side: Side) {
        self.out.work += u32::from(side == Side::Device && self.kind(expression).holds_arrays());
    }

    /// A variable is read.
    fn name(&mut self, expression: &Expr, want: Want) {
        let Some(slot) = self.slot(expression) else { return };
        let node = self.node(slot);
        match want {
            Want::Host => self.used(node).host = true,
            Want::Operand { .. } => self.used(node).work = true,
            Want::Device => {
                let scalar = !self.kind(expression).holds_arrays();
                let used = self.used(node);
                used.work = true;
                used.host |= scalar;
            }
            Want::Into(..) if !self.kind(expression).holds_arrays() => self.used(node).host = true,
            Want::Any | Want::Test | Want::Into(..) => {}
        }
    }

    fn compare(&mut self, compare: &ExprCompare, side: Side) {
        if !compare.ops.iter().all(asks_identity) {
            let operand = if side == Side::Device { OPERAND } else { Want::Host };
            self.visit(&compare.left, operand);
            return compare.comparators.iter().for_each(|part| self.visit(part, operand));
        }
        let holds = |op: &CmpOp| matches!(op, CmpOp::In | CmpOp::NotIn);
        let want = if compare.ops.iter().any(holds) { Want::Host } else { Want::Any };
        self.visit(&compare.left, want);
        for (op, part) in compare.ops.iter().zip(&compare.comparators) {
            let container = holds(op) && self.kind(part).is_array();
            self.visit(part, if container { Want::Host } else { Want::Any });
        }
    }

    fn attribute(&mut self, expression: &Expr, attribute: &ExprAttribute, side: Side) {
        if !matches!(self.view.program().reference(self.view.source, expression), Ref::None) {
            return;
        }
        let on_device = self.home(&attribute.value) == Home::Device;
        let name = attribute.attr.as_str();
        if on_device && matches!(self.kind(&attribute.value), Kind::Array(_) | Kind::Numpy) {
            let known = self.view.program().array_attribute(name);
            if known.is_none_or(|it| !it.supported) {
                let message = format!("device arrays have no `{name}`");
                self.refuse(expression, code::NO_COUNTERPART, message);
            }
            return self.visit(&attribute.value, Want::Any);
        }
        let whole = self.kind(expression).holds_arrays() && self.kind(&attribute.value).is_array();
        let want = match side {
            Side::Device if whole => OPERAND,
            Side::Host if whole => Want::Host,
            _ => Want::Any,
        };
        self.visit(&attribute.value, want);
    }

    fn subscript(&mut self, expression: &Expr, subscript: &ExprSubscript, side: Side) {
        if let Ref::Path(_) = self.view.program().reference(self.view.source, &subscript.value) {
            if let (Side::Device, Verdict::Device(found)) = (side, self.view.verdict(expression)) {
                self.out.acts.push(Act::Apply(found));
                self.out.work += 1;
                return self.joined_index(&subscript.slice);
            }
            return self.index(&subscript.slice, Side::Host);
        }
        let base = &*subscript.value;
        if !matches!(self.kind(base), Kind::Array(_) | Kind::Numpy) {
            self.visit(base, Want::Any);
            return self.visit(&subscript.slice, Want::Host);
        }
        if side == Side::Device && self.is_element(expression, subscript) {
            self.element_access(expression, base);
        }
        let want = match (side, self.home(base)) {
            (_, Home::Device) => Want::Any,
            (Side::Device, _) => OPERAND,
            (Side::Host, _) => Want::Host,
        };
        self.visit(base, want);
        self.index(&subscript.slice, side);
    }

    /// The parts of `numpy.r_[…]`: arrays to join, numbers, and slices that make arrays.
    fn joined_index(&mut self, slice: &Expr) {
        let parts = match slice {
            Expr::Tuple(tuple) => &tuple.elts[..],
            single => std::slice::from_ref(single),
        };
        for part in parts {
            let holds = self.kind(part).holds_arrays();
            self.visit(part, if holds { OPERAND } else { Want::Host });
        }
    }

    /// True where a hot loop picks a single element by an index of its own.
    pub(super) fn is_element(&self, expression: &Expr, subscript: &ExprSubscript) -> bool {
        *self.kind(expression) == Kind::Numpy && self.is_hot() && self.varies(&subscript.slice)
    }

    /// Single elements of `base` are read or written in a loop: it had better live where that costs nothing.
    pub(super) fn element_access(&mut self, at: &Expr, base: &Expr) {
        let message = format!("a loop works on single elements of `{}`", self.text(base));
        match self.slot(base) {
            Some(slot) => self.force_host(slot, Finding::new(at.start(), code::ELEMENT_LOOP, message)),
            None => self.refuse(at, code::ELEMENT_LOOP, message),
        }
    }

    /// The parts of an index into an array on `side`.
    pub(super) fn index(&mut self, slice: &Expr, side: Side) {
        let Expr::Tuple(tuple) = slice else { return self.index_part(slice, side) };
        tuple.elts.iter().for_each(|part| self.index_part(part, side));
    }

    fn index_part(&mut self, part: &Expr, side: Side) {
        if side == Side::Host {
            return self.visit(part, Want::Host);
        }
        match self.kind(part) {
            Kind::Array(_) => self.visit(part, OPERAND),
            kind @ (Kind::List(_) | Kind::Tuple(_)) if kind.holds_arrays() => self.visit(part, Want::Device),
            Kind::Unknown | Kind::Never => {
                let message = format!("the index `{}` is of unknown kind", self.text(part));
                self.refuse(part, code::UNKNOWN, message);
            }
            _ => self.visit(part, Want::Host),
        }
    }

    /// A tuple, list or set as it is written: its arrays cross one by one.
    fn display(&mut self, whole: &Expr, elements: &[Expr], want: Want) {
        let holds = self.kind(whole).holds_arrays();
        let inner = match want {
            Want::Operand { .. } if holds => Want::Device,
            Want::Operand { .. } => Want::Host,
            Want::Test => Want::Any,
            other => other,
        };
        for element in elements {
            let kept = match element {
                Expr::Starred(it) => &*it.value,
                other => other,
            };
            let scalar = !self.kind(kept).holds_arrays();
            self.visit(element, if scalar { Want::Host } else { inner });
        }
        if matches!(want, Want::Operand { .. }) && !holds {
            self.cross(whole, Side::Host, want);
        }
    }

    fn comprehension(&mut self, whole: &Expr, generators: &[Comprehension], element: &Expr, want: Want) {
        let scalar = !self.kind(element).holds_arrays();
        let inner = match want {
            _ if scalar => Want::Host,
            Want::Operand { .. } => Want::Device,
            Want::Test => Want::Any,
            other => other,
        };
        self.generators(whole.range(), generators, |walk| walk.visit(element, inner));
        if matches!(want, Want::Operand { .. }) && scalar {
            self.cross(whole, Side::Host, want);
        }
    }

    fn generators(
        &mut self,
        range: TextRange,
        generators: &[Comprehension],
        element: impl FnOnce(&mut Self),
    ) {
        let Some((first, rest)) = generators.split_first() else { return element(self) };
        self.iterate(&first.target, &first.iter, range);
        self.hold_elements(&first.target, &first.iter);
        let (program, source) = (self.view.program(), self.view.source);
        let inner = Loop::new(program, source, range, Some(&first.iter), &[&first.target], &[]);
        self.looping(inner, |walk| {
            first.ifs.iter().for_each(|test| walk.visit(test, Want::Test));
            walk.generators(range, rest, element);
        });
    }

    fn interpolated(&mut self, string: &ExprFString) {
        string.value.elements().for_each(|element| self.interpolation(element));
    }

    fn interpolation(&mut self, element: &InterpolatedStringElement) {
        let InterpolatedStringElement::Interpolation(it) = element else { return };
        let before = self.out.acts.len();
        self.visit(&it.expression, Want::Host);
        if it.debug_text.is_some() && self.out.acts.len() > before {
            self.out.acts.truncate(before);
            self.refuse(&*it.expression, code::DEBUG_TEXT, "an f-string prints the text of this expression");
        }
        it.format_spec.iter().flat_map(|spec| spec.elements.iter()).for_each(|part| self.interpolation(part));
    }
}
