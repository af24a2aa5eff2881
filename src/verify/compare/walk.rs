//! Comparing two typed trees, node by node.

use std::collections::{HashMap, HashSet};

use super::codes;
use super::leaves;
use super::report::Report;
use super::scalars;
use super::texts::{self, Texts};
use super::tolerance::{Comparator, Named, Policy};
use crate::verify::Arrays;
use crate::verify::capture::node::{Composite, Node};
use crate::verify::capture::{Capture, CaptureError, Numbers, numbers};

/// How strict types are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nobody takes the value over: a device array is as good as a host array, a `NumPy` scalar as a Python number.
    Left,
    /// A caller gets the value: its type is part of it.
    Returned,
}

/// One walk over two trees.
pub struct Walk<'a, 'r, 'p> {
    /// The original's capture and its numbered nodes.
    pub before: (&'a Capture, Numbers<'a>),
    /// The candidate's.
    pub after: (&'a Capture, Numbers<'a>),
    /// What the contract says.
    pub policy: &'a Policy<'a>,
    /// Whose types callers may see.
    pub arrays: Arrays,
    /// How strict types are.
    pub role: Role,
    /// What messages begin with: `call 3: `, or nothing.
    pub label: String,
    /// What is found.
    pub report: &'r mut Report<'p>,
    seen: HashSet<(u64, u64)>,
}

/// How references end.
const REFERENCE_STEPS: usize = 64;

