//! Where in a script the switch must stand: above everything that may load the library, and no higher than that.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::layout::Spot;
use crate::names::{ImportBinding, ImportTime, Names, Resolution};
use crate::source::Module;

/// The place of the switch in `module`. `loading` are its imports that may load the library.
///
/// An import that runs with the module body decides: the switch stands directly above the top-level statement that
/// holds it, so that settings which the program makes before (`os.environ`, `sys.path`) still come first. Where the
/// library is only loaded later (in functions, or under `if __name__ == "__main__"`), nothing forces a place, and the
/// switch goes below the imports and settings at the top, where people look for it; above a call of the module's own
/// code, which may run such an import.
pub(super) fn find(module: &Module, names: &Names, loading: &[&ImportBinding]) -> Option<Spot> {
    let body = module.body();
    let first = after_docstring_and_future(body);
    let loads = |stmt: &Stmt| {
        loading.iter().any(|import| stmt.range().contains_range(import.statement) && at_once(import))
    };
    let later = loading.iter().any(|import| !at_once(import));
    let limit = (first..body.len()).find(|&at| loads(&body[at]) || later && runs_own_code(&body[at], names));
    if let Some(at) = limit.filter(|&at| loads(&body[at])) {
        return Some(Spot::Above(at));
    }
    if !later {
        return None;
    }
    let end = limit.unwrap_or(body.len());
    let top = first + body[first..end].iter().take_while(|stmt| is_import_or_setting(stmt)).count();
    Some(if top == first { Spot::Above(first) } else { Spot::Below(top - 1) })
}

/// True where the import runs, or may run, while the module body does.
fn at_once(import: &ImportBinding) -> bool {
    matches!(import.when, ImportTime::Top | ImportTime::Conditional)
}

/// The index of the first statement that may have another before it.
pub(super) fn after_docstring_and_future(body: &[Stmt]) -> usize {
    let is_future = |stmt: &Stmt| {
        stmt.as_import_from_stmt().is_some_and(|import| {
            import.module.as_ref().is_some_and(|module| module.as_str() == "__future__")
        })
    };
    let is_docstring =
        |stmt: &Stmt| stmt.as_expr_stmt().is_some_and(|expression| expression.value.is_string_literal_expr());
    let docstring = usize::from(body.first().is_some_and(is_docstring));
    body.iter().rposition(is_future).map_or(docstring, |last| last + 1)
}

/// Imports and what programs do before or between them: calls, and assignments to attributes and items.
fn is_import_or_setting(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Expr(_) => true,
        Stmt::Assign(assign) => {
            assign.targets.iter().all(|target| target.is_attribute_expr() || target.is_subscript_expr())
        }
        Stmt::Try(node) => node.body.iter().all(is_import_or_setting),
        _ => false,
    }
}

/// True where running `stmt` may run functions of this module or load code by name.
fn runs_own_code(stmt: &Stmt, names: &Names) -> bool {
    let mut calls = Calls { names, found: false };
    calls.visit_stmt(stmt);
    calls.found
}

struct Calls<'a> {
    names: &'a Names,
    found: bool,
}

impl<'a> Visitor<'a> for Calls<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            // A definition runs nothing but its decorators and defaults.
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&function.parameters);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(_) => return,
            Expr::Call(call) => {
                self.found |= match self.names.resolve(&call.func) {
                    Resolution::Local(_) | Resolution::Ambiguous(_) | Resolution::NotAName => true,
                    Resolution::Builtin(name) => matches!(name.as_str(), "exec" | "eval" | "__import__"),
                    Resolution::Qualified(_) | Resolution::MaybeStar(_) | Resolution::Unbound => false,
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::names::NoExports;
    use crate::source::SourceFile;

    /// `pandas` may load the library.
    fn check(text: &str, expected: Option<Spot>) {
        let file = SourceFile::from_bytes(Path::new("main.py"), text.as_bytes()).unwrap();
        let module = Module::parse(file).unwrap();
        let names = Names::build(&module, "main", false, &NoExports);
        let may_load = |import: &ImportBinding| {
            import.module.starts_with("pandas") && import.when != ImportTime::TypeChecking
        };
        let loading: Vec<&ImportBinding> = names.imports().iter().filter(|import| may_load(import)).collect();
        assert_eq!(find(&module, &names, &loading), expected, "{text}");
    }

    #[test]
    fn an_import_that_runs_at_once_decides() {
        for (text, index) in [
            ("import pandas", 0),
            ("'''d'''\nfrom __future__ import annotations\nimport os\nimport pandas", 3),
            ("from __future__ import annotations\n'''no docstring'''\nimport pandas", 2),
            ("import os\ntry:\n    import pandas\nexcept ImportError: pass", 1),
            ("import os\nif os.name:\n    from pandas import a\n", 1),
            ("import os\nx = 1\nos.environ['A'] = '1'\nimport pandas", 3),
            ("import os\nclass A:\n    import pandas\n", 1),
            ("def f():\n    import pandas\nf\nimport pandas", 2),
            ("if TYPE_CHECKING:\n    import pandas\nimport pandas", 1),
        ] {
            check(text, Some(Spot::Above(index)));
        }
    }

    #[test]
    fn an_import_that_runs_later_leaves_the_place_at_the_top() {
        for (text, spot) in [
            ("import os\nimport re\nx = 1\ndef f():\n    import pandas\n", Spot::Below(1)),
            ("def f():\n    import pandas\n", Spot::Above(0)),
            ("'''d'''\ndef f():\n    import pandas\n", Spot::Above(1)),
            ("import os\nif __name__ == '__main__':\n    import pandas\n", Spot::Below(0)),
            ("import os\nos.environ['A'] = '1'\ndef f():\n    import pandas\n", Spot::Below(1)),
            ("import os\ndef f():\n    import pandas\nf()\nimport pandas\n", Spot::Below(0)),
            ("from a import f\nf()\ndef g():\n    import pandas\n", Spot::Below(1)),
            ("def f():\n    import pandas\nx = f()\n", Spot::Above(0)),
        ] {
            check(text, Some(spot));
        }
    }

    #[test]
    fn nothing_loads_the_library() {
        for text in ["", "import os", "if TYPE_CHECKING:\n    import pandas\n"] {
            check(text, None);
        }
    }
}
