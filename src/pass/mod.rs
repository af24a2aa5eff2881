//! Passes: the YAML rule files, loaded with positions in every error, checked, and matched against modules.

mod activation;
mod guard;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ruff_text_size::TextRange;

use crate::api::Table;
use crate::kinds::Facts;
use crate::names::Names;
use crate::pattern::{Bound, Piece};
use crate::reasons::Code;
use crate::source::Module;

pub use activation::{ActivateSpec, Activation};
pub use guard::{Condition, Effect, Guard, GuardError, GuardSpec, GuardsSpec, NameListSpec, NameLists};

/// A loaded and checked pass.
#[derive(Debug, Clone)]
pub struct Pass {
    /// Its name, the file's stem.
    pub id: String,
    /// One line.
    pub summary: String,
    /// How deep its ports reach.
    pub layer: Layer,
    /// Whether its result must also be faster.
    pub goal: Goal,
    /// The libraries it moves away from, e.g. `numpy`: a module that mentions none of them is not looked at.
    pub source_modules: Vec<String>,
    /// The library it moves to.
    pub target: Target,
    /// Its API table.
    pub api: Option<Arc<Table>>,
    /// Its rules, in the file's order.
    pub rules: Vec<Rule>,
    /// The file it came from; for a shipped pass `transforms/<id>.yaml`.
    pub origin: PathBuf,
}

/// How deep a port reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The source stays; a library is switched on.
    Accelerator,
    /// Calls go to another library.
    Native,
    /// New kernels.
    Kernel,
}

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// On the host: no GPU is needed to verify.
    Cpu,
    /// On an NVIDIA GPU.
    Cuda,
}

/// Where an array value lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In host memory.
    Host,
    /// In device memory.
    Device,
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
    /// Why the match stays, for rules that keep it on the host.
    pub reason: Option<Code>,
    /// For people.
    pub note: Option<String>,
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
    /// Leaves the whole unit alone.
    Guard,
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
    /// The replacement, for rewrites.
    pub pieces: Vec<Piece>,
    /// Modules the replacement needs imported: `(module, alias)`.
    pub needs: BTreeSet<(String, Option<String>)>,
}

/// Why nothing of a pass matched at a place, for `gpuport explain`.
#[derive(Debug, Clone)]
pub struct NearMiss {
    /// The rule, as an index into the pass's rules.
    pub rule_index: usize,
    /// The place.
    pub range: TextRange,
    /// Which condition failed, as a sentence.
    pub message: String,
    /// The reason code that goes with it.
    pub code: Code,
}

/// All matches of `pass` in `module`, in source order; of two that match the same node, the one with precedence.
/// A match may lie inside a metavariable of another.
pub fn find<'a>(
    _pass: &Pass,
    _module: &'a Module,
    _names: &Names,
    _facts: &dyn Facts,
) -> (Vec<Match<'a>>, Vec<NearMiss>) {
    (Vec::new(), Vec::new())
}
