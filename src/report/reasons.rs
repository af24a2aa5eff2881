//! The texts of reason codes, from `patterns/reasons.yaml`.

use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

use crate::reasons::Code;

/// What a reason code means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The code.
    pub code: Code,
    /// What is the case, in a few words without a full stop.
    pub title: String,
    /// Why that stands in the way.
    pub why: String,
    /// A Python snippet that gives this reason.
    pub example: String,
    /// What the user can do.
    pub remedy: String,
}

/// All reasons, sorted by code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasons(Vec<Reason>);

/// What is wrong with a file of reasons.
#[derive(Debug, Error)]
pub enum ReasonsError {
    /// It is not YAML, or not a list of reasons. The text has place and excerpt.
    #[error("{0}")]
    Yaml(String),
    /// A code is not `GP` and three digits.
    #[error("`{0}` is no reason code: write GP and three digits")]
    BadCode(String),
    /// Codes are not in order, or one appears twice.
    #[error("{second} must not stand after {first}: sort the reasons by code, each once")]
    Unsorted {
        /// The code that stands first.
        first: Code,
        /// The one after it.
        second: Code,
    },
    /// A text is empty.
    #[error("{code}: `{key}` is empty")]
    Empty {
        /// The reason.
        code: Code,
        /// The key without a text.
        key: &'static str,
    },
}

impl Reasons {
    /// The reasons that are shipped.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Reasons> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            Self::parse(include_str!("../../patterns/reasons.yaml"))
                .expect("a test parses the shipped reasons")
        })
    }

    /// Reads and checks a file of reasons.
    pub fn parse(text: &str) -> Result<Self, ReasonsError> {
        let reasons: Vec<Reason> =
            serde_saphyr::from_str(text).map_err(|error| ReasonsError::Yaml(error.to_string()))?;
        reasons.iter().try_for_each(check)?;
        match reasons.iter().zip(reasons.iter().skip(1)).find(|(first, second)| first.code >= second.code) {
            Some((first, second)) => {
                Err(ReasonsError::Unsorted { first: first.code.clone(), second: second.code.clone() })
            }
            None => Ok(Self(reasons)),
        }
    }

    /// The reason with this code.
    pub fn get(&self, code: &Code) -> Option<&Reason> {
        self.0.binary_search_by(|it| it.code.cmp(code)).ok().map(|index| &self.0[index])
    }

    /// All of them, sorted by code.
    pub fn iter(&self) -> impl Iterator<Item = &Reason> {
        self.0.iter()
    }
}

fn check(reason: &Reason) -> Result<(), ReasonsError> {
    let digits = reason.code.as_str().strip_prefix("GP").unwrap_or_default();
    if digits.len() != 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ReasonsError::BadCode(reason.code.to_string()));
    }
    let texts = [
        ("title", &reason.title),
        ("why", &reason.why),
        ("example", &reason.example),
        ("remedy", &reason.remedy),
    ];
    match texts.into_iter().find(|(_, text)| text.trim().is_empty()) {
        Some((key, _)) => Err(ReasonsError::Empty { code: reason.code.clone(), key }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_reasons_parse() {
        Reasons::parse(include_str!("../../patterns/reasons.yaml")).unwrap();
        let reason = Reasons::shipped().get(&Code::new("GP670")).unwrap();
        assert_eq!(reason.title, "A file changed since it was read");
        assert_eq!(Reasons::shipped().get(&Code::new("GP000")), None);
    }

    #[test]
    fn mistakes_are_named() {
        let entry = |code: &str| format!("- {{code: {code}, title: t, why: w, example: e, remedy: r}}\n");
        for (text, expected) in [
            (entry("GP2") + &entry("GP100"), "`GP2` is no reason code"),
            (entry("XY204"), "`XY204` is no reason code"),
            (entry("GP204") + &entry("GP203"), "GP203 must not stand after GP204"),
            (entry("GP204") + &entry("GP204"), "GP204 must not stand after GP204"),
            (entry("GP204").replace("why: w", "why: ''"), "GP204: `why` is empty"),
            (entry("GP204").replace("why", "wy"), "wy"),
            (entry("GP204").replace(", remedy: r", ""), "remedy"),
            ("- [".to_owned(), "line"),
        ] {
            let error = Reasons::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
