//! From matches to candidates: which changes a program can have, and the text it has with a chosen set of them.

mod activate;
mod examples;
mod facts;
mod guard;
pub mod placement;
mod planner;
pub mod rewrite;
mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::reasons::{Code, Place, Refusal};
use crate::source::Edits;

pub use examples::{ExampleFailure, check_examples};
pub use planner::{Planner, plan_unit};

/// Names a change across planning runs: `<pass>:<path>:<region>`, e.g. `numpy-to-cupy:main.py:simulate`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub String);

/// A region that is ported or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name.
    pub id: ChangeId,
    /// The pass that makes it.
    pub pass: String,
    /// Where the region begins.
    pub place: Place,
    /// What it is, for people: `function simulate`, `activation of cudf.pandas`.
    pub what: String,
    /// The rules that matched in it, each once.
    pub rules: Vec<String>,
    /// 1-based first and last line of the region in the original file.
    pub lines: (u32, u32),
}

/// Something a person should know; nothing is edited for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Advice {
    /// Where.
    pub place: Place,
    /// A code, where there is one.
    pub code: Option<Code>,
    /// What to know or do.
    pub message: String,
    /// The rule that says it, as `pass/rule`.
    pub rule: String,
}

/// A unit's plan for one pass: the changes that can be made together, the edits they come to, what is left and why.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The changes, in source order. Those pinned are not among them.
    pub changes: Vec<Change>,
    /// The edits by file (path relative to the root). Files without edits are absent.
    pub edits: BTreeMap<PathBuf, Edits>,
    /// What was left as it was.
    pub left: Vec<Refusal>,
    /// What people should know.
    pub advice: Vec<Advice>,
}

/// The changes to leave out: planning treats their regions as pinned to the host.
pub type Pinned = BTreeSet<ChangeId>;
