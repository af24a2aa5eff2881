//! Statements.

use ruff_python_ast::{ExceptHandler, Expr, Operator, Stmt, StmtAugAssign, StmtFor, StmtIf, StmtWith};
use ruff_text_size::Ranged;

use super::{Act, Node, Walk, Want};
use crate::kinds::Kind;
use crate::plan::placement::code;
use crate::plan::placement::home::Home;
use crate::plan::placement::loops::{Loop, is_rare};
use crate::plan::placement::matches::Verdict;
use crate::plan::placement::state::Side;

impl Walk<'_, '_> {
    pub(super) fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(it) => it.targets.iter().enumerate().for_each(|(at, target)| {
                if at == 0 {
                    self.assign(target, &it.value, stmt)
                } else {
                    self.also_assign(target, &it.value)
                }
            }),
            Stmt::AnnAssign(it) => {
                it.value.iter().for_each(|value| self.assign(&it.target, value, stmt));
            }
            Stmt::AugAssign(it) => self.augmented(it),
            Stmt::Expr(it) => self.expression(&it.value, stmt),
            Stmt::Return(it) => it.value.iter().for_each(|value| self.give_back(value)),
            Stmt::For(it) => self.for_loop(it),
            Stmt::While(it) => {
                let inner =
                    Loop::new(self.view.program(), self.view.source, stmt.range(), None, &[], &it.body);
                self.looping(inner, |walk| {
                    walk.visit(&it.test, Want::Test);
                    walk.body(&it.body);
                });
                self.body(&it.orelse);
            }
            Stmt::If(it) => self.branches(it),
            Stmt::With(it) => self.with(it),
            Stmt::Try(it) => {
                self.body(&it.body);
                for handler in &it.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    self.body(&handler.body);
                }
                self.body(&it.orelse);
                self.body(&it.finalbody);
            }
            _ => self.rarer(stmt),
        }
    }

    fn rarer(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assert(it) => {
                self.visit(&it.test, Want::Test);
                it.msg.iter().for_each(|msg| self.visit(msg, Want::Host));
            }
            Stmt::Raise(it) => it.exc.iter().chain(&it.cause).for_each(|part| self.visit(part, Want::Host)),
            Stmt::Delete(it) => it.targets.iter().for_each(|target| self.visit(target, Want::Any)),
            Stmt::FunctionDef(it) => {
                let defaults =
                    it.parameters.iter_non_variadic_params().filter_map(|it| it.default.as_deref());
                defaults.for_each(|default| self.visit(default, Want::Host));
            }
            Stmt::ClassDef(it) => {
                for stmt in &it.body {
                    match stmt {
                        Stmt::Assign(it) => self.visit(&it.value, Want::Host),
                        Stmt::AnnAssign(it) => {
                            it.value.iter().for_each(|value| self.visit(value, Want::Host))
                        }
                        _ => {}
                    }
                }
            }
            Stmt::Match(it) => {
                self.visit(&it.subject, Want::Host);
                for case in &it.cases {
                    case.guard.iter().for_each(|guard| self.visit(guard, Want::Test));
                    self.body(&case.body);
                }
            }
            _ => {}
        }
    }

    /// An expression that stands alone; a rule may replace the whole statement.
    fn expression(&mut self, value: &Expr, stmt: &Stmt) {
        if let Expr::Call(call) = value {
            if let Verdict::Device(_) = self.view.verdict(value) {
                return self.visit(value, Want::Any);
            }
            self.changes_unseen(value, call);
        } else if let Verdict::Device(found) =
            self.ground().matches.verdict(self.ground().pass, self.view.source, stmt)
        {
            self.out.acts.push(Act::Apply(found));
        }
        self.visit(value, Want::Any);
    }

    fn give_back(&mut self, value: &Expr) {
        let state = self.state().region(self.region);
        let side = if state.border { Side::Host } else { state.returns };
        let rare = self.rare;
        // Leaving a loop happens once.
        self.rare |= !self.loops.is_empty() && !state.hot;
        self.visit(value, Want::Into(Node::Result(self.region), side));
        self.rare = rare;
    }

    fn augmented(&mut self, stmt: &StmtAugAssign) {
        match &*stmt.target {
            Expr::Name(_) => self.augmented_name(stmt),
            Expr::Subscript(it) => self.store(it, &stmt.target, &stmt.value, Some(stmt.op)),
            Expr::Attribute(it) => {
                self.visit(&it.value, Want::Any);
                self.visit(&stmt.value, Want::Host);
            }
            _ => self.visit(&stmt.value, Want::Host),
        }
    }

    fn augmented_name(&mut self, stmt: &StmtAugAssign) {
        let target = &*stmt.target;
        let Some(slot) = self.slot(target) else { return self.visit(&stmt.value, Want::Host) };
        let node = self.node(slot);
        match self.ground().kinds.slot(slot) {
            Kind::Array(_) => {
                let on_device = self.side(slot) == Side::Device && self.home(target) == Home::Device;
                if on_device && stmt.op == Operator::MatMult {
                    self.refuse(stmt.range(), code::NO_COUNTERPART, "device arrays have no `@=`");
                }
                if on_device {
                    self.out.work += 1;
                    let made = self.home(&stmt.value) == Home::Device;
                    let used = self.used(node);
                    used.work = true;
                    used.made |= made;
                }
                let want = if on_device { Want::Operand { scalars: true } } else { Want::Host };
                self.visit(&stmt.value, want);
            }
            Kind::Numpy | Kind::Number => {
                self.used(node).stale = true;
                self.visit(&stmt.value, Want::Host);
            }
            Kind::List(_) => {
                let side = self.side(slot);
                self.visit(&stmt.value, Want::Into(node, side));
            }
            _ => self.visit(&stmt.value, Want::Host),
        }
    }

    fn for_loop(&mut self, stmt: &StmtFor) {
        self.iterate(&stmt.target, &stmt.iter, stmt.range());
        let (program, source) = (self.view.program(), self.view.source);
        let inner = Loop::new(program, source, stmt.range(), Some(&stmt.iter), &[&stmt.target], &stmt.body);
        self.looping(inner, |walk| {
            walk.rebind_elements(stmt);
            walk.body(&stmt.body);
        });
        self.body(&stmt.orelse);
    }

    fn branches(&mut self, stmt: &StmtIf) {
        self.visit(&stmt.test, Want::Test);
        self.branch(Some(&stmt.test), &stmt.body);
        for clause in &stmt.elif_else_clauses {
            clause.test.iter().for_each(|test| self.visit(test, Want::Test));
            self.branch(clause.test.as_ref(), &clause.body);
        }
    }

    fn branch(&mut self, test: Option<&Expr>, body: &[Stmt]) {
        let rare = self.rare;
        self.rare |= test.is_some_and(|test| is_rare(test, body));
        self.body(body);
        self.rare = rare;
    }

    fn with(&mut self, stmt: &StmtWith) {
        for item in &stmt.items {
            self.visit(&item.context_expr, Want::Host);
            if let Some(Expr::Name(_)) = item.optional_vars.as_deref()
                && let Some(slot) = item.optional_vars.as_deref().and_then(|it| self.slot(it))
                && self.side(slot) == Side::Device
                && self.ground().kinds.slot(slot).holds_arrays()
            {
                let at = item.context_expr.start();
                let finding = code::Finding::new(at, code::UNKNOWN, "an array is bound by `with`");
                self.force_host(slot, finding);
            }
        }
        self.body(&stmt.body);
    }
}
