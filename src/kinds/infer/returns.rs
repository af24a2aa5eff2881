//! What calls of a library's functions yield, by the result classes of its table.

use ruff_python_ast::{Expr, ExprCall};

use super::Inference;
use super::dtype::literal_dtype;
use crate::api::{Callable, Elements, HostCallable, Parameter, Returns};
use crate::kinds::arguments::{argument, arguments};
use crate::kinds::kind::{Array, Dtype, Kind};

/// A call whose arguments have been looked at.
struct Seen<'c> {
    call: &'c ExprCall,
    parameters: &'c [Parameter],
    /// The receiver, for a method.
    receiver: Option<Kind>,
    /// The arguments that are arrays, the receiver first.
    operands: Vec<Kind>,
}

impl<'a> Inference<'_, 'a> {
    /// What a call of a table's function (or of an array's method, with its receiver) yields.
    pub(super) fn table_call(
        &self,
        call: &'a ExprCall,
        entry: &'a Callable,
        receiver: Option<&Kind>,
    ) -> Kind {
        let parameters = &entry.source_parameters;
        let mut operands: Vec<Kind> = receiver.into_iter().cloned().collect();
        let names: Vec<String> = entry.arrays.iter().filter(|it| !is_output(it)).cloned().collect();
        let taken = arguments(call, parameters, &names);
        operands.extend(taken.into_iter().map(|it| self.seen_argument(it)));
        for name in &entry.sequences {
            if let Some(given) = argument(call, parameters, name) {
                operands.push(self.seen_argument(given));
            }
        }
        let seen = Seen { call, parameters, receiver: receiver.cloned(), operands };
        if seen.operands.contains(&Kind::Never) {
            return Kind::Never;
        }
        let foreign = |kind: &Kind| matches!(kind, Kind::Unknown | Kind::Instance(_) | Kind::Object(_));
        if seen.operands.iter().any(foreign) && entry.returns != Returns::Nested {
            return Kind::Unknown;
        }
        let kind = self.of_returns(&entry.returns, &seen);
        // What is drawn from a given collection may be anything.
        let chosen =
            entry.returns == Returns::Draw && seen.operands.first().is_some_and(|it| !it.is_number());
        self.with_dtype(kind, &seen, entry.elements.filter(|_| !chosen))
    }

    /// What a call of a host function yields.
    pub(super) fn host_call(
        &self,
        call: &'a ExprCall,
        entry: &'a HostCallable,
        receiver: Option<&Kind>,
    ) -> Kind {
        let parameters = entry.parameters.as_deref().unwrap_or_default();
        let mut operands: Vec<Kind> = receiver.into_iter().cloned().collect();
        let positional = call.arguments.args.iter().map(|it| self.seen_argument(it));
        operands.extend(positional);
        let seen = Seen { call, parameters, receiver: receiver.cloned(), operands };
        let kind = self.of_returns(&entry.returns, &seen);
        self.with_dtype(kind, &seen, entry.elements)
    }

    fn of_returns(&self, returns: &Returns, seen: &Seen<'_>) -> Kind {
        match returns {
            Returns::Elementwise | Returns::Number => elementwise(&seen.operands),
            Returns::Like => like(seen.operands.first()),
            Returns::Accumulate => match seen.given("axis").filter(|it| !it.is_none_literal_expr()) {
                None => Kind::rank(1),
                Some(_) => like(seen.operands.first()),
            },
            Returns::Shape => self.shape(seen),
            Returns::Reshape => self.reshaped(seen),
            Returns::Deeper => match seen.operands.first().and_then(nested_rank) {
                Some(rank) => Kind::rank(rank + 1),
                None => Kind::ARRAY,
            },
            Returns::Nested => match nested(seen.operands.first()) {
                Kind::Array(array) if array.dtype == Dtype::Any => {
                    let first = seen.call.arguments.args.first();
                    Kind::Array(array.with_dtype(first.map_or(Dtype::Any, literal_dtype)))
                }
                other => other,
            },
            Returns::Array(rank) => Kind::Array(Array::of_rank(*rank)),
            Returns::Join => sequence_of(seen.operands.first(), 0),
            Returns::Stack => sequence_of(seen.operands.first(), 1),
            Returns::Reduction => self.reduction(seen),
            Returns::Dot | Returns::Matmul => product(&seen.operands, returns),
            Returns::Where if seen.operands.len() < 2 => Kind::list(integers(Array::of_rank(Some(1)))),
            Returns::Where => elementwise(&seen.operands),
            Returns::Unique if seen.call.arguments.keywords.is_empty() => Kind::rank(1),
            Returns::Unique => Kind::list(Kind::ARRAY),
            _ => self.of_rarer(returns, seen),
        }
    }

    fn of_rarer(&self, returns: &Returns, seen: &Seen<'_>) -> Kind {
        match returns {
            Returns::Scalar => Kind::Numpy,
            Returns::Python | Returns::Truth => Kind::Python,
            Returns::PerMatrix => match seen.operands.first().and_then(nested_rank) {
                Some(2) => Kind::Numpy,
                Some(rank) if rank > 2 => Kind::rank(rank - 2),
                _ => Kind::VALUE,
            },
            Returns::Quantile => self.quantile(seen),
            Returns::Same => seen.operands.first().cloned().unwrap_or(Kind::Unknown),
            Returns::Value => Kind::VALUE,
            Returns::Tuple(parts) => {
                Kind::tuple(parts.iter().map(|it| self.of_returns(it, seen)).collect::<Vec<_>>())
            }
            Returns::List => Kind::list(Kind::ARRAY),
            Returns::Indices => match seen.operands.first() {
                Some(kind) if kind.is_number() => Kind::list(Kind::Numpy),
                _ => Kind::list(integers(Array::of_rank(None))),
            },
            Returns::Draw => self.draw(seen),
            Returns::Dims => match u8::try_from(seen.call.arguments.args.len()) {
                Ok(0) => Kind::Python,
                Ok(rank) => Kind::rank(rank),
                Err(_) => Kind::ARRAY,
            },
            Returns::Grid => Kind::ARRAY,
            Returns::Loaded => Kind::Loaded,
            Returns::Object(class) => Kind::Object(class.as_str().into()),
            Returns::Special => Kind::Array(Array::of_rank(None).with_dtype(Dtype::Unsupported)),
            Returns::Nothing => Kind::Nothing,
            Returns::Other => Kind::Plain,
            _ => Kind::Unknown,
        }
    }

    fn shape(&self, seen: &Seen<'_>) -> Kind {
        let shape = seen.parameters.first().and_then(|it| argument(seen.call, seen.parameters, &it.name));
        shape.map_or(Kind::ARRAY, |shape| self.of_shape(shape))
    }

    fn reshaped(&self, seen: &Seen<'_>) -> Kind {
        let dtype = seen.operands.first().and_then(Kind::as_array).map_or(Dtype::Any, |it| it.dtype);
        let kind = match (seen.given("shape"), &seen.call.arguments.args[..]) {
            (Some(shape), _) => self.of_shape(shape),
            (None, [only]) => self.of_shape(only),
            (None, several) => match u8::try_from(several.len()) {
                Ok(rank) if !several.iter().any(Expr::is_starred_expr) && rank > 0 => Kind::rank(rank),
                _ => Kind::ARRAY,
            },
        };
        kind.as_array().map_or(kind, |array| Kind::Array(array.with_dtype(dtype)))
    }

    /// An array of the shape that `shape` spells.
    fn of_shape(&self, shape: &Expr) -> Kind {
        match (shape, self.seen(shape)) {
            (Expr::List(list), _) => u8::try_from(list.elts.len()).map_or(Kind::ARRAY, Kind::rank),
            (_, Kind::Python | Kind::Numpy | Kind::Number) => Kind::rank(1),
            (_, Kind::Tuple(elements)) => u8::try_from(elements.len()).map_or(Kind::ARRAY, Kind::rank),
            _ => Kind::ARRAY,
        }
    }

    fn draw(&self, seen: &Seen<'_>) -> Kind {
        match seen.given("size").filter(|it| !it.is_none_literal_expr()) {
            Some(size) => self.of_shape(size),
            None if seen.operands.iter().any(|it| it.is_array() || *it == Kind::Unknown) => Kind::VALUE,
            None => Kind::Number,
        }
    }

    fn reduction(&self, seen: &Seen<'_>) -> Kind {
        let Some(first) = seen.operands.first() else { return Kind::VALUE };
        let rank = match first {
            Kind::Array(array) => array.rank,
            Kind::Tuple(_) | Kind::List(_) => nested_rank(first),
            _ => Some(0),
        };
        if seen.given("out").is_some() || seen.given("returned").is_some() {
            return Kind::Unknown;
        }
        let keepdims = seen.given("keepdims");
        if keepdims.is_some_and(|it| !matches!(it, Expr::BooleanLiteral(flag) if !flag.value)) {
            return Kind::Array(Array::of_rank(rank));
        }
        let Some(axis) = seen.given("axis") else { return Kind::Numpy };
        let gone = match (axis, self.seen(axis)) {
            (Expr::NoneLiteral(_), _) => return Kind::Numpy,
            (Expr::Tuple(axes), _) => u8::try_from(axes.elts.len()).ok(),
            (_, Kind::Python | Kind::Numpy | Kind::Number) => Some(1),
            _ => None,
        };
        match (rank, gone) {
            (Some(rank), Some(gone)) if rank > gone => Kind::rank(rank - gone),
            (Some(rank), Some(gone)) if rank == gone => Kind::Numpy,
            _ => Kind::VALUE,
        }
    }

    fn quantile(&self, seen: &Seen<'_>) -> Kind {
        let more = seen.given("q").and_then(|q| nested_rank(self.seen(q)));
        match (self.reduction(seen), more) {
            (kind, Some(0)) => kind,
            (Kind::Numpy, Some(more)) => Kind::rank(more),
            (Kind::Array(array), Some(more)) => {
                let rank = array.rank.filter(|_| !array.maybe_scalar).map(|rank| rank + more);
                Kind::Array(Array::of_rank(rank))
            }
            _ => Kind::VALUE,
        }
    }

    fn with_dtype(&self, kind: Kind, seen: &Seen<'_>, elements: Option<Elements>) -> Kind {
        let Kind::Array(array) = kind else { return kind };
        let dtype = match (seen.given("dtype").map(|it| self.dtype(it)), elements) {
            // What is no array of numbers can't be told by its dtype alone.
            (Some(Dtype::Any | _), _) if array.dtype == Dtype::Unsupported && seen.receiver.is_none() => {
                Dtype::Unsupported
            }
            (Some(dtype), _) => dtype,
            (None, Some(Elements::Bool)) => Dtype::Bool,
            (None, Some(Elements::Number)) if array.dtype != Dtype::Unsupported => Dtype::Number,
            (None, Some(Elements::Integer)) if seen.operands.len() < 3 => Dtype::Integer,
            _ => array.dtype,
        };
        Kind::Array(array.with_dtype(dtype))
    }
}

