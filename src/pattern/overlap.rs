//! Whether two patterns can match the same node, and which of their metavariables then stand for the same.

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::parse::{Pattern, Root, is_path, placeholder};
use super::placeholder::Placeholder;

/// What stands in one place of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A metavariable.
    Variable(String),
    /// A component of a path.
    Component(String),
    /// Something else.
    Other,
}

/// Two slots that stand for the same part of the code.
pub type Pairing = (Slot, Slot);

/// The pairings of two patterns that can match the same node; `None` where none can. Where in doubt, they can.
pub fn overlap(left: &Pattern, right: &Pattern) -> Option<Vec<Pairing>> {
    let mut pairings = Vec::new();
    let meet = match (&left.root, &right.root) {
        (Root::Expression(l), Root::Expression(r)) => expressions(l, r, &mut pairings),
        (Root::Statements(l), Root::Statements(r)) => statements(l, r, &mut pairings),
        _ => false,
    };
    meet.then_some(pairings)
}

fn slot(expression: &Expr) -> Slot {
    match placeholder(expression) {
        Some(placeholder) => placeholder.name().map_or(Slot::Other, |name| Slot::Variable(name.to_owned())),
        None => Slot::Other,
    }
}

fn expressions(left: &Expr, right: &Expr, pairings: &mut Vec<Pairing>) -> bool {
    if placeholder(left).is_some() || placeholder(right).is_some() {
        pairings.push((slot(left), slot(right)));
        return true;
    }
    match (left, right) {
        (Expr::Name(_) | Expr::Attribute(_), Expr::Name(_) | Expr::Attribute(_)) => {
            paths(left, right, pairings)
        }
        (Expr::Call(l), Expr::Call(r)) => calls(l, r, pairings),
        (l, r) if literal(l) && literal(r) => ComparableExpr::from(l) == ComparableExpr::from(r),
        (Expr::BinOp(l), Expr::BinOp(r)) => {
            l.op == r.op
                && expressions(&l.left, &r.left, pairings)
                && expressions(&l.right, &r.right, pairings)
        }
        (Expr::UnaryOp(l), Expr::UnaryOp(r)) => l.op == r.op && expressions(&l.operand, &r.operand, pairings),
        (Expr::Subscript(l), Expr::Subscript(r)) => {
            expressions(&l.value, &r.value, pairings) && expressions(&l.slice, &r.slice, pairings)
        }
        (Expr::Tuple(l), Expr::Tuple(r)) => items(&l.elts, &r.elts, pairings),
        (Expr::List(l), Expr::List(r)) => items(&l.elts, &r.elts, pairings),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

fn items(left: &[Expr], right: &[Expr], pairings: &mut Vec<Pairing>) -> bool {
    let has_rest =
        |items: &[Expr]| items.iter().any(|it| matches!(placeholder(it), Some(Placeholder::Rest(_))));
    if has_rest(left) || has_rest(right) {
        return true;
    }
    left.len() == right.len() && left.iter().zip(right).all(|(l, r)| expressions(l, r, pairings))
}

fn literal(expression: &Expr) -> bool {
    expression.is_literal_expr()
}

fn paths(left: &Expr, right: &Expr, pairings: &mut Vec<Pairing>) -> bool {
    if is_path(left) && is_path(right) {
        return components_meet(&components(left), &components(right), pairings);
    }
    // A method pattern matches no path that resolves to a module's function, and the other way round.
    match (left, right) {
        (Expr::Attribute(l), Expr::Attribute(r)) if !is_path(left) && !is_path(right) => {
            components_meet(&[&l.attr], &[&r.attr], pairings) && expressions(&l.value, &r.value, pairings)
        }
        _ => false,
    }
}

/// The components of a path, the first first.
fn components(path: &Expr) -> Vec<&str> {
    match path {
        Expr::Attribute(attribute) => {
            let mut all = components(&attribute.value);
            all.push(&attribute.attr);
            all
        }
        Expr::Name(name) => vec![&name.id],
        _ => Vec::new(),
    }
}

fn components_meet(left: &[&str], right: &[&str], pairings: &mut Vec<Pairing>) -> bool {
    let is_rest = |name: &str| matches!(Placeholder::decode(name), Some(Placeholder::Rest(_)));
    for (l, r) in left.iter().zip(right) {
        if is_rest(l) || is_rest(r) {
            return true;
        }
        let slots = (component(l), component(r));
        if matches!(&slots, (Slot::Component(l), Slot::Component(r)) if l != r) {
            return false;
        }
        pairings.push(slots);
    }
    left.len() == right.len()
}

fn component(name: &str) -> Slot {
    match Placeholder::decode(name) {
        None => Slot::Component(name.to_owned()),
        Some(placeholder) => placeholder.name().map_or(Slot::Other, |name| Slot::Variable(name.to_owned())),
    }
}

fn calls(left: &ExprCall, right: &ExprCall, pairings: &mut Vec<Pairing>) -> bool {
    if !expressions(&left.func, &right.func, pairings) || !arity_meets(left, right) {
        return false;
    }
    let (l, r) = (fixed(left), fixed(right));
    for (l, r) in l.iter().zip(&r) {
        if !expressions(l, r, pairings) {
            return false;
        }
    }
    for keyword in &left.arguments.keywords {
        let name = keyword.arg.as_ref().map(ruff_python_ast::Identifier::as_str);
        let other = right
            .arguments
            .keywords
            .iter()
            .find(|it| it.arg.as_ref().map(ruff_python_ast::Identifier::as_str) == name);
        match other {
            Some(other) if !expressions(&keyword.value, &other.value, pairings) => return false,
            None if !has_rest(right) && !optional(&keyword.value) => return false,
            _ => {}
        }
    }
    right.arguments.keywords.iter().all(|keyword| {
        let name = keyword.arg.as_ref().map(ruff_python_ast::Identifier::as_str);
        let known = left
            .arguments
            .keywords
            .iter()
            .any(|it| it.arg.as_ref().map(ruff_python_ast::Identifier::as_str) == name);
        known || has_rest(left) || optional(&keyword.value)
    })
}

fn arity_meets(left: &ExprCall, right: &ExprCall) -> bool {
    let required = |call: &ExprCall| fixed(call).iter().filter(|it| !optional(it)).count();
    let most = |call: &ExprCall| if has_rest(call) { usize::MAX } else { fixed(call).len() };
    required(left) <= most(right) && required(right) <= most(left)
}

fn fixed(call: &ExprCall) -> Vec<&Expr> {
    call.arguments.args.iter().filter(|it| !matches!(placeholder(it), Some(Placeholder::Rest(_)))).collect()
}

fn has_rest(call: &ExprCall) -> bool {
    call.arguments.args.iter().any(|it| matches!(placeholder(it), Some(Placeholder::Rest(_))))
}

fn optional(expression: &Expr) -> bool {
    matches!(placeholder(expression), Some(Placeholder::Optional(_)))
}

fn statements(left: &[Stmt], right: &[Stmt], pairings: &mut Vec<Pairing>) -> bool {
    let (Some(l), Some(r)) = (left.first(), right.first()) else { return false };
    match (l, r) {
        (Stmt::Expr(l), Stmt::Expr(r)) => expressions(&l.value, &r.value, pairings),
        (Stmt::Assign(l), Stmt::Assign(r)) => expressions(&l.value, &r.value, pairings),
        _ => std::mem::discriminant(l) == std::mem::discriminant(r),
    }
}
