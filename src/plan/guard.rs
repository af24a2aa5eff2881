//! Guards: what in a unit makes a pass leave it alone, or say something.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::unit::{Part, Unit, is_within};
use crate::pass::{Condition, Guard};
use crate::pattern::{Lookup, Pattern};
use crate::reasons::Place;

/// One place where a guard speaks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// Where.
    pub place: Place,
    /// What it says there.
    pub message: String,
}

/// The places where `guard` speaks in `unit`, sorted.
pub(super) fn hits(guard: &Guard, unit: &Unit<'_>) -> Vec<Hit> {
    let mut found = BTreeSet::new();
    for condition in &guard.conditions {
        for (place, name) in condition_hits(condition, unit) {
            found.insert(Hit { place, message: guard.message.replace("{name}", &name) });
        }
    }
    found.into_iter().collect()
}

fn condition_hits(condition: &Condition, unit: &Unit<'_>) -> Vec<(Place, String)> {
    let parts = unit.parts().iter();
    match condition {
        Condition::Imports { modules, except } => {
            parts.flat_map(|part| imports(part, unit, modules, except)).collect()
        }
        Condition::SubclassOf(classes) => parts.flat_map(|part| subclasses(part, unit, classes)).collect(),
        Condition::Uses(names) => parts
            .flat_map(|part| mentions(part, unit).into_iter().map(move |mention| (part, mention)))
            .filter_map(|(part, (range, meanings))| {
                let name =
                    meanings.iter().find(|meaning| names.iter().any(|name| is_within(meaning, name)))?;
                Some((part.module.place(range.start()), name.clone()))
            })
            .collect(),
        Condition::UsesNoneOf(names) => none_of(unit, names).into_iter().collect(),
        Condition::Match { .. } => parts.flat_map(|part| matches(part, condition)).collect(),
    }
}

fn imports(part: &Part<'_>, unit: &Unit<'_>, modules: &[String], except: &[String]) -> Vec<(Place, String)> {
    let counts = |path: &str| {
        modules.iter().any(|module| is_within(path, module))
            && !except.iter().any(|module| is_within(path, module))
    };
    // `from cudf import pandas` has the module `cudf` and the name `cudf.pandas`, `import cudf.pandas` the other way round.
    let imports =
        part.names.imports().iter().filter(|import| {
            unit.leads_out(part, import) && counts(&import.module) && counts(&import.qualified)
        });
    imports.map(|import| (part.module.place(import.statement.start()), import.module.clone())).collect()
}

fn subclasses(part: &Part<'_>, unit: &Unit<'_>, classes: &BTreeSet<String>) -> Vec<(Place, String)> {
    let mut search = Search::default();
    search.visit_body(part.module.body());
    let bases = search.bases.into_iter().filter_map(|base| {
        let generic = base.as_subscript_expr().map_or(base, |subscript| &subscript.value);
        let class = unit.meanings(part, generic).into_iter().find(|meaning| classes.contains(meaning))?;
        Some((part.module.place(base.start()), class))
    });
    bases.collect()
}

/// Every dotted name of `part`, at its full length, with what it may mean.
fn mentions(part: &Part<'_>, unit: &Unit<'_>) -> Vec<(TextRange, Vec<String>)> {
    let mut search = Search::default();
    search.visit_body(part.module.body());
    search.names.into_iter().map(|name| (name.range(), unit.meanings(part, name))).collect()
}

/// The first import of a package that `names` are from, where the unit mentions none of them. A mention of a whole module
/// that holds one of them, or a star import of it, may be any of them.
fn none_of(unit: &Unit<'_>, names: &BTreeSet<String>) -> Option<(Place, String)> {
    let is_one = |path: &str| names.iter().any(|name| is_within(path, name));
    let holds_one = |path: &str| names.iter().any(|name| is_within(name, path));
    for part in unit.parts() {
        let imported = part.names.imports().iter().any(|import| {
            let found = is_one(&import.qualified) || &*import.bound == "*" && holds_one(&import.module);
            found && unit.leads_out(part, import)
        });
        let mentioned = mentions(part, unit).into_iter().flat_map(|(_, meanings)| meanings);
        if imported || mentioned.into_iter().any(|path| is_one(&path) || holds_one(&path)) {
            return None;
        }
    }
    let roots: BTreeSet<&str> = names.iter().filter_map(|name| name.split('.').next()).collect();
    let from_roots = |path: &str| path.split('.').next().is_some_and(|root| roots.contains(root));
    unit.parts().iter().find_map(|part| {
        let mut imports = part.names.imports().iter();
        let import = imports.find(|import| from_roots(&import.module) && unit.leads_out(part, import))?;
        Some((part.module.place(import.statement.start()), String::new()))
    })
}

fn matches(part: &Part<'_>, condition: &Condition) -> Vec<(Place, String)> {
    let Condition::Match { patterns, unless } = condition else { return Vec::new() };
    let lookup = Lookup { names: part.names, table: None, sources: &[] };
    let mut search = Search::default();
    search.visit_body(part.module.body());
    let found = search.all.into_iter().filter(|expr| {
        let any =
            |patterns: &[Pattern]| patterns.iter().any(|it| it.match_expression(lookup, expr).is_some());
        any(patterns) && !any(unless)
    });
    found.map(|expr| (part.module.place(expr.start()), headline(part.module.slice(expr)))).collect()
}

/// The first line of `text`, cut to a length that fits into a message.
fn headline(text: &str) -> String {
    const LIMIT: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// What a walk over a module finds.
#[derive(Default)]
struct Search<'a> {
    /// Base classes.
    bases: Vec<&'a Expr>,
    /// Dotted names at their full length.
    names: Vec<&'a Expr>,
    /// All expressions.
    all: Vec<&'a Expr>,
}

impl<'a> Visitor<'a> for Search<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::ClassDef(class) = stmt {
            self.bases.extend(class.bases());
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.all.push(expr);
        let mut base = expr;
        while let Expr::Attribute(attribute) = base {
            base = &attribute.value;
        }
        if base.is_name_expr() {
            self.names.push(expr);
            return;
        }
        visitor::walk_expr(self, expr);
    }
}
