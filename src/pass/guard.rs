//! Guards: named conditions on a whole unit, from `patterns/guards.yaml`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use crate::pattern::{Pattern, PatternError};
use crate::reasons::Code;

/// `patterns/guards.yaml`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GuardsSpec {
    /// `gpuport/guards/1`.
    pub schema: String,
    /// The guards.
    pub guards: Vec<GuardSpec>,
}

/// One guard as the file has it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GuardSpec {
    /// The name that passes know it by.
    pub id: String,
    /// One line.
    pub summary: String,
    /// What it does where it speaks.
    pub effect: Effect,
    /// The reason code.
    pub reason: String,
    /// What it says at each place, without a full stop. `{name}` is what was found there.
    pub message: String,
    /// Its conditions; each speaks for itself.
    pub any: Vec<ConditionSpec>,
}

/// What a guard does where it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// The pass leaves the whole unit alone.
    Refuse,
    /// The pass goes on, and the report says it.
    Advise,
}

/// One condition as the file has it: exactly one of its keys besides `except` and `unless`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct ConditionSpec {
    /// The unit imports one of these modules, or something inside them.
    pub imports: Vec<String>,
    /// With `imports`: modules that don't count.
    pub except: Vec<String>,
    /// A class derives from one of these classes.
    pub subclass_of: Option<NamesSpec>,
    /// The unit names one of these, or something inside them.
    pub uses: Option<NamesSpec>,
    /// The unit names none of these.
    pub uses_none_of: Option<NamesSpec>,
    /// An expression matches one of these patterns.
    #[serde(rename = "match")]
    pub patterns: Vec<String>,
    /// With `match`: patterns of the same expression that don't count.
    pub unless: Vec<String>,
}

/// Full names, given here or in a name list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NamesSpec {
    /// These.
    Here(Vec<String>),
    /// Those of `patterns/<names>.yaml`.
    List {
        /// The list's id.
        names: String,
    },
}

/// A file of names in `patterns/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameListSpec {
    /// `gpuport/names/1`.
    pub schema: String,
    /// The file's stem.
    pub id: String,
    /// One line.
    pub summary: String,
    /// Full names.
    pub names: BTreeSet<String>,
}

/// The name lists by id.
pub type NameLists = BTreeMap<String, BTreeSet<String>>;

/// A checked guard.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The name that passes know it by.
    pub id: String,
    /// One line.
    pub summary: String,
    /// What it does where it speaks.
    pub effect: Effect,
    /// The reason code.
    pub code: Code,
    /// What it says; `{name}` is what was found.
    pub message: String,
    /// Its conditions; each speaks for itself.
    pub conditions: Vec<Condition>,
}

/// A checked condition.
#[derive(Debug, Clone)]
pub enum Condition {
    /// An import of one of these, and of none of those.
    Imports {
        /// Modules, with everything inside them.
        modules: Vec<String>,
        /// Modules inside them that don't count.
        except: Vec<String>,
    },
    /// A class that derives from one of these.
    SubclassOf(BTreeSet<String>),
    /// A mention of one of these, or of something inside them.
    Uses(BTreeSet<String>),
    /// No mention of any of these.
    UsesNoneOf(BTreeSet<String>),
    /// An expression that matches one of the patterns.
    Match {
        /// The patterns.
        patterns: Vec<Pattern>,
        /// Patterns of the same expression that don't count.
        unless: Vec<Pattern>,
    },
}

/// Why a guard can't be used.
#[derive(Debug, Clone, Error)]
pub enum GuardError {
    /// It names a list that is not there.
    #[error("guard `{guard}`: there is no name list `{list}` in patterns/")]
    UnknownList {
        /// The guard.
        guard: String,
        /// The list.
        list: String,
    },
    /// A condition asks for nothing, or for two things.
    #[error(
        "guard `{guard}`: a condition has exactly one of `imports`, `subclass-of`, `uses`, `uses-none-of` and `match`"
    )]
    NotOneKey {
        /// The guard.
        guard: String,
    },
    /// A pattern is wrong.
    #[error("guard `{guard}`: `{pattern}`: {error}")]
    Pattern {
        /// The guard.
        guard: String,
        /// The pattern's text.
        pattern: String,
        /// What is wrong with it.
        error: PatternError,
    },
}

