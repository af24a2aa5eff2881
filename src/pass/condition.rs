//! The `where` of a rule, as pass authors write it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::located::{Located, OneOrMany};

/// Conditions on a match; all must hold. Keys in upper case are metavariables of the pattern.
#[derive(Debug, Clone, Default)]
pub struct Where {
    /// How the match is used.
    pub usage: Option<Usage>,
    /// Whether it stands in a loop or comprehension of its function.
    pub inside_loop: Option<bool>,
    /// Conditions that must not all hold.
    pub not: Option<Box<Where>>,
    /// Of these, one at least must hold.
    pub any: Vec<Where>,
    /// Conditions on what metavariables stand for.
    pub variables: Vec<(Located<String>, VariableEntry)>,
}

impl Where {
    /// The metavariables it is about, with their places.
    pub(super) fn names(&self) -> Vec<&Located<String>> {
        let mut names: Vec<&Located<String>> = self.variables.iter().map(|(name, _)| name).collect();
        names.extend(self.not.iter().flat_map(|it| it.names()));
        names.extend(self.any.iter().flat_map(Where::names));
        names
    }
}

/// How a match is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Usage {
    /// It is a whole statement, and its value is not used.
    Statement,
    /// Its value is used.
    Expression,
}

/// Conditions on what a metavariable stands for; all must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariableEntry {
    /// The names it may resolve to: `numpy.float64`, or the builtin `float`.
    pub is: Option<Located<OneOrMany<String>>>,
    /// Whether it is a literal: a number, string, bytes, boolean, `None` or `...`; or what kind of literal it is.
    pub literal: Option<LiteralEntry>,
    /// Literal values, or texts of a component of a path, one of which it must be. `{names: ID}` for a list in
    /// `patterns/`.
    pub one_of: Option<Located<Choices>>,
    /// A regular expression that all of the string literal, or of the component of a path, must match.
    pub regex: Option<Located<String>>,
    /// The kinds of value it may have.
    pub kind: Option<OneOrMany<KindEntry>>,
    /// The numbers of axes that an array may have; it must be known.
    pub rank: Option<OneOrMany<u8>>,
    /// What the elements of an array may be; it must be known.
    pub dtype: Option<OneOrMany<DtypeEntry>>,
    /// Whether the API table has the path that this component belongs to, or, for another prefix, `prefix.component`.
    pub in_api: Option<InApi>,
    /// Whether the API table has it as a ufunc.
    pub ufunc: Option<bool>,
    /// Whether the argument is given at all, for `$X?`.
    pub given: Option<bool>,
    /// Keywords that a rest must have.
    #[serde(default)]
    pub present: Vec<String>,
    /// Keywords that a rest must not have, nor give by position.
    #[serde(default)]
    pub absent: Vec<String>,
    /// How many positional arguments a rest may have at most.
    pub max_positional: Option<usize>,
    /// Whether the variable that it names is read after the match.
    pub used_later: Option<bool>,
}

/// What `literal` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralEntry {
    /// Whether it is a literal at all.
    Any(bool),
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// A string.
    String,
    /// `True` or `False`.
    Boolean,
}

/// Values to choose from.
#[derive(Debug, Clone, PartialEq)]
pub enum Choices {
    /// These.
    Values(Vec<Value>),
    /// A list of names in `patterns/`, by its id.
    Names(String),
}

/// A literal value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A string, or the text of a component.
    Text(String),
}

