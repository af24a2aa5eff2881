//! One walk over a program for its effects: aliases, changes in place, and what calls pass on of them.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextSize};

use super::{Change, Effects};
use crate::kinds::arguments::{Argument, argument, bind};
use crate::kinds::program::{Definition, Param, Ref};
use crate::kinds::{Kind, RegionId, SlotId, SourceId};
use crate::plan::placement::home::Ground;
use crate::plan::placement::origins::{Origin, origins};

pub(super) struct Walk<'g, 'a> {
    pub(super) ground: &'g Ground<'g, 'a>,
    pub(super) effects: Effects,
    pub(super) source: SourceId,
    pub(super) region: RegionId,
    pub(super) returned: Vec<BTreeSet<Origin>>,
    pub(super) meddling: Vec<RegionId>,
}

impl Walk<'_, '_> {
    fn origins(&self, expression: &Expr) -> Vec<Origin> {
        origins(self.ground, &self.effects, self.source, expression)
    }

    fn kind(&self, expression: &Expr) -> &Kind {
        self.ground.kinds.of(self.source, expression)
    }

    /// `target = value`: both names mean one memory from now on.
    fn alias(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Tuple(targets), Expr::Tuple(values)) if targets.elts.len() == values.elts.len() => {
                for (target, value) in targets.elts.iter().zip(&values.elts) {
                    self.alias(target, value);
                }
            }
            _ => {
                let from = self.origins(value);
                self.alias_all(target, &from);
            }
        }
    }

    fn alias_all(&mut self, target: &Expr, from: &[Origin]) {
        match target {
            Expr::Name(_) => {
                let Some(slot) = self.ground.program.slot_of(self.source, target) else { return };
                if !self.ground.kinds.slot(slot).may_hold_arrays() {
                    return;
                }
                for origin in from {
                    match origin {
                        Origin::Slot(other) => self.effects.union(slot, *other),
                        Origin::Elsewhere => {
                            let root = self.effects.root(slot);
                            self.effects.elsewhere[root.0 as usize] = true;
                        }
                    }
                }
            }
            Expr::Tuple(it) => it.elts.iter().for_each(|target| self.alias_all(target, from)),
            Expr::List(it) => it.elts.iter().for_each(|target| self.alias_all(target, from)),
            Expr::Starred(it) => self.alias_all(&it.value, from),
            Expr::Subscript(it) => match self.kind(&it.value) {
                Kind::Array(_) | Kind::Unknown | Kind::Loaded => self.change(&it.value, target.start()),
                Kind::List(_) | Kind::Tuple(_) => self.put_into(&it.value, from),
                _ => {}
            },
            Expr::Attribute(it) if self.kind(&it.value).is_array() => self.change(&it.value, target.start()),
            _ => {}
        }
    }

    /// What `from` names is put into a list.
    fn put_into(&mut self, list: &Expr, from: &[Origin]) {
        for owner in self.origins(list) {
            let Origin::Slot(owner) = owner else { continue };
            for origin in from {
                match origin {
                    Origin::Slot(other) => self.effects.union(owner, *other),
                    Origin::Elsewhere => {
                        let root = self.effects.root(owner);
                        self.effects.elsewhere[root.0 as usize] = true;
                    }
                }
            }
        }
    }

    /// What `expression` holds is changed in place.
    fn change(&mut self, expression: &Expr, at: TextSize) {
        for origin in self.origins(expression) {
            match origin {
                Origin::Slot(slot) => self.effects.changes.push(Change { slot, region: self.region, at }),
                Origin::Elsewhere => self.meddling.push(self.region),
            }
        }
    }

    /// Notes a call that may change arrays which an object or a mapping holds: unknown code that is given one, or a
    /// function of the project that does so.
    fn note_unseen(&mut self, call: &ExprCall) {
        let holder = |it: &Expr| match self.kind(it) {
            Kind::Instance(_) | Kind::Unknown => true,
            kind @ (Kind::Dict(_) | Kind::Record(_)) => kind.may_hold_arrays(),
            _ => false,
        };
        let keywords = call.arguments.keywords.iter().map(|it| &it.value);
        let given = call.arguments.args.iter().chain(keywords).any(holder);
        let program = self.ground.program;
        let owner = match (&*call.func, program.reference(self.source, &call.func)) {
            (Expr::Attribute(it), Ref::None) => Some(self.kind(&it.value)),
            _ => None,
        };
        let may = match (self.called(call), owner) {
            (Some(callee), owner) => self.effects.meddles[callee.0 as usize] && (given || owner.is_some()),
            (None, Some(Kind::Instance(_) | Kind::Unknown)) => true,
            (None, Some(_)) => false,
            (None, None) => given && self.is_unknown_code(call),
        };
        if may {
            self.effects.unseen.push((self.region, call.start()));
        }
    }

    /// The project's function or method that `call` calls.
    fn called(&self, call: &ExprCall) -> Option<RegionId> {
        let program = self.ground.program;
        if let Kind::Function(function) = self.kind(&call.func) {
            return Some(*function);
        }
        if let Some(Definition::Function(function)) = program.definition(self.source, &call.func) {
            return Some(function);
        }
        let Expr::Attribute(it) = &*call.func else { return None };
        match self.kind(&it.value) {
            Kind::Instance(class) => program.class(*class).methods.get(it.attr.as_str()).copied(),
            _ => None,
        }
    }

    /// True where nobody has said what a call does.
    fn is_unknown_code(&self, call: &ExprCall) -> bool {
        let program = self.ground.program;
        match program.reference(self.source, &call.func) {
            Ref::Path(path) => {
                let info = program.path(path);
                info.callable.is_none() && info.host.is_none() && info.definition.is_none()
            }
            Ref::Builtin(_) => false,
            _ => matches!(self.kind(&call.func), Kind::Unknown),
        }
    }

    fn call(&mut self, call: &ExprCall) {
        self.note_unseen(call);
        let keywords = &call.arguments.keywords;
        for keyword in keywords.iter().filter(|it| it.arg.as_ref().is_some_and(|arg| arg.starts_with("out")))
        {
            self.change(&keyword.value, call.end());
        }
        let program = self.ground.program;
        if let Some(function) = self.called(call) {
            let skip = usize::from(program.region(function).class.is_some());
            return self.project_call(call, function, skip);
        }
        match (program.reference(self.source, &call.func), &*call.func) {
            (Ref::Path(path), _) => {
                let info = program.path(path);
                let (changes, parameters) = match (info.callable, info.host) {
                    (Some(entry), _) => (&entry.changes, entry.source_parameters.as_slice()),
                    (None, Some(entry)) => (&entry.changes, entry.parameters.as_deref().unwrap_or_default()),
                    (None, None) => return,
                };
                let changed = changes.as_ref().and_then(|name| argument(call, parameters, name));
                changed.into_iter().for_each(|it| self.change(it, call.end()));
            }
            (Ref::None, Expr::Attribute(attribute)) => {
                self.method(call, &attribute.value, attribute.attr.as_str());
            }
            _ => {}
        }
    }

    fn method(&mut self, call: &ExprCall, owner: &Expr, name: &str) {
        let program = self.ground.program;
        match self.kind(owner).clone() {
            Kind::Array(_) | Kind::Loaded => {
                let shared = program.array_method(name).and_then(|it| it.changes.as_ref());
                let host = program.host_array_method(name).and_then(|it| it.changes.as_ref());
                if shared.or(host).is_some() {
                    self.change(owner, call.end());
                }
            }
            Kind::List(_) | Kind::Tuple(_) => {
                if matches!(name, "append" | "add" | "extend" | "insert" | "appendleft" | "update") {
                    for argument in &call.arguments.args {
                        let from = self.origins(argument);
                        self.put_into(owner, &from);
                    }
                }
            }
            Kind::Object(class) => {
                let Some(entry) = program.host_entry(&format!("{class}.{name}")) else { return };
                let parameters = entry.parameters.as_deref().unwrap_or_default();
                let changed = entry.changes.as_ref().and_then(|name| argument(call, parameters, name));
                changed.into_iter().for_each(|it| self.change(it, call.end()));
            }
            _ => {}
        }
    }

    fn project_call(&mut self, call: &ExprCall, function: RegionId, skip: usize) {
        let region = self.ground.program.region(function);
        let bound = bind(region, skip, call, |starred| match self.kind(starred) {
            Kind::Tuple(elements) => Some(elements.len()),
            _ => None,
        });
        for (at, argument) in bound.given {
            if self.effects.changes_parameter(function, at) {
                let (Argument::Whole(expression) | Argument::Element(expression, _)) = argument;
                self.change(expression, call.end());
            }
        }
    }

    /// Draws from this round what calls will do in the next; true where nothing new came of it.
    pub(super) fn conclude(&mut self) -> bool {
        let program = self.ground.program;
        let mut stable = true;
        for id in program.region_ids() {
            let at = id.0 as usize;
            let region = program.region(id);
            let mut shared = (Vec::new(), false);
            for origin in &self.returned[at] {
                match origin {
                    Origin::Elsewhere => shared.1 = true,
                    Origin::Slot(slot) => {
                        let root = self.effects.root(*slot);
                        shared.1 |= self.effects.elsewhere[root.0 as usize];
                        shared.1 |= program.slot(*slot).region != id;
                        let same = |param: &Param<'_>| self.effects.root(param.slot) == root;
                        shared.0.extend(
                            region.params.iter().enumerate().filter(|(_, it)| same(it)).map(|(at, _)| at),
                        );
                    }
                }
            }
            shared.0.sort_unstable();
            shared.0.dedup();
            let changed: BTreeSet<usize> = (0..region.params.len())
                .filter(|&param| self.changes_in(id, region.params[param].slot))
                .collect();
            let holds_elsewhere = |it: &Change| {
                it.region == id && self.effects.elsewhere[self.effects.root(it.slot).0 as usize]
            };
            let meddles = self.meddling.contains(&id)
                || self.effects.unseen.iter().any(|(region, _)| *region == id)
                || self.effects.changes.iter().any(holds_elsewhere);
            stable &= shared == self.effects.shared[at]
                && changed == self.effects.changed[at]
                && meddles == self.effects.meddles[at];
            self.effects.meddles[at] = meddles;
            self.effects.shared[at] = shared;
            self.effects.changed[at] = changed;
        }
        stable
    }

    fn changes_in(&self, region: RegionId, slot: SlotId) -> bool {
        let root = self.effects.root(slot);
        self.effects.changes.iter().any(|it| it.region == region && self.effects.root(it.slot) == root)
    }
}

