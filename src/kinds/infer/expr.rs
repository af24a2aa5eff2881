//! Expressions other than calls.

use std::collections::BTreeMap;

use ruff_python_ast::{
    CmpOp, Comprehension, DictItem, Expr, ExprAttribute, ExprDict, ExprFString, InterpolatedStringElement,
    Operator, Pattern, UnaryOp,
};

use super::Inference;
use crate::api::Returns;
use crate::kinds::kind::{Array, Dtype, Kind};
use crate::kinds::program::{Definition, Ref};

impl<'a> Inference<'_, 'a> {
    /// The kind of `expression`, where its value goes to a place that keeps functions unseen.
    pub(super) fn value(&mut self, expression: &'a Expr) -> Kind {
        let kind = self.expr(expression);
        self.release(&kind);
        kind
    }

    /// The kind of `expression`.
    pub(super) fn expr(&mut self, expression: &'a Expr) -> Kind {
        let kind = match expression {
            Expr::Name(_) => self.name(expression),
            Expr::Attribute(it) => self.attribute(expression, it),
            Expr::Call(it) => self.call(it),
            Expr::BinOp(it) => {
                let (left, right) = (self.value(&it.left), self.value(&it.right));
                self.combined(&left, &right, it.op)
            }
            Expr::UnaryOp(it) => {
                let operand = self.value(&it.operand);
                match (it.op, operand) {
                    (UnaryOp::Not, _) => Kind::Python,
                    (_, kind @ (Kind::Array(_) | Kind::Numpy | Kind::Number | Kind::Python)) => kind,
                    (_, Kind::Plain) => Kind::Plain,
                    (_, Kind::Never) => Kind::Never,
                    _ => Kind::Unknown,
                }
            }
            Expr::BoolOp(it) => it.values.iter().fold(Kind::Never, |sum, value| sum.join(&self.value(value))),
            Expr::Compare(it) => {
                let mut kinds = vec![self.value(&it.left)];
                kinds.extend(it.comparators.iter().map(|value| self.value(value)));
                compared(&kinds, &it.ops)
            }
            Expr::Subscript(it) => self.subscript(it),
            Expr::If(it) => {
                self.value(&it.test);
                let body = self.value(&it.body);
                body.join(&self.value(&it.orelse))
            }
            Expr::Tuple(it) => Kind::tuple(it.elts.iter().map(|e| self.element(e)).collect::<Vec<_>>()),
            Expr::List(it) => self.list(&it.elts),
            Expr::Set(it) => self.list(&it.elts),
            Expr::Dict(it) => self.dict(it),
            Expr::Named(it) => {
                let kind = self.value(&it.value);
                self.assign(&it.target, &kind);
                kind
            }
            _ => self.rarer(expression),
        };
        self.set(expression, kind)
    }

    fn rarer(&mut self, expression: &'a Expr) -> Kind {
        match expression {
            Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) => Kind::Python,
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) => Kind::Text,
            Expr::FString(it) => {
                self.interpolated(it);
                Kind::Text
            }
            Expr::NoneLiteral(_) => Kind::Nothing,
            Expr::EllipsisLiteral(_) => Kind::Plain,
            Expr::ListComp(it) => self.comprehension(&it.generators, &it.elt),
            Expr::SetComp(it) => self.comprehension(&it.generators, &it.elt),
            Expr::Generator(it) => self.comprehension(&it.generators, &it.elt),
            Expr::DictComp(it) => {
                let value = self.comprehension(&it.generators, &it.value);
                if let Some(key) = &it.key {
                    self.value(key);
                }
                Kind::Dict(value.element().into())
            }
            Expr::Starred(it) => self.value(&it.value),
            Expr::Slice(it) => {
                [&it.lower, &it.upper, &it.step].into_iter().flatten().for_each(|part| {
                    self.value(part);
                });
                Kind::Plain
            }
            Expr::Lambda(it) => {
                self.value(&it.body);
                Kind::Unknown
            }
            Expr::Yield(it) => {
                let kind = it.value.as_ref().map_or(Kind::Nothing, |value| self.value(value));
                self.give_back_element(kind);
                Kind::Unknown
            }
            Expr::YieldFrom(it) => {
                let kind = self.value(&it.value).element();
                self.give_back_element(kind);
                Kind::Unknown
            }
            Expr::Await(it) => {
                self.value(&it.value);
                Kind::Unknown
            }
            _ => Kind::Unknown,
        }
    }

    /// The f-string's expressions.
    fn interpolated(&mut self, string: &'a ExprFString) {
        for element in string.value.elements() {
            self.interpolation(element);
        }
    }

    fn interpolation(&mut self, element: &'a InterpolatedStringElement) {
        let InterpolatedStringElement::Interpolation(it) = element else { return };
        self.value(&it.expression);
        for element in it.format_spec.iter().flat_map(|spec| spec.elements.iter()) {
            self.interpolation(element);
        }
    }

    fn comprehension(&mut self, generators: &'a [Comprehension], element: &'a Expr) -> Kind {
        self.generators(generators);
        Kind::list(self.value(element))
    }

    fn generators(&mut self, generators: &'a [Comprehension]) {
        for generator in generators {
            let element = self.iterated(&generator.iter);
            self.assign(&generator.target, &element);
            generator.ifs.iter().for_each(|test| {
                self.value(test);
            });
        }
    }

    /// What iterating over `expression` yields.
    pub(super) fn iterated(&mut self, expression: &'a Expr) -> Kind {
        self.value(expression).element()
    }

    fn name(&mut self, expression: &'a Expr) -> Kind {
        match self.program.reference(self.source, expression) {
            Ref::Slot(slot) => self.read(slot),
            Ref::Path(path) => self.outside(path),
            Ref::Builtin(path) => match self.program.path(path).name.as_str() {
                "__name__" | "__file__" | "__doc__" => Kind::Text,
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    /// A name from outside the module as a value.
    fn outside(&mut self, path: crate::kinds::program::PathId) -> Kind {
        let info = self.program.path(path);
        match info.definition {
            Some(Definition::Function(function)) => return Kind::Function(function),
            Some(Definition::Class(class)) => return Kind::Class(class),
            None => {}
        }
        let exact = info.host.filter(|_| info.callable.is_none());
        match exact.map(|host| (&host.returns, host.parameters.is_some())) {
            Some((Returns::Scalar | Returns::Python, false)) => Kind::Python,
            Some((Returns::Nothing, false)) => Kind::Nothing,
            Some((Returns::Number | Returns::Other, _)) => Kind::Plain,
            _ => Kind::Unknown,
        }
    }

    fn attribute(&mut self, expression: &'a Expr, attribute: &'a ExprAttribute) -> Kind {
        if let Ref::Path(path) = self.program.reference(self.source, expression) {
            return self.outside(path);
        }
        let owner = self.expr(&attribute.value);
        self.member(&owner, attribute.attr.as_str())
    }

    /// The kind of attribute `name` of a value of kind `owner`.
    pub(super) fn member(&mut self, owner: &Kind, name: &str) -> Kind {
        match owner {
            Kind::Array(array) => self.array_attribute(*array, name),
            Kind::Never => Kind::Never,
            Kind::Plain | Kind::Text | Kind::Nothing | Kind::Loaded => Kind::Plain,
            Kind::Python => Kind::Python,
            Kind::Numpy | Kind::Number => match name {
                "shape" | "dtype" | "strides" => Kind::Plain,
                "real" | "imag" | "T" => Kind::Numpy,
                _ => Kind::Python,
            },
            Kind::Instance(class) => {
                self.field_readers.entry(*class).or_default().insert(self.region);
                self.field(*class, name)
            }
            Kind::Class(class) => {
                let class = *class;
                self.field_readers.entry(class).or_default().insert(self.region);
                self.fields.get(&(class, name.to_owned())).cloned().unwrap_or(Kind::Unknown)
            }
            Kind::Object(class) => match self.program.host_entry(&format!("{class}.{name}")) {
                Some(host) if host.parameters.is_none() && host.returns == Returns::Other => Kind::Plain,
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    fn field(&mut self, class: crate::kinds::program::ClassId, name: &str) -> Kind {
        if let Some(kind) = self.fields.get(&(class, name.to_owned())) {
            return kind.clone();
        }
        match self.program.class(class).methods.get(name) {
            Some(method) => {
                let method = *method;
                self.note_caller(method);
                if self.program.region(method).def.is_some_and(|def| !def.decorator_list.is_empty()) {
                    self.kinds.returns[method.0 as usize].clone()
                } else {
                    Kind::Unknown
                }
            }
            None => Kind::Unknown,
        }
    }

    fn array_attribute(&self, array: Array, name: &str) -> Kind {
        if name == "shape" || name == "strides" {
            return match array.rank {
                Some(rank) if !array.maybe_scalar => Kind::tuple(vec![Kind::Python; usize::from(rank)]),
                _ => Kind::list(Kind::Python),
            };
        }
        match self.program.array_attribute(name) {
            Some(attribute) => match attribute.returns {
                Returns::Like => Kind::Array(Array { maybe_none: false, ..array }),
                Returns::Scalar | Returns::Python => Kind::Python,
                _ => Kind::Plain,
            },
            None => Kind::Unknown,
        }
    }

    fn element(&mut self, element: &'a Expr) -> Kind {
        match element {
            Expr::Starred(it) => self.value(&it.value).element(),
            _ => self.value(element),
        }
    }

    fn list(&mut self, elements: &'a [Expr]) -> Kind {
        let joined = elements.iter().fold(Kind::Never, |sum, element| sum.join(&self.element(element)));
        Kind::list(joined)
    }

    fn dict(&mut self, dict: &'a ExprDict) -> Kind {
        let mut fields = BTreeMap::new();
        let mut named = true;
        let mut joined = Kind::Never;
        for DictItem { key, value } in &dict.items {
            let kind = self.value(value);
            match key {
                Some(Expr::StringLiteral(key)) => {
                    fields.insert(key.value.to_str().to_owned(), kind.clone());
                    joined = joined.join(&kind);
                }
                Some(key) => {
                    self.value(key);
                    named = false;
                    joined = joined.join(&kind);
                }
                None => {
                    named = false;
                    joined = joined.join(&kind.element());
                }
            }
        }
        if named && !fields.is_empty() { Kind::Record(fields.into()) } else { Kind::Dict(joined.into()) }
    }

    pub(super) fn pattern_captures(&mut self, pattern: &'a Pattern) {
        let _ = pattern;
    }

    /// The kind of an arithmetic result.
    #[expect(clippy::unused_self, reason = "beside its relatives")]
    pub(super) fn combined(&self, left: &Kind, right: &Kind, op: Operator) -> Kind {
        match (left, right) {
            (Kind::Never, _) | (_, Kind::Never) => Kind::Never,
            (Kind::Text, _) if matches!(op, Operator::Mod | Operator::Add | Operator::Mult) => Kind::Text,
            (_, Kind::Text) if matches!(op, Operator::Add | Operator::Mult) => Kind::Text,
            (Kind::Array(_), _) | (_, Kind::Array(_)) => match (operand(left), operand(right)) {
                (Some(left), Some(right)) => match broadcast(op, left, right) {
                    Array { rank: Some(0), .. } if op == Operator::MatMult => Kind::Numpy,
                    array => Kind::Array(array),
                },
                _ => Kind::Unknown,
            },
            (Kind::Python, Kind::Python) => Kind::Python,
            (a, b) if a.is_number() && b.is_number() => {
                if *a == Kind::Numpy || *b == Kind::Numpy {
                    Kind::Numpy
                } else {
                    Kind::Number
                }
            }
            (Kind::List(_) | Kind::Tuple(_), it) if *it == Kind::Python && op == Operator::Mult => {
                Kind::list(left.element())
            }
            (Kind::List(_) | Kind::Tuple(_), Kind::List(_) | Kind::Tuple(_)) if op == Operator::Add => {
                Kind::list(left.element().join(&right.element()))
            }
            (a, b) if !a.may_hold_arrays() && !b.may_hold_arrays() => Kind::Plain,
            _ => Kind::Unknown,
        }
    }
}

/// What an operand contributes to an array result.
fn operand(kind: &Kind) -> Option<Array> {
    match kind {
        Kind::Array(array) => Some(*array),
        Kind::Python | Kind::Numpy | Kind::Number | Kind::Plain => {
            Some(Array { maybe_scalar: true, ..Array::of_rank(Some(0)) })
        }
        Kind::Tuple(_) | Kind::List(_) => {
            super::returns::nested_rank(kind).map(|rank| Array::of_rank(Some(rank)))
        }
        _ => None,
    }
}

fn broadcast(op: Operator, left: Array, right: Array) -> Array {
    let rank = match (left.rank, right.rank) {
        (Some(a), Some(b)) if op != Operator::MatMult => Some(a.max(b)),
        (Some(a), Some(b)) => super::returns::matmul_rank(a, b),
        _ => None,
    };
    let scalar = op == Operator::MatMult && rank.is_none();
    let dtype = match op {
        Operator::Div => Dtype::Number,
        Operator::BitAnd | Operator::BitOr | Operator::BitXor => left.dtype.join(right.dtype),
        _ => left.dtype.promote(right.dtype),
    };
    let maybe_scalar = scalar || (left.maybe_scalar && right.maybe_scalar);
    Array { dtype, rank, maybe_scalar, maybe_none: false }
}

fn compared(kinds: &[Kind], ops: &[CmpOp]) -> Kind {
    let plain = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn);
    if ops.iter().all(plain) {
        return Kind::Python;
    }
    if kinds.contains(&Kind::Never) {
        return Kind::Never;
    }
    if kinds.contains(&Kind::Unknown) {
        return Kind::Unknown;
    }
    let arrays: Vec<Array> = kinds.iter().filter_map(Kind::as_array).collect();
    if arrays.is_empty() {
        return if kinds.contains(&Kind::Numpy) { Kind::Numpy } else { Kind::Python };
    }
    let all_known = kinds.iter().all(|kind| operand(kind).is_some());
    let rank = kinds.iter().filter_map(operand).map(|it| it.rank).reduce(|a, b| Some(a?.max(b?))).flatten();
    let maybe_scalar = kinds.iter().filter_map(operand).all(|it| it.maybe_scalar);
    let rank = if all_known { rank } else { None };
    Kind::Array(Array { dtype: Dtype::Bool, rank, maybe_scalar, maybe_none: false })
}
