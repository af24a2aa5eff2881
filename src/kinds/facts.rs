//! Inferred kinds as matching asks for them.

use ruff_python_ast::Expr;

use super::infer::Kinds;
use super::program::{Program, SourceId};
use super::{Array, Facts, Kind, KindName};

/// The facts of one module.
pub struct ModuleFacts<'k> {
    /// The inferred kinds.
    pub kinds: &'k Kinds,
    /// The module.
    pub source: SourceId,
}

impl<'k> ModuleFacts<'k> {
    /// The facts of module `source` of `program`.
    pub fn new(program: &Program<'_>, kinds: &'k Kinds, source: SourceId) -> Self {
        debug_assert!((source.0 as usize) < program.sources.len());
        Self { kinds, source }
    }
}

impl Facts for ModuleFacts<'_> {
    fn kind(&self, expression: &Expr) -> KindName {
        self.kinds.of(self.source, expression).name()
    }

    fn array(&self, expression: &Expr) -> Option<Array> {
        match self.kinds.of(self.source, expression) {
            Kind::Array(array) => Some(*array),
            _ => None,
        }
    }
}
