//! Scalars: Python's own, `NumPy`'s, and arrays without dimensions, brought to one form.

use super::arrays::Elements;
use crate::verify::capture::node::Node;
use crate::verify::capture::npy::Dtype;
use crate::verify::capture::{Capture, CaptureError};

/// A number of fixed width.
#[derive(Debug)]
pub struct Scalar {
    /// Its bytes and element type.
    pub elements: Elements,
    /// Whose scalar it is, for people: `float`, `numpy scalar of <f4`.
    pub kind: String,
    /// The library that held it on a device.
    pub device: Option<String>,
}

/// The node as a number, where it is one: Python's numbers have the width that `NumPy` gives them.
pub fn scalar(capture: &Capture, node: &Node) -> Option<Result<Scalar, CaptureError>> {
    let plain = |dtype: &str, bytes: &[u8]| {
        let elements = Dtype::parse(dtype).map_err(CaptureError::from);
        let elements = elements.and_then(|dtype| Elements::from_bytes(dtype, Vec::new(), bytes.to_vec()));
        Some(elements.map(|elements| Scalar { elements, kind: node.kind(), device: None }))
    };
    let number = |text: &str| text.parse::<f64>().ok();
    match node {
        Node::Bool { value } => plain("|b1", &[u8::from(*value)]),
        Node::Int { value } => plain("<i8", &value.parse::<i64>().ok()?.to_le_bytes()),
        Node::Float { value } => plain("<f8", &number(value)?.to_le_bytes()),
        Node::Complex { re, im } => {
            plain("<c16", &[number(re)?.to_le_bytes(), number(im)?.to_le_bytes()].concat())
        }
        Node::Array(array) if array.shape.is_empty() => {
            Some(Elements::from_node(capture, array).map(|elements| Scalar {
                elements,
                kind: node.kind(),
                device: array.device.clone(),
            }))
        }
        _ => None,
    }
}

/// A mapping's key in a form that is equal where Python's keys are: `1`, `1.0` and `True` are one key.
pub fn key(capture: &Capture, node: &Node) -> Option<String> {
    if let Some(Ok(scalar)) = scalar(capture, node) {
        let (text, value) = scalar.elements.show(0).ok()?;
        return Some(match (text.as_str(), value) {
            ("True", _) => "1".to_owned(),
            ("False", _) => "0".to_owned(),
            (_, Some(value)) if value.fract() == 0.0 && value.abs() < 2.0_f64.powi(53) => {
                format!("{value:.0}")
            }
            _ => text,
        });
    }
    Some(match node {
        Node::None => "None".to_owned(),
        Node::Int { value } => value.clone(),
        Node::Str(content) => format!("{:?}", content.value.as_ref()?),
        Node::Bytes(binary) => format!("b{:?}", binary.data.as_ref()?),
        Node::Value(value) => format!("{}:{}", value.class, value.text),
        Node::Sequence { items, .. } => {
            let keys: Option<Vec<String>> = items.iter().map(|item| key(capture, item)).collect();
            format!("({})", keys?.join(", "))
        }
        Node::Composite(composite) if composite.facts.is_empty() => {
            let keys: Option<Vec<String>> =
                composite.parts.iter().map(|part| key(capture, &part.value)).collect();
            format!("{}({})", composite.class, keys?.join(", "))
        }
        _ => return None,
    })
}
