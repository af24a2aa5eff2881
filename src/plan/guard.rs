//! Guards: what in a unit makes a pass leave it alone, or say something.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::unit::{Part, Surroundings, Unit, is_within, meanings};
use crate::names::{ImportBinding, ImportTime, ModuleId, ScopeKind};
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

/// What guards found in modules, by the guard and the module.
pub(super) type Findings = FxHashMap<(String, ModuleId), Arc<Vec<Finding>>>;

/// What one condition found in one module.
#[derive(Debug)]
pub(super) enum Finding {
    /// Where it holds.
    Hits(Vec<Found>),
    /// For a condition that holds where nothing is found.
    Absence {
        /// One of the names may be used here.
        found: bool,
        /// The first import of a package that the names are from.
        first_import: Option<Place>,
    },
}

/// Something that a condition found.
#[derive(Debug)]
pub(super) struct Found {
    place: Place,
    /// What it is.
    name: String,
    /// When it runs.
    when: ImportTime,
}

/// The places where `guard` speaks in `unit`, sorted. What a package that the program uses does in its functions does not
/// count: the judge sees whether it happens. What it finds in a module is kept in `known`.
pub(super) fn hits(guard: &Guard, unit: &Unit<'_>, known: &Mutex<Findings>) -> Vec<Hit> {
    let parts = unit.parts().iter();
    let findings: Vec<Arc<Vec<Finding>>> =
        parts.map(|part| look_up(guard, unit.around, part, known)).collect();
    let mut hits = BTreeSet::new();
    for at in 0..guard.conditions.len() {
        let found = findings.iter().map(|of_module| &of_module[at]);
        for (place, name) in over_unit(unit, found) {
            hits.insert(Hit { place, message: guard.message.replace("{name}", &name) });
        }
    }
    hits.into_iter().collect()
}

/// What a condition says of the unit, from what it found in each of its modules.
fn over_unit<'f>(unit: &Unit<'_>, findings: impl Iterator<Item = &'f Finding>) -> Vec<(Place, String)> {
    let mut hits = Vec::new();
    let mut absent = None;
    for (part, finding) in unit.parts().iter().zip(findings) {
        match finding {
            Finding::Hits(found) => {
                let counted = found.iter().filter(|it| unit.counts(part, it.when));
                hits.extend(counted.map(|it| (it.place.clone(), it.name.clone())));
            }
            Finding::Absence { found: true, .. } => return Vec::new(),
            Finding::Absence { found: false, first_import } => {
                absent = absent.or_else(|| first_import.clone());
            }
        }
    }
    hits.extend(absent.map(|place| (place, String::new())));
    hits
}

fn look_up(
    guard: &Guard,
    around: &Surroundings<'_>,
    part: &Part<'_>,
    known: &Mutex<Findings>,
) -> Arc<Vec<Finding>> {
    let key = (guard.id.clone(), part.id);
    let locked = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = locked().get(&key) {
        return found.clone();
    }
    let mut search = Search::default();
    search.visit_body(part.module.body());
    let module = Searched { around, part, search };
    let found =
        Arc::new(guard.conditions.iter().map(|condition| module.finding(condition)).collect::<Vec<_>>());
    locked().insert(key, found.clone());
    found
}

/// A module and what a walk over it found.
struct Searched<'s> {
    around: &'s Surroundings<'s>,
    part: &'s Part<'s>,
    search: Search<'s>,
}

