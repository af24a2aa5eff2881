//! Which argument of a call goes to which parameter.

use ruff_python_ast::{Expr, ExprCall};

use super::program::{Given, Region};
use crate::api::{Parameter, ParameterKind};

/// An argument as it is written.
#[derive(Debug, Clone, Copy)]
pub enum Argument<'a> {
    /// An expression of its own.
    Whole(&'a Expr),
    /// The element at this index of a starred tuple (`f(*pair)`).
    Element(&'a Expr, usize),
}

/// The arguments of a call to a function of the project, by parameter.
#[derive(Debug, Default)]
pub struct Bound<'a> {
    /// One for each parameter that gets one; the first number is the parameter's.
    pub given: Vec<(usize, Argument<'a>)>,
    /// Arguments that go to `*args` or `**kwargs`, or nowhere.
    pub other: Vec<&'a Expr>,
    /// True where a starred argument of unknown length hides which parameters are given.
    pub opaque: bool,
}

/// Binds the arguments of `call` to the parameters of `region`, the first `skip` of which are given otherwise (`self`).
/// `length` says how many elements a starred argument has, where that is known.
pub fn bind<'a>(
    region: &Region<'_>,
    skip: usize,
    call: &'a ExprCall,
    length: impl Fn(&Expr) -> Option<usize>,
) -> Bound<'a> {
    let mut bound = Bound::default();
    let positional: Vec<usize> = (skip..region.params.len())
        .filter(|&at| matches!(region.params[at].given, Given::Position | Given::Either))
        .collect();
    let mut next = 0;
    for argument in &call.arguments.args {
        let Expr::Starred(starred) = argument else {
            match positional.get(next) {
                Some(&at) => bound.given.push((at, Argument::Whole(argument))),
                None => bound.other.push(argument),
            }
            next += 1;
            continue;
        };
        let Some(count) = length(&starred.value) else {
            bound.opaque = true;
            bound.other.push(&starred.value);
            continue;
        };
        for index in 0..count {
            if let Some(&at) = positional.get(next + index) {
                bound.given.push((at, Argument::Element(&starred.value, index)));
            }
        }
        next += count;
    }
    for keyword in &call.arguments.keywords {
        let by_name = keyword.arg.as_ref().and_then(|name| {
            (skip..region.params.len()).find(|&at| {
                let param = &region.params[at];
                param.name == name.as_str() && matches!(param.given, Given::Either | Given::Name)
            })
        });
        match by_name {
            Some(at) => bound.given.push((at, Argument::Whole(&keyword.value))),
            None => {
                bound.opaque |= keyword.arg.is_none();
                bound.other.push(&keyword.value);
            }
        }
    }
    bound
}

/// The argument that `call` gives to the parameter called `name` of a library's function.
pub fn argument<'a>(call: &'a ExprCall, parameters: &[Parameter], name: &str) -> Option<&'a Expr> {
    let by_name = call.arguments.keywords.iter().find(|it| it.arg.as_ref().is_some_and(|arg| arg == name));
    if let Some(keyword) = by_name {
        return Some(&keyword.value);
    }
    let at = parameters.iter().position(|it| it.name == name && it.takes_position())?;
    let before = call.arguments.args.get(..=at)?;
    before.iter().all(|it| !it.is_starred_expr()).then(|| &call.arguments.args[at])
}

/// Every argument of `call` that goes to one of the parameters called `names` of a library's function.
pub fn arguments<'a>(call: &'a ExprCall, parameters: &[Parameter], names: &[String]) -> Vec<&'a Expr> {
    let mut out = Vec::new();
    for (at, argument) in call.arguments.args.iter().enumerate() {
        let parameter = parameters.get(at).filter(|it| it.takes_position());
        let rest = parameters.iter().find(|it| it.kind == ParameterKind::Rest);
        if parameter.or(rest).is_some_and(|it| names.contains(&it.name)) {
            out.push(argument);
        }
    }
    for keyword in &call.arguments.keywords {
        if keyword.arg.as_ref().is_some_and(|arg| names.iter().any(|name| name == arg.as_str())) {
            out.push(&keyword.value);
        }
    }
    out
}
