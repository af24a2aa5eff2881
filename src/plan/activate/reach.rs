//! Which imports load the library that a switch replaces, and which may.

use std::collections::BTreeSet;

use ruff_text_size::TextRange;

use crate::names::{ImportBinding, ImportTime};
use crate::pass::Activation;
use crate::plan::unit::{Unit, is_within};

/// Project modules, by dotted name.
type Modules<'u> = BTreeSet<&'u str>;

/// What the unit's imports load.
#[derive(Debug)]
pub(super) struct Reach<'u> {
    unit: &'u Unit<'u>,
    activation: &'u Activation,
    /// Modules whose import loads the library.
    loading: Modules<'u>,
    /// Modules whose import may load the library.
    suspect: Modules<'u>,
}

impl<'u> Reach<'u> {
    pub(super) fn new(unit: &'u Unit<'u>, activation: &'u Activation) -> Self {
        let mut reach = Self { unit, activation, loading: Modules::new(), suspect: Modules::new() };
        reach.loading =
            closure(unit, |import, found| reach.names_library(import) || reach.leads_to(import, found));
        reach.suspect =
            closure(unit, |import, found| reach.is_suspect(import) || reach.leads_to(import, found));
        reach
    }

    fn leads_to(&self, import: &ImportBinding, modules: &Modules<'_>) -> bool {
        import.when != ImportTime::TypeChecking
            && self.unit.is_local(&import.module)
            && self.unit.loaded_by(import).any(|dotted| modules.contains(dotted))
    }

    /// True where `import` names the library itself, and runs.
    fn names_library(&self, import: &ImportBinding) -> bool {
        import.when != ImportTime::TypeChecking
            && !self.unit.is_local(&import.module)
            && self.activation.reaches.iter().any(|library| is_within(&import.module, library))
    }

    /// True where `import` runs and names a package that is not known to leave the library alone. The switches that
    /// come before this one are no such packages.
    fn is_suspect(&self, import: &ImportBinding) -> bool {
        let root = import.module.split('.').next().unwrap_or_default();
        let quiet = self.activation.quiet.contains(root)
            || self.activation.behind.iter().any(|module| is_within(&import.module, module));
        import.when != ImportTime::TypeChecking && !self.unit.is_local(&import.module) && !quiet
    }

    /// True where any module of the unit imports the library itself.
    pub(super) fn reaches(&self) -> bool {
        self.unit
            .parts()
            .iter()
            .flat_map(|part| part.names.imports())
            .any(|import| self.names_library(import))
    }

    /// True where running `import` loads the library.
    pub(super) fn loads(&self, import: &ImportBinding) -> bool {
        self.names_library(import) || self.leads_to(import, &self.loading)
    }

    /// True where running `import` may load the library.
    pub(super) fn may_load(&self, import: &ImportBinding) -> bool {
        self.is_suspect(import) || self.leads_to(import, &self.suspect)
    }

    /// The first import of the entry that may load the library, else its first import.
    pub(super) fn first_in_entry(&self) -> Option<TextRange> {
        let imports = self.unit.entry().names.imports();
        let first = imports.iter().find(|import| self.may_load(import)).or_else(|| imports.first());
        first.map(|import| import.statement)
    }
}

/// The modules of `unit` with an import that `loads` accepts, given those found before: to a fixed point.
fn closure<'u>(unit: &'u Unit<'u>, loads: impl Fn(&ImportBinding, &Modules<'u>) -> bool) -> Modules<'u> {
    let mut found = Modules::new();
    loop {
        let before = found.len();
        for part in unit.parts() {
            if !found.contains(part.dotted) && part.names.imports().iter().any(|import| loads(import, &found))
            {
                found.insert(part.dotted);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