impl Guard {
    /// Checks `spec` against the name lists.
    pub fn new(spec: GuardSpec, lists: &NameLists) -> Result<Self, GuardError> {
        let conditions = spec
            .any
            .into_iter()
            .map(|condition| Condition::new(&spec.id, condition, lists))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            id: spec.id,
            summary: spec.summary,
            effect: spec.effect,
            code: Code::from_text(&spec.reason),
            message: spec.message,
            conditions,
        })
    }
}

impl Condition {
    fn new(guard: &str, spec: ConditionSpec, lists: &NameLists) -> Result<Self, GuardError> {
        let not_one_key = || GuardError::NotOneKey { guard: guard.to_owned() };
        let ConditionSpec { imports, except, subclass_of, uses, uses_none_of, patterns, unless } = spec;
        let keys = [
            !imports.is_empty(),
            subclass_of.is_some(),
            uses.is_some(),
            uses_none_of.is_some(),
            !patterns.is_empty(),
        ];
        let astray =
            (imports.is_empty() && !except.is_empty()) || (patterns.is_empty() && !unless.is_empty());
        if keys.into_iter().filter(|given| *given).count() != 1 || astray {
            return Err(not_one_key());
        }
        let named = |names| named(guard, names, lists);
        match (subclass_of, uses, uses_none_of) {
            (Some(list), ..) => named(list).map(Self::SubclassOf),
            (_, Some(list), _) => named(list).map(Self::Uses),
            (.., Some(list)) => named(list).map(Self::UsesNoneOf),
            _ if patterns.is_empty() => Ok(Self::Imports { modules: imports, except }),
            _ => Ok(Self::Match { patterns: parsed(guard, patterns)?, unless: parsed(guard, unless)? }),
        }
    }
}

fn named(guard: &str, names: NamesSpec, lists: &NameLists) -> Result<BTreeSet<String>, GuardError> {
    match names {
        NamesSpec::Here(names) => Ok(names.into_iter().collect()),
        NamesSpec::List { names } => lists
            .get(&names)
            .cloned()
            .ok_or_else(|| GuardError::UnknownList { guard: guard.to_owned(), list: names }),
    }
}

fn parsed(guard: &str, patterns: Vec<String>) -> Result<Vec<Pattern>, GuardError> {
    let parse = |pattern: String| {
        Pattern::parse(&pattern).map_err(|error| GuardError::Pattern {
            guard: guard.to_owned(),
            pattern,
            error,
        })
    };
    patterns.into_iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: &str) -> Result<Guard, String> {
        let text = format!(
            "id: g\nsummary: s\neffect: refuse\nreason: GP401\nmessage: m\nany:\n  - {{{condition}}}\n"
        );
        let spec: GuardSpec = serde_saphyr::from_str(&text).map_err(|error| error.to_string())?;
        let lists = NameLists::from([("known".to_owned(), BTreeSet::from(["a.b".to_owned()]))]);
        Guard::new(spec, &lists).map_err(|error| error.to_string())
    }

    #[test]
    fn a_condition_has_one_key() {
        for good in [
            "imports: [torch]",
            "imports: [cudf], except: [cudf.pandas]",
            "subclass-of: [pandas.DataFrame]",
            "uses: {names: known}",
            "uses-none-of: {names: known}",
            "match: [joblib.Parallel($$$)], unless: ['$_($$$, n_jobs=1)']",
        ] {
            assert!(check(good).is_ok(), "{good}: {:?}", check(good));
        }
        for wrong in [
            "imports: []",
            "imports: [torch], uses: [os.fork]",
            "uses: [os.fork], except: [os]",
            "imports: [torch], unless: [x.y]",
            "except: [torch]",
        ] {
            assert!(check(wrong).unwrap_err().contains("exactly one"), "{wrong}");
        }
    }

    #[test]
    fn mistakes_name_the_guard() {
        for (wrong, message) in [
            ("uses: {names: nothing}", "guard `g`: there is no name list `nothing`"),
            ("match: [f($X]", "guard `g`: `f($X`"),
            ("importz: [torch]", "unknown field `importz`"),
        ] {
            let error = check(wrong).unwrap_err();
            assert!(error.contains(message), "{wrong}: {error}");
        }
    }
}
