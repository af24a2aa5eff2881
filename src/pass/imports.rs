//! Import edits: what a rewritten module needs is added, once and in the right place; what nothing uses any more goes.

use std::collections::{BTreeMap, BTreeSet};

use ruff_text_size::{TextRange, TextSize};

use crate::names::{ImportBinding, ImportTime, Names, ScopeId};
use crate::source::{Edit, Module};

use super::clauses;
use super::layout;

/// An import that new code relies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// An import that the module has.
    Existing {
        /// Its clause.
        clause: TextRange,
    },
    /// A module, bound to a name: `import cupy as cp`, or to its own: `import cupyx.scipy.ndimage`.
    Module {
        /// The module.
        module: String,
        /// The name, or the module again.
        bound: String,
        /// Where it is needed.
        scope: ScopeId,
    },
    /// A member of a module: `from numpy import float64`.
    Name {
        /// The module.
        module: String,
        /// The member.
        name: String,
        /// Where it is needed.
        scope: ScopeId,
    },
}

/// The imports that new code relies on, each once, in an order of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs(BTreeMap<(u32, String), Need>);

impl Needs {
    /// Adds a need.
    pub fn add(&mut self, need: Need) {
        let key = match &need {
            Need::Existing { clause } => (u32::MAX, format!("{:010}", u32::from(clause.start()))),
            Need::Module { bound, module, scope } => (scope.0, format!("{module} {bound}")),
            Need::Name { module, name, scope } => (scope.0, format!("{module} from {name}")),
        };
        self.0.insert(key, need);
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: &Needs) {
        self.0.extend(others.0.iter().map(|(key, need)| (key.clone(), need.clone())));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Need> {
        self.0.values()
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The edits of imports that go with other edits of `module`: `needs` are added, and imports whose last uses lie in
/// `removed`, the ranges of the original that other edits replace, are taken out. An import that `__all__` lists, or
/// that is not at the module's top level, stays.
pub fn plan_imports(module: &Module, names: &Names, needs: &Needs, removed: &[TextRange]) -> Vec<Edit> {
    let kept: BTreeSet<u32> = needs
        .iter()
        .filter_map(|need| match need {
            Need::Existing { clause } => Some(u32::from(clause.start())),
            _ => None,
        })
        .collect();
    let gone: Vec<&ImportBinding> = names
        .imports()
        .iter()
        .filter(|import| !kept.contains(&u32::from(import.clause.start())) && is_gone(names, import, removed))
        .filter(|import| !shares_variable_with_kept(names, import, &kept))
        .collect();
    let new: Vec<&Need> = needs.iter().filter(|need| !matches!(need, Need::Existing { .. })).collect();
    let near = names
        .imports()
        .iter()
        .filter(|import| lost_reads(names, import, removed) > 0)
        .map(|import| import.statement)
        .collect();
    let mut plan = Planner { module, names, edits: Vec::new(), gone, new, near };
    plan.run();
    plan.edits
}

/// True where every use of `import` lies in `removed`, and it had one.
fn is_gone(names: &Names, import: &ImportBinding, removed: &[TextRange]) -> bool {
    let conditional =
        matches!(import.when, ImportTime::TypeChecking | ImportTime::Conditional | ImportTime::MainGuard);
    if import.is_star() || conditional {
        return false;
    }
    let lost = lost_reads(names, import, removed);
    lost > 0 && names.uses_of(import) == lost
}

/// How many places that read what `import` binds lie in `removed`.
fn lost_reads(names: &Names, import: &ImportBinding, removed: &[TextRange]) -> usize {
    let lost = |read: &&TextRange| {
        removed.iter().any(|range| range.intersect(**read).is_some_and(|it| !it.is_empty()))
    };
    names.reads_of(import).iter().filter(lost).count()
}

/// `import a.b` and `import a.c` bind one variable: where one stays, its uses are the other's too.
fn shares_variable_with_kept(names: &Names, import: &ImportBinding, kept: &BTreeSet<u32>) -> bool {
    names.imports().iter().any(|other| {
        other.bound == import.bound
            && other.scope == import.scope
            && kept.contains(&u32::from(other.clause.start()))
    })
}

struct Planner<'p> {
    module: &'p Module,
    names: &'p Names,
    edits: Vec<Edit>,
    gone: Vec<&'p ImportBinding>,
    new: Vec<&'p Need>,
    /// Statements of the imports by which replaced code was spelled.
    near: Vec<TextRange>,
}

impl Planner<'_> {
    fn run(&mut self) {
        let mut by_statement: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, import) in self.gone.iter().enumerate() {
            by_statement.entry(u32::from(import.statement.start())).or_default().push(i);
        }
        let statements: Vec<Vec<usize>> = by_statement.into_values().collect();
        for gone in &statements {
            self.edit_statement(gone);
        }
        self.add_names();
        self.add_modules();
    }

