//! Statements: what they bind.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtAugAssign, StmtClassDef, StmtIf, StmtTry, StmtWith};

use super::{Inference, grown};
use crate::kinds::kind::Kind;

impl<'a> Inference<'_, 'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(it) => {
                let kind = self.expr(&it.value);
                it.targets.iter().for_each(|target| self.assign(target, &kind));
            }
            Stmt::AnnAssign(it) => {
                let value = it.value.as_ref().map(|value| self.expr(value));
                let annotated = self.annotated(&it.annotation);
                let kind = value.unwrap_or(Kind::Never).join(&annotated);
                self.assign(&it.target, &kind);
            }
            Stmt::AugAssign(it) => self.augmented(it),
            Stmt::Return(it) => {
                let kind = it.value.as_ref().map_or(Kind::Nothing, |value| self.value(value));
                self.give_back(&kind);
            }
            Stmt::Expr(it) => {
                self.value(&it.value);
            }
            Stmt::For(it) => {
                let element = self.iterated(&it.iter);
                self.assign(&it.target, &element);
                self.body(&it.body);
                self.body(&it.orelse);
            }
            Stmt::While(it) => {
                self.value(&it.test);
                self.body(&it.body);
                self.body(&it.orelse);
            }
            Stmt::If(it) => self.branches(it),
            Stmt::With(it) => self.with(it),
            Stmt::Try(it) => self.attempt(it),
            Stmt::ClassDef(it) => self.class_body(it),
            _ => self.other(stmt),
        }
    }

    fn branches(&mut self, stmt: &'a StmtIf) {
        self.value(&stmt.test);
        self.body(&stmt.body);
        for clause in &stmt.elif_else_clauses {
            clause.test.iter().for_each(|test| {
                self.value(test);
            });
            self.body(&clause.body);
        }
    }

    fn with(&mut self, stmt: &'a StmtWith) {
        for item in &stmt.items {
            let kind = self.value(&item.context_expr);
            let entered = entered(kind);
            item.optional_vars.iter().for_each(|target| self.assign(target, &entered));
        }
        self.body(&stmt.body);
    }

    fn other(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => it.decorator_list.iter().for_each(|decorator| {
                self.value(&decorator.expression);
            }),
            Stmt::Assert(it) => {
                self.value(&it.test);
                it.msg.iter().for_each(|msg| {
                    self.value(msg);
                });
            }
            Stmt::Raise(it) => it.exc.iter().chain(&it.cause).for_each(|part| {
                self.value(part);
            }),
            Stmt::Delete(it) => it.targets.iter().for_each(|target| {
                self.value(target);
            }),
            Stmt::Match(it) => {
                self.value(&it.subject);
                for case in &it.cases {
                    self.pattern_captures(&case.pattern);
                    case.guard.iter().for_each(|guard| {
                        self.value(guard);
                    });
                    self.body(&case.body);
                }
            }
            _ => {}
        }
    }

    fn attempt(&mut self, stmt: &'a StmtTry) {
        self.body(&stmt.body);
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            handler.type_.iter().for_each(|it| {
                self.value(it);
            });
            self.body(&handler.body);
        }
        self.body(&stmt.orelse);
        self.body(&stmt.finalbody);
    }

    fn augmented(&mut self, stmt: &'a StmtAugAssign) {
        let value = self.value(&stmt.value);
        let old = self.expr(&stmt.target);
        let kind = match &old {
            // What is changed in place keeps its shape.
            Kind::Array(array) if !array.maybe_scalar => old,
            Kind::List(element) => {
                let added = value.element();
                Kind::list(element.join(&added))
            }
            _ => self.combined(&old, &value, stmt.op),
        };
        self.assign(&stmt.target, &kind);
    }

    fn class_body(&mut self, def: &'a StmtClassDef) {
        def.decorator_list.iter().for_each(|decorator| {
            self.value(&decorator.expression);
        });
        for base in def.arguments.iter().flat_map(|it| &it.args) {
            self.expr(base);
        }
        let class = (0u32..).zip(&self.program.classes).find(|(_, it)| std::ptr::eq(it.def, def));
        let outer = self.class;
        self.class = class.map(|(id, _)| crate::kinds::program::ClassId(id));
        for stmt in &def.body {
            self.stmt(stmt);
            self.class_field(stmt);
        }
        self.class = outer;
    }

    /// A class attribute is an attribute of the instances.
    fn class_field(&mut self, stmt: &'a Stmt) {
        let Some(class) = self.class else { return };
        let (target, kind) = match stmt {
            Stmt::AnnAssign(it) => {
                let kind = self.annotated(&it.annotation);
                let value = it.value.as_ref().map_or(Kind::Never, |value| self.expr(value));
                let described = if matches!(value, Kind::Unknown) { Kind::Never } else { value };
                (&*it.target, kind.join(&described))
            }
            Stmt::Assign(it) => (&it.targets[0], self.expr(&it.value)),
            _ => return,
        };
        if let Expr::Name(name) = target {
            self.update_field(class, name.id.as_str(), &kind);
        }
    }

    fn give_back(&mut self, kind: &Kind) {
        self.release(kind);
        let at = self.region.0 as usize;
        let joined = self.kinds.returns[at].join(kind);
        if joined != self.kinds.returns[at] {
            let joined = grown(&mut self.growth.returns[at], joined);
            if joined == self.kinds.returns[at] {
                return;
            }
            self.kinds.returns[at] = joined;
            self.changed = true;
            for caller in self.kinds.callers[at].clone() {
                self.enqueue(caller);
            }
        }
    }

    pub(super) fn give_back_element(&mut self, kind: Kind) {
        self.give_back(&Kind::list(kind));
    }

    /// Binds `target` to a value of `kind`.
    pub(super) fn assign(&mut self, target: &'a Expr, kind: &Kind) {
        match target {
            Expr::Name(_) => {
                if let Some(slot) = self.program.slot_of(self.source, target) {
                    self.update(slot, kind);
                    let now = self.kinds.slots[slot.0 as usize].clone();
                    self.set(target, now);
                }
            }
            Expr::Tuple(it) => self.unpack(&it.elts, kind),
            Expr::List(it) => self.unpack(&it.elts, kind),
            Expr::Starred(it) => self.assign(&it.value, &Kind::list(kind.clone())),
            Expr::Attribute(it) => {
                self.release(kind);
                let owner = self.value(&it.value);
                self.store_field(&owner, it.attr.as_str(), kind);
            }
            Expr::Subscript(it) => {
                self.release(kind);
                self.value(&it.slice);
                self.value(&it.value);
                self.add_element(&it.value, kind);
                self.expr(target);
            }
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], kind: &Kind) {
        let starred = targets.iter().any(Expr::is_starred_expr);
        for (at, target) in targets.iter().enumerate() {
            let element = match kind {
                Kind::Tuple(elements) if !starred && elements.len() == targets.len() => elements[at].clone(),
                _ => kind.element(),
            };
            self.assign(target, &element);
        }
    }

    /// `owner.name = value`.
    fn store_field(&mut self, owner: &Kind, name: &str, kind: &Kind) {
        match owner {
            Kind::Instance(class) | Kind::Class(class) => self.update_field(*class, name, kind),
            Kind::Unknown | Kind::Never => {
                for id in (0..self.program.classes.len() as u32).map(crate::kinds::program::ClassId) {
                    if self.fields.contains_key(&(id, name.to_owned())) {
                        self.update_field(id, name, kind);
                    }
                }
            }
            _ => {}
        }
    }

    /// `container[…] = value`, `container.append(value)`.
    pub(super) fn add_element(&mut self, container: &'a Expr, kind: &Kind) {
        let old = self.expr(container);
        let grown = match &old {
            Kind::List(element) => Kind::list(element.join(kind)),
            Kind::Tuple(_) => Kind::list(old.element().join(kind)),
            Kind::Dict(_) | Kind::Record(_) => Kind::Dict(old.element().join(kind).into()),
            _ => return,
        };
        self.replace_container(container, &grown);
    }

    /// Gives the variable or attribute that `container` names another possibility.
    pub(super) fn replace_container(&mut self, container: &'a Expr, grown: &Kind) {
        match container {
            Expr::Name(_) => {
                if let Some(slot) = self.program.slot_of(self.source, container) {
                    self.update(slot, grown);
                }
            }
            Expr::Attribute(it) => {
                let owner = self.expr(&it.value);
                self.store_field(&owner, it.attr.as_str(), grown);
            }
            Expr::Subscript(it) => {
                let grown = grown.clone();
                self.add_element(&it.value, &grown);
            }
            _ => {}
        }
    }
}

/// What `with value as x` binds.
fn entered(kind: Kind) -> Kind {
    match kind {
        Kind::Instance(_) => Kind::Unknown,
        other => other,
    }
}