impl<'c> Seen<'c> {
    fn given(&self, name: &str) -> Option<&'c Expr> {
        argument(self.call, self.parameters, name)
    }
}

fn is_output(name: &str) -> bool {
    name.starts_with("out")
}

fn integers(array: Array) -> Kind {
    Kind::Array(array.with_dtype(Dtype::Integer))
}

/// How many axes an array made of nested sequences of numbers has.
pub(super) fn nested_rank(kind: &Kind) -> Option<u8> {
    match kind {
        Kind::Python | Kind::Numpy | Kind::Number => Some(0),
        Kind::Array(array) if !array.maybe_scalar => array.rank,
        Kind::Tuple(_) | Kind::List(_) => nested_rank(&kind.element()).map(|rank| rank.saturating_add(1)),
        _ => None,
    }
}

/// The axes of a matrix product; `None` where the ranks don't tell.
pub(super) fn matmul_rank(left: u8, right: u8) -> Option<u8> {
    match (left, right) {
        (0, _) | (_, 0) => None,
        (1, 1) => Some(0),
        (1, n) | (n, 1) => Some(n - 1),
        (m, n) => Some(m.max(n)),
    }
}

fn elementwise(operands: &[Kind]) -> Kind {
    let mut sum: Option<Array> = None;
    let mut scalars_only = true;
    for kind in operands {
        let array = match kind {
            Kind::Array(array) => *array,
            Kind::Python | Kind::Numpy | Kind::Number | Kind::Plain | Kind::Nothing => continue,
            Kind::Text => Array::of_rank(Some(0)).with_dtype(Dtype::Unsupported),
            Kind::Tuple(_) | Kind::List(_) => Array::of_rank(nested_rank(kind)),
            _ => return Kind::Unknown,
        };
        scalars_only &= array.maybe_scalar;
        sum = Some(sum.map_or(array, |sum| Array {
            rank: sum.rank.zip(array.rank).map(|(a, b)| a.max(b)),
            ..sum.with_dtype(sum.dtype.promote(array.dtype))
        }));
    }
    match sum {
        None => Kind::Numpy,
        Some(array) => {
            let dtype = if array.dtype == Dtype::Unsupported { array.dtype } else { Dtype::Any };
            Kind::Array(Array { dtype, maybe_scalar: scalars_only, maybe_none: false, ..array })
        }
    }
}

