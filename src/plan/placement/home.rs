//! The natural home of an expression: where its value lives before its surroundings want anything.

use ruff_python_ast::{CmpOp, Expr, ExprCall, ExprSubscript, UnaryOp};

use super::builtins::{Builtin, builtin};
use super::effects::Effects;
use super::matches::{Matches, Verdict, method_fits};
use super::parts::{Part, is_display, parts, takes_scalars};
use super::state::{Side, State};
use crate::api::{Callable, Returns};
use crate::kinds::program::{Definition, Ref};
use crate::kinds::{Dtype, Kind, Kinds, Program, RegionId, SourceId};
use crate::pass::Pass;

/// Where a value lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    /// It is no array and holds none.
    Free,
    /// An array that can be made on either side.
    Either,
    /// An array on the host.
    Host,
    /// Nobody knows what it is; it lives on the host.
    Unknown,
    /// An array on the device, or a scalar that is an array without axes there.
    Device,
}

/// What the search rests on.
pub(super) struct Ground<'g, 'a> {
    pub(super) pass: &'g Pass,
    pub(super) program: &'g Program<'a>,
    pub(super) kinds: &'g Kinds,
    pub(super) matches: &'g Matches<'a>,
    pub(super) effects: &'g Effects,
}

/// The ground and the state of the search, seen from one module.
#[derive(Clone, Copy)]
pub(super) struct View<'v, 'a> {
    pub(super) ground: &'v Ground<'v, 'a>,
    pub(super) state: &'v State,
    pub(super) source: SourceId,
}

