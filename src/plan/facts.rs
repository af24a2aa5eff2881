//! Kinds of the values of a project, inferred when something first asks for one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ruff_python_ast::Expr;

use super::unit::{Part, Surroundings};
use crate::api::Table;
use crate::kinds::{Facts, KindName, Kinds, Program, Role, Source, SourceId, infer};

/// The kinds of all modules of a project, by the table that tells what a library's functions yield.
#[derive(Default)]
pub(super) struct KnownKinds(Mutex<BTreeMap<String, Arc<OnceLock<Kinds>>>>);

/// The facts of one module.
pub(super) struct PartFacts<'f> {
    around: &'f Surroundings<'f>,
    part: Part<'f>,
    table: Option<Arc<Table>>,
    kinds: Arc<OnceLock<Kinds>>,
}

impl KnownKinds {
    /// The facts of `part`. Without a table nothing is ever known.
    pub(super) fn of_part<'f>(
        &self,
        around: &'f Surroundings<'f>,
        part: Part<'f>,
        table: Option<&Arc<Table>>,
    ) -> PartFacts<'f> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds =
            table.map(|table| known.entry(table.name.clone()).or_default().clone()).unwrap_or_default();
        PartFacts { around, part, table: table.cloned(), kinds }
    }
}

impl Facts for PartFacts<'_> {
    fn kind(&self, expression: &Expr) -> KindName {
        let Some(table) = self.table.as_deref() else { return KindName::Unknown };
        let kinds =
            self.kinds.get_or_init(|| infer(&Program::build(self.around.sources(), table, Vec::new())));
        kinds.of(SourceId(self.part.id.0), expression).name()
    }
}

impl Surroundings<'_> {
    /// All modules of the project, in the order of their ids.
    fn sources(&self) -> Vec<Source<'_>> {
        let source = |id| {
            let Part { module, names, .. } = self.part(id);
            Source { module, names, dotted: self.project.dotted(id).to_owned(), role: Role::Library }
        };
        self.project.ids().map(source).collect()
    }
}
