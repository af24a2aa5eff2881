//! API tables: which callables of a library exist on another, with which parameters. The tables are data in
//! `patterns/`, generated from the installed libraries by a script in `scripts/`.

use std::collections::BTreeMap;

/// A table, e.g. `numpy-on-cupy`.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Its name: the file's stem.
    pub name: String,
    /// By the source library's full name, e.g. `numpy.linalg.norm`.
    pub callables: BTreeMap<String, Callable>,
}

/// One callable and its counterpart.
#[derive(Debug, Clone, Default)]
pub struct Callable {
    /// The counterpart's full name, e.g. `cupy.linalg.norm`.
    pub target: String,
    /// The source's parameters, in order.
    pub source_parameters: Vec<Parameter>,
    /// The target's parameters, in order.
    pub target_parameters: Vec<Parameter>,
    /// True for ufuncs, whose operands broadcast.
    pub ufunc: bool,
    /// What a call yields.
    pub returns: Returns,
}

/// A parameter of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; without its stars for `*args` and `**kwargs`.
    pub name: String,
    /// How it may be given.
    pub kind: ParameterKind,
    /// Its default as Python text, where it has one.
    pub default: Option<String>,
}

/// How a parameter may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Only by position.
    PositionalOnly,
    /// By position or by name.
    Either,
    /// Only by name.
    KeywordOnly,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    KeywordRest,
}

/// What a call yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Returns {
    /// An array for array operands, a scalar for scalar ones.
    #[default]
    Elementwise,
    /// Always an array.
    Array,
    /// An array over the axes left, or a scalar where none is (0-d array on the device).
    Reduction,
    /// Always a Python or NumPy scalar.
    Scalar,
    /// A tuple of arrays.
    Tuple,
    /// Something else.
    Other,
}
