//! Which imports load the library that a switch replaces, and which may.

use std::collections::BTreeSet;

use ruff_text_size::TextRange;

use crate::names::{ImportBinding, ImportTime, ModuleId};
use crate::pass::Activation;
use crate::plan::unit::{Part, Unit, is_within};

type Modules = BTreeSet<ModuleId>;

/// What the unit's imports load.
#[derive(Debug)]
pub(super) struct Reach<'u> {
    unit: &'u Unit<'u>,
    activation: &'u Activation,
    /// Modules whose import loads the library.
    loading: Modules,
    /// Modules whose import may load the library.
    suspect: Modules,
}

impl<'u> Reach<'u> {
    pub(super) fn new(unit: &'u Unit<'u>, activation: &'u Activation) -> Self {
        let mut reach = Self { unit, activation, loading: Modules::new(), suspect: Modules::new() };
        reach.loading = closure(unit, |part, import, found| {
            reach.names_library(part, import) || reach.leads_to(part, import, found)
        });
        reach.suspect = closure(unit, |part, import, found| {
            reach.is_suspect(part, import) || reach.leads_to(part, import, found)
        });
        reach
    }

    fn leads_to(&self, part: &Part<'_>, import: &ImportBinding, modules: &Modules) -> bool {
        import.when != ImportTime::TypeChecking
            && self.unit.loaded_by(part, import).iter().any(|id| modules.contains(id))
    }

    /// True where `import` names the library itself, and runs.
    fn names_library(&self, part: &Part<'_>, import: &ImportBinding) -> bool {
        self.unit.leads_out(part, import)
            && self.activation.reaches.iter().any(|library| is_within(&import.module, library))
    }

    /// True where `import` runs and names a package that is not known to leave the library alone. The switches that
    /// come before this one are no such packages.
    fn is_suspect(&self, part: &Part<'_>, import: &ImportBinding) -> bool {
        let root = import.module.split('.').next().unwrap_or_default();
        let quiet = self.activation.quiet.contains(root)
            || self.activation.behind.iter().any(|module| is_within(&import.module, module));
        !quiet && self.unit.leads_out(part, import)
    }

    /// True where any module of the unit imports the library itself.
    pub(super) fn reaches(&self) -> bool {
        let any =
            |part: &Part<'_>| part.names.imports().iter().any(|import| self.names_library(part, import));
        self.unit.parts().iter().any(any)
    }

    /// True where running `import` of the entry loads the library.
    pub(super) fn loads(&self, import: &ImportBinding) -> bool {
        let entry = self.unit.entry();
        self.names_library(entry, import) || self.leads_to(entry, import, &self.loading)
    }

    /// True where running `import` of the entry may load the library.
    pub(super) fn may_load(&self, import: &ImportBinding) -> bool {
        let entry = self.unit.entry();
        self.is_suspect(entry, import) || self.leads_to(entry, import, &self.suspect)
    }

    /// The first import of the entry that loads the library.
    pub(super) fn first_in_entry(&self) -> Option<TextRange> {
        self.unit
            .entry()
            .names
            .imports()
            .iter()
            .find(|import| self.loads(import))
            .map(|import| import.statement)
    }
}

/// The modules of `unit` with an import that `loads` accepts, given those found before: to a fixed point.
fn closure(unit: &Unit<'_>, loads: impl Fn(&Part<'_>, &ImportBinding, &Modules) -> bool) -> Modules {
    let mut found = Modules::new();
    loop {
        let before = found.len();
        for part in unit.parts() {
            let any = |found: &Modules| part.names.imports().iter().any(|import| loads(part, import, found));
            if !found.contains(&part.id) && any(&found) {
                found.insert(part.id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