fn like(first: Option<&Kind>) -> Kind {
    match first {
        Some(Kind::Array(array)) => Kind::Array(Array { maybe_scalar: false, maybe_none: false, ..*array }),
        Some(kind @ (Kind::Tuple(_) | Kind::List(_))) => Kind::Array(Array::of_rank(nested_rank(kind))),
        _ => Kind::VALUE,
    }
}

fn nested(first: Option<&Kind>) -> Kind {
    let Some(kind) = first else { return Kind::ARRAY };
    match kind {
        Kind::Array(array) => {
            let rank = if array.maybe_scalar { None } else { array.rank };
            Kind::Array(Array::of_rank(rank).with_dtype(array.dtype))
        }
        Kind::Text | Kind::Nothing => Kind::Array(Array::of_rank(Some(0)).with_dtype(Dtype::Unsupported)),
        // What is given may be a number, and arithmetic with its array would give numbers again.
        Kind::Unknown => Kind::VALUE,
        _ if holds_text(kind) => Kind::Array(Array::of_rank(None).with_dtype(Dtype::Unsupported)),
        _ => Kind::Array(Array::of_rank(nested_rank(kind))),
    }
}

fn holds_text(kind: &Kind) -> bool {
    match kind {
        Kind::Text | Kind::Nothing => true,
        Kind::Tuple(elements) => elements.iter().any(holds_text),
        Kind::List(element) => holds_text(element),
        _ => false,
    }
}

/// The result of joining the arrays in a sequence, with `more` axes than they have.
fn sequence_of(first: Option<&Kind>, more: u8) -> Kind {
    let element = first.map_or(Kind::Unknown, Kind::element);
    let rank = nested_rank(&element);
    let dtype = element.as_array().map_or(Dtype::Any, |it| it.dtype);
    Kind::Array(Array::of_rank(rank.map(|rank| rank + more)).with_dtype(dtype))
}

fn product(operands: &[Kind], returns: &Returns) -> Kind {
    let [left, right] = operands else { return Kind::VALUE };
    let (Some(left), Some(right)) = (nested_rank(left), nested_rank(right)) else { return Kind::VALUE };
    let rank = match returns {
        Returns::Dot if left > 0 && right > 0 => Some(left + right - 2),
        _ => matmul_rank(left, right),
    };
    match rank {
        Some(0) => Kind::Numpy,
        Some(rank) => Kind::rank(rank),
        None => Kind::VALUE,
    }
}
