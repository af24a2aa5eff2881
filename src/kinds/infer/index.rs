//! Subscripts: what an index leaves of an array, a tuple, a mapping.

use ruff_python_ast::{Expr, ExprSubscript, Number, UnaryOp};

use super::Inference;
use crate::api::Returns;
use crate::kinds::kind::{Array, Dtype, Kind};
use crate::kinds::program::Ref;

impl<'a> Inference<'_, 'a> {
    pub(super) fn subscript(&mut self, subscript: &'a ExprSubscript) -> Kind {
        let index = self.index_kinds(&subscript.slice);
        if let Ref::Path(path) = self.program.reference(self.source, &subscript.value) {
            let returns = self.program.path(path).callable.map(|it| &it.returns);
            self.expr(&subscript.value);
            return match returns {
                Some(Returns::Grid) => grid(&subscript.slice),
                Some(Returns::Array(rank)) => Kind::Array(Array::of_rank(*rank)),
                Some(Returns::List) => Kind::list(Kind::ARRAY),
                _ => self.program.path(path).host.map_or(Kind::Unknown, |_| Kind::Plain),
            };
        }
        let base = self.value(&subscript.value);
        indexed(&base, &subscript.slice, &index)
    }

    /// The kinds of the parts of an index.
    fn index_kinds(&mut self, slice: &'a Expr) -> Vec<Kind> {
        let whole = self.value(slice);
        match slice {
            Expr::Tuple(tuple) => tuple.elts.iter().map(|it| self.seen(it).clone()).collect(),
            _ => vec![whole],
        }
    }
}

/// `numpy.mgrid[…]`: an axis for each slice, and one before them where there are several.
fn grid(slice: &Expr) -> Kind {
    match slice {
        Expr::Tuple(tuple) => u8::try_from(tuple.elts.len() + 1).map_or(Kind::ARRAY, Kind::rank),
        _ => Kind::rank(1),
    }
}

fn indexed(base: &Kind, slice: &Expr, index: &[Kind]) -> Kind {
    match base {
        Kind::Never => Kind::Never,
        Kind::Array(array) => array_indexed(*array, slice, index),
        Kind::Loaded if *index == [Kind::Text] => Kind::ARRAY,
        Kind::Loaded => array_indexed(Array::of_rank(None), slice, index),
        Kind::Text => Kind::Text,
        Kind::Plain => Kind::Plain,
        Kind::Numpy | Kind::Number => Kind::VALUE,
        Kind::Dict(value) => (**value).clone(),
        Kind::Record(fields) => match slice {
            Expr::StringLiteral(key) => fields.get(key.value.to_str()).cloned().unwrap_or(Kind::Unknown),
            _ => base.element(),
        },
        Kind::Tuple(elements) => match literal(slice) {
            Some(at) => {
                let at = if at < 0 { at + elements.len() as i64 } else { at };
                usize::try_from(at).ok().and_then(|at| elements.get(at).cloned()).unwrap_or(Kind::Unknown)
            }
            None if slice.is_slice_expr() => Kind::list(base.element()),
            None => base.element(),
        },
        Kind::List(element) if slice.is_slice_expr() => Kind::List(element.clone()),
        Kind::List(element) => (**element).clone(),
        _ => Kind::Unknown,
    }
}

/// The integer that `expression` spells.
pub(super) fn literal(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::NumberLiteral(number) => match &number.value {
            Number::Int(int) => int.as_i64(),
            _ => None,
        },
        Expr::UnaryOp(it) if it.op == UnaryOp::USub => literal(&it.operand).map(|value| -value),
        _ => None,
    }
}

/// What one part of an index does to an array.
enum Part {
    /// Takes one axis away.
    Integer,
    /// Keeps an axis.
    Slice,
    /// Adds an axis.
    New,
    /// Stands for all axes not named.
    Ellipsis,
    /// Replaces axes by those of an index array: it takes and it gives so many.
    Array { takes: Option<u8>, gives: Option<u8> },
    /// Anything.
    Unknown,
}

fn part(expression: Option<&Expr>, kind: &Kind) -> Part {
    match (expression, kind) {
        (Some(Expr::Slice(_)), _) => Part::Slice,
        (Some(Expr::EllipsisLiteral(_)), _) => Part::Ellipsis,
        (_, Kind::Nothing) => Part::New,
        (_, Kind::Python | Kind::Numpy | Kind::Number) => Part::Integer,
        (_, Kind::Array(array)) if array.maybe_scalar => Part::Unknown,
        (_, Kind::Array(array)) => match array.dtype {
            Dtype::Bool => Part::Array { takes: array.rank, gives: Some(1) },
            Dtype::Integer | Dtype::Number => Part::Array { takes: Some(1), gives: array.rank },
            _ => Part::Array { takes: None, gives: None },
        },
        (_, Kind::List(_) | Kind::Tuple(_)) => Part::Array { takes: Some(1), gives: Some(1) },
        _ => Part::Unknown,
    }
}

fn array_indexed(array: Array, slice: &Expr, index: &[Kind]) -> Kind {
    let parts: Vec<Part> = match slice {
        Expr::Tuple(tuple) => tuple.elts.iter().zip(index).map(|(it, kind)| part(Some(it), kind)).collect(),
        // A tuple of index arrays, as `numpy.nonzero` gives it.
        single => match &index[0] {
            Kind::Tuple(elements) => elements.iter().map(|kind| part(None, kind)).collect(),
            Kind::List(element) if element.is_array() => return array_of(array, None, false),
            kind => vec![part(Some(single), kind)],
        },
    };
    if index.contains(&Kind::Never) {
        return Kind::Never;
    }
    if index.contains(&Kind::Text) {
        return Kind::Unknown;
    }
    if parts.iter().any(|it| matches!(it, Part::Unknown)) {
        return array_of(array, None, !parts.iter().any(|it| matches!(it, Part::Slice | Part::New)));
    }
    let rank = rank_after(array.rank, &parts);
    let all_integers = parts.iter().all(|it| matches!(it, Part::Integer));
    if rank == Some(0) && all_integers {
        return Kind::Numpy;
    }
    array_of(array, rank, rank.is_none() && all_integers)
}

fn array_of(array: Array, rank: Option<u8>, maybe_scalar: bool) -> Kind {
    Kind::Array(Array { dtype: array.dtype, rank, maybe_scalar, maybe_none: false })
}

/// The number of axes that remain of `rank`, or as far as the parts alone tell.
fn rank_after(rank: Option<u8>, parts: &[Part]) -> Option<u8> {
    let mut left = i16::from(rank?);
    let mut given: Option<u8> = None;
    for part in parts {
        match part {
            Part::Integer => left -= 1,
            Part::New => left += 1,
            Part::Slice | Part::Ellipsis => {}
            Part::Array { takes, gives } => {
                left -= i16::from((*takes)?);
                given = Some(given.unwrap_or(0).max((*gives)?));
            }
            Part::Unknown => return None,
        }
    }
    u8::try_from(left + i16::from(given.unwrap_or(0))).ok()
}
