//! Calls.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::Ranged;

use super::{Node, Walk, Want};
use crate::kinds::arguments::{Argument, argument, bind};
use crate::kinds::program::Ref;
use crate::kinds::{Kind, RegionId};
use crate::plan::placement::builtins::{Builtin, builtin};
use crate::plan::placement::code::{self, Finding};
use crate::plan::placement::home::{Callee, Home};
use crate::plan::placement::origins::{Origin, is_fresh, origins};
use crate::plan::placement::parts::is_display;
use crate::plan::placement::state::{Side, takes_device};

impl Walk<'_, '_> {
    /// The project's function that `call` calls.
    pub(super) fn called_function(&self, whole: &Expr, call: &ExprCall) -> Option<RegionId> {
        match self.view.callee_of(whole, call) {
            Callee::Function(function) => Some(function),
            _ => None,
        }
    }

    pub(super) fn call(&mut self, whole: &Expr, call: &ExprCall, side: Side, want: Want) {
        match self.view.callee_of(whole, call) {
            Callee::Function(function) => self.project_call(whole, call, function, want),
            Callee::Shared(entry) => match self.view.shared_home(whole, call, entry) {
                Home::Device => self.shared_call(whole, call, entry, want),
                Home::Either if side == Side::Device => self.shared_call(whole, call, entry, want),
                home => {
                    if home == Home::Unknown {
                        let name = self.text(&*call.func);
                        let message = format!("what `{name}` is given here is of unknown kind");
                        self.out.doubts.push(Finding::new(whole.start(), code::UNKNOWN, message));
                    }
                    self.host_call(whole, call);
                }
            },
            Callee::Method(owner, entry) => {
                let on_device = match self.view.method_home(whole, owner, call, entry) {
                    Home::Device => true,
                    Home::Either => side == Side::Device,
                    _ => false,
                };
                self.method_call(call, owner, entry, on_device);
            }
            Callee::Ruled(owner) => {
                let on_device = match self.view.ruled_home(owner, call) {
                    Home::Device => true,
                    Home::Either => side == Side::Device,
                    _ => false,
                };
                self.ruled_call(whole, call, owner, on_device);
            }
            Callee::HostMethod(owner) => self.host_method(whole, call, owner),
            Callee::Builtin(name) => self.builtin_call(whole, call, name, side, want),
            Callee::Member(owner, name) => self.member_call(whole, call, owner, name),
            Callee::Host => {
                self.visit(&call.func, Want::Any);
                self.host_call(whole, call);
            }
        }
    }