impl<'a, 'r, 'p> Walk<'a, 'r, 'p> {
    /// A walk over two trees, or over several that share references, in a role.
    pub fn new(
        (before, before_roots): (&'a Capture, &[&'a Node]),
        (after, after_roots): (&'a Capture, &[&'a Node]),
        policy: &'a Policy<'a>,
        (arrays, role): (Arrays, Role),
        report: &'r mut Report<'p>,
    ) -> Self {
        Self {
            before: (before, numbers(before_roots)),
            after: (after, numbers(after_roots)),
            policy,
            arrays,
            role,
            label: String::new(),
            report,
            seen: HashSet::new(),
        }
    }

    /// A difference at a path.
    pub fn differs(&mut self, path: &str, code: crate::reasons::Code, what: &str) {
        let message = format!("{}{path}: {what}", self.label);
        self.report.differs(path, code, message);
    }

    /// Compares two nodes.
    pub fn nodes(&mut self, path: &str, before: &'a Node, after: &'a Node) {
        if self.report.skip_volatile(path) {
            let is_result = match before {
                Node::Array(array) => !array.shape.is_empty() && array.class != "list",
                Node::Text(_) => true,
                _ => false,
            };
            if is_result {
                let label = &self.label;
                self.report.undecided(format!("{label}{path}: two runs of the original make different ones"));
            }
            return;
        }
        if self.policy.comparator(path) == Some(&Comparator::Named(Named::Ignore)) {
            self.report.volatile(path);
            return;
        }
        let (before, after) = (resolve(before, &self.before.1), resolve(after, &self.after.1));
        if let (Some(a), Some(b)) = (before.id(), after.id())
            && !self.seen.insert((a, b))
        {
            return;
        }
        if let Err(error) = self.resolved(path, before, after) {
            self.differs(path, codes::UNREADABLE, &error.to_string());
        }
    }

    fn resolved(&mut self, path: &str, before: &'a Node, after: &'a Node) -> Result<(), CaptureError> {
        match (before, after) {
            (Node::Opaque(opaque), _) => {
                self.report.not_compared(path, format!("{} ({})", opaque.why, opaque.class));
            }
            (_, Node::Opaque(opaque)) => {
                let what = format!(
                    "{} became {}, which can't be captured: {}",
                    before.kind(),
                    opaque.class,
                    opaque.why
                );
                self.differs(path, codes::TYPE, &what);
            }
            (Node::Symbol { .. }, Node::Symbol { .. }) | (Node::None, Node::None) => {}
            (Node::Str(a), Node::Str(b)) => leaves::strings(self, path, a, b)?,
            (Node::Bytes(a), Node::Bytes(b)) => leaves::bytes(self, path, a, b)?,
            (Node::Value(a), Node::Value(b)) if a.class == b.class => {
                self.report.comparison.element_count += 1;
                if a.text != b.text {
                    let what =
                        format!("{} became {}", super::show::text(&a.text), super::show::text(&b.text));
                    self.differs(path, codes::VALUE, &what);
                }
            }
            (Node::Text(a), Node::Text(b)) => {
                let (a, b) = (Texts::open(self.before.0, a)?, Texts::open(self.after.0, b)?);
                texts::compare(&a, &b, path, self.report)?;
            }
            (Node::Array(a), Node::Array(b)) if !a.shape.is_empty() || !b.shape.is_empty() => {
                leaves::arrays(self, path, a, b)?;
            }
            (Node::Composite(a), Node::Composite(b)) => self.composites(path, a, b),
            (Node::Mapping { .. }, Node::Mapping { .. }) => self.mappings(path, before, after),
            (Node::Packed { .. } | Node::Sequence { .. }, Node::Packed { .. } | Node::Sequence { .. }) => {
                self.sequences(path, before, after)?;
            }
            _ => self.scalars(path, before, after)?,
        }
        Ok(())
    }

    /// Two nodes of which at least one should be a scalar.
    fn scalars(&mut self, path: &str, before: &'a Node, after: &'a Node) -> Result<(), CaptureError> {
        let pair = (scalars::scalar(self.before.0, before), scalars::scalar(self.after.0, after));
        let (Some(a), Some(b)) = pair else {
            if let (Node::Int { value: a }, Node::Int { value: b }) = (before, after) {
                self.report.comparison.element_count += 1;
                if a != b {
                    let what = format!("{} became {}", super::show::text(a), super::show::text(b));
                    self.differs(path, codes::VALUE, &what);
                }
                return Ok(());
            }
            let what = format!("{} became {}", before.kind(), after.kind());
            self.differs(path, codes::TYPE, &what);
            return Ok(());
        };
        let (a, b) = (a?, b?);
        if self.device_differs(path, a.device.as_ref(), b.device.as_ref()) {
            return Ok(());
        }
        if self.role == Role::Returned
            && a.kind != b.kind
            && !self.device_allowed(a.device.as_ref(), b.device.as_ref())
        {
            let what = format!("{} became {}", a.kind, b.kind);
            self.differs(path, codes::TYPE, &what);
            return Ok(());
        }
        leaves::elements(self, path, a.elements, b.elements)
    }

    /// Whether values may be on other devices than before, where one of them is.
    pub fn device_allowed(&self, before: Option<&String>, after: Option<&String>) -> bool {
        before != after && (self.role == Role::Left || self.arrays == Arrays::Device)
    }

    /// Whether the candidate hands a device array to a caller that expects a host array; then it is told.
    pub fn device_differs(&mut self, path: &str, before: Option<&String>, after: Option<&String>) -> bool {
        let differs = before != after && !self.device_allowed(before, after);
        if differs {
            let place = |device: Option<&String>| match device {
                Some(library) => format!("an array on the device ({library})"),
                None => "an array on the host".to_owned(),
            };
            let what = format!("{} became {}", place(before), place(after));
            self.differs(path, codes::DEVICE_ARRAY, &what);
        }
        differs
    }

    fn composites(&mut self, path: &str, before: &'a Composite, after: &'a Composite) {
        if before.class != after.class {
            let what = format!("{} became {}", before.class, after.class);
            return self.differs(path, codes::TYPE, &what);
        }
        if self.device_differs(path, before.device.as_ref(), after.device.as_ref()) {
            return;
        }
        for (name, fact) in &before.facts {
            let other = after.facts.get(name).map_or("absent", String::as_str);
            if fact != other {
                let code = if name == "shape" { codes::SHAPE } else { codes::TYPE };
                self.differs(path, code, &format!("its {name} {fact} became {other}"));
            }
        }
        let by_name: HashMap<&str, &'a Node> =
            after.parts.iter().map(|part| (part.at.as_str(), &part.value)).collect();
        for part in &before.parts {
            let below = format!("{path}{}", part.at);
            match by_name.get(part.at.as_str()) {
                Some(other) => self.nodes(&below, &part.value, other),
                None if part.optional => {}
                None => self.lost(&below),
            }
        }
        let names: HashSet<&str> = before.parts.iter().map(|part| part.at.as_str()).collect();
        for part in after.parts.iter().filter(|part| !part.optional && !names.contains(part.at.as_str())) {
            self.gained(&format!("{path}{}", part.at));
        }
    }

    /// An output that only the original has.
    fn lost(&mut self, path: &str) {
        if !self.report.skip_volatile(path) {
            self.differs(path, codes::MISSING, "it is missing");
        }
    }

    /// An output that only the candidate has.
    fn gained(&mut self, path: &str) {
        let ignored = self.policy.comparator(path) == Some(&Comparator::Named(Named::Ignore));
        if !ignored && !self.report.skip_volatile(path) {
            self.differs(path, codes::SURPLUS, "the original has no such value");
        }
    }

    fn mappings(&mut self, path: &str, before: &'a Node, after: &'a Node) {
        let (
            Node::Mapping { class: class_a, items: items_a, .. },
            Node::Mapping { class: class_b, items: items_b, .. },
        ) = (before, after)
        else {
            return;
        };
        if class_a != class_b {
            return self.differs(path, codes::TYPE, &format!("{class_a} became {class_b}"));
        }
        let keyed = |capture: &Capture, items: &'a [(Node, Node)]| {
            let keys = items.iter().enumerate().map(|(index, (key, value))| {
                // A key without a text of its own is known by its place.
                let text = scalars::key(capture, key).unwrap_or_else(|| format!("key {index}"));
                (text, value)
            });
            keys.collect::<Vec<(String, &'a Node)>>()
        };
        let (a, b) = (keyed(self.before.0, items_a), keyed(self.after.0, items_b));
        let by_key: HashMap<&str, &'a Node> = b.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        for (key, value) in &a {
            let below = format!("{path}[{key}]");
            match by_key.get(key.as_str()) {
                Some(other) => self.nodes(&below, value, other),
                None => self.lost(&below),
            }
        }
        let known: HashSet<&str> = a.iter().map(|(key, _)| key.as_str()).collect();
        for (key, _) in b.iter().filter(|(key, _)| !known.contains(key.as_str())) {
            self.gained(&format!("{path}[{key}]"));
        }
    }

    fn sequences(&mut self, path: &str, before: &'a Node, after: &'a Node) -> Result<(), CaptureError> {
        let (class_a, class_b) = (before.kind(), after.kind());
        if class_a != class_b {
            self.differs(path, codes::TYPE, &format!("{class_a} became {class_b}"));
            return Ok(());
        }
        let lengths = (length(before), length(after));
        if lengths.0 != lengths.1 {
            let what = format!("{} elements became {}", lengths.0, lengths.1);
            self.differs(path, codes::SHAPE, &what);
            return Ok(());
        }
        match (before, after) {
            (Node::Packed { values: a, .. }, Node::Packed { values: b, .. }) => self.nodes(path, a, b),
            (Node::Sequence { items: a, .. }, Node::Sequence { items: b, .. }) => {
                for (index, (a, b)) in a.iter().zip(b).enumerate() {
                    self.nodes(&format!("{path}[{index}]"), a, b);
                }
            }
            (Node::Sequence { items, .. }, Node::Packed { values, .. })
            | (Node::Packed { values, .. }, Node::Sequence { items, .. }) => {
                let before_is_packed = matches!(before, Node::Packed { .. });
                leaves::packed_and_listed(self, path, (values, items), before_is_packed)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The value that a reference stands for.
fn resolve<'a>(node: &'a Node, numbers: &Numbers<'a>) -> &'a Node {
    let mut node = node;
    for _ in 0..REFERENCE_STEPS {
        let Node::Ref { to } = node else { break };
        let Some(target) = numbers.get(to) else { break };
        node = target;
    }
    node
}

/// The number of elements of a sequence.
fn length(node: &Node) -> u64 {
    match node {
        Node::Sequence { items, .. } => items.len() as u64,
        Node::Packed { values, .. } => match values.as_ref() {
            Node::Array(array) => array.shape.first().copied().unwrap_or(0),
            Node::Text(text) => text.shape.first().copied().unwrap_or(0),
            _ => 0,
        },
        _ => 0,
    }
}
