//! Calls of library functions and of methods of arrays, on the device and on the host.

use ruff_python_ast::{Expr, ExprCall};

use super::{Act, Walk, Want};
use crate::api::{Callable, Returns};
use crate::kinds::arguments::argument;
use crate::kinds::program::Ref;
use crate::kinds::{Dtype, Kind};
use crate::plan::placement::code;
use crate::plan::placement::home::Home;
use crate::plan::placement::matches::Verdict;
use crate::plan::placement::parts::{Part, is_display, parts, takes_scalars};
use crate::reasons::Code;

impl Walk<'_, '_> {
    /// A call of a function that both sides have, on the device.
    pub(super) fn shared_call(
        &mut self,
        whole: &Expr,
        call: &ExprCall,
        entry: Option<&Callable>,
        want: Want,
    ) {
        if let Verdict::Device(found) = self.view.verdict(whole) {
            self.out.acts.push(Act::Apply(found));
        }
        self.out.work += 1;
        let anything = entry.is_some_and(|it| it.returns == Returns::Nested);
        for (expression, part) in parts(call, entry) {
            match part {
                Part::Operand if anything => self.converted(expression, want),
                Part::Operand => self.visit(expression, Want::Operand { scalars: takes_scalars(entry) }),
                Part::Sequence => self.sequence(expression),
                Part::Output => self.output(expression),
                Part::Other => self.visit(expression, Want::Host),
            }
        }
        self.changed_argument(call, entry);
    }

    /// A call that a rule rewrites, whatever the table says of it.
    pub(super) fn ruled_call(&mut self, whole: &Expr, call: &ExprCall, owner: &Expr, on_device: bool) {
        let operand = if on_device { Want::Operand { scalars: true } } else { Want::Host };
        if let (true, Verdict::Device(found)) = (on_device, self.view.verdict(whole)) {
            self.out.acts.push(Act::Apply(found));
            self.out.work += 1;
        }
        self.visit(owner, operand);
        Self::all_arguments(call).for_each(|it| self.visit(it, operand));
    }

    /// Arrays to join: each must be one.
    fn sequence(&mut self, expression: &Expr) {
        match expression {
            Expr::Tuple(it) => it.elts.iter().for_each(|part| self.joined(part)),
            Expr::List(it) => it.elts.iter().for_each(|part| self.joined(part)),
            _ => self.visit(expression, Want::Device),
        }
    }

    fn joined(&mut self, part: &Expr) {
        let starred = part.is_starred_expr();
        self.visit(part, if starred { Want::Device } else { Want::Operand { scalars: true } });
    }

    /// What a conversion such as `numpy.asarray` is given: it takes host arrays over itself.
    fn converted(&mut self, expression: &Expr, want: Want) {
        if is_display(expression) {
            let holds = self.kind(expression).holds_arrays();
            return if holds { self.rows(expression) } else { self.visit(expression, Want::Host) };
        }
        match self.home(expression) {
            Home::Device => {
                if let Some(slot) = self.slot(expression) {
                    let node = self.node(slot);
                    self.used(node).work = true;
                }
                self.visit(expression, Want::Any);
            }
            Home::Either => self.visit(expression, Want::Operand { scalars: false }),
            _ => {
                if self.kind(expression).is_array() {
                    self.count_feed(expression, want);
                }
                self.visit(expression, Want::Any);
            }
        }
    }

    /// Arrays that become one array: numbers stay numbers, lists among arrays become arrays.
    fn rows(&mut self, expression: &Expr) {
        let elements = match expression {
            Expr::Tuple(it) => &it.elts,
            Expr::List(it) => &it.elts,
            _ => return self.visit(expression, Want::Device),
        };
        for element in elements {
            match self.kind(element) {
                kind if kind.holds_arrays() && is_display(element) => self.rows(element),
                Kind::List(_) | Kind::Tuple(_) => self.visit(element, Want::Operand { scalars: false }),
                _ => self.visit(element, Want::Device),
            }
        }
    }

    /// `out=`: the very array that takes the result.
    fn output(&mut self, expression: &Expr) {
        if self.home(expression) != Home::Device && !expression.is_none_literal_expr() {
            let message = format!("`{}` takes the result and is not on the device", self.text(expression));
            self.refuse(expression, code::CHANGE_UNSEEN, message);
        }
        if let Some(slot) = self.slot(expression) {
            let node = self.node(slot);
            let used = self.used(node);
            used.work = true;
            used.made = true;
        }
        self.visit(expression, Want::Any);
    }

    /// The argument that a device call changes in place.
    fn changed_argument(&mut self, call: &ExprCall, entry: Option<&Callable>) {
        let Some(entry) = entry else { return };
        let Some(name) = &entry.changes else { return };
        if let Some(expression) = argument(call, &entry.source_parameters, name) {
            self.output(expression);
        }
    }

