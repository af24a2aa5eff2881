//! API tables: which callables of a library exist on another, with which parameters, and what calls yield. The tables
//! are data in `patterns/`, generated from the installed libraries by a script in `scripts/`.
//!
//! ```yaml
//! schema: gpuport/api/1
//! source: {module: numpy, version: "2.4.6"}
//! target: {module: cupy, version: "14.2.0"}
//! callables:                       # what both libraries have, by the source's full name
//!   numpy.sum: {to: cupy.sum, from-signature: "a, axis=None, keepdims=..., where=...",
//!               to-signature: "a, axis=None, keepdims=False", arrays: [a], returns: reduction}
//!   numpy.sin: {to: cupy.sin, ufunc: 1 1}             # inputs and outputs; the signatures follow from them
//!   numpy.ndarray.sum: {to: cupy.ndarray.sum, …}      # methods of arrays, without `self`
//! attributes:
//!   numpy.ndarray.T: {to: cupy.ndarray.T, returns: like, view: true}
//! host:                            # what only the source library has, or what must stay there
//!   numpy.random.normal: {reason: GP204, from-signature: "loc=0.0, scale=1.0, size=None", returns: draw}
//! ```
//!
//! Signatures are Python's, without parentheses. A default spelled `...` need not become explicit where the two sides
//! differ: it can't be spelled, or means the same.

mod load;
mod signature;

use std::collections::BTreeMap;

pub use load::TableError;

use crate::reasons::Code;

/// A table, e.g. `numpy-on-cupy`.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Its name: the file's stem.
    pub name: String,
    /// The library that programs use.
    pub source: Library,
    /// The library they move to; empty for tables that only describe host code.
    pub target: Library,
    /// How values cross between host and device, where they do.
    pub transfers: Option<Transfers>,
    /// What both have, by the source library's full name, e.g. `numpy.linalg.norm`, `numpy.ndarray.sum`.
    pub callables: BTreeMap<String, Callable>,
    /// Attributes of arrays, by the source library's full name, e.g. `numpy.ndarray.T`.
    pub attributes: BTreeMap<String, Attribute>,
    /// Callables that stay on the host, by full name.
    pub host: BTreeMap<String, HostCallable>,
}

/// A library whose members a table lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Its module, e.g. `cupy`.
    pub module: String,
    /// The version the table was made from.
    pub version: String,
}

/// How values cross between host and device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfers {
    /// From a host array, or what the source library makes an array of, to a device array; a device array stays.
    pub to_device: Transfer,
    /// From a device array to a host array.
    pub to_host: Transfer,
    /// From a device array without axes to the source library's scalar; an array stays an array.
    pub scalar_to_host: Transfer,
    /// From a device array without axes to a Python number.
    pub number_to_host: Transfer,
}

/// A call around a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// What is called, e.g. `cupy.asnumpy`.
    pub path: String,
    /// What stands after the call, e.g. `[()]`.
    pub after: String,
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
    /// The source's parameters that take arrays.
    pub arrays: Vec<String>,
    /// The source's parameters that take sequences of arrays.
    pub sequences: Vec<String>,
    /// True for ufuncs, whose operands broadcast.
    pub ufunc: bool,
    /// What a call yields.
    pub returns: Returns,
    /// What the result's elements are, where they are not the operands' own.
    pub elements: Option<Elements>,
    /// True where the result may share the first argument's memory.
    pub view: bool,
    /// The source's parameter that a call changes, besides `out`; `self` for a method.
    pub changes: Option<String>,
}

/// An attribute of arrays.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// True where the target's arrays have it, with the same meaning.
    pub supported: bool,
    /// What it yields.
    pub returns: Returns,
    /// True where it may share the array's memory.
    pub view: bool,
}

/// A callable that stays on the host.
#[derive(Debug, Clone, Default)]
pub struct HostCallable {
    /// Why, where that is worth telling.
    pub reason: Option<Code>,
    /// Its parameters, where they are known.
    pub parameters: Option<Vec<Parameter>>,
    /// What a call yields.
    pub returns: Returns,
    /// What the result's elements are, where that is known.
    pub elements: Option<Elements>,
    /// The parameter that a call changes.
    pub changes: Option<String>,
}

/// A parameter of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; without its stars for `*args` and `**kwargs`.
    pub name: String,
    /// How it may be given.
    pub kind: ParameterKind,
    /// Its default as Python text, where it has one; `...` where the text doesn't matter.
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

/// What the elements of a result are whatever the operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// Booleans.
    Bool,
    /// Integers.
    Integer,
    /// Numbers, not booleans.
    Number,
}