/// What `in_api` asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InApi {
    /// Whether the path is in the table.
    Path(bool),
    /// That `prefix.component` is in the table.
    Under(String),
}

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KindEntry {
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

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DtypeEntry {
    /// Booleans.
    Boolean,
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Complex numbers.
    Complex,
}

const KEYS: &[&str] = &["as", "inside_loop", "not", "any"];

impl<'de> Deserialize<'de> for Where {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Conditions;
        impl<'de> Visitor<'de> for Conditions {
            type Value = Where;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("conditions: metavariables, `as`, `inside_loop`, `not`, `any`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Where, A::Error> {
                let mut conditions = Where::default();
                while let Some(key) = map.next_key::<Located<String>>()? {
                    match key.value.as_str() {
                        "as" => conditions.usage = Some(map.next_value()?),
                        "inside_loop" => conditions.inside_loop = Some(map.next_value()?),
                        "not" => conditions.not = Some(map.next_value()?),
                        "any" => conditions.any = map.next_value()?,
                        name if is_metavariable(name) => {
                            let value = map.next_value()?;
                            conditions.variables.push((key, value));
                        }
                        other => return Err(A::Error::unknown_field(other, KEYS)),
                    }
                }
                Ok(conditions)
            }
        }
        deserializer.deserialize_map(Conditions)
    }
}

fn is_metavariable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl JsonSchema for Where {
    fn schema_name() -> Cow<'static, str> {
        "Where".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let usage = generator.subschema_for::<Usage>();
        let this = generator.subschema_for::<Where>();
        let variable = generator.subschema_for::<VariableEntry>();
        schemars::json_schema!({
            "description": "Conditions on a match; all must hold. Keys in upper case are metavariables of the pattern.",
            "type": "object",
            "properties": {
                "as": usage,
                "inside_loop": {
                    "description": "Whether the match stands in a loop or comprehension of its function.",
                    "type": "boolean"
                },
                "not": this,
                "any": { "description": "Of these, one at least must hold.", "type": "array", "items": this }
            },
            "patternProperties": { "^[A-Z_][A-Z0-9_]*$": variable },
            "additionalProperties": false
        })
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Choices;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of values, or `{names: ID}`")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Choices, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Choices::Values(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choices, A::Error> {
                let mut names = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key != "names" {
                        return Err(A::Error::unknown_field(&key, &["names"]));
                    }
                    names = Some(map.next_value()?);
                }
                names.map(Choices::Names).ok_or_else(|| A::Error::missing_field("names"))
            }
        }
        deserializer.deserialize_any(Values)
    }
}

impl JsonSchema for Choices {
    fn schema_name() -> Cow<'static, str> {
        "Choices".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "Values to choose from, or a list of names in `patterns/`.",
            "anyOf": [
                { "type": "array", "items": { "type": ["null", "boolean", "number", "string"] } },
                {
                    "type": "object",
                    "properties": { "names": { "type": "string" } },
                    "required": ["names"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Literal;
        impl Visitor<'_> for Literal {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, a boolean, a number or a text")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::None)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Boolean(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Integer(value))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
                i64::try_from(value).map(Value::Integer).map_err(E::custom)
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Literal)
    }
}

impl<'de> Deserialize<'de> for LiteralEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KINDS: &[&str] = &["integer", "float", "string", "boolean"];
        match Value::deserialize(deserializer)? {
            Value::Boolean(value) => Ok(Self::Any(value)),
            Value::Text(kind) => match kind.as_str() {
                "integer" => Ok(Self::Integer),
                "float" => Ok(Self::Float),
                "string" => Ok(Self::String),
                "boolean" => Ok(Self::Boolean),
                other => Err(D::Error::unknown_variant(other, KINDS)),
            },
            _ => Err(D::Error::custom("expected true, false, or a kind of literal")),
        }
    }
}

impl JsonSchema for LiteralEntry {
    fn schema_name() -> Cow<'static, str> {
        "LiteralEntry".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "enum": [true, false, "integer", "float", "string", "boolean"] })
    }
}

impl<'de> Deserialize<'de> for InApi {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Boolean(value) => Ok(Self::Path(value)),
            Value::Text(prefix) => Ok(Self::Under(prefix)),
            _ => Err(D::Error::custom("expected true, false, or the prefix of a path")),
        }
    }
}

impl JsonSchema for InApi {
    fn schema_name() -> Cow<'static, str> {
        "InApi".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }] })
    }
}