impl Searched<'_> {
    fn finding(&self, condition: &Condition) -> Finding {
        match condition {
            Condition::Imports { modules, except } => Finding::Hits(self.imports(modules, except)),
            Condition::SubclassOf(classes) => Finding::Hits(self.subclasses(classes)),
            Condition::Uses(names) => Finding::Hits(self.uses(names)),
            Condition::UsesNoneOf(names) => self.absence(names),
            Condition::Match { patterns, unless } => Finding::Hits(self.matches(patterns, unless)),
        }
    }

    fn place(&self, node: impl Ranged) -> Place {
        self.part.module.place(node.start())
    }

    /// `name`, found at `node`.
    fn found(&self, node: impl Ranged, name: String) -> Found {
        let names = self.part.names;
        let mut scope = Some(names.scope_at(node.start()));
        let mut when = ImportTime::Top;
        while let Some(id) = scope {
            if matches!(names.kind_of(id), ScopeKind::Function | ScopeKind::Lambda) {
                when = ImportTime::Deferred;
            }
            scope = names.parent(id);
        }
        Found { place: self.place(node), name, when }
    }

    /// The first meaning of the dotted name `expression` that `accepts` takes and that leads out of the project.
    fn meaning(&self, expression: &Expr, accepts: impl Fn(&str) -> bool) -> Option<String> {
        let mut found = meanings(self.part, expression).into_iter();
        found.find(|meaning| accepts(meaning) && !self.around.is_local(self.part, meaning))
    }

    fn imports(&self, modules: &[String], except: &[String]) -> Vec<Found> {
        let counts = |path: &str| {
            modules.iter().any(|it| is_within(path, it)) && !except.iter().any(|it| is_within(path, it))
        };
        // `from cudf import pandas` has the module `cudf` and the name `cudf.pandas`, `import cudf.pandas` the other way
        // round.
        let imports = self.around.library_imports(self.part);
        let imports = imports.filter(|import| counts(&import.module) && counts(&import.qualified));
        let found = |import: &ImportBinding| Found {
            place: self.place(import.statement),
            name: import.module.clone(),
            when: import.when,
        };
        imports.map(found).collect()
    }

    fn subclasses(&self, classes: &BTreeSet<String>) -> Vec<Found> {
        let bases = self.search.bases.iter().filter_map(|base| {
            let generic = base.as_subscript_expr().map_or(*base, |subscript| &subscript.value);
            let class = self.meaning(generic, |meaning| classes.contains(meaning))?;
            Some(self.found(base, class))
        });
        bases.collect()
    }

    fn uses(&self, names: &BTreeSet<String>) -> Vec<Found> {
        let uses = self.search.names.iter().filter_map(|mention| {
            let name = self.meaning(mention, |meaning| names.iter().any(|name| is_within(meaning, name)))?;
            Some(self.found(mention, name))
        });
        uses.collect()
    }

    /// Whether one of `names` may be used. A mention of a whole module that holds one of them, or a star import of it,
    /// may be any of them.
    fn absence(&self, names: &BTreeSet<String>) -> Finding {
        let is_one = |path: &str| names.iter().any(|name| is_within(path, name));
        let holds_one = |path: &str| names.iter().any(|name| is_within(name, path));
        let roots: BTreeSet<&str> = names.iter().filter_map(|name| name.split('.').next()).collect();
        let mut found = false;
        let mut first_import = None;
        for import in self.around.library_imports(self.part) {
            found |= is_one(&import.qualified) || import.is_star() && holds_one(&import.module);
            if import.module.split('.').next().is_some_and(|root| roots.contains(root)) {
                first_import = first_import.or_else(|| Some(self.place(import.statement)));
            }
        }
        let mut mentions = self.search.names.iter();
        found =
            found || mentions.any(|it| self.meaning(it, |path| is_one(path) || holds_one(path)).is_some());
        Finding::Absence { found, first_import }
    }

    fn matches(&self, patterns: &[Pattern], unless: &[Pattern]) -> Vec<Found> {
        let lookup = Lookup { names: self.part.names, table: None, sources: &[] };
        let any = |patterns: &[Pattern], expr| {
            patterns.iter().any(|it| it.match_expression(lookup, expr).is_some())
        };
        let all = self.search.all.iter();
        let found = all.filter(|expr| any(patterns, expr) && !any(unless, expr));
        found.map(|expr| self.found(expr, headline(self.part.module.slice(expr)))).collect()
    }
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
