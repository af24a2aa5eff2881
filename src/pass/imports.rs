//! Import edits: what a rewritten module needs is added, once and in the right place; what nothing uses any more goes.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::token::TokenKind;
use ruff_text_size::{Ranged, TextRange};

use crate::names::{ImportBinding, ImportTime, Names, ScopeId};
use crate::source::{Edit, Module};

use super::import_plan::Planner;

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
    /// A member of a module, bound to a name: `from numpy import float64`.
    Name {
        /// The module.
        module: String,
        /// The member.
        name: String,
        /// The name it is bound to.
        bound: String,
        /// Where it is needed.
        scope: ScopeId,
    },
    /// What a clause imports is now a member `name` of `module`: where the clause stays, it must import that, bound as
    /// before.
    Renamed {
        /// The clause.
        clause: TextRange,
        /// The module.
        module: String,
        /// The member.
        name: String,
    },
    /// Other modules take this name from the module: what binds it at the top level stays.
    Taken {
        /// The name.
        name: String,
    },
}

/// The imports that new code relies on, each once, in an order of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs(BTreeMap<(u32, String), Need>);

impl Needs {
    /// Adds a need.
    pub fn add(&mut self, need: Need) {
        let at = |clause: &TextRange| format!("{:010}", u32::from(clause.start()));
        let key = match &need {
            Need::Existing { clause } => (u32::MAX, at(clause)),
            Need::Renamed { clause, .. } => (u32::MAX - 1, at(clause)),
            Need::Taken { name } => (u32::MAX - 2, name.clone()),
            Need::Module { bound, module, scope } => (scope.0, format!("{module} {bound}")),
            Need::Name { module, name, bound, scope } => (scope.0, format!("{module} from {name} {bound}")),
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
/// `removed`, the ranges of the original that other edits replace, are taken out. An import stays that `__all__` lists,
/// that is made only under a condition, or that texts of the module (annotations, doctests) may mean.
pub fn plan_imports(module: &Module, names: &Names, needs: &Needs, removed: &[TextRange]) -> Vec<Edit> {
    let kept: BTreeSet<u32> = needs
        .iter()
        .filter_map(|need| match need {
            Need::Existing { clause } => Some(u32::from(clause.start())),
            _ => None,
        })
        .collect();
    let taken = |import: &ImportBinding| {
        import.scope == ScopeId(0)
            && needs.iter().any(|need| matches!(need, Need::Taken { name } if **name == *import.bound))
    };
    let gone: Vec<&ImportBinding> = names
        .imports()
        .iter()
        .filter(|import| !kept.contains(&u32::from(import.clause.start())) && is_gone(names, import, removed))
        .filter(|import| !taken(import) && !shares_variable_with_kept(names, import, &kept))
        .filter(|import| !is_meant_by_text(module, import))
        .collect();
    let near = names
        .imports()
        .iter()
        .filter(|import| lost_reads(names, import, removed) > 0)
        .map(|import| import.statement)
        .collect();
    Planner::new(module, names, gone, near).plan(needs)
}

/// True where a string of the module may mean the module that `import` binds: an annotation (`"np.ndarray"`), or a
/// doctest. Names imported from modules are not looked for: they are words of any text.
fn is_meant_by_text(module: &Module, import: &ImportBinding) -> bool {
    if import.qualified != import.module {
        return false;
    }
    let member = format!("{}.", import.bound);
    let text = module.text();
    let strings = module.parsed().tokens().iter().filter(|token| {
        matches!(token.kind(), TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle)
    });
    strings.map(|token| &text[token.range()]).any(|string| {
        string.match_indices(&member).any(|(at, _)| {
            let before = string[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
        })
    })
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
