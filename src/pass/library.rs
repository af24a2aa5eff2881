//! What passes draw on: API tables, guards, name lists, reason codes, and other passes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::Table;

use super::Pass;
use super::guard::{Guard, NameLists};

/// The shared vocabulary of passes, by name.
#[derive(Debug, Default)]
pub struct Library {
    /// Texts of `patterns/*.yaml` by stem, from which tables are read when first asked for.
    pub(super) texts: BTreeMap<String, String>,
    /// Tables read so far.
    pub(super) tables: std::sync::Mutex<BTreeMap<String, Arc<Table>>>,
    /// Guards.
    pub(super) guards: BTreeMap<String, Arc<Guard>>,
    /// Name lists.
    pub(super) lists: NameLists,
    /// Reason codes.
    pub(super) reasons: BTreeSet<String>,
    /// Passes loaded so far.
    pub(super) passes: BTreeMap<String, Arc<Pass>>,
}

impl Library {
    /// The pass `id`, if it is loaded.
    pub fn pass(&self, id: &str) -> Option<Arc<Pass>> {
        self.passes.get(id).cloned()
    }

    /// The table `name`. The error is a sentence.
    pub fn table(&self, name: &str) -> Result<Arc<Table>, String> {
        let mut tables = self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(table) = tables.get(name) {
            return Ok(table.clone());
        }
        let text = self.texts.get(name).ok_or_else(|| format!("there is no table `{name}` in patterns/"))?;
        let table = Arc::new(Table::parse(name, text).map_err(|error| error.to_string())?);
        tables.insert(name.to_owned(), table.clone());
        Ok(table)
    }

    /// The guard `id`.
    pub fn guard(&self, id: &str) -> Option<Arc<Guard>> {
        self.guards.get(id).cloned()
    }

    /// True where `patterns/reasons.yaml` has `code`.
    pub fn knows_reason(&self, code: &str) -> bool {
        self.reasons.contains(code)
    }

    /// The module that the switch of pass `id` imports.
    pub(super) fn switch_of(&self, id: &str) -> Option<String> {
        let pass = self.passes.get(id)?;
        pass.rules.iter().find_map(|rule| rule.activation.as_ref()).map(|it| it.module().to_owned())
    }
}