    /// Takes the clauses `gone` out of one statement, putting what is needed in their place.
    fn edit_statement(&mut self, gone: &[usize]) {
        let first = self.gone[gone[0]];
        let (statement, module, scope) = (first.statement, first.module.clone(), first.scope);
        let is_from = self.module.slice(statement).starts_with("from");
        let all: Vec<TextRange> =
            self.names.imports().iter().filter(|it| it.statement == statement).map(|it| it.clause).collect();
        let mut outgoing: Vec<TextRange> = gone.iter().map(|i| self.gone[*i].clause).collect();
        if is_from {
            // Successors take the place of the names they succeed.
            let wanted = |need: &Need| matches!(need, Need::Name { module: m, scope: s, .. } if *m == module && *s == scope);
            while let Some(at) = self.new.iter().position(|need| wanted(need)) {
                if outgoing.is_empty() {
                    break;
                }
                let Need::Name { name, .. } = self.new.remove(at) else { break };
                let clause = outgoing.remove(0);
                self.edits.push(Edit { range: clause, text: name.clone() });
            }
        }
        if outgoing.is_empty() {
            return;
        }
        if outgoing.len() < all.len() {
            self.edits.extend(clauses::remove(self.module, &all, &outgoing));
            return;
        }
        let replacement = self.new.iter().position(|need| need_scope(need) == scope);
        if let Some(at) = replacement {
            let need = self.new.remove(at);
            self.edits.push(Edit { range: statement, text: statement_of(need) });
        } else if let Some(range) = layout::removable(self.module, statement) {
            self.edits.push(Edit { range, text: String::new() });
        }
    }

    /// Names go into a statement that imports from their module already.
    fn add_names(&mut self) {
        let mut left = Vec::new();
        let mut added: BTreeMap<u32, (TextSize, Vec<&str>)> = BTreeMap::new();
        for need in std::mem::take(&mut self.new) {
            let Need::Name { module, name, scope } = need else {
                left.push(need);
                continue;
            };
            let host = self.names.imports().iter().rfind(|import| {
                import.module == *module
                    && import.scope == *scope
                    && !import.is_star()
                    && import.qualified != *module
                    && (import.top_level || *scope != ScopeId(0))
                    && self.module.slice(import.statement).starts_with("from")
                    && !self.edits.iter().any(|edit| edit.range.contains_range(import.statement))
            });
            match host {
                Some(host) => {
                    let entry = added
                        .entry(u32::from(host.statement.start()))
                        .or_insert_with(|| (host.clause.end(), Vec::new()));
                    entry.0 = entry.0.max(host.clause.end());
                    entry.1.push(name);
                }
                None => left.push(need),
            }
        }
        for (at, names) in added.into_values() {
            let text = names.iter().map(|name| format!(", {name}")).collect();
            self.edits.push(Edit { range: TextRange::empty(at), text });
        }
        self.new = left;
    }

    /// What is left becomes statements of their own.
    fn add_modules(&mut self) {
        let mut at: BTreeMap<u32, (String, Vec<String>)> = BTreeMap::new();
        for need in &self.new {
            let spot = layout::insertion(self.module, self.names, need_scope(need), &self.near);
            let entry = at.entry(u32::from(spot.offset)).or_insert_with(|| (spot.indent.clone(), Vec::new()));
            entry.1.push(statement_of(need));
        }
        let newline = layout::newline(self.module);
        for (offset, (indent, statements)) in at {
            let offset = TextSize::new(offset);
            let mut text = String::new();
            let before = &self.module.text()[..usize::from(offset)];
            if !before.is_empty() && !before.ends_with(['\n', '\r']) {
                text.push_str(newline);
            }
            for statement in &statements {
                text.push_str(&indent);
                text.push_str(statement);
                text.push_str(newline);
            }
            self.edits.push(Edit { range: TextRange::empty(offset), text });
        }
    }
}

fn need_scope(need: &Need) -> ScopeId {
    match need {
        Need::Module { scope, .. } | Need::Name { scope, .. } => *scope,
        Need::Existing { .. } => ScopeId(0),
    }
}

/// The statement that satisfies `need`.
fn statement_of(need: &Need) -> String {
    match need {
        Need::Module { module, bound, .. } if module == bound => format!("import {module}"),
        Need::Module { module, bound, .. } => format!("import {module} as {bound}"),
        Need::Name { module, name, .. } => format!("from {module} import {name}"),
        Need::Existing { .. } => String::new(),
    }
}
