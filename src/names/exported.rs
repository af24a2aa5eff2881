//! `__all__`: which names a module declares public.

use ruff_python_ast::{Expr, Stmt};

/// The names in the module's `__all__`, from assignments, `+=`, `append` and `extend` with literal strings at the top
/// level (or under `if`, `try` and `with` there). `None` where there is no `__all__`, or where part of it isn't
/// literal.
pub(crate) fn dunder_all(body: &[Stmt]) -> Option<Vec<&str>> {
    let mut listed = Listed { names: Vec::new(), found: false, literal: true };
    listed.body(body);
    (listed.found && listed.literal).then_some(listed.names)
}

struct Listed<'a> {
    names: Vec<&'a str>,
    found: bool,
    literal: bool,
}

impl<'a> Listed<'a> {
    fn body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) if assign.targets.iter().any(is_dunder_all) => self.add(&assign.value),
            Stmt::AnnAssign(assign) if is_dunder_all(&assign.target) => {
                if let Some(value) = &assign.value {
                    self.add(value);
                }
            }
            Stmt::AugAssign(assign) if is_dunder_all(&assign.target) => self.add(&assign.value),
            Stmt::Expr(expr) => self.method(&expr.value),
            Stmt::If(node) => {
                self.body(&node.body);
                node.elif_else_clauses.iter().for_each(|clause| self.body(&clause.body));
            }
            Stmt::Try(node) => {
                self.body(&node.body);
                for handler in &node.handlers {
                    self.body(&handler.as_except_handler().expect("the only kind of handler").body);
                }
                self.body(&node.orelse);
                self.body(&node.finalbody);
            }
            Stmt::With(node) => self.body(&node.body),
            _ => {}
        }
    }

    /// `__all__.append("x")` and `__all__.extend([…])`.
    fn method(&mut self, expr: &'a Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Attribute(attribute) = &*call.func else { return };
        if !is_dunder_all(&attribute.value) {
            return;
        }
        match (attribute.attr.as_str(), &*call.arguments.args) {
            ("append", [Expr::StringLiteral(name)]) => {
                self.found = true;
                self.names.push(name.value.to_str());
            }
            ("extend", [names]) => self.add(names),
            _ => self.literal = false,
        }
    }

    fn add(&mut self, value: &'a Expr) {
        self.found = true;
        match value {
            Expr::List(list) => self.elements(&list.elts),
            Expr::Tuple(tuple) => self.elements(&tuple.elts),
            Expr::Set(set) => self.elements(&set.elts),
            Expr::BinOp(sum) if sum.op.is_add() => {
                self.add(&sum.left);
                self.add(&sum.right);
            }
            _ => self.literal = false,
        }
    }

    fn elements(&mut self, elements: &'a [Expr]) {
        for element in elements {
            match element {
                Expr::StringLiteral(name) => self.names.push(name.value.to_str()),
                _ => self.literal = false,
            }
        }
    }
}

fn is_dunder_all(target: &Expr) -> bool {
    target.as_name_expr().is_some_and(|name| name.id.as_str() == "__all__")
}
