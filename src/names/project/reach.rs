//! Which import of an entry point leads to a library, directly or through the project's own modules.

use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;

use super::{Inner, ModuleId, Project};
use crate::names::{ImportBinding, ImportTime};

/// The first import of an entry point that leads to a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The import statement.
    pub statement: TextRange,
    /// The clause of it that leads there.
    pub clause: TextRange,
    /// The statement of the entry's body that it stands in: itself, or the `if`, `try` or `def` around it. What must
    /// run before the library is imported goes before this.
    pub anchor: TextRange,
    /// The latest time at which an import on the way runs: [`ImportTime::Deferred`] where one of them is in a function.
    pub when: ImportTime,
    /// The library that is reached.
    pub library: String,
    /// The project's modules on the way, in the order they are imported; empty where the entry imports the library itself.
    pub through: Vec<ModuleId>,
}

impl Project {
    /// The first import of `entry` that leads to one of `libraries` (`pandas` is also reached by `import pandas.api`).
    /// Imports that run when modules are imported come first; only where none of them leads there, imports inside
    /// functions count. Imports under `if TYPE_CHECKING` never do.
    pub fn reaches(&self, entry: ModuleId, libraries: &[&str]) -> Option<Reach> {
        let eager = Search { inner: &self.inner, libraries, deferred: false, known: FxHashMap::default() };
        eager.entry(entry).or_else(|| {
            let deferred =
                Search { inner: &self.inner, libraries, deferred: true, known: FxHashMap::default() };
            deferred.entry(entry)
        })
    }
}

struct Search<'s> {
    inner: &'s Inner,
    libraries: &'s [&'s str],
    /// Whether imports inside functions count.
    deferred: bool,
    /// For each module looked at, where it leads.
    known: FxHashMap<ModuleId, Option<Way>>,
}

/// How a module leads to a library.
#[derive(Debug, Clone)]
struct Way {
    library: String,
    when: ImportTime,
    through: Vec<ModuleId>,
}

impl Search<'_> {
    fn entry(mut self, entry: ModuleId) -> Option<Reach> {
        let inner = self.inner;
        // The entry runs as a script: what it imports under its main guard counts.
        self.known.insert(entry, None);
        inner.member(entry).surface.imports.iter().find_map(|import| {
            let binding = &import.binding;
            let way = self.of_import(entry, binding, ImportTime::MainGuard)?;
            Some(Reach {
                statement: binding.statement,
                clause: binding.clause,
                anchor: import.anchor,
                when: way.when,
                library: way.library,
                through: way.through,
            })
        })
    }

    /// Where one import of `importer` leads, if it runs no later than `latest` (or may be deferred).
    fn of_import(&mut self, importer: ModuleId, binding: &ImportBinding, latest: ImportTime) -> Option<Way> {
        let runs = binding.when <= latest || (self.deferred && binding.when == ImportTime::Deferred);
        if !runs {
            return None;
        }
        let loaded = self.inner.loads(importer, binding);
        if loaded.is_empty() {
            let library = self.libraries.iter().find(|library| names_library(binding, library))?;
            return Some(Way { library: (*library).to_owned(), when: binding.when, through: Vec::new() });
        }
        loaded.into_iter().find_map(|id| {
            let mut way = self.of_module(id)?;
            way.when = way.when.max(binding.when);
            Some(way)
        })
    }

    fn of_module(&mut self, id: ModuleId) -> Option<Way> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        // A module that is being imported already runs no second time.
        self.known.insert(id, None);
        let inner = self.inner;
        let imports = &inner.member(id).surface.imports;
        let way =
            imports.iter().find_map(|import| self.of_import(id, &import.binding, ImportTime::Conditional));
        let way = way.map(|mut way| {
            way.through.insert(0, id);
            way
        });
        self.known.insert(id, way.clone());
        way
    }
}

/// True where an import loads `library` or something inside it.
fn names_library(binding: &ImportBinding, library: &str) -> bool {
    let inside =
        |path: &str| path.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    inside(&binding.module) || inside(&binding.qualified)
}
