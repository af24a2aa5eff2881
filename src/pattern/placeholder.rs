//! Metavariables as identifiers: what the parser sees instead of `$X`, and how its offsets lead back.

use ruff_text_size::{TextRange, TextSize};

use super::errors::{PatternError, Problem, RESERVED_PREFIX};

const ONE: &str = "__gpuport_var_";
const OPTIONAL: &str = "__gpuport_opt_";
const REST: &str = "__gpuport_rest_";
const ANY: &str = "__gpuport_any_";

/// What a metavariable may stand for, by how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder<'p> {
    /// `$_`: one thing, not remembered.
    Any,
    /// `$X`: one thing.
    One(&'p str),
    /// `$X?`: one argument or none.
    Optional(&'p str),
    /// `$$$X`: any number of things; nameless as `$$$`.
    Rest(&'p str),
}

impl<'p> Placeholder<'p> {
    /// The metavariable that `identifier` stands for, if it stands for one.
    pub(crate) fn decode(identifier: &'p str) -> Option<Self> {
        if !identifier.starts_with(RESERVED_PREFIX) {
            return None;
        }
        if let Some(name) = identifier.strip_prefix(ONE) {
            return Some(Self::One(name));
        }
        if let Some(name) = identifier.strip_prefix(OPTIONAL) {
            return Some(Self::Optional(name));
        }
        if let Some(name) = identifier.strip_prefix(REST) {
            return Some(Self::Rest(name));
        }
        identifier.starts_with(ANY).then_some(Self::Any)
    }

    /// The name it binds, if it binds one.
    pub(crate) fn name(self) -> Option<&'p str> {
        match self {
            Self::One(name) | Self::Optional(name) => Some(name),
            Self::Rest(name) => (!name.is_empty()).then_some(name),
            Self::Any => None,
        }
    }
}

/// A pattern's text with identifiers for metavariables, and the way back.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    /// What the parser reads.
    pub(crate) text: String,
    /// `(encoded start, encoded end, original start, original end)` of each metavariable, in order.
    spans: Vec<(u32, u32, u32, u32)>,
    original_len: u32,
}

impl Encoded {
    /// Replaces each metavariable outside string literals and comments by an identifier.
    pub(crate) fn new(original: &str) -> Result<Self, PatternError> {
        if let Some(at) = original.find(RESERVED_PREFIX) {
            return Err(PatternError::at(Problem::Reserved, at));
        }
        let mut encoded = Self {
            text: String::with_capacity(original.len() * 2),
            spans: Vec::new(),
            original_len: original.len() as u32,
        };
        let mut at = 0;
        while at < original.len() {
            let skipped = opaque_len(&original[at..]);
            if skipped > 0 {
                encoded.text.push_str(&original[at..at + skipped]);
                at += skipped;
            } else if original[at..].starts_with('$') {
                at = encoded.metavariable(original, at)?;
            } else {
                let next = original[at..].chars().next().map_or(1, char::len_utf8);
                encoded.text.push_str(&original[at..at + next]);
                at += next;
            }
        }
        Ok(encoded)
    }