impl<'b> Visitor<'b> for Walk<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::FunctionDef(_) => return,
            Stmt::Assign(it) => {
                it.targets.iter().for_each(|target| self.alias(target, &it.value));
                // All targets are one thing.
                it.targets.iter().skip(1).for_each(|target| self.alias(target, &it.targets[0]));
            }
            Stmt::AnnAssign(it) => {
                it.value.iter().for_each(|value| self.alias(&it.target, value));
            }
            Stmt::AugAssign(it) => match &*it.target {
                Expr::Subscript(subscript) => self.change(&subscript.value, stmt.start()),
                target if self.kind(target).may_hold_arrays() => {
                    self.change(target, stmt.start());
                    if matches!(self.kind(target), Kind::List(_)) {
                        let from = self.origins(&it.value);
                        self.put_into(target, &from);
                    }
                }
                _ => {}
            },
            Stmt::For(it) => self.alias(&it.target, &it.iter),
            Stmt::With(it) => {
                for item in &it.items {
                    item.optional_vars.iter().for_each(|target| self.alias(target, &item.context_expr));
                }
            }
            Stmt::Return(it) => {
                let from = it.value.as_ref().map(|value| self.origins(value)).unwrap_or_default();
                self.returned[self.region.0 as usize].extend(from);
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expression: &'b Expr) {
        match expression {
            Expr::Call(it) => self.call(it),
            Expr::Named(it) => self.alias(&it.target, &it.value),
            Expr::Lambda(_) => return,
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'b Comprehension) {
        self.alias(&comprehension.target, &comprehension.iter);
        ruff_python_ast::visitor::walk_comprehension(self, comprehension);
    }
}
