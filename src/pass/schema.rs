//! The YAML of a pass file: one documented structure for each object a pass author writes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::activation::ActivateSpec;
use super::condition::Where;
use super::located::{Located, OneOrMany};
use super::named::NamedMap;
use super::{Device, Goal, Layer, Place, Safety};

/// The schema that this version reads.
pub(super) const SCHEMA: &str = "gpuport/pass/1";

/// A pass: rules that move programs from one library to another, with their documentation and examples.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PassFile {
    /// Always `gpuport/pass/1`.
    pub schema: Located<String>,
    /// The pass's name, in lower case with hyphens. A shipped pass is called as its file.
    pub id: Located<String>,
    /// A pass whose rules this one adds to. Its own rules come before those; `disable` and a rule of the same id take
    /// rules away. What the header leaves out is as in that pass.
    pub extends: Option<Located<String>>,
    /// What the pass does, in one line without a full stop.
    pub summary: Option<Located<String>>,
    /// What a user should know about it: what changes, what is left alone, and why. Markdown.
    pub doc: Option<String>,
    /// How deep the port reaches: the smallest layer that pays wins.
    pub layer: Option<Layer>,
    /// What a port must show to be accepted.
    pub goal: Option<Goal>,
    /// The library that programs use.
    pub source: Option<SourceEntry>,
    /// The library they move to.
    pub target: Option<TargetEntry>,
    /// Other modules that replacements name, and the alias under which each is imported; `null` for none.
    #[serde(default)]
    pub imports: NamedMap<Option<String>>,
    /// The API table in `patterns/` that says what the target has.
    pub api: Option<Located<String>>,
    /// The table from which the kinds of values are inferred, where that is not `api`.
    pub kinds: Option<Located<String>>,
    /// Guards of `patterns/guards.yaml` under which a whole unit is left alone.
    #[serde(default)]
    pub guards: Vec<Located<String>>,
    /// What is matched, and what becomes of it.
    #[serde(default)]
    pub rules: Vec<Located<RuleEntry>>,
    /// Programs before and after: they are the pass's tests and part of its manual page.
    #[serde(default)]
    pub examples: Vec<Located<ExampleEntry>>,
    /// Rules to leave out: ids of rules of the pass that this one extends.
    #[serde(default)]
    pub disable: Vec<Located<String>>,
}

/// The library that programs use.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Its module, or several: `numpy`, `[scipy, numpy]`. A file that mentions none of them is not looked at.
    pub module: Located<OneOrMany<String>>,
}

/// The library that programs move to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetEntry {
    /// Its module: `cupy`.
    pub module: Located<String>,
    /// The alias under which it is imported: `cp`. Taken names are avoided.
    pub alias: Option<Located<String>>,
    /// What must be installed, as requirements: `cupy>=13`.
    pub requires: Option<Located<OneOrMany<String>>>,
    /// Where it runs.
    pub device: Device,
}

/// One rule: what it matches and what becomes of it. It does exactly one of `rewrite`, `rename`, `activate`, `advise`,
/// or keeps its match as it is, for a `reason`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleEntry {
    /// The rule's name, unique in its pass.
    pub id: Located<String>,
    /// The pattern, or several of which any may match: Python with metavariables. `$X` is one expression, `$_` anything,
    /// `$X?` an argument that may be left out, `$$$ARGS` any number of arguments or statements, `numpy.$F` a component
    /// of a path. Paths match whatever resolves to them.
    #[serde(rename = "match")]
    pub pattern: Option<Located<OneOrMany<String>>>,
    /// Names and their successors: `numpy.float_: numpy.float64`. Short for a rule for each.
    #[serde(default)]
    pub rename: NamedMap<Located<String>>,
    /// Conditions on the match.
    #[serde(rename = "where")]
    pub condition: Option<Where>,
    /// What the match becomes: Python with the pattern's metavariables.
    pub rewrite: Option<Located<String>>,
    /// A switch to set at the program's entry points.
    pub activate: Option<Located<ActivateSpec>>,
    /// What to tell people about the match. `$X` stands for the matched text.
    pub advise: Option<Located<String>>,
    /// Where the value of the match lives.
    pub place: Option<Place>,
    /// How near the result is to the original's.
    pub safety: Option<Safety>,
    /// Why the match stays as it is: a code of `patterns/reasons.yaml`.
    pub reason: Option<Located<String>>,
    /// What a reader of the rule should know.
    pub note: Option<String>,
}

/// A program before and after the pass.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExampleEntry {
    /// What it shows, in one line.
    pub title: Option<String>,
    /// The program.
    pub before: Located<String>,
    /// What it becomes. Without it, the program must stay as it is.
    pub after: Option<Located<String>>,
    /// The code with which something of it is left alone.
    pub refused: Option<Located<String>>,
    /// The rule that says something about it.
    pub advises: Option<Located<String>>,
}

/// An entry of `patterns/reasons.yaml`, of which only the code matters here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ReasonEntry {
    /// The code: `GP204`.
    pub(super) code: String,
}
