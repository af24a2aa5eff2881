//! The lattice of kinds: what a value may be, and what two possibilities have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::KindName;
use super::program::{ClassId, RegionId};

/// What a value is, as far as is known. Values join upwards: from [`Never`](Self::Never) (no value seen yet) to
/// [`Unknown`](Self::Unknown).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Kind {
    /// No value reaches here.
    #[default]
    Never,
    /// `None`.
    Nothing,
    /// A Python number.
    Python,
    /// A NumPy scalar.
    Numpy,
    /// A Python number or a NumPy scalar.
    Number,
    /// Text or bytes.
    Text,
    /// Some other value that is no array and holds none.
    Plain,
    /// An array.
    Array(Array),
    /// A tuple, or a list display that never changes: one kind for each element.
    Tuple(Arc<[Kind]>),
    /// A list, set, range, iterator or tuple of unknown length: one kind for all elements.
    List(Arc<Kind>),
    /// A mapping by constant text keys, as written: `{"dx": 0.1, "shape": (3, 4)}`.
    Record(Arc<BTreeMap<String, Kind>>),
    /// A mapping: one kind for all values.
    Dict(Arc<Kind>),
    /// What a file holds: an array, or a mapping of arrays.
    Loaded,
    /// A function of the project.
    Function(RegionId),
    /// A class of the project.
    Class(ClassId),
    /// An instance of a class of the project.
    Instance(ClassId),
    /// An instance of a library's class, by its full name.
    Object(Arc<str>),
    /// Anything.
    Unknown,
}

/// An array's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array {
    /// What its elements are.
    pub dtype: Dtype,
    /// Its number of axes, where known.
    pub rank: Option<u8>,
    /// True where it may be a scalar instead (a full index, a reduction over an unknown axis).
    pub maybe_scalar: bool,
    /// True where it may be `None` instead.
    pub maybe_none: bool,
}

/// What an array's elements are, as far as placement asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// Not known.
    Any,
    /// Booleans.
    Bool,
    /// Integers.
    Integer,
    /// Numbers of some kind, not booleans.
    Number,
    /// Floats.
    Float,
    /// Complex numbers.
    Complex,
    /// Objects, text, dates, records, extended precision or foreign byte order: no device has them.
    Unsupported,
}

/// How many parts a kind may have.
const MAX_PARTS: u8 = 40;

impl Array {
    /// An array of which only `rank` may be known.
    pub const fn of_rank(rank: Option<u8>) -> Self {
        Self { dtype: Dtype::Any, rank, maybe_scalar: false, maybe_none: false }
    }

    /// An array or a scalar.
    pub const fn value() -> Self {
        Self { maybe_scalar: true, ..Self::of_rank(None) }
    }

    /// This with another dtype.
    pub const fn with_dtype(self, dtype: Dtype) -> Self {
        Self { dtype, ..self }
    }

    fn join(self, other: Self) -> Self {
        Self {
            dtype: self.dtype.join(other.dtype),
            rank: if self.rank == other.rank { self.rank } else { None },
            maybe_scalar: self.maybe_scalar || other.maybe_scalar,
            maybe_none: self.maybe_none || other.maybe_none,
        }
    }
}

impl Dtype {
    /// What both have in common.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Unsupported, _) | (_, Self::Unsupported) => Self::Unsupported,
            (Self::Any | Self::Bool, _) | (_, Self::Any | Self::Bool) => Self::Any,
            _ => Self::Number,
        }
    }

    /// The dtype of an arithmetic result.
    pub fn promote(self, other: Self) -> Self {
        use Dtype::{Any, Bool, Complex, Float, Integer, Number, Unsupported};
        match (self, other) {
            (Unsupported, _) | (_, Unsupported) => Unsupported,
            (Any, Any | Bool) | (Bool, Any) => Any,
            // With numbers come numbers, whatever the other is.
            (Any | Number, _) | (_, Any | Number) => Number,
            (Complex, _) | (_, Complex) => Complex,
            (Float, _) | (_, Float) => Float,
            (Integer, _) | (_, Integer) => Integer,
            (Bool, Bool) => Bool,
        }
    }
}

