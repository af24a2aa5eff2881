//! What a library must be for a port to run: `cupy>=13`, `pandas>=3.0,<3.1`.

use std::cmp::Ordering;

/// One requirement as a pass states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The module, of which only the part up to the first dot is looked for.
    pub(super) module: String,
    bounds: Vec<(Bound, Vec<u64>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
    NotEqual,
}

/// Longer signs first: `>` begins `>=` too.
const SIGNS: [(&str, Bound); 6] = [
    (">=", Bound::AtLeast),
    ("<=", Bound::AtMost),
    ("==", Bound::Equal),
    ("!=", Bound::NotEqual),
    (">", Bound::Above),
    ("<", Bound::Below),
];

impl Requirement {
    /// Reads `module`, or `module` with version bounds separated by commas. `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let name_end = text.find(['<', '>', '=', '!']).unwrap_or(text.len());
        let module = text[..name_end].trim();
        let is_name = |part: &str| {
            !part.is_empty()
                && !part.starts_with(|first: char| first.is_ascii_digit())
                && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        if !module.split('.').all(is_name) {
            return None;
        }
        let bounds = text[name_end..].split(',').map(str::trim).filter(|bound| !bound.is_empty());
        Some(Self { module: module.to_owned(), bounds: bounds.map(bound).collect::<Option<_>>()? })
    }

    /// The part of the module that is looked for.
    pub(super) fn top_module(&self) -> &str {
        self.module.split('.').next().unwrap_or(&self.module)
    }

    /// Whether `version` will do. One that can't be read will: the run itself shows.
    pub(super) fn accepts(&self, version: &str) -> bool {
        let Some(version) = parse_version(version) else { return true };
        self.bounds.iter().all(|(bound, limit)| {
            let order = compare(&version, limit);
            match bound {
                Bound::AtLeast => order != Ordering::Less,
                Bound::AtMost => order != Ordering::Greater,
                Bound::Above => order == Ordering::Greater,
                Bound::Below => order == Ordering::Less,
                Bound::Equal => order == Ordering::Equal,
                Bound::NotEqual => order != Ordering::Equal,
            }
        })
    }
}

fn bound(text: &str) -> Option<(Bound, Vec<u64>)> {
    let (sign, bound) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
    Some((*bound, parse_version(text[sign.len()..].trim())?))
}

/// The numbers at a version's beginning: `14.2.0rc1` is 14, 2, 0.
fn parse_version(text: &str) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for part in text.split('.') {
        let digits = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse() {
            Ok(number) => numbers.push(number),
            Err(_) => break,
        }
        if digits < part.len() {
            break;
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

/// Missing numbers are 0: 13 equals 13.0.
fn compare(one: &[u64], other: &[u64]) -> Ordering {
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(0);
    (0..one.len().max(other.len()))
        .map(|index| at(one, index).cmp(&at(other, index)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let check = |requirement: &str, version: &str, expected: bool| {
            let parsed = Requirement::parse(requirement).unwrap();
            assert_eq!(parsed.accepts(version), expected, "{requirement} for {version}");
        };
        check("cupy", "1", true);
        check("cupy>=13", "13.0.0", true);
        check("cupy>=13", "9.8", false);
        check("cupy>=13", "14.2.0rc1", true);
        check("pandas>=3.0,<3.1", "3.0.6", true);
        check("pandas>=3.0, <3.1", "3.1.0", false);
        check("cuml == 26.10", "26.10.0", true);
        check("cuml==26.10", "26.10.1", false);
        check("cuml!=26.8", "26.8", false);
        check("cupy>13", "13", false);
        check("cupy<=13", "13.1", false);
        check("cupy>=13", "unknown", true);
    }

    #[test]
    fn only_modules_and_bounds_are_read() {
        let parsed = Requirement::parse("cudf.pandas>=26.10").unwrap();
        assert_eq!((parsed.module.as_str(), parsed.top_module()), ("cudf.pandas", "cudf"));
        for bad in ["", ">=1", "cu-py", "a..b", "cupy~=1", "cupy>=", "cupy>=x", "1a"] {
            assert_eq!(Requirement::parse(bad), None, "{bad}");
        }
    }
}
