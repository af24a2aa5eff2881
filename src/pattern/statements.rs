//! Matching statements and sequences of them.

use ruff_python_ast::{ElifElseClause, Stmt, WithItem};

use super::matching::{Bound, Matcher};
use super::parse::rest_statement;

impl<'a> Matcher<'_, 'a> {
    /// Matches `pattern` against the start of `code`, or against all of it where `whole`; tells how many statements
    /// it took. A rest takes as few as it can.
    pub(super) fn prefix(&mut self, pattern: &[Stmt], code: &'a [Stmt], whole: bool) -> Option<usize> {
        let Some((first, others)) = pattern.split_first() else {
            return (!whole || code.is_empty()).then_some(0);
        };
        let Some(name) = rest_statement(first) else {
            let (next, after) = code.split_first()?;
            return (self.statement(first, next))
                .then(|| self.prefix(others, after, whole))
                .flatten()
                .map(|n| n + 1);
        };
        (0..=code.len()).find_map(|taken| {
            let before = self.captures.clone();
            let found = self
                .bind(name, Bound::Statements(&code[..taken]))
                .then(|| self.prefix(others, &code[taken..], whole))
                .flatten();
            if found.is_none() {
                self.captures = before;
            }
            found.map(|n| n + taken)
        })
    }

    fn suite(&mut self, pattern: &[Stmt], code: &'a [Stmt]) -> bool {
        self.prefix(pattern, code, true).is_some()
    }

    fn statement(&mut self, pattern: &Stmt, code: &'a Stmt) -> bool {
        match (pattern, code) {
            (Stmt::Expr(p), Stmt::Expr(c)) => self.expression(&p.value, &c.value),
            (Stmt::Assign(p), Stmt::Assign(c)) => {
                self.all(&p.targets, &c.targets) && self.expression(&p.value, &c.value)
            }
            (Stmt::AugAssign(p), Stmt::AugAssign(c)) => {
                p.op == c.op && self.expression(&p.target, &c.target) && self.expression(&p.value, &c.value)
            }
            (Stmt::AnnAssign(p), Stmt::AnnAssign(c)) => {
                self.expression(&p.target, &c.target)
                    && self.expression(&p.annotation, &c.annotation)
                    && self.optional(p.value.as_deref(), c.value.as_deref())
            }
            (Stmt::Return(p), Stmt::Return(c)) => self.optional(p.value.as_deref(), c.value.as_deref()),
            (Stmt::Delete(p), Stmt::Delete(c)) => self.all(&p.targets, &c.targets),
            (Stmt::Assert(p), Stmt::Assert(c)) => {
                self.expression(&p.test, &c.test) && self.optional(p.msg.as_deref(), c.msg.as_deref())
            }
            (Stmt::Raise(p), Stmt::Raise(c)) => {
                self.optional(p.exc.as_deref(), c.exc.as_deref())
                    && self.optional(p.cause.as_deref(), c.cause.as_deref())
            }
            (Stmt::Pass(_), Stmt::Pass(_))
            | (Stmt::Break(_), Stmt::Break(_))
            | (Stmt::Continue(_), Stmt::Continue(_)) => true,
            _ => self.compound(pattern, code),
        }
    }

    fn compound(&mut self, pattern: &Stmt, code: &'a Stmt) -> bool {
        match (pattern, code) {
            (Stmt::For(p), Stmt::For(c)) => {
                p.is_async == c.is_async
                    && self.expression(&p.target, &c.target)
                    && self.expression(&p.iter, &c.iter)
                    && self.suite(&p.body, &c.body)
                    && self.suite(&p.orelse, &c.orelse)
            }
            (Stmt::While(p), Stmt::While(c)) => {
                self.expression(&p.test, &c.test)
                    && self.suite(&p.body, &c.body)
                    && self.suite(&p.orelse, &c.orelse)
            }
            (Stmt::If(p), Stmt::If(c)) => {
                self.expression(&p.test, &c.test)
                    && self.suite(&p.body, &c.body)
                    && self.clauses(&p.elif_else_clauses, &c.elif_else_clauses)
            }
            (Stmt::With(p), Stmt::With(c)) => {
                p.is_async == c.is_async
                    && self.with_items(&p.items, &c.items)
                    && self.suite(&p.body, &c.body)
            }
            _ => false,
        }
    }

    fn clauses(&mut self, pattern: &[ElifElseClause], code: &'a [ElifElseClause]) -> bool {
        pattern.len() == code.len()
            && pattern
                .iter()
                .zip(code)
                .all(|(p, c)| self.optional(p.test.as_ref(), c.test.as_ref()) && self.suite(&p.body, &c.body))
    }

    fn with_items(&mut self, pattern: &[WithItem], code: &'a [WithItem]) -> bool {
        pattern.len() == code.len()
            && pattern.iter().zip(code).all(|(p, c)| {
                self.expression(&p.context_expr, &c.context_expr)
                    && self.optional(p.optional_vars.as_deref(), c.optional_vars.as_deref())
            })
    }
}
