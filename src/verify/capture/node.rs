//! The typed tree of a capture: few kinds of nodes, which know no library.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One captured value.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Node {
    /// `None`.
    None,
    /// A Python truth value.
    Bool {
        /// The value.
        value: bool,
    },
    /// A Python integer, decimal or hexadecimal.
    Int {
        /// The value.
        value: String,
    },
    /// A Python float.
    Float {
        /// Its shortest decimal text, `nan`, `inf` or `-inf`.
        value: String,
    },
    /// A Python complex number.
    Complex {
        /// Real part, like a float.
        re: String,
        /// Imaginary part.
        im: String,
    },
    /// A text.
    Str(Content),
    /// Bytes.
    Bytes(Binary),
    /// A value whose text is all there is to it: a decimal, a date, a path.
    Value(Plain),
    /// A function, class or module: part of the program, not of its results.
    Symbol {
        /// What it is.
        class: String,
        /// Number, for references.
        id: Option<u64>,
    },
    /// A value that could not be captured.
    Opaque(Opaque),
    /// The value that has this number.
    Ref {
        /// The number.
        to: u64,
    },
    /// An array or a `NumPy` scalar.
    Array(Array),
    /// A vector of texts.
    Text(Text),
    /// A list of one plain type, kept as an array or texts.
    Packed {
        /// The list's class.
        class: String,
        /// Its elements.
        values: Box<Node>,
        /// Number, for references.
        id: Option<u64>,
    },
    /// A list, tuple, set and the like.
    Sequence {
        /// Its class.
        class: String,
        /// Its elements; a set's in an order that depends on the elements alone.
        items: Vec<Node>,
        /// Number, for references.
        id: Option<u64>,
    },
    /// A dict and the like.
    Mapping {
        /// Its class.
        class: String,
        /// Keys and values in the mapping's own order.
        items: Vec<(Node, Node)>,
        /// Number, for references.
        id: Option<u64>,
    },
    /// A value made of named parts.
    Composite(Composite),
}

/// A text, in the manifest or in a file.
#[derive(Debug, Clone, Deserialize)]
pub struct Content {
    /// The text itself.
    pub value: Option<String>,
    /// Or the file that holds it.
    pub file: Option<String>,
}

/// Bytes, in the manifest or in a file.
#[derive(Debug, Clone, Deserialize)]
pub struct Binary {
    /// `bytes` or `bytearray`.
    pub class: String,
    /// Hexadecimal.
    pub data: Option<String>,
    /// Or the file that holds them.
    pub file: Option<String>,
}

/// A value given by its text.
#[derive(Debug, Clone, Deserialize)]
pub struct Plain {
    /// Its class.
    pub class: String,
    /// Its text.
    pub text: String,
    /// Number, for references.
    pub id: Option<u64>,
}

/// A value that could not be captured.
#[derive(Debug, Clone, Deserialize)]
pub struct Opaque {
    /// Its class.
    pub class: String,
    /// Why.
    pub why: String,
    /// Number, for references.
    pub id: Option<u64>,
}

/// An array.
#[derive(Debug, Clone, Deserialize)]
pub struct Array {
    /// Whose array it is: `numpy.ndarray`, `numpy scalar`, `torch.Tensor`.
    pub class: String,
    /// Its dtype as the program knows it: `<f8`, `<M8[ns]`, `bfloat16`.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its elements in C order, as hexadecimal bytes.
    pub data: Option<String>,
    /// The dtype of `data`; absent: `dtype`.
    pub stored: Option<String>,
    /// Or the `.npy` file that holds them.
    pub file: Option<String>,
    /// The library that held it on a device.
    pub device: Option<String>,
    /// Number, for references.
    pub id: Option<u64>,
}

/// A vector of texts.
#[derive(Debug, Clone, Deserialize)]
pub struct Text {
    /// Its shape.
    pub shape: Vec<u64>,
    /// The texts, `None` for a missing one.
    pub items: Option<Vec<Option<String>>>,
    /// Or the file of all texts' bytes, one after another,
    pub bytes: Option<String>,
    /// with the places where each begins and the last ends,
    pub offsets: Option<Box<Node>>,
    /// and which are missing.
    pub missing: Option<Box<Node>>,
}

/// A value made of named parts.
#[derive(Debug, Clone, Deserialize)]
pub struct Composite {
    /// Its class, the same for equal things of different libraries.
    pub class: String,
    /// What must be equal besides the parts: a shape, an order.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// The library that held it on a device.
    pub device: Option<String>,
    /// Number, for references.
    pub id: Option<u64>,
}

/// A part of a composite.
#[derive(Debug, Clone, Deserialize)]
pub struct Part {
    /// What is appended to the composite's path: `.index`, `['price']`.
    pub at: String,
    /// The part itself.
    pub value: Node,
    /// Compared where both sides have it, and no difference where one lacks it.
    #[serde(default)]
    pub optional: bool,
}

impl Node {
    /// The node's number.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::Value(Plain { id, .. })
            | Self::Opaque(Opaque { id, .. })
            | Self::Array(Array { id, .. })
            | Self::Composite(Composite { id, .. })
            | Self::Symbol { id, .. }
            | Self::Packed { id, .. }
            | Self::Sequence { id, .. }
            | Self::Mapping { id, .. } => *id,
            _ => None,
        }
    }

    /// The nodes right below.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Sequence { items, .. } => items.iter().collect(),
            Self::Mapping { items, .. } => items.iter().flat_map(|(key, value)| [key, value]).collect(),
            Self::Composite(composite) => composite.parts.iter().map(|part| &part.value).collect(),
            Self::Packed { values, .. } => vec![values],
            _ => Vec::new(),
        }
    }

    /// What the value is, for people.
    pub fn kind(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool { .. } => "bool".to_owned(),
            Self::Int { .. } => "int".to_owned(),
            Self::Float { .. } => "float".to_owned(),
            Self::Complex { .. } => "complex".to_owned(),
            Self::Str(_) => "str".to_owned(),
            Self::Text(_) => "texts".to_owned(),
            Self::Ref { .. } => "a value seen before".to_owned(),
            Self::Array(array) => array.kind(),
            Self::Bytes(Binary { class, .. })
            | Self::Value(Plain { class, .. })
            | Self::Opaque(Opaque { class, .. })
            | Self::Composite(Composite { class, .. })
            | Self::Symbol { class, .. }
            | Self::Packed { class, .. }
            | Self::Sequence { class, .. }
            | Self::Mapping { class, .. } => class.clone(),
        }
    }
}

impl Array {
    /// What the array is, for people: `numpy.ndarray of <f8`.
    fn kind(&self) -> String {
        format!("{} of {}", self.class, self.dtype)
    }
}