    fn metavariable(&mut self, original: &str, start: usize) -> Result<usize, PatternError> {
        let dollars = if original[start..].starts_with("$$$") { 3 } else { 1 };
        let name_start = start + dollars;
        let name_len = original[name_start..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(original.len() - name_start);
        let name = &original[name_start..name_start + name_len];
        let mut end = name_start + name_len;
        let range = TextRange::new((start as u32).into(), (end as u32).into());
        if name.is_empty() && dollars == 1 {
            return Err(PatternError::at(Problem::LoneDollar, start));
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(PatternError::new(Problem::LoneDollar, range));
        }
        if name.chars().any(|c| c.is_ascii_lowercase()) {
            return Err(PatternError::new(Problem::LowerCase(name.to_owned()), range));
        }
        let encoded_start = self.text.len();
        let optional = dollars == 1 && original[end..].starts_with('?');
        if name == "_" {
            self.text.push_str(if dollars == 3 { REST } else { ANY });
        } else if dollars == 3 {
            self.text.push_str(REST);
            self.text.push_str(name);
        } else {
            self.text.push_str(if optional { OPTIONAL } else { ONE });
            self.text.push_str(name);
            end += usize::from(optional);
        }
        self.spans.push((encoded_start as u32, self.text.len() as u32, start as u32, end as u32));
        Ok(end)
    }

    /// The place in the original text of `range` of the encoded text.
    pub(crate) fn original_range(&self, range: TextRange) -> TextRange {
        let start = self.original_offset(range.start(), false);
        let end = self.original_offset(range.end(), true);
        TextRange::new(start.into(), end.max(start).min(self.original_len.max(start)).into())
    }

    fn original_offset(&self, offset: TextSize, is_end: bool) -> u32 {
        let offset = u32::from(offset);
        let mut shift = i64::from(offset);
        for &(encoded_start, encoded_end, start, end) in &self.spans {
            if offset >= encoded_end {
                shift = i64::from(offset) - i64::from(encoded_end) + i64::from(end);
            } else if offset > encoded_start {
                return if is_end { end } else { start };
            } else {
                break;
            }
        }
        u32::try_from(shift).unwrap_or(0).min(self.original_len)
    }
}

/// How many bytes at the start of `text` are a comment or a string literal, in which `$` means itself.
pub(super) fn opaque_len(text: &str) -> usize {
    if text.starts_with('#') {
        return text.find('\n').unwrap_or(text.len());
    }
    let quote = match text.as_bytes().first() {
        Some(b'"') if text.starts_with("\"\"\"") => "\"\"\"",
        Some(b'\'') if text.starts_with("'''") => "'''",
        Some(b'"') => "\"",
        Some(b'\'') => "'",
        _ => return 0,
    };
    let mut at = quote.len();
    while at < text.len() {
        if text[at..].starts_with(quote) {
            return at + quote.len();
        }
        let mut chars = text[at..].chars();
        let escaped = chars.next() == Some('\\');
        at = text.len() - chars.as_str().len();
        if escaped {
            at += chars.next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metavariables_become_identifiers() {
        let check =
            |original: &str, expected: &str| assert_eq!(Encoded::new(original).unwrap().text, expected);
        check("np.sum($X, $$$ARGS)", "np.sum(__gpuport_var_X, __gpuport_rest_ARGS)");
        check("f($_, axis=$A?)", "f(__gpuport_any_, axis=__gpuport_opt_A)");
        check("f($$$)", "f(__gpuport_rest_)");
        check("f('$X', \"a\\\"$Y\") # $Z", "f('$X', \"a\\\"$Y\") # $Z");
    }

    #[test]
    fn bad_metavariables_are_placed() {
        let check = |original: &str, problem: Problem, start: u32| {
            let error = Encoded::new(original).unwrap_err();
            assert_eq!((error.problem, u32::from(error.range.start())), (problem, start));
        };
        check("f($)", Problem::LoneDollar, 2);
        check("f($x)", Problem::LowerCase("x".into()), 2);
        check("f($1)", Problem::LoneDollar, 2);
        check("f(__gpuport_var_X)", Problem::Reserved, 2);
    }

    #[test]
    fn offsets_lead_back() {
        let encoded = Encoded::new("f($X, $$$ARGS) + g").unwrap();
        let at = encoded.text.find('+').unwrap() as u32;
        let back = encoded.original_range(TextRange::at(at.into(), 1.into()));
        assert_eq!(u32::from(back.start()), 15);
        let at = encoded.text.find("_rest_").unwrap() as u32;
        assert_eq!(
            encoded.original_range(TextRange::at(at.into(), 1.into())),
            TextRange::new(6.into(), 13.into())
        );
    }
}
