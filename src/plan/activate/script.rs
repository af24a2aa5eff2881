//! Whether a file is a script, which starts a process, or a module that others import.

use std::path::Path;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};

use super::spot::after_docstring_and_future;
use crate::names::{ImportTime, Names, Resolution};
use crate::plan::unit::is_within;
use crate::source::Module;

/// What a file is to the process that loads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Role {
    /// It starts the process.
    Script,
    /// pytest loads it, after its plugins.
    Test,
    /// Others import it.
    Library,
}

/// What `module` is to programs that use `libraries`. `is_part` says whether it belongs to a package, or another module
/// of the project imports it.
///
/// A script has `if __name__ == "__main__"`, is a package's `__main__`, or has a body that does something: calls
/// something for its effect, loops, or works with the libraries. Defining and configuring is no work: a module that
/// makes a logger or compiles a pattern is a library.
pub(in crate::plan) fn role(
    module: &Module,
    names: &Names,
    libraries: &[String],
    is_part: impl FnOnce() -> bool,
) -> Role {
    if module.file.is_notebook() {
        return Role::Script;
    }
    let path = &module.file.path;
    if is_test(path) {
        return Role::Test;
    }
    let guarded = module.body().iter().any(is_main_guard)
        || names.imports().iter().any(|import| import.when == ImportTime::MainGuard);
    if guarded || path.file_stem().is_some_and(|stem| stem == "__main__") {
        return Role::Script;
    }
    let first = after_docstring_and_future(module.body());
    let work = |stmt| does_something(stmt, names, libraries);
    if module.body()[first..].iter().any(work) && !is_part() { Role::Script } else { Role::Library }
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "conftest.py" || name.starts_with("test_") || name.ends_with("_test.py")
}

/// `if __name__ == "__main__":`, either way round.
fn is_main_guard(stmt: &Stmt) -> bool {
    let Stmt::If(node) = stmt else { return false };
    let Expr::Compare(compare) = &*node.test else { return false };
    let is_name = |expr: &Expr| expr.as_name_expr().is_some_and(|name| name.id.as_str() == "__name__");
    let is_main =
        |expr: &Expr| expr.as_string_literal_expr().is_some_and(|text| text.value.to_str() == "__main__");
    let sides = || std::iter::once(&*compare.left).chain(&compare.comparators);
    sides().any(is_name) && sides().any(is_main)
}

fn does_something(stmt: &Stmt, names: &Names, libraries: &[String]) -> bool {
    let any = |body: &[Stmt]| body.iter().any(|stmt| does_something(stmt, names, libraries));
    match stmt {
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => false,
        Stmt::For(_) | Stmt::While(_) | Stmt::With(_) => true,
        Stmt::If(node) => any(&node.body) || node.elif_else_clauses.iter().any(|clause| any(&clause.body)),
        Stmt::Try(node) => any(&node.body) || any(&node.orelse) || any(&node.finalbody),
        Stmt::Expr(expression) => !expression.value.is_literal_expr(),
        _ => {
            let mut calls = LibraryCalls { names, libraries, found: false };
            calls.visit_stmt(stmt);
            calls.found
        }
    }
}

/// Looks for calls into the libraries.
struct LibraryCalls<'a> {
    names: &'a Names,
    libraries: &'a [String],
    found: bool,
}

impl<'a> Visitor<'a> for LibraryCalls<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Call(call) => {
                if let Resolution::Qualified(path) = self.names.resolve(&call.func) {
                    self.found |= self.libraries.iter().any(|library| is_within(&path, library));
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}
