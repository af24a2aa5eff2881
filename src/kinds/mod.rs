//! What kind of value an expression has: array, scalar, sequence, frame, … or unknown. Never a guess.

pub mod arguments;
mod collect;
mod facts;
mod infer;
mod kind;
pub mod program;
#[cfg(test)]
mod tests;

use ruff_python_ast::Expr;

pub use facts::ModuleFacts;
pub use infer::{Kinds, infer};
pub use kind::{Array, Dtype, Kind};
pub use program::{Program, RegionId, Role, SlotId, Source, SourceId};

/// The kinds that a pass may ask for in `where`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KindName {
    /// An n-dimensional array.
    Array,
    /// A Python or NumPy scalar.
    Scalar,
    /// A list, tuple, range or other sequence.
    Sequence,
    /// A data frame or series.
    Frame,
    /// An estimator.
    Estimator,
    /// A graph.
    Graph,
    /// A module.
    Module,
    /// A function.
    Function,
    /// A class.
    Class,
    /// Not known.
    Unknown,
}

/// What matching may ask about values.
pub trait Facts {
    /// The kind of `expression`'s value.
    fn kind(&self, expression: &Expr) -> KindName;

    /// What is known of it, where it is an array.
    fn array(&self, _expression: &Expr) -> Option<Array> {
        None
    }
}

/// Nothing is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFacts;

impl Facts for NoFacts {
    fn kind(&self, _expression: &Expr) -> KindName {
        KindName::Unknown
    }
}
