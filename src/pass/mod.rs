//! Passes: the YAML rule files, loaded with positions in every error, checked, and matched against modules.

mod activation;
mod alternatives;
mod arguments;
mod assemble;
mod clauses;
mod condition;
mod context;
mod errors;
mod find;
mod guard;
mod layout;
mod holds;
mod import_plan;
mod imports;
mod library;
mod load;
mod located;
mod manual;
mod named;
mod order;
mod registry;
mod renamed;
mod rules;
mod schema;
mod settle;
mod spelling;
mod told;
mod wording;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ruff_text_size::TextRange;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::Table;
use crate::pattern::{Bound, Index, Piece};
use crate::reasons::Code;

pub use activation::{ActivateSpec, Activation};
pub use assemble::{AssembleError, Assembler, edits_of};
pub use errors::{FileError, FileErrors};
pub use find::{FindOptions, find, find_with};
pub use guard::{Condition, Effect, Guard, GuardError, GuardSpec, GuardsSpec, NameListSpec, NameLists};
pub use imports::{Need, Needs, plan_imports};
pub(crate) use layout::newline;
pub use library::Library;
pub use load::load;
pub use manual::{Listed, json_schema, list, manual};
pub use registry::{DATA_VARIABLE, Registry, Sources};
pub use renamed::{RenamedImport, renamed_imports};
pub use schema::PassFile;
pub use spelling::{Aliases, Speller};

use alternatives::Alternative;

/// A loaded and checked pass.
#[derive(Debug, Clone)]
pub struct Pass {
    /// Its name, the file's stem.
    pub id: String,
    /// The pass whose rules it adds to.
    pub extends: Option<String>,
    /// One line.
    pub summary: String,
    /// Its documentation, as Markdown.
    pub doc: String,
    /// How deep its ports reach.
    pub layer: Layer,
    /// Whether its result must also be faster.
    pub goal: Goal,
    /// The libraries it moves away from, e.g. `numpy`: a module that mentions none of them is not looked at.
    pub source_modules: Vec<String>,
    /// The library it moves to.
    pub target: Target,
    /// Other modules that its replacements name, with the alias of each.
    pub imports: BTreeMap<String, Option<String>>,
    /// Its API table.
    pub api: Option<Arc<Table>>,
    /// The table from which kinds of values are inferred, where that is not its API table.
    pub kinds: Option<Arc<Table>>,
    /// Its guards.
    pub guards: Vec<Arc<Guard>>,
    /// Its rules, in the file's order.
    pub rules: Vec<Rule>,
    /// Programs before and after.
    pub examples: Vec<Example>,
    /// The file it came from; for a shipped pass `transforms/<id>.yaml`.
    pub origin: PathBuf,
    /// Its patterns, each with what it does.
    alternatives: Vec<Alternative>,
    index: Index,
}

impl Pass {
    /// The table that tells what calls of the source library yield.
    pub fn knowledge(&self) -> Option<&Arc<Table>> {
        self.kinds.as_ref().or(self.api.as_ref())
    }
}

/// How deep a port reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The source stays; a library is switched on.
    Accelerator,
    /// Calls go to another library.
    Native,
    /// New kernels.
    Kernel,
}

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Equal results, and faster.
    Speed,
    /// Equal results.
    Compatibility,
}

/// The library a pass moves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its module, e.g. `cupy`.
    pub module: String,
    /// The alias for it, e.g. `cp`.
    pub alias: Option<String>,
    /// Requirements, e.g. `cupy>=13`.
    pub requires: Vec<String>,
    /// Where it runs.
    pub device: Device,
}

/// Where the target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// On the host: no GPU is needed to verify.
    Cpu,
    /// On an NVIDIA GPU.
    Cuda,
}

/// Where an array value lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In host memory.
    Host,
    /// In device memory.
    Device,
}

/// How near the result of a rewrite is to the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// The same bits.
    Exact,
    /// The same up to rounding.
    Numeric,
    /// As the workload's contract says.
    Contract,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Unique in its pass.
    pub id: String,
    /// What it does.
    pub action: Action,
    /// Where its result lives, for passes with placement.
    pub place: Option<Place>,
    /// How near its result is to the original's.
    pub safety: Option<Safety>,
    /// Why the match stays, for rules that keep it on the host.
    pub reason: Option<Code>,
    /// For people.
    pub note: Option<String>,
    /// What a rule that advises says; `$X` stands for the matched text.
    pub advice: Option<String>,
    /// The switch, for rules that activate.
    pub activation: Option<Activation>,
}

/// What a rule does with its match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Replaces it.
    Rewrite,
    /// Switches a library on at the entry point.
    Activate,
    /// Explains, edits nothing.
    Advise,
    /// Leaves it, for a reason.
    Keep,
}

/// A program before and after a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What it shows.
    pub title: Option<String>,
    /// The program.
    pub before: String,
    /// What it becomes; `None` where it stays as it is.
    pub after: Option<String>,
    /// The code with which something of it is left alone.
    pub refused: Option<Code>,
    /// The rule that says something about it.
    pub advises: Option<String>,
    /// Where it stands in the file, as bytes.
    pub bytes: std::ops::Range<usize>,
}

/// One match of one rule.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The rule, as an index into the pass's rules.
    pub rule_index: usize,
    /// What matched, in the module's text.
    pub range: TextRange,
    /// The metavariables.
    pub bindings: Vec<(String, Bound<'a>)>,
    /// The full name of the path that each component metavariable was found in.
    pub paths: Vec<(String, String)>,
    /// The replacement, for rewrites.
    pub pieces: Vec<Piece>,
    /// The imports that the replacement needs.
    pub needs: Needs,
}

/// Why nothing of a pass matched at a place, for `gpuport explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The rule, as an index into the pass's rules.
    pub rule_index: usize,
    /// The place.
    pub range: TextRange,
    /// Which condition failed, as a sentence.
    pub message: String,
    /// The reason code that goes with it, where there is one.
    pub code: Option<Code>,
}

#[cfg(test)]
mod tests;