    pub(super) fn method_call(&mut self, call: &ExprCall, owner: &Expr, entry: &Callable, on_device: bool) {
        if !on_device {
            self.visit(owner, Want::Host);
            return Self::all_arguments(call).for_each(|it| self.visit(it, Want::Host));
        }
        let there = self.home(owner) == Home::Device;
        self.visit(owner, if there { Want::Any } else { Want::Operand { scalars: true } });
        let asks = matches!(entry.returns, Returns::Python | Returns::Other);
        if let Some(slot) = self.slot(owner) {
            let node = self.node(slot);
            let used = self.used(node);
            used.work |= !asks;
            used.host |= asks;
            used.made |= entry.changes.is_some();
        }
        self.out.work += u32::from(!asks);
        for (expression, part) in parts(call, Some(entry)) {
            match part {
                Part::Operand => {
                    self.visit(expression, Want::Operand { scalars: takes_scalars(Some(entry)) })
                }
                Part::Sequence => self.visit(expression, Want::Device),
                Part::Output => self.output(expression),
                Part::Other if self.kind(expression).is_array() => {
                    self.visit(expression, Want::Operand { scalars: false });
                }
                Part::Other => self.visit(expression, Want::Host),
            }
        }
    }

    /// A method that the device's arrays lack, or not with these arguments.
    pub(super) fn host_method(&mut self, whole: &Expr, call: &ExprCall, owner: &Expr) {
        if self.home(owner) == Home::Device && self.kind(owner).is_array() {
            let program = self.view.program();
            let name = match &*call.func {
                Expr::Attribute(it) => it.attr.as_str(),
                _ => "",
            };
            let shared = program.array_method(name);
            let host = program.host_array_method(name);
            let changes =
                shared.and_then(|it| it.changes.as_ref()).or(host.and_then(|it| it.changes.as_ref()));
            let message = match shared {
                Some(_) => format!("`{name}` of device arrays takes other arguments"),
                None => format!("device arrays have no `{name}`"),
            };
            let reason = if shared.is_some() { code::ARGUMENT } else { code::NO_COUNTERPART };
            if changes.is_some() || shared.is_none() && host.is_none() {
                self.refuse(whole, reason, message);
            } else {
                self.note(whole, reason, message);
            }
        }
        self.visit(owner, Want::Host);
        Self::all_arguments(call).for_each(|it| self.visit(it, Want::Host));
    }

    /// A call that runs on the host.
    pub(super) fn host_call(&mut self, whole: &Expr, call: &ExprCall) {
        let on_device = Self::all_arguments(call).any(|it| self.home(it) == Home::Device);
        self.tell(whole, call, on_device);
        if let Ref::Path(path) = self.view.program().reference(self.view.source, &call.func) {
            let info = self.view.program().path(path);
            let (changes, parameters) = match (info.callable, info.host) {
                (Some(entry), _) => (&entry.changes, entry.source_parameters.as_slice()),
                (None, Some(entry)) => (&entry.changes, entry.parameters.as_deref().unwrap_or_default()),
                (None, None) => (&None, [].as_slice()),
            };
            let output = call
                .arguments
                .keywords
                .iter()
                .find(|it| it.arg.as_ref().is_some_and(|arg| matches!(arg.as_str(), "out" | "output")));
            let changed = changes.as_ref().and_then(|name| argument(call, parameters, name));
            for changed in changed.into_iter().chain(output.map(|it| &it.value)) {
                if self.home(changed) == Home::Device {
                    let message = format!("`{}` changes `{}` on the host", info.name, self.text(changed));
                    self.changed_by_host(changed, message);
                }
            }
        }
        let builds = matches!(self.kind(&call.func), Kind::Class(_));
        for argument in Self::all_arguments(call) {
            if builds {
                self.keep(argument);
            }
            self.visit(argument, Want::Host);
        }
    }

    /// Says why a call stays on the host, where that is worth telling.
    fn tell(&mut self, whole: &Expr, call: &ExprCall, on_device: bool) {
        let name = self.text(&*call.func);
        if matches!(self.kind(whole), Kind::Array(array) if array.dtype == Dtype::Unsupported) {
            let reason = self.host_reason(call).unwrap_or(code::DTYPE);
            return self.note(whole, reason, format!("`{name}` makes an array of a kind that no device has"));
        }
        if let Verdict::Host(found) = self.view.verdict(whole) {
            let rule =
                &self.ground().pass.rules[self.ground().matches.get(self.view.source, found).rule_index];
            if let Some(reason) = rule.reason.clone().filter(|_| on_device) {
                let why = rule.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
                self.note(whole, reason, format!("`{name}` stays on the host{why}"));
            }
            return;
        }
        if let Some(miss) = self.ground().matches.miss(self.view.source, whole) {
            if on_device {
                let (code, message) = (miss.code.clone().unwrap_or(code::ARGUMENT), miss.message.clone());
                self.note(whole, code, message);
            }
            return;
        }
        let draws = |it: &Code| it.as_str() == "GP204" && self.kind(whole).holds_arrays();
        if let Some(reason) = self.host_reason(call).filter(|it| on_device || draws(it)) {
            self.note(whole, reason, format!("`{name}` stays on the host"));
        }
    }

    fn host_reason(&self, call: &ExprCall) -> Option<Code> {
        match self.view.program().reference(self.view.source, &call.func) {
            Ref::Path(path) => self.view.program().path(path).host.and_then(|it| it.reason.clone()),
            _ => None,
        }
    }
}