    pub(super) fn all_arguments(call: &ExprCall) -> impl Iterator<Item = &Expr> {
        call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|it| &it.value))
    }

    fn project_call(&mut self, whole: &Expr, call: &ExprCall, function: RegionId, want: Want) {
        let hot = self.is_hot();
        self.out.calls.push((function, hot));
        let program = self.view.program();
        let region = program.region(function);
        if let Expr::Attribute(it) = &*call.func {
            self.visit(&it.value, Want::Any);
        }
        let internal = self.state().is_internal(function);
        if internal && self.kind(whole).holds_arrays() && matches!(want, Want::Operand { .. } | Want::Device)
        {
            self.used(Node::Result(function)).work = true;
        }
        let skip = usize::from(region.class.is_some());
        let bound = bind(region, skip, call, |starred| match self.kind(starred) {
            Kind::Tuple(elements) => Some(elements.len()),
            _ => None,
        });
        for (at, argument) in bound.given {
            let slot = region.params[at].slot;
            let takes = internal && takes_device(region, at, self.ground().kinds.slot(slot));
            match argument {
                Argument::Whole(expression) => {
                    let node = self.node(slot);
                    let want = if takes { Want::Into(node, self.side(slot)) } else { Want::Host };
                    self.guard_change(expression, function, at, want);
                    self.guard_type_check(expression, function);
                    self.visit(expression, want);
                }
                Argument::Element(tuple, index) => self.element_argument((function, at), tuple, index, takes),
            }
        }
        bound.other.into_iter().for_each(|it| self.visit(it, Want::Host));
    }

    /// `f(*pair)`: the elements can't cross here, so the function takes them over.
    fn element_argument(
        &mut self,
        (function, at): (RegionId, usize),
        tuple: &Expr,
        index: usize,
        takes: bool,
    ) {
        if index == 0 {
            self.visit(tuple, Want::Any);
        }
        let slot = self.view.program().region(function).params[at].slot;
        let on_device = self.home(tuple) == Home::Device;
        let wanted = takes && self.side(slot) == Side::Device;
        let node = self.node(slot);
        if takes
            && let Expr::Call(call) = tuple
            && let Some(from) = self.called_function(tuple, call)
        {
            self.out.flows.push((Node::Result(from), node));
        }
        match (on_device, wanted) {
            (false, true) => self.out.entries.push((function, at)),
            (true, false) if self.ground().kinds.slot(slot).holds_arrays() => {
                let message = format!("`{}` holds arrays that are needed on both sides", self.text(tuple));
                self.refuse(tuple, code::UNKNOWN, message);
            }
            _ => {}
        }
    }

    /// A function that changes what it is given must be given the thing itself, not a copy.
    fn guard_change(&mut self, expression: &Expr, function: RegionId, at: usize, want: Want) {
        let ground = self.ground();
        if !ground.effects.changes_parameter(function, at) || !self.kind(expression).holds_arrays() {
            return;
        }
        let copies = matches!(
            (self.home(expression), want.side()),
            (Home::Device, Some(Side::Host)) | (Home::Host, Some(Side::Device))
        );
        if copies {
            let name = &ground.program.region(function).name;
            let message = format!("`{name}` changes `{}` in place", self.text(expression));
            self.changed_by_host(expression, message);
        }
    }

    /// Host code changes `expression` in place: it must be the thing itself.
    pub(super) fn changed_by_host(&mut self, expression: &Expr, message: String) {
        let ground = self.ground();
        if is_fresh(ground, ground.effects, self.view.source, expression) {
            return;
        }
        let finding = Finding::new(expression.start(), code::CHANGE_UNSEEN, message);
        let roots = origins(ground, ground.effects, self.view.source, expression);
        let slots: Vec<_> = roots
            .iter()
            .filter_map(|it| match it {
                Origin::Slot(slot) => Some(*slot),
                Origin::Elsewhere => None,
            })
            .collect();
        if self.home(expression) == Home::Device && slots.len() == roots.len() {
            slots.into_iter().for_each(|slot| self.force_host(slot, finding.clone()));
        } else {
            self.out.refusals.push(finding);
        }
    }

    /// A function that asks whether it was given an array must see what its caller was given.
    fn guard_type_check(&mut self, expression: &Expr, function: RegionId) {
        let asks = self.state().region(function).refusals.iter().any(|it| it.code == code::TYPE_CHECK);
        if asks && self.home(expression) == Home::Device {
            let name = &self.view.program().region(function).name;
            let message = format!("`{name}` asks for the type of `{}`", self.text(expression));
            self.refuse(expression, code::TYPE_CHECK, message);
        }
    }

    fn builtin_call(&mut self, whole: &Expr, call: &ExprCall, name: &str, side: Side, want: Want) {
        let args = &call.arguments.args;
        match builtin(name) {
            Builtin::Asks => Self::all_arguments(call).for_each(|it| self.visit(it, Want::Any)),
            Builtin::Maps if side == Side::Device => {
                self.out.work += u32::from(self.kind(whole).is_array());
                args.iter().for_each(|it| self.visit(it, Want::Operand { scalars: true }));
            }
            Builtin::Maps => args.iter().for_each(|it| self.visit(it, Want::Host)),
            Builtin::Iterates | Builtin::Folds => {
                let holds = self.kind(whole).holds_arrays();
                for argument in args {
                    let rows = self.kind(argument).is_array()
                        && self.view.iteration_home(argument) != self.home(argument);
                    let contains = matches!(self.kind(argument), Kind::List(_) | Kind::Tuple(_));
                    let inner = match want {
                        _ if rows || name != "zip" && args.len() > 1 && !contains => Want::Host,
                        _ if !holds && (is_display(argument) || !contains) => Want::Host,
                        _ if !holds => Want::Any,
                        Want::Operand { .. } => Want::Device,
                        other => other,
                    };
                    self.visit(argument, inner);
                }
                call.arguments.keywords.iter().for_each(|it| self.visit(&it.value, Want::Host));
            }
            Builtin::Host if name == "isinstance" => args.iter().for_each(|it| self.visit(it, Want::Any)),
            Builtin::Host => Self::all_arguments(call).for_each(|it| self.visit(it, Want::Host)),
        }
    }

    /// A method of a list, a mapping, text, or an object of a library.
    fn member_call(&mut self, whole: &Expr, call: &ExprCall, owner: &Expr, name: &str) {
        let holds = self.kind(whole).holds_arrays();
        self.visit(owner, Want::Any);
        let adds = matches!(name, "append" | "add" | "extend" | "insert" | "appendleft");
        if adds && matches!(self.kind(owner), Kind::List(_)) {
            let want = match self.slot(owner) {
                Some(slot) => Want::Into(self.node(slot), self.side(slot)),
                None => Want::Host,
            };
            for argument in &call.arguments.args {
                if want == Want::Host {
                    self.keep(argument);
                }
                self.visit(argument, want);
            }
            return;
        }
        if let Kind::Object(class) = self.kind(owner)
            && let Some(entry) = self.view.program().host_entry(&format!("{class}.{name}"))
        {
            let parameters = entry.parameters.as_deref().unwrap_or_default();
            let changed = entry.changes.as_ref().and_then(|name| argument(call, parameters, name));
            if let Some(changed) = changed.filter(|it| self.home(it) == Home::Device) {
                let message = format!("`{name}` changes `{}` in place, on the host", self.text(changed));
                self.changed_by_host(changed, message);
            }
            if let Some(reason) = entry.reason.as_ref().filter(|_| holds) {
                self.note(
                    call.range(),
                    reason.clone(),
                    format!("`{}` stays on the host", self.text(&*call.func)),
                );
            }
        }
        for argument in Self::all_arguments(call) {
            self.keep_if_container(owner, argument);
            self.visit(argument, Want::Host);
        }
    }

    fn keep_if_container(&mut self, owner: &Expr, argument: &Expr) {
        if matches!(self.kind(owner), Kind::Dict(_) | Kind::Record(_) | Kind::Unknown | Kind::Instance(_)) {
            self.keep(argument);
        }
    }

    /// `update(u)`: code that nobody sees, called for what it does, may change what it is given.
    pub(super) fn changes_unseen(&mut self, whole: &Expr, call: &ExprCall) {
        let known = match self.view.callee_of(whole, call) {
            Callee::Host => match self.view.program().reference(self.view.source, &call.func) {
                Ref::Path(path) => {
                    let info = self.view.program().path(path);
                    info.host.is_some() || info.callable.is_some()
                }
                _ => *self.kind(&call.func) == Kind::Plain,
            },
            Callee::Member(owner, _) => !matches!(self.kind(owner), Kind::Unknown | Kind::Never),
            _ => true,
        };
        if known {
            return;
        }
        for argument in Self::all_arguments(call) {
            if self.home(argument) == Home::Device
                && self.slot(argument).is_some()
                && self.kind(argument).is_array()
            {
                let message =
                    format!("`{}` may change `{}` in place", self.text(&*call.func), self.text(argument));
                self.changed_by_host(argument, message);
            }
        }
    }
}
