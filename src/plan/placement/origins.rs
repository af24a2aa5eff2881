//! Whose memory a value may share.

use ruff_python_ast::{Expr, ExprCall};

use super::home::Ground;
use super::matches::method_fits;
use super::parts::is_display;
use crate::kinds::arguments::{Argument, bind};
use crate::kinds::program::{Definition, Ref};
use crate::kinds::{Kind, RegionId, SlotId, SourceId};

/// Where a value that is not fresh comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A variable's value, or a view of it, or an element.
    Slot(SlotId),
    /// Something that other code holds: an attribute, an element of a mapping, the result of unknown code.
    Elsewhere,
}

/// What calls of a function give back of what it was given.
pub(super) trait Returned {
    /// The parameters whose memory a result may share, and whether it may share that of something elsewhere.
    fn shares(&self, region: RegionId) -> (Vec<usize>, bool);
}

/// Whose memory the value of `expression` may share; nothing for fresh values.
pub(super) fn origins(
    ground: &Ground<'_, '_>,
    returned: &dyn Returned,
    source: SourceId,
    expression: &Expr,
) -> Vec<Origin> {
    let mut out = Vec::new();
    gather(ground, returned, source, expression, &mut out);
    out.sort_unstable();
    out.dedup();
    out
}

fn gather(
    ground: &Ground<'_, '_>,
    returned: &dyn Returned,
    source: SourceId,
    expression: &Expr,
    out: &mut Vec<Origin>,
) {
    let kind = ground.kinds.of(source, expression);
    if !kind.may_hold_arrays() && *kind != Kind::Numpy {
        return;
    }
    let mut go = |part: &Expr| gather(ground, returned, source, part, out);
    match expression {
        Expr::Name(_) => match ground.program.slot_of(source, expression) {
            Some(slot) => out.push(Origin::Slot(slot)),
            None => out.push(Origin::Elsewhere),
        },
        Expr::Attribute(it) => match ground.kinds.of(source, &it.value) {
            Kind::Array(_) | Kind::Numpy => go(&it.value),
            _ => out.push(Origin::Elsewhere),
        },
        Expr::Subscript(it) => match ground.kinds.of(source, &it.value) {
            Kind::Array(_) if takes_copies(ground, source, &it.slice) => {}
            Kind::Array(_) | Kind::Tuple(_) | Kind::List(_) | Kind::Numpy => go(&it.value),
            Kind::Loaded => {}
            _ => out.push(Origin::Elsewhere),
        },
        Expr::If(it) => {
            go(&it.body);
            go(&it.orelse);
        }
        Expr::BoolOp(it) => it.values.iter().for_each(go),
        Expr::Named(it) => go(&it.value),
        Expr::Starred(it) => go(&it.value),
        Expr::Tuple(it) => it.elts.iter().for_each(go),
        Expr::List(it) => it.elts.iter().for_each(go),
        Expr::ListComp(it) => go(&it.elt),
        Expr::Generator(it) => go(&it.elt),
        Expr::BinOp(it) if matches!(kind, Kind::List(_) | Kind::Tuple(_)) => {
            go(&it.left);
            go(&it.right);
        }
        Expr::Call(it) => call(ground, returned, source, it, out),
        Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) | Expr::Lambda(_) => out.push(Origin::Elsewhere),
        _ => {}
    }
}

/// True where an index picks single elements or uses index arrays, so that what it yields is a copy on both sides.
fn takes_copies(ground: &Ground<'_, '_>, source: SourceId, slice: &Expr) -> bool {
    let is_array = |it: &Expr| {
        let kind = ground.kinds.of(source, it);
        matches!(kind, Kind::Array(array) if !array.maybe_scalar) || matches!(kind, Kind::List(_))
    };
    match slice {
        Expr::Tuple(tuple) => tuple.elts.iter().any(is_array),
        _ => is_array(slice),
    }
}

fn call(
    ground: &Ground<'_, '_>,
    returned: &dyn Returned,
    source: SourceId,
    call: &ExprCall,
    out: &mut Vec<Origin>,
) {
    let program = ground.program;
    if let Kind::Function(function) = ground.kinds.of(source, &call.func) {
        return project_call(ground, returned, source, (call, *function), out);
    }
    if let Some(Definition::Function(function)) = program.definition(source, &call.func) {
        return project_call(ground, returned, source, (call, function), out);
    }
    let all = || call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|it| &it.value));
    match (program.reference(source, &call.func), &*call.func) {
        (Ref::Path(path), _) => {
            let info = program.path(path);
            match (info.callable, info.host) {
                (Some(entry), _) if entry.view => {
                    all().for_each(|it| gather(ground, returned, source, it, out));
                }
                (Some(_), _) | (None, Some(_)) => {}
                (None, None) => out.push(Origin::Elsewhere),
            }
            // `out=` is what the call gives back.
            let outputs =
                call.arguments.keywords.iter().filter(|it| it.arg.as_ref().is_some_and(|arg| arg == "out"));
            outputs.for_each(|it| gather(ground, returned, source, &it.value, out));
        }
        (Ref::Builtin(_), _) => all().for_each(|it| gather(ground, returned, source, it, out)),
        (Ref::None, Expr::Attribute(attribute)) => match ground.kinds.of(source, &attribute.value) {
            Kind::Array(_) | Kind::Numpy => {
                let entry = program.array_method(attribute.attr.as_str());
                if entry.is_none_or(|entry| entry.view || !method_fits(entry, call)) {
                    gather(ground, returned, source, &attribute.value, out);
                }
            }
            Kind::List(_) | Kind::Tuple(_) => gather(ground, returned, source, &attribute.value, out),
            Kind::Object(_) | Kind::Loaded | Kind::Plain | Kind::Text => {}
            _ => out.push(Origin::Elsewhere),
        },
        _ => out.push(Origin::Elsewhere),
    }
}

fn project_call(
    ground: &Ground<'_, '_>,
    returned: &dyn Returned,
    source: SourceId,
    (call, function): (&ExprCall, RegionId),
    out: &mut Vec<Origin>,
) {
    let region = ground.program.region(function);
    let skip = usize::from(region.class.is_some());
    let bound = bind(region, skip, call, |starred| match ground.kinds.of(source, starred) {
        Kind::Tuple(elements) => Some(elements.len()),
        _ => None,
    });
    let (parameters, elsewhere) = returned.shares(function);
    for (at, argument) in &bound.given {
        if parameters.contains(at) {
            let (Argument::Whole(expression) | Argument::Element(expression, _)) = argument;
            gather(ground, returned, source, expression, out);
        }
    }
    if elsewhere || bound.opaque {
        out.push(Origin::Elsewhere);
    }
}

/// True where the value of `expression` is made anew by it, display elements aside.
pub(super) fn is_fresh(
    ground: &Ground<'_, '_>,
    returned: &dyn Returned,
    source: SourceId,
    expression: &Expr,
) -> bool {
    !is_display(expression) && origins(ground, returned, source, expression).is_empty()
}
