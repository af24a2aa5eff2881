//! Whether a replacement still evaluates what its match did: everything once, and in the same order.

use ruff_python_ast::Expr;
use ruff_python_ast::helpers::any_over_expr;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::matching::{Bound, Captures};
use super::parse::{Pattern, Role};
use super::render::Refused;

/// The calls that other matches replace by what calls nothing, by their ranges.
pub type GoneCalls = FxHashSet<TextRange>;

/// True where evaluating `expression` may do more than yield a value.
pub(super) fn has_effects(expression: &Expr, gone: &GoneCalls) -> bool {
    any_over_expr(expression, |it| match it {
        Expr::Call(call) => !gone.contains(&call.range()),
        Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Named(_) => true,
        _ => false,
    })
}

/// Checks a replacement that evaluates the captures in `order`.
pub(super) fn check(
    pattern: &Pattern,
    captures: &Captures<'_>,
    order: &[TextRange],
    gone: &GoneCalls,
) -> Result<(), Refused> {
    let mut effectful: Vec<TextRange> = Vec::new();
    for (name, role) in pattern.variables() {
        if role == Role::Statements {
            continue;
        }
        for expression in expressions(captures.get(name)) {
            if has_effects(expression, gone) {
                effectful.push(expression.range());
            }
        }
    }
    let within = |inner: TextRange| order.iter().filter(|outer| outer.contains_range(inner)).count();
    for range in &effectful {
        match within(*range) {
            0 => return Err(Refused::new("the replacement would drop an argument that calls a function")),
            1 => {}
            _ => return Err(Refused::new("the replacement would evaluate a call more than once")),
        }
    }
    let places: Vec<TextRange> = order
        .iter()
        .copied()
        .filter(|outer| effectful.iter().any(|inner| outer.contains_range(*inner)))
        .collect();
    if places.windows(2).any(|pair| pair[0].start() > pair[1].start()) {
        return Err(Refused::new("the replacement would change the order in which calls are evaluated"));
    }
    Ok(())
}

fn expressions<'a>(bound: Option<&Bound<'a>>) -> Vec<&'a Expr> {
    match bound {
        Some(Bound::Expression(expression)) => vec![expression],
        Some(Bound::Arguments { positional, keywords }) => {
            positional.iter().copied().chain(keywords.iter().map(|keyword| &keyword.value)).collect()
        }
        _ => Vec::new(),
    }
}
