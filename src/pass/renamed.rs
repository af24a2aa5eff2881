//! Names that a module imports and hands on: where a pass gives them another name, the import clause follows and keeps
//! the name it binds.

use ruff_text_size::TextRange;

use super::condition::Usage;
use super::holds::Circumstances;
use super::imports::Need;
use super::{Match, Pass};
use crate::kinds::NoFacts;
use crate::names::{ImportBinding, ImportTime, Names, Resolution};
use crate::source::Module;

/// A clause of a `from` statement that imports what has another name now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedImport {
    /// The rule, as an index into the pass's rules.
    pub rule_index: usize,
    /// The clause.
    pub clause: TextRange,
    /// What it must import where it stays.
    pub need: Need,
    /// True where `matches` leave no use of the name.
    pub is_consumed: bool,
}

/// The clauses of `module` that import what `pass` renames. `matches` are those found in the module.
pub fn renamed_imports(
    pass: &Pass,
    module: &Module,
    names: &Names,
    matches: &[Match<'_>],
) -> Vec<RenamedImport> {
    let candidates = names.imports().iter().filter(|import| {
        let runs = matches!(import.when, ImportTime::Top | ImportTime::Deferred);
        let own = matches!(names.meaning_of(import), Some(Resolution::Qualified(path)) if *path == import.qualified);
        runs && own && !import.is_star() && module.slice(import.statement).starts_with("from")
    });
    let removed: Vec<TextRange> = matches.iter().flat_map(Match::removed).collect();
    candidates
        .filter_map(|import| {
            let (rule_index, path) = successor(pass, names, import)?;
            let (module, name) = path.rsplit_once('.')?;
            let need =
                Need::Renamed { clause: import.clause, module: module.to_owned(), name: name.to_owned() };
            let reads = names.reads_of(import);
            let lost = reads.iter().filter(|read| removed.iter().any(|it| it.contains_range(**read))).count();
            let is_consumed = lost > 0 && lost == names.uses_of(import);
            Some(RenamedImport { rule_index, clause: import.clause, need, is_consumed })
        })
        .collect()
}

/// The rule that renames what `import` imports, and the new path.
fn successor(pass: &Pass, names: &Names, import: &ImportBinding) -> Option<(usize, String)> {
    let mut candidates: Vec<_> = pass
        .alternatives
        .iter()
        .filter(|it| it.template.as_ref().is_some_and(crate::pattern::Template::is_path))
        .collect();
    candidates.sort_by_key(|it| std::cmp::Reverse(it.rank));
    candidates.into_iter().find_map(|alternative| {
        let captures = alternative.pattern.match_path(&import.qualified)?;
        let at = Circumstances {
            names,
            facts: &NoFacts,
            table: pass.api.as_deref(),
            captures: &captures,
            range: import.clause,
            usage: Usage::Expression,
            loop_around: None,
        };
        if !alternative.tests.iter().all(|test| test.holds(&at)) {
            return None;
        }
        let path = alternative.template.as_ref()?.path_with(&captures)?;
        (path != import.qualified).then_some((alternative.rule_index, path))
    })
}
