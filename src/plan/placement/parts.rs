//! What the arguments of a library call are to it: operands, outputs, or numbers that say how.

use ruff_python_ast::{Expr, ExprCall};

use crate::api::{Callable, Returns};
use crate::kinds::arguments::{argument, arguments};

/// True for functions that take a scalar for an array as arithmetic does.
pub(super) fn takes_scalars(entry: Option<&Callable>) -> bool {
    entry.is_none_or(|it| it.ufunc || matches!(it.returns, Returns::Elementwise | Returns::Where))
}

/// What an argument is to the function that takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// An array, or what can stand for one.
    Operand,
    /// A sequence of arrays.
    Sequence,
    /// An array that takes the result.
    Output,
    /// Anything else: a shape, an axis, a dtype.
    Other,
}

/// The arguments of `call` with what each is to `entry`; without an entry all are operands.
pub(super) fn parts<'e>(call: &'e ExprCall, entry: Option<&Callable>) -> Vec<(&'e Expr, Part)> {
    let all = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|it| &it.value));
    let Some(entry) = entry else { return all.map(|it| (it, Part::Operand)).collect() };
    let parameters = &entry.source_parameters;
    let outputs: Vec<String> = entry.arrays.iter().filter(|it| it.starts_with("out")).cloned().collect();
    let inputs: Vec<String> = entry.arrays.iter().filter(|it| !it.starts_with("out")).cloned().collect();
    let inputs = arguments(call, parameters, &inputs);
    let outputs = arguments(call, parameters, &outputs);
    let sequences: Vec<&Expr> =
        entry.sequences.iter().filter_map(|name| argument(call, parameters, name)).collect();
    let masks = call.arguments.keywords.iter().filter(|it| it.arg.as_ref().is_some_and(|arg| arg == "where"));
    let masks: Vec<&Expr> = masks.map(|it| &it.value).collect();
    let named_out =
        call.arguments.keywords.iter().filter(|it| it.arg.as_ref().is_some_and(|arg| arg.starts_with("out")));
    let named_out: Vec<&Expr> = named_out.map(|it| &it.value).collect();
    let among = |set: &[&Expr], it: &Expr| set.iter().any(|other| std::ptr::eq(*other, it));
    all.map(|it| {
        let part = if masks.iter().any(|other| std::ptr::eq(*other, it)) {
            Part::Operand
        } else if among(&outputs, it) || among(&named_out, it) {
            Part::Output
        } else if among(&sequences, it) {
            Part::Sequence
        } else if among(&inputs, it) {
            Part::Operand
        } else {
            Part::Other
        };
        (it, part)
    })
    .collect()
}

/// True for displays and comprehensions, whose elements can cross one by one.
pub(super) fn is_display(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::Tuple(_)
            | Expr::List(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::Generator(_)
    )
}
