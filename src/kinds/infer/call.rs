//! Calls: of the project's functions and classes, of libraries, of methods.

use ruff_python_ast::{Expr, ExprCall};

use super::Inference;
use crate::kinds::arguments::{Argument, bind};
use crate::kinds::kind::Kind;
use crate::kinds::program::{ClassId, Ref, RegionId};

impl<'a> Inference<'_, 'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall) -> Kind {
        let callee = match &*call.func {
            Expr::Attribute(attribute) if !self.leads_outside(&call.func) => {
                let owner = self.expr(&attribute.value);
                return self.method(call, &attribute.value, &owner, attribute.attr.as_str());
            }
            func => self.expr(func),
        };
        match (self.program.reference(self.source, &call.func), callee) {
            (_, Kind::Function(function)) => self.project_call(call, function, 0),
            (_, Kind::Class(class)) => self.construct(call, class),
            (Ref::Path(path), _) => {
                let info = self.program.path(path);
                let (callable, host) = (info.callable, info.host);
                self.visit_arguments(call);
                match (callable, host) {
                    (Some(entry), _) => self.table_call(call, entry, None),
                    (None, Some(entry)) => self.host_call(call, entry, None),
                    _ => {
                        self.give_away(call);
                        Kind::Unknown
                    }
                }
            }
            (Ref::Builtin(path), _) => {
                let name = &self.program.path(path).name;
                self.visit_arguments(call);
                self.builtin_call(call, name)
            }
            (_, Kind::Never) => {
                self.visit_arguments(call);
                Kind::Never
            }
            (_, Kind::Plain) => {
                self.visit_arguments(call);
                Kind::Plain
            }
            _ => {
                self.visit_arguments(call);
                self.give_away(call);
                Kind::Unknown
            }
        }
    }

    /// True where `func` is a dotted name that leads out of the module (`np.linalg.norm`), not a method of a value.
    fn leads_outside(&self, func: &Expr) -> bool {
        matches!(self.program.reference(self.source, func), Ref::Path(_) | Ref::Builtin(_) | Ref::Unclear)
    }

    /// Looks at every argument; functions among them are used where their calls can't be seen.
    pub(super) fn visit_arguments(&mut self, call: &'a ExprCall) {
        call.arguments.args.iter().for_each(|argument| {
            self.value(argument);
        });
        call.arguments.keywords.iter().for_each(|keyword| {
            self.value(&keyword.value);
        });
    }

    /// Containers given to code that nobody sees may come back with anything in them.
    fn give_away(&mut self, call: &'a ExprCall) {
        let keywords = call.arguments.keywords.iter().map(|it| &it.value);
        for argument in call.arguments.args.iter().chain(keywords) {
            if matches!(self.seen(argument), Kind::List(_) | Kind::Dict(_) | Kind::Record(_)) {
                self.add_element(argument, &Kind::Unknown);
            }
        }
    }

    pub(super) fn note_caller(&mut self, callee: RegionId) {
        let callers = &mut self.kinds.callers[callee.0 as usize];
        if !callers.contains(&self.region) {
            callers.push(self.region);
        }
    }

    fn project_call(&mut self, call: &'a ExprCall, callee: RegionId, skip: usize) -> Kind {
        self.note_caller(callee);
        let program = self.program;
        let region = program.region(callee);
        call.arguments.args.iter().for_each(|argument| {
            self.expr(argument);
        });
        call.arguments.keywords.iter().for_each(|keyword| {
            self.expr(&keyword.value);
        });
        let bound = bind(region, skip, call, |starred| match self.seen(starred) {
            Kind::Tuple(elements) => Some(elements.len()),
            _ => None,
        });
        for (at, argument) in &bound.given {
            let slot = region.params[*at].slot;
            match argument {
                Argument::Whole(expression) => {
                    let kind = self.expr(expression);
                    self.update(slot, &kind);
                    self.flow_back(expression, slot);
                }
                Argument::Element(tuple, index) => {
                    let kind = match self.seen(tuple) {
                        Kind::Tuple(elements) => elements.get(*index).cloned().unwrap_or_default(),
                        _ => Kind::Unknown,
                    };
                    self.update(slot, &kind);
                }
            }
        }
        for expression in &bound.other {
            let kind = self.seen(expression).clone();
            self.release(&kind);
        }
        if bound.opaque {
            self.kinds.opaque[callee.0 as usize] = true;
            for param in &region.params[skip.min(region.params.len())..] {
                self.update(param.slot, &Kind::Unknown);
            }
        }
        self.kinds.returns[callee.0 as usize].clone()
    }

    /// What a function puts into a container that it is given is in the caller's too.
    fn flow_back(&mut self, argument: &'a Expr, slot: crate::kinds::SlotId) {
        let there = self.kinds.slot(slot).clone();
        if matches!(there, Kind::List(_) | Kind::Dict(_)) {
            self.replace_container(argument, &there);
        }
    }

    fn construct(&mut self, call: &'a ExprCall, class: ClassId) -> Kind {
        let program = self.program;
        let data = program.class(class);
        if let Some(init) = data.methods.get("__init__") {
            self.project_call(call, *init, 1);
            return Kind::Instance(class);
        }
        self.visit_arguments(call);
        // A dataclass or named tuple takes its annotated attributes in order.
        let fields: Vec<&str> = data.def.body.iter().filter_map(annotated_name).collect();
        for (at, argument) in call.arguments.args.iter().enumerate() {
            let kind = self.seen(argument).clone();
            if let Some(name) = fields.get(at) {
                self.update_field(class, name, &kind);
            }
        }
        for keyword in &call.arguments.keywords {
            if let Some(name) = &keyword.arg {
                let kind = self.seen(&keyword.value).clone();
                self.update_field(class, name.as_str(), &kind);
            }
        }
        Kind::Instance(class)
    }

    fn method(&mut self, call: &'a ExprCall, receiver: &'a Expr, owner: &Kind, name: &str) -> Kind {
        let program = self.program;
        match owner {
            Kind::Instance(class) | Kind::Class(class) => {
                let skip = usize::from(matches!(owner, Kind::Instance(_)));
                if let Some(method) = program.class(*class).methods.get(name) {
                    return self.project_call(call, *method, skip);
                }
                self.visit_arguments(call);
                self.give_away(call);
                Kind::Unknown
            }
            Kind::Array(_) | Kind::Numpy | Kind::Number => {
                self.visit_arguments(call);
                let kind = match (program.array_method(name), program.host_array_method(name)) {
                    (Some(entry), _) => self.table_call(call, entry, Some(owner)),
                    (None, Some(entry)) => self.host_call(call, entry, Some(owner)),
                    _ => Kind::Unknown,
                };
                if owner.is_array() { kind } else { scalar_result(kind) }
            }
            Kind::Object(class) => {
                self.visit_arguments(call);
                match program.host_entry(&format!("{class}.{name}")) {
                    Some(entry) => self.host_call(call, entry, None),
                    None => {
                        self.give_away(call);
                        Kind::Unknown
                    }
                }
            }
            _ => {
                self.visit_arguments(call);
                self.container_method(call, receiver, owner, name)
            }
        }
    }
}

fn annotated_name(stmt: &ruff_python_ast::Stmt) -> Option<&str> {
    let name = stmt.as_ann_assign_stmt()?.target.as_name_expr()?;
    Some(name.id.as_str())
}

/// What a method of arrays yields for a scalar.
fn scalar_result(kind: Kind) -> Kind {
    match kind {
        Kind::Array(array) if array.maybe_scalar || array.rank.is_none() => Kind::Numpy,
        other => other,
    }
}