impl Kind {
    /// An array of which nothing more is known.
    pub const ARRAY: Self = Self::Array(Array::of_rank(None));

    /// An array or a scalar.
    pub const VALUE: Self = Self::Array(Array::value());

    /// An array with so many axes.
    pub const fn rank(rank: u8) -> Self {
        Self::Array(Array::of_rank(Some(rank)))
    }

    /// A sequence of `element`s.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// A tuple of `elements`.
    pub fn tuple(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// The kind of a value that is one or the other.
    pub fn join(&self, other: &Self) -> Self {
        use Kind::{
            Array, Dict, Function, Instance, List, Never, Nothing, Number, Object, Record, Tuple, Unknown,
        };
        match (self, other) {
            (Never, it) | (it, Never) => it.clone(),
            _ if self == other => self.clone(),
            (Unknown, _) | (_, Unknown) => Unknown,
            (Array(a), Array(b)) => Array(a.join(*b)),
            (Array(a), Nothing) | (Nothing, Array(a)) => Array(super::kind::Array { maybe_none: true, ..*a }),
            (Array(a), it) | (it, Array(a)) if it.is_number() => {
                Array(super::kind::Array { rank: None, maybe_scalar: true, ..*a })
            }
            (a, b) if a.is_number() && b.is_number() => Number,
            (Tuple(a), Tuple(b)) if a.len() == b.len() => {
                Tuple(a.iter().zip(b.iter()).map(|(x, y)| x.join(y)).collect())
            }
            (Tuple(_) | List(_), Tuple(_) | List(_)) => Self::list(self.element().join(&other.element())),
            (Record(_) | Dict(_), Record(_) | Dict(_)) => {
                Dict(Arc::new(self.element().join(&other.element())))
            }
            (it @ (Object(_) | Instance(_) | Function(_)), Nothing)
            | (Nothing, it @ (Object(_) | Instance(_) | Function(_))) => it.clone(),
            (a, b) if !a.may_hold_arrays() && !b.may_hold_arrays() => Self::Plain,
            _ => Unknown,
        }
    }

    /// This, or unknown where it is made of more parts than are worth following: recursive functions and loops that
    /// nest containers would grow it without end.
    pub fn bounded(self) -> Self {
        if self.parts(MAX_PARTS).is_some() { self } else { Self::Unknown }
    }

    /// What is left of `budget` after counting all parts.
    fn parts(&self, budget: u8) -> Option<u8> {
        let left = budget.checked_sub(1)?;
        match self {
            Self::Tuple(elements) => elements.iter().try_fold(left, |left, it| it.parts(left)),
            Self::List(element) | Self::Dict(element) => element.parts(left),
            Self::Record(fields) => fields.values().try_fold(left, |left, it| it.parts(left)),
            _ => Some(left),
        }
    }

    /// True for numbers of Python or NumPy.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Python | Self::Numpy | Self::Number)
    }

    /// True where the value itself is (or may be) an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// What is known of the array, where the value is one.
    pub fn as_array(&self) -> Option<Array> {
        match self {
            Self::Array(array) => Some(*array),
            _ => None,
        }
    }

    /// True where the value is an array or holds arrays in a tuple, list or mapping.
    pub fn holds_arrays(&self) -> bool {
        match self {
            Self::Array(_) | Self::Loaded => true,
            Self::Tuple(elements) => elements.iter().any(Self::holds_arrays),
            Self::List(element) | Self::Dict(element) => element.holds_arrays(),
            Self::Record(fields) => fields.values().any(Self::holds_arrays),
            _ => false,
        }
    }

