//! Why something was not ported: coded reasons with a place, so that every refusal can be looked up.
//!
//! The codes themselves, with their explanation, example and remedy, are data in `patterns/reasons.yaml`.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A reason code such as `GP204`. The engine's own codes are the constants of [`codes`]; a pass file may name
/// any code that `patterns/reasons.yaml` has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// A code known when gpuport is compiled.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// A code read from a file.
    pub fn from_text(code: &str) -> Self {
        Self(Cow::Owned(code.to_owned()))
    }

    /// The code's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A position in a source file. Lines and columns count from 1; columns count characters. For a notebook,
/// `line_number` is the line in the joined code cells.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Path relative to the project's root, with `/`.
    pub path: PathBuf,
    /// Line, from 1.
    pub line_number: u32,
    /// Column in characters, from 1.
    pub column_number: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line_number, self.column_number)
    }
}

/// One thing left as it was, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// Where.
    pub place: Place,
    /// Why, as a code.
    pub code: Code,
    /// Why, as one sentence about this very place, without a full stop.
    pub message: String,
    /// The pass that would have changed it, where one did.
    pub pass: Option<String>,
}