/// What a call yields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Returns {
    /// An array for array operands, a scalar for scalar ones.
    #[default]
    Elementwise,
    /// An array of the first operand's rank.
    Like,
    /// As [`Like`](Self::Like) where `axis` is given, of rank 1 otherwise.
    Accumulate,
    /// An array whose shape is the first argument.
    Shape,
    /// An array whose shape is the parameter `shape`, or all arguments of `*shape`.
    Reshape,
    /// An array of one rank more than the first operand.
    Deeper,
    /// What `numpy.array` makes of its first argument.
    Nested,
    /// Always an array, of this rank where it is known.
    Array(Option<u8>),
    /// As many axes as the arrays in the first argument have.
    Join,
    /// One axis more than the arrays in the first argument have.
    Stack,
    /// An array over the axes left, or a scalar where none is (a 0-d array on the device).
    Reduction,
    /// As `numpy.dot`.
    Dot,
    /// As `numpy.matmul`.
    Matmul,
    /// With one argument a tuple of index arrays, else as [`Elementwise`](Self::Elementwise).
    Where,
    /// As `numpy.unique`: an array of rank 1, or a tuple where more is asked for.
    Unique,
    /// Always a scalar (a 0-d array on the device).
    Scalar,
    /// Always a Python number, on the device too.
    Python,
    /// A Python boolean (a 0-d array on the device).
    Truth,
    /// As [`Scalar`](Self::Scalar) for numbers, an array for arrays: `numpy.float32(x)`.
    Number,
    /// An array for each slice given, stacked: `numpy.mgrid[0:2, 0:3]`.
    Grid,
    /// The first argument.
    Same,
    /// A scalar for one matrix, an array for a stack of them.
    PerMatrix,
    /// As [`Reduction`](Self::Reduction), with an axis more for each axis of the quantiles asked for.
    Quantile,
    /// An array or a scalar.
    Value,
    /// A tuple of these.
    Tuple(Vec<Returns>),
    /// A sequence of arrays.
    List,
    /// A sequence of index arrays, or of integers for an integer.
    Indices,
    /// Random draws: an array where `size` is given, else like the arguments.
    Draw,
    /// Random draws whose sizes are the arguments; a scalar without any.
    Dims,
    /// What a file holds: an array, or a mapping of arrays.
    Loaded,
    /// An object of this class.
    Object(String),
    /// An array of a kind that no device has: memory maps, matrices, records.
    Special,
    /// `None`.
    Nothing,
    /// Something that is no array and holds none.
    Other,
    /// Anything.
    Unknown,
}

impl Table {
    /// The host callable that `name` is, or that names the module or class it belongs to (`math` stands for all of
    /// `math.*`).
    pub fn host_entry(&self, name: &str) -> Option<&HostCallable> {
        let mut prefix = name;
        loop {
            if let Some(found) = self.host.get(prefix) {
                return Some(found);
            }
            prefix = &prefix[..prefix.rfind('.')?];
        }
    }
}

/// What a table may not know of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsupported {
    /// A keyword that the target lacks.
    Keyword(String),
    /// A position that the target lacks or gives to another parameter.
    Position(usize),
    /// `*args` or `**kwargs`, whose contents decide.
    Starred,
}

impl Callable {
    /// Whether the target takes `positional` arguments by position and `keywords` by name as the source does.
    pub fn accepts(&self, positional: usize, keywords: &[&str]) -> Result<(), Unsupported> {
        let target = &self.target_parameters;
        let has_rest = target.iter().any(|p| p.kind == ParameterKind::Rest);
        for index in 0..positional {
            if has_rest {
                break;
            }
            let here = self.source_parameters.get(index).filter(|p| p.kind != ParameterKind::Rest);
            let there = target.get(index).filter(|p| p.takes_position());
            let (Some(here), Some(there)) = (here, there) else { return Err(Unsupported::Position(index)) };
            if here.name != there.name && !self.renamed(here, there) {
                return Err(Unsupported::Position(index));
            }
        }
        let takes_any = target.iter().any(|p| p.kind == ParameterKind::KeywordRest);
        let lacks = |name: &&&str| !takes_any && !target.iter().any(|p| p.takes_name() && p.name == ***name);
        keywords.iter().find(lacks).map_or(Ok(()), |name| Err(Unsupported::Keyword((*name).to_owned())))
    }

    /// True where the two libraries only call the same parameter differently.
    fn renamed(&self, here: &Parameter, there: &Parameter) -> bool {
        !self.target_parameters.iter().any(|p| p.name == here.name)
            && !self.source_parameters.iter().any(|p| p.name == there.name)
    }
}

impl Parameter {
    /// True where it may be given by position.
    pub fn takes_position(&self) -> bool {
        matches!(self.kind, ParameterKind::PositionalOnly | ParameterKind::Either)
    }

    /// True where it may be given by name.
    pub fn takes_name(&self) -> bool {
        matches!(self.kind, ParameterKind::KeywordOnly | ParameterKind::Either)
    }
}
