//! Which imports load the library that a switch replaces, and which may.

use std::collections::BTreeSet;

use crate::names::{ImportBinding, ModuleId};
use crate::pass::Activation;
use crate::plan::unit::{Unit, is_within};

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
        reach.loading = closure(unit, |import| reach.names_library(import));
        reach.suspect = closure(unit, |import| reach.is_suspect(import));
        reach
    }

    /// True where an import that leads to a library names one of those that the switch replaces.
    fn names_library(&self, import: &ImportBinding) -> bool {
        names_library(self.activation, import)
    }

    /// True where an import that leads to a library names one that is not known to leave those that the switch replaces
    /// alone. The switches that come before this one are no such packages.
    fn is_suspect(&self, import: &ImportBinding) -> bool {
        let root = import.module.split('.').next().unwrap_or_default();
        let behind = || self.activation.behind.iter().any(|module| is_within(&import.module, module));
        !self.activation.quiet.contains(root) && !behind()
    }

    /// True where any module of the unit imports the library itself. What a package that the program uses imports in its
    /// functions is an offer and no need: it does not count.
    pub(super) fn reaches(&self) -> bool {
        let unit = self.unit;
        unit.parts().iter().any(|part| {
            let mut imports = unit.around.library_imports(part);
            imports.any(|import| unit.counts(part, import.when) && self.names_library(import))
        })
    }

    /// The imports of the entry that load the library.
    pub(super) fn loading(&self) -> Vec<&'u ImportBinding> {
        self.of_entry(&self.loading, |import| self.names_library(import))
    }

    /// The imports of the entry that may load the library.
    pub(super) fn suspects(&self) -> Vec<&'u ImportBinding> {
        self.of_entry(&self.suspect, |import| self.is_suspect(import))
    }

    fn of_entry(&self, modules: &Modules, loads: impl Fn(&ImportBinding) -> bool) -> Vec<&'u ImportBinding> {
        let imports = self.unit.around.imports(self.unit.entry());
        let loading = imports.filter(|(import, loaded)| leads_to(import, loaded, modules, &loads));
        loading.map(|(import, _)| import).collect()
    }
}

/// True where an import that leads to a library names one of those that `activation` replaces.
pub(super) fn names_library(activation: &Activation, import: &ImportBinding) -> bool {
    activation.reaches.iter().any(|library| is_within(&import.module, library))
}

/// True where an import that runs the project modules `loaded` runs one of `modules`, or, where it leads to a library,
/// `loads` takes it.
fn leads_to(
    import: &ImportBinding,
    loaded: &[ModuleId],
    modules: &Modules,
    loads: impl Fn(&ImportBinding) -> bool,
) -> bool {
    if loaded.is_empty() { loads(import) } else { loaded.iter().any(|id| modules.contains(id)) }
}

/// The modules of `unit` with an import that `loads` takes, or that leads to such a module: to a fixed point.
fn closure(unit: &Unit<'_>, loads: impl Fn(&ImportBinding) -> bool) -> Modules {
    let mut found = Modules::new();
    loop {
        let before = found.len();
        for part in unit.parts() {
            let follows =
                |(import, loaded): (&ImportBinding, &[ModuleId])| leads_to(import, loaded, &found, &loads);
            if !found.contains(&part.id) && unit.around.imports(part).any(follows) {
                found.insert(part.id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
