//! Kinds of a unit's values, inferred when something first asks for one.

use std::cell::OnceCell;
use std::sync::Arc;

use ruff_python_ast::Expr;

use super::unit::Part;
use crate::api::Table;
use crate::kinds::{Array, Facts, Kind, KindName, Kinds, Program, Role, Source, SourceId, infer};
use crate::names::Project;

/// The kinds of some modules of a unit.
pub(super) struct UnitFacts<'u, 'p> {
    project: &'u Project,
    parts: &'u [Part<'p>],
    table: Option<Arc<Table>>,
    kinds: OnceCell<Kinds>,
}

impl<'u, 'p> UnitFacts<'u, 'p> {
    /// Nothing is inferred yet. `table` tells what the library's functions yield; without one, nothing is ever known.
    pub(super) fn new(project: &'u Project, parts: &'u [Part<'p>], table: Option<Arc<Table>>) -> Self {
        Self { project, parts, table, kinds: OnceCell::new() }
    }

    /// The facts of the unit's module at `index`.
    pub(super) fn of_part(&self, index: usize) -> PartFacts<'_, 'u, 'p> {
        PartFacts { all: self, source: SourceId(index as u32) }
    }

    /// The kind of an expression; `None` where nothing can be inferred.
    fn kind(&self, source: SourceId, expression: &Expr) -> Option<&Kind> {
        let table = self.table.as_deref()?;
        let kinds = self.kinds.get_or_init(|| {
            let sources = self.parts.iter().map(|part| Source {
                module: part.module,
                names: part.names,
                dotted: self.project.dotted(part.id).to_owned(),
                role: Role::Library,
            });
            infer(&Program::build(sources.collect(), table, Vec::new()))
        });
        Some(kinds.of(source, expression))
    }
}

/// The facts of one module of a unit.
#[derive(Clone, Copy)]
pub(super) struct PartFacts<'f, 'u, 'p> {
    all: &'f UnitFacts<'u, 'p>,
    source: SourceId,
}

impl Facts for PartFacts<'_, '_, '_> {
    fn kind(&self, expression: &Expr) -> KindName {
        self.all.kind(self.source, expression).map_or(KindName::Unknown, Kind::name)
    }

    fn array(&self, expression: &Expr) -> Option<Array> {
        match self.all.kind(self.source, expression) {
            Some(Kind::Array(array)) => Some(*array),
            _ => None,
        }
    }
}