    /// True where it can't be ruled out that the value is an array or holds one.
    pub fn may_hold_arrays(&self) -> bool {
        match self {
            Self::Array(_) | Self::Loaded | Self::Unknown | Self::Instance(_) | Self::Class(_) => true,
            Self::Tuple(elements) => elements.iter().any(Self::may_hold_arrays),
            Self::List(element) | Self::Dict(element) => element.may_hold_arrays(),
            Self::Record(fields) => fields.values().any(Self::may_hold_arrays),
            Self::Function(_) => true,
            _ => false,
        }
    }

    /// True where part of the value is not known.
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Tuple(elements) => elements.iter().any(Self::has_unknown),
            Self::List(element) | Self::Dict(element) => element.has_unknown(),
            Self::Record(fields) => fields.values().any(Self::has_unknown),
            _ => false,
        }
    }

    /// What iterating over the value yields (for mappings: the kind of their values).
    pub fn element(&self) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Tuple(elements) => elements.iter().fold(Self::Never, |sum, it| sum.join(it)),
            Self::List(element) | Self::Dict(element) => (**element).clone(),
            Self::Record(fields) => fields.values().fold(Self::Never, |sum, it| sum.join(it)),
            Self::Array(array) => Self::Array(*array).indexed_once(),
            Self::Text => Self::Text,
            Self::Plain => Self::Plain,
            _ => Self::Unknown,
        }
    }

    /// What one integer index leaves of an array.
    pub fn indexed_once(&self) -> Self {
        let Self::Array(array) = self else { return Self::Unknown };
        match array.rank {
            Some(1) => Self::Numpy,
            Some(rank) if rank > 1 => {
                Self::Array(Array { rank: Some(rank - 1), maybe_none: false, ..*array })
            }
            _ => Self::Array(Array { maybe_none: false, ..Array::value().with_dtype(array.dtype) }),
        }
    }

    /// The kind as a pass may ask for it.
    pub fn name(&self) -> KindName {
        match self {
            Self::Array(array) if !array.maybe_scalar && !array.maybe_none => KindName::Array,
            Self::Python | Self::Numpy | Self::Number => KindName::Scalar,
            Self::Tuple(_) | Self::List(_) => KindName::Sequence,
            Self::Function(_) => KindName::Function,
            Self::Class(_) => KindName::Class,
            _ => KindName::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_kind() -> impl Strategy<Value = Kind> {
        let array = (0u8..4, any::<bool>(), any::<bool>()).prop_map(|(rank, maybe_scalar, maybe_none)| {
            let rank = (rank > 0).then_some(rank);
            Kind::Array(Array { dtype: Dtype::Any, rank, maybe_scalar, maybe_none })
        });
        let leaf = prop_oneof![
            Just(Kind::Never),
            Just(Kind::Nothing),
            Just(Kind::Python),
            Just(Kind::Numpy),
            Just(Kind::Text),
            Just(Kind::Plain),
            Just(Kind::Unknown),
            Just(Kind::Object("numpy.random.Generator".into())),
            array,
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Kind::tuple),
                inner.clone().prop_map(Kind::list),
                inner.prop_map(|it| Kind::Dict(Arc::new(it))),
            ]
        })
    }

    proptest! {
        #[test]
        fn joining_is_a_join(a in any_kind(), b in any_kind()) {
            let both = a.join(&b);
            prop_assert_eq!(&both, &b.join(&a));
            prop_assert_eq!(&a.join(&a), &a);
            prop_assert_eq!(&both.join(&a), &both, "{:?} {:?}", a, b);
        }

        #[test]
        fn nothing_that_may_hold_arrays_joins_to_what_may_not(a in any_kind(), b in any_kind()) {
            prop_assert!(!a.may_hold_arrays() || a.join(&b).may_hold_arrays());
        }
    }

    #[test]
    fn a_scalar_that_becomes_an_array_keeps_both_possibilities() {
        let sum = Kind::Python.join(&Kind::rank(2));
        assert_eq!(sum, Kind::VALUE);
        assert_eq!(Kind::Nothing.join(&Kind::rank(2)).as_array().unwrap().rank, Some(2));
        assert_eq!(Kind::Text.join(&Kind::rank(2)), Kind::Unknown);
    }
}
