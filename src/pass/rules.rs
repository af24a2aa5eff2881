//! Checking the rules of a pass file, with the place of every mistake, also inside patterns.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::names::is_builtin;
use crate::pattern::{Pattern, PatternError, Template};

use super::activation::Activation;
use super::alternatives::{Alternative, Rank};
use super::condition::Usage;
use super::errors::FileError;
use super::holds::{self, Test};
use super::load::Loader;
use super::located::{Located, offset_in_file};
use super::schema::RuleEntry;
use super::{Action, Rule};

impl Loader<'_> {
    /// Checks one rule and adds it.
    pub(super) fn rule(&mut self, entry: &Located<RuleEntry>, layer: u32) {
        let rule = &entry.value;
        let Some(action) = self.action(rule) else { return };
        let reason = rule.reason.as_ref().map(|code| self.code(code));
        let activation = rule.activate.as_ref().and_then(|it| self.activation(it));
        let rule_index = self.rules.len();
        self.rules.push(Rule {
            id: rule.id.value.clone(),
            action,
            place: rule.place,
            safety: rule.safety,
            reason,
            note: rule.note.clone(),
            advice: rule.advise.as_ref().map(|it| it.value.clone()),
            activation,
        });
        let tests = match rule.condition.as_ref().map(|it| holds::compile(it, &self.library.lists)) {
            Some(Ok(tests)) => tests,
            Some(Err((message, bytes))) => {
                self.error(FileError::at(bytes.unwrap_or_else(|| rule.id.bytes.clone()), message));
                return;
            }
            None => Vec::new(),
        };
        let conditions = tests.iter().map(Test::count).sum();
        let matched: Vec<(Located<String>, Option<Located<String>>)> = match &rule.pattern {
            Some(patterns) => patterns.all().into_iter().map(|it| (it, rule.rewrite.clone())).collect(),
            None => rule.rename.0.iter().map(|(from, to)| (from.clone(), Some(to.clone()))).collect(),
        };
        for (pattern_text, rewrite) in matched {
            let Some(pattern) = self.pattern(&pattern_text) else { continue };
            self.check_conditions(rule, &pattern);
            let template = rewrite.as_ref().and_then(|it| self.template(it, &pattern));
            if let (Some(template), Some(rewrite)) = (&template, &rewrite) {
                self.check_template(template, &pattern, &tests, rewrite);
            }
            let rank = Rank { layer, weight: pattern.weight(), conditions };
            self.alternatives.push(Alternative {
                rule_index,
                text: pattern_text.value,
                rewrite: rewrite.map(|it| it.value),
                pattern,
                template,
                tests: tests.clone(),
                rank,
            });
        }
    }

    /// What the rule does; it must do one thing.
    fn action(&mut self, rule: &RuleEntry) -> Option<Action> {
        let given = [
            (rule.rewrite.is_some(), Action::Rewrite),
            (!rule.rename.0.is_empty(), Action::Rewrite),
            (rule.activate.is_some(), Action::Activate),
            (rule.advise.is_some(), Action::Advise),
        ];
        let actions: Vec<Action> =
            given.into_iter().filter(|(given, _)| *given).map(|(_, action)| action).collect();
        let needs_match = rule.rename.0.is_empty() && rule.activate.is_none();
        let problem = match actions.as_slice() {
            [] if rule.reason.is_none() && rule.place.is_none() => Some(
                "the rule does nothing: it needs `rewrite`, `rename`, `activate`, `advise`, `place` or a `reason`",
            ),
            [_, _, ..] => Some("a rule does one thing: `rewrite`, `rename`, `activate` or `advise`"),
            _ if needs_match && rule.pattern.is_none() => Some("the rule has no `match`"),
            _ if !needs_match && rule.pattern.is_some() => {
                Some("`match` doesn't go with `rename` or `activate`")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.error(FileError::at(rule.id.bytes.clone(), problem));
            return None;
        }
        Some(actions.first().copied().unwrap_or(Action::Keep))
    }

    fn activation(&mut self, entry: &Located<super::ActivateSpec>) -> Option<Activation> {
        let spec = &entry.value;
        let mut quiet = BTreeSet::new();
        for list in &spec.quiet {
            if let Some(names) = self.library.lists.get(list) {
                quiet.extend(names.iter().cloned());
            } else {
                let message = format!("there is no name list `{list}` in patterns/");
                self.error(FileError::at(entry.bytes.clone(), message));
            }
        }
        let mut behind = Vec::new();
        for pass in &spec.after {
            if let Some(module) = self.library.switch_of(pass) {
                behind.push(module);
            } else {
                let message = format!("there is no pass `{pass}` that activates anything");
                self.error(FileError::at(entry.bytes.clone(), message));
            }
        }
        match Activation::new(spec, quiet, behind) {
            Ok(activation) => Some(activation),
            Err(message) => {
                self.error(FileError::at(entry.bytes.clone(), format!("`statement`: {message}")));
                None
            }
        }
    }

    fn pattern(&mut self, text: &Located<String>) -> Option<Pattern> {
        match Pattern::parse(&text.value) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.pattern_error(text, &error);
                None
            }
        }
    }

    fn template(&mut self, text: &Located<String>, pattern: &Pattern) -> Option<Template> {
        match Template::parse(&text.value, pattern) {
            Ok(template) => Some(template),
            Err(error) => {
                self.pattern_error(text, &error);
                None
            }
        }
    }

    fn pattern_error(&mut self, text: &Located<String>, error: &PatternError) {
        let at = |offset: u32| offset_in_file(self.text, &text.bytes, &text.value, offset as usize);
        let start = at(error.range.start().into());
        let bytes: Range<usize> = start..at(error.range.end().into()).max(start);
        self.error(FileError::at(bytes, error.problem.to_string()));
    }

    fn check_conditions(&mut self, rule: &RuleEntry, pattern: &Pattern) {
        let Some(condition) = &rule.condition else { return };
        for name in condition.names() {
            if pattern.role(&name.value).is_none() {
                let message = format!("`${}` is not bound by the pattern", name.value);
                self.error(FileError::at(name.bytes.clone(), message));
            }
        }
    }

    fn check_template(
        &mut self,
        template: &Template,
        pattern: &Pattern,
        tests: &[Test],
        rewrite: &Located<String>,
    ) {
        let statement = tests.iter().find_map(Test::usage) == Some(Usage::Statement);
        if template.is_statements() && !pattern.is_statements() && !statement {
            let message = "an expression can't become a statement";
            self.error(
                FileError::at(rewrite.bytes.clone(), message)
                    .with_hint("with `where: {as: statement}` the rule matches only whole statements"),
            );
        }
        for (path, whole) in template.paths() {
            if whole && !path.contains('.') && !is_builtin(&path) {
                let message = format!("`{path}` is neither a builtin nor a dotted path of a module");
                self.error(FileError::at(rewrite.bytes.clone(), message));
            }
        }
    }
}