/// A call's callee, as far as placement asks.
pub(super) enum Callee<'v, 'a> {
    /// A function of the project.
    Function(RegionId),
    /// A function of a library that both sides have, called with arguments the target takes.
    Shared(Option<&'a Callable>),
    /// The same as a method of an array.
    Method(&'v Expr, &'a Callable),
    /// What a rule rewrites although the table alone would not: a method of this value, called with other arguments.
    Ruled(&'v Expr),
    /// A method of an array that the target's arrays lack, or not with these arguments.
    HostMethod(&'v Expr),
    /// A builtin.
    Builtin(&'v str),
    /// A method of a list, mapping, text or object.
    Member(&'v Expr, &'v str),
    /// Anything else: it runs on the host.
    Host,
}

impl<'v, 'a> View<'v, 'a> {
    pub(super) fn kind(&self, expression: &Expr) -> &'v Kind {
        self.ground.kinds.of(self.source, expression)
    }

    pub(super) fn program(&self) -> &'v Program<'a> {
        self.ground.program
    }

    /// The natural home of `expression`.
    pub(super) fn home(&self, expression: &Expr) -> Home {
        match expression {
            Expr::Name(_) => self.name_home(expression),
            Expr::BinOp(it) if *self.kind(&it.left) == Kind::Text => Home::Free,
            Expr::BinOp(it) => self.joined([&*it.left, &*it.right]),
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => Home::Free,
            Expr::UnaryOp(it) => self.home(&it.operand),
            Expr::Compare(it) if it.ops.iter().all(asks_identity) => Home::Free,
            Expr::Compare(it) => self.joined(std::iter::once(&*it.left).chain(&it.comparators)),
            Expr::BoolOp(it) => self.joined(&it.values),
            Expr::If(it) => self.joined([&*it.body, &*it.orelse]),
            Expr::Named(it) => self.home(&it.value),
            Expr::Starred(it) => self.home(&it.value),
            Expr::Call(it) => self.call_home(expression, it),
            Expr::Attribute(it) => match self.kind(&it.value) {
                Kind::Array(_) | Kind::Numpy | Kind::Number if self.kind(expression).is_array() => {
                    self.home(&it.value)
                }
                Kind::Numpy if *self.kind(expression) == Kind::Numpy => self.home(&it.value),
                _ => self.held_by_host(expression),
            },
            Expr::Subscript(it) => self.subscript_home(expression, it),
            Expr::Tuple(it) => self.container_home(&it.elts),
            Expr::List(it) => self.container_home(&it.elts),
            Expr::Set(it) => self.container_home(&it.elts),
            Expr::ListComp(it) => self.element_home(&it.elt),
            Expr::SetComp(it) => self.element_home(&it.elt),
            Expr::Generator(it) => self.element_home(&it.elt),
            _ => self.held_by_host(expression),
        }
    }

    /// The home of an operation on `parts`.
    pub(super) fn joined<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Home {
        parts.into_iter().map(|it| self.home(it)).max().unwrap_or(Home::Free)
    }

    /// The home of a value that host code holds.
    fn held_by_host(&self, expression: &Expr) -> Home {
        match self.kind(expression) {
            Kind::Unknown | Kind::Never => Home::Unknown,
            kind if kind.holds_arrays() => Home::Host,
            _ => Home::Free,
        }
    }

    fn name_home(&self, expression: &Expr) -> Home {
        let Some(slot) = self.program().slot_of(self.source, expression) else {
            return self.held_by_host(expression);
        };
        match (self.held_by_host(expression), self.state.side(slot)) {
            (Home::Host, Side::Device) => Home::Device,
            (Home::Free, Side::Device) if *self.kind(expression) == Kind::Numpy => Home::Device,
            (home, _) => home,
        }
    }

    /// The home of a display: that of its arrays. Scalars in it are host scalars.
    fn container_home<'e>(&self, elements: impl IntoIterator<Item = &'e Expr>) -> Home {
        elements.into_iter().map(|it| self.element_home(it)).max().unwrap_or(Home::Free)
    }

    fn element_home(&self, element: &Expr) -> Home {
        let kind = match element {
            Expr::Starred(it) => self.kind(&it.value),
            _ => self.kind(element),
        };
        match kind {
            Kind::Unknown | Kind::Never => Home::Unknown,
            kind if kind.holds_arrays() => self.home(element),
            _ => Home::Free,
        }
    }

    fn subscript_home(&self, whole: &Expr, subscript: &ExprSubscript) -> Home {
        if let Ref::Path(_) = self.program().reference(self.source, &subscript.value) {
            let verdict = self.verdict(whole);
            return match verdict {
                Verdict::Device(_) if self.kind(whole).holds_arrays() => {
                    self.index_home(&subscript.slice).max(Home::Either)
                }
                _ => self.held_by_host(whole),
            };
        }
        let base = self.home(&subscript.value);
        match self.kind(&subscript.value) {
            Kind::Array(array) if array.dtype == Dtype::Unsupported => self.held_by_host(whole),
            Kind::Array(_) => match (base, self.index_home(&subscript.slice)) {
                (_, Home::Device) => Home::Device,
                (base, _) => base,
            },
            Kind::Tuple(_) | Kind::List(_) if self.kind(whole).holds_arrays() => base,
            Kind::Numpy => base,
            _ => self.held_by_host(whole),
        }
    }

    /// The home of the arrays in an index.
    fn index_home(&self, slice: &Expr) -> Home {
        match slice {
            Expr::Tuple(it) => self.container_home(&it.elts),
            _ => self.element_home(slice),
        }
    }

    pub(super) fn verdict(&self, node: &Expr) -> Verdict {
        self.ground.matches.verdict(self.ground.pass, self.source, node)
    }

    /// What `call` calls.
    pub(super) fn callee_of<'e>(&self, whole: &'e Expr, call: &'e ExprCall) -> Callee<'e, 'a>
    where
        'v: 'e,
    {
        if let Kind::Function(function) = self.kind(&call.func) {
            return Callee::Function(*function);
        }
        if let Some(Definition::Function(function)) = self.program().definition(self.source, &call.func) {
            return Callee::Function(function);
        }
        match (self.program().reference(self.source, &call.func), &*call.func) {
            (Ref::Path(path), _) => match (self.verdict(whole), self.program().path(path).callable) {
                (Verdict::Device(_), callable) => Callee::Shared(callable),
                _ => Callee::Host,
            },
            (Ref::Builtin(path), _) => Callee::Builtin(&self.program().path(path).name),
            (Ref::None, Expr::Attribute(attribute)) if matches!(self.verdict(whole), Verdict::Device(_)) => {
                Callee::Ruled(&attribute.value)
            }
            (Ref::None, Expr::Attribute(attribute)) => {
                self.method_callee(&attribute.value, attribute.attr.as_str(), call)
            }
            _ => Callee::Host,
        }
    }

    fn method_callee<'e>(&self, owner: &'e Expr, name: &'e str, call: &ExprCall) -> Callee<'e, 'a> {
        match self.kind(owner) {
            Kind::Array(_) | Kind::Numpy | Kind::Number => {
                match self.program().array_method(name).filter(|entry| method_fits(entry, call)) {
                    Some(entry) => Callee::Method(owner, entry),
                    None => Callee::HostMethod(owner),
                }
            }
            Kind::Instance(class) | Kind::Class(class) => {
                match self.program().class(*class).methods.get(name) {
                    Some(method) => Callee::Function(*method),
                    None => Callee::Host,
                }
            }
            _ => Callee::Member(owner, name),
        }
    }

    fn call_home(&self, whole: &Expr, call: &ExprCall) -> Home {
        match self.callee_of(whole, call) {
            Callee::Function(function) => match self.held_by_host(whole) {
                Home::Host if self.state.is_internal(function) => match self.state.region(function).returns {
                    Side::Device => Home::Device,
                    Side::Host => Home::Host,
                },
                home => home,
            },
            Callee::Shared(entry) => self.result_home(whole, entry, self.shared_home(whole, call, entry)),
            Callee::Method(owner, entry) => {
                let side = self.method_home(whole, owner, call, entry);
                self.result_home(whole, Some(entry), side)
            }
            Callee::Ruled(owner) => match self.ruled_home(owner, call) {
                Home::Host if !self.kind(whole).holds_arrays() => Home::Free,
                home => home,
            },
            Callee::Builtin(name) => self.builtin_home(whole, call, name),
            Callee::Member(owner, _) if matches!(self.kind(owner), Kind::List(_) | Kind::Tuple(_)) => {
                if self.kind(whole).holds_arrays() { self.home(owner) } else { self.held_by_host(whole) }
            }
            Callee::HostMethod(_) | Callee::Member(..) | Callee::Host => self.held_by_host(whole),
        }
    }

    /// The home of a library call's result, given where the call runs.
    fn result_home(&self, whole: &Expr, entry: Option<&Callable>, side: Home) -> Home {
        let on_host =
            |it: &Callable| matches!(it.returns, Returns::Python | Returns::Other | Returns::Nothing);
        if entry.is_some_and(on_host) {
            return Home::Free;
        }
        if side == Home::Host && !self.kind(whole).holds_arrays() { Home::Free } else { side }
    }

    /// Where a call of a function that both sides have runs.
    pub(super) fn shared_home(&self, whole: &Expr, call: &ExprCall, entry: Option<&Callable>) -> Home {
        if matches!(self.kind(whole), Kind::Array(array) if array.dtype == Dtype::Unsupported) {
            return Home::Host;
        }
        let parts = parts(call, entry);
        let anything = entry.is_some_and(|it| it.returns == Returns::Nested);
        let mut home = Home::Free;
        let mut holds = false;
        for (expression, part) in parts {
            if part == Part::Other {
                continue;
            }
            if matches!(self.kind(expression), Kind::Array(array) if array.dtype == Dtype::Unsupported) {
                return Home::Host;
            }
            // What takes no scalars on the device is better off on the host with them.
            let scalar = !self.kind(expression).holds_arrays() && !takes_scalars(entry);
            let mut here = if scalar && *self.kind(expression) != Kind::Unknown {
                Home::Free
            } else {
                self.element_or_value_home(expression)
            };
            if here == Home::Unknown && anything {
                here = Home::Either;
            }
            if here == Home::Host && part == Part::Sequence && !is_display(expression) {
                return Home::Host;
            }
            holds |= here != Home::Free;
            home = home.max(here);
        }
        match home {
            Home::Device | Home::Unknown => home,
            _ if holds || self.kind(whole).holds_arrays() => Home::Either,
            _ => Home::Free,
        }
    }

    fn element_or_value_home(&self, expression: &Expr) -> Home {
        if is_display(expression) { self.home(expression) } else { self.scalar_aware_home(expression) }
    }

    /// The home of an operand: text and other plain values don't matter.
    fn scalar_aware_home(&self, expression: &Expr) -> Home {
        match self.kind(expression) {
            Kind::Plain | Kind::Text | Kind::Nothing => Home::Free,
            _ => self.home(expression),
        }
    }

    /// Where a call runs that a rule rewrites.
    pub(super) fn ruled_home(&self, owner: &Expr, call: &ExprCall) -> Home {
        let arguments = parts(call, None).into_iter().map(|(it, _)| self.scalar_aware_home(it));
        arguments.fold(self.home(owner), Home::max)
    }

    /// Where a method of an array runs.
    pub(super) fn method_home(&self, whole: &Expr, owner: &Expr, call: &ExprCall, entry: &Callable) -> Home {
        if matches!(self.kind(whole), Kind::Array(array) if array.dtype == Dtype::Unsupported) {
            return Home::Host;
        }
        let receiver = self.home(owner);
        let operands = parts(call, Some(entry)).into_iter().filter(|(_, part)| *part != Part::Other);
        let operands = operands.map(|(it, _)| self.scalar_aware_home(it)).max().unwrap_or(Home::Free);
        match (receiver, operands) {
            (Home::Device, _) | (_, Home::Device) => Home::Device,
            (Home::Unknown, _) | (_, Home::Unknown) => Home::Unknown,
            (receiver, _) => receiver,
        }
    }

    fn builtin_home(&self, whole: &Expr, call: &ExprCall, name: &str) -> Home {
        let first = call.arguments.args.first();
        match (builtin(name), first) {
            (Builtin::Maps, Some(first)) => self.home(first),
            (Builtin::Iterates | Builtin::Folds, Some(_)) if self.kind(whole).holds_arrays() => {
                call.arguments.args.iter().map(|it| self.iteration_home(it)).max().unwrap_or(Home::Free)
            }
            _ => self.held_by_host(whole),
        }
    }

    /// Where the elements live when code goes over `expression`: those of an array that are scalars, or may be, are
    /// fetched together before the loop.
    pub(super) fn iteration_home(&self, expression: &Expr) -> Home {
        match self.kind(expression) {
            Kind::Array(array) => match (self.home(expression), array.rank) {
                (Home::Device, Some(rank)) if rank > 1 => Home::Device,
                (Home::Device, _) => Home::Host,
                (home, _) => home,
            },
            _ => self.home(expression),
        }
    }
}

/// True for operators that yield a Python boolean whatever they compare.
pub(super) fn asks_identity(op: &CmpOp) -> bool {
    matches!(op, CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn)
}
