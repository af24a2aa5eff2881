//! Import statements: what each clause binds, what that means, and when it runs.

use ruff_python_ast::{Alias, Expr, Identifier, Stmt, StmtImportFrom};
use ruff_text_size::Ranged;

use super::collect::SlotId;
use super::{ImportBinding, ImportTime, ScopeId};

/// Gathers the import bindings of one module.
#[derive(Debug)]
pub(super) struct Importer {
    dotted: String,
    is_package: bool,
    pub(super) imports: Vec<ImportBinding>,
    /// The slot that each import binds, where slots are kept; a star import has none.
    pub(super) slots: Vec<Option<SlotId>>,
}

impl Importer {
    pub(super) fn new(dotted: &str, is_package: bool) -> Self {
        Self { dotted: dotted.to_owned(), is_package, imports: Vec::new(), slots: Vec::new() }
    }

    /// One clause of `import a.b, c as d`.
    pub(super) fn import(
        &mut self,
        stmt: &Stmt,
        alias: &Alias,
        bound: &str,
        slot: Option<SlotId>,
        scope: ScopeId,
        when: ImportTime,
    ) {
        let module = alias.name.as_str();
        let qualified = if alias.asname.is_some() { module } else { bound };
        self.imports.push(ImportBinding {
            statement: stmt.range(),
            clause: alias.range,
            scope,
            bound: bound.into(),
            qualified: qualified.to_owned(),
            module: module.to_owned(),
            top_level: when == ImportTime::Top,
            when,
        });
        self.slots.push(slot);
    }

    /// One clause of `from a import b, c as d`, or the star.
    pub(super) fn import_from(
        &mut self,
        stmt: &StmtImportFrom,
        alias: &Alias,
        slot: Option<SlotId>,
        scope: ScopeId,
        when: ImportTime,
    ) {
        let from = stmt.module.as_ref().map(Identifier::as_str);
        let module = absolute(&self.dotted, self.is_package, stmt.level, from);
        let name = alias.name.as_str();
        let qualified = match name {
            "*" => module.clone(),
            _ if module.ends_with('.') => format!("{module}{name}"),
            _ => format!("{module}.{name}"),
        };
        self.imports.push(ImportBinding {
            statement: stmt.range,
            clause: alias.range,
            scope,
            bound: alias.asname.as_ref().map_or(name, |asname| asname.as_str()).into(),
            qualified,
            module,
            top_level: when == ImportTime::Top,
            when,
        });
        self.slots.push(slot);
    }
}

/// The full name of the module that `from …from import` means in module `dotted`, `level` dots deep. A relative
/// import that leaves the known packages keeps its dots, so that it never looks like a library.
pub(crate) fn absolute(dotted: &str, is_package: bool, level: u32, from: Option<&str>) -> String {
    let from = from.unwrap_or_default();
    if level == 0 {
        return from.to_owned();
    }
    let mut base: Vec<&str> = dotted.split('.').filter(|part| !part.is_empty()).collect();
    let up = level as usize - usize::from(is_package);
    if base.len() <= up {
        return format!("{}{from}", ".".repeat(level as usize));
    }
    base.truncate(base.len() - up);
    if !from.is_empty() {
        base.push(from);
    }
    base.join(".")
}

impl ImportTime {
    /// When the branches of `if test:` run: the body, and what comes after it.
    pub(super) fn of_branches(test: &Expr) -> (Self, Self) {
        match test {
            Expr::UnaryOp(not) if not.op.is_not() => {
                let (then, otherwise) = Self::of_branches(&not.operand);
                (otherwise, then)
            }
            Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => {
                (Self::TypeChecking, Self::Conditional)
            }
            Expr::Attribute(node) if node.attr.as_str() == "TYPE_CHECKING" => {
                (Self::TypeChecking, Self::Conditional)
            }
            test if is_main_guard(test) => (Self::MainGuard, Self::Conditional),
            _ => (Self::Conditional, Self::Conditional),
        }
    }
}

/// `__name__ == "__main__"`, either way round.
fn is_main_guard(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return false };
    let is_name = |expr: &Expr| expr.as_name_expr().is_some_and(|name| name.id.as_str() == "__name__");
    let is_main =
        |expr: &Expr| expr.as_string_literal_expr().is_some_and(|text| text.value.to_str() == "__main__");
    let left = &*compare.left;
    op.is_eq() && (is_name(left) && is_main(right) || is_main(left) && is_name(right))
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn relative_imports_are_made_absolute() {
        for (dotted, is_package, level, from, expected) in [
            ("pkg.mod", false, 0, Some("numpy"), "numpy"),
            ("pkg.mod", false, 1, None, "pkg"),
            ("pkg.mod", false, 1, Some("a.b"), "pkg.a.b"),
            ("pkg", true, 1, Some("mod"), "pkg.mod"),
            ("pkg.sub", true, 1, None, "pkg.sub"),
            ("pkg.sub", true, 2, Some("x"), "pkg.x"),
            ("pkg.sub.mod", false, 2, Some("x"), "pkg.x"),
            ("script", false, 1, Some("x"), ".x"),
            ("pkg", true, 2, Some("x"), "..x"),
            ("pkg.mod", false, 3, None, "..."),
            ("", false, 1, Some("x"), ".x"),
        ] {
            assert_eq!(absolute(dotted, is_package, level, from), expected, "{dotted} {level} {from:?}");
        }
    }
}
