//! Values from a YAML file that remember where they stand in it.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place, as bytes of the file; empty where it isn't known.
    pub bytes: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        Ok(Self { value: spanned.value, bytes: byte_range(&spanned.defined) })
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The bytes of the file that `location` spans.
pub(super) fn byte_range(location: &serde_saphyr::Location) -> Range<usize> {
    let span = location.span();
    let start = span.byte_offset().map_or(0, |it| usize::try_from(it).unwrap_or(0));
    let len = span.byte_len().map_or(0, |it| usize::try_from(it).unwrap_or(0));
    start..start + len
}

/// Where byte `offset` of the scalar `value` stands in `file`, of which `bytes` is the scalar as written: with its
/// quotes, escapes and indentation. The value's characters appear in the file in order, so they are found one by one.
pub(super) fn offset_in_file(file: &str, bytes: &Range<usize>, value: &str, offset: usize) -> usize {
    let mut at = bytes.start;
    if file[at..].starts_with(['|', '>']) {
        at += file[at..].find('\n').map_or(0, |newline| newline + 1);
    }
    for (i, wanted) in value.char_indices() {
        let Some(found) = file.get(at..).and_then(|rest| find_char(rest, wanted)) else { return bytes.start };
        if i >= offset {
            return at + found;
        }
        at += found + wanted.len_utf8();
    }
    at
}

/// The position of `wanted` in `rest`. A line end may be folded into a space.
fn find_char(rest: &str, wanted: char) -> Option<usize> {
    if wanted == ' ' { rest.find([' ', '\n']) } else { rest.find(wanted) }
}

/// One text, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<Located<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value or a list of values")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(serde::de::value::StrDeserializer::new(text)).map(OneOrMany::One)
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                T::deserialize(serde::de::value::U64Deserializer::new(number)).map(OneOrMany::One)
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(it) = seq.next_element()? {
                    all.push(it);
                }
                Ok(OneOrMany::Many(all))
            }
        }
        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

impl<T: Clone> Located<OneOrMany<T>> {
    /// All of them, each with its place.
    pub fn all(&self) -> Vec<Located<T>> {
        match &self.value {
            OneOrMany::One(value) => vec![Located { value: value.clone(), bytes: self.bytes.clone() }],
            OneOrMany::Many(all) => all.clone(),
        }
    }
}

impl<T: Clone> OneOrMany<T> {
    /// All of them.
    pub fn values(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Many(all) => all.iter().map(|it| it.value.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        a: Located<String>,
        #[serde(default)]
        b: Option<Located<OneOrMany<String>>>,
    }

    #[test]
    fn offsets_into_scalars_of_every_style_lead_into_the_file() {
        let check = |yaml: &str, needle: &str| {
            let file: File = serde_saphyr::from_str(yaml).unwrap();
            let offset = file.a.value.find(needle).unwrap();
            let at = offset_in_file(yaml, &file.a.bytes, &file.a.value, offset);
            assert_eq!(&yaml[at..at + needle.len()], needle, "{yaml:?} {:?}", file.a.bytes);
        };
        check("a: np.sum($X)\n", "$X");
        check("a: \"np.sum(\\\"é\\\", $X)\"\n", "$X");
        check("a: 'it''s $X'\n", "$X");
        check("a: |\n  for $I in $X:\n      $Y\n", "$Y");
        check("a: >-\n  one\n  two $X\n", "$X");
        check("é: 1\na: np.sum($X)\n".trim_start_matches("é: 1\n"), "$X");
    }

    #[test]
    fn lists_keep_the_place_of_each_item() {
        let yaml = "a: x\nb:\n  - one\n  - two\n";
        let file: File = serde_saphyr::from_str(yaml).unwrap();
        let all = file.b.unwrap().all();
        assert_eq!(&yaml[all[1].bytes.clone()], "two");
    }
}
