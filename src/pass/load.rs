//! From a pass file's text to a checked pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::api::Table;
use crate::pattern::Index;
use crate::reasons::Code;

use super::alternatives::{Alternative, is_tie};
use super::errors::{FileError, FileErrors};
use super::library::Library;
use super::located::Located;
use super::schema::{ExampleEntry, PassFile, RuleEntry, SCHEMA};
use super::{Device, Example, Goal, Layer, Pass, Rule, Target};

/// Reads and checks the pass in `text`. `origin` names its file for people.
pub fn load(text: &str, origin: &Path, library: &Library) -> Result<Pass, FileErrors> {
    let file: PassFile = serde_saphyr::from_str(text)
        .map_err(|error| FileErrors::one(origin, text, FileError::from_yaml(&error, text)))?;
    let mut loader =
        Loader { text, library, errors: Vec::new(), rules: Vec::new(), alternatives: Vec::new() };
    let pass = loader.pass(&file, origin);
    if loader.errors.is_empty() { Ok(pass) } else { Err(FileErrors::new(origin, text, loader.errors)) }
}

/// A pass on its way in.
pub(super) struct Loader<'l> {
    pub(super) text: &'l str,
    pub(super) library: &'l Library,
    pub(super) rules: Vec<Rule>,
    pub(super) alternatives: Vec<Alternative>,
    errors: Vec<FileError>,
}

/// What a pass extends contributes, or nothing.
struct Base {
    pass: Option<Arc<Pass>>,
    layer: u32,
}

impl Loader<'_> {
    pub(super) fn error(&mut self, error: FileError) {
        self.errors.push(error);
    }

    fn pass(&mut self, file: &PassFile, origin: &Path) -> Pass {
        self.check_header(file);
        let base = self.base(file);
        for rule in &file.rules {
            self.rule(rule, base.layer);
        }
        self.inherit(file, &base);
        self.check_duplicates(&file.rules);
        self.check_ties(&file.rules);
        let base = base.pass.as_deref();
        let target = target(file, base);
        let source_modules = match (&file.source, base) {
            (Some(source), _) => source.module.all().into_iter().map(|it| it.value).collect(),
            (None, Some(base)) => base.source_modules.clone(),
            (None, None) => Vec::new(),
        };
        let mut imports = base.map(|it| it.imports.clone()).unwrap_or_default();
        imports.extend(file.imports.0.iter().map(|(module, alias)| (module.value.clone(), alias.clone())));
        let examples = file.examples.iter().filter_map(|example| self.example(example)).collect();
        let mut pass = Pass {
            id: file.id.value.clone(),
            extends: file.extends.as_ref().map(|it| it.value.clone()),
            summary: text_or(file.summary.as_ref(), base.map(|it| it.summary.as_str())),
            doc: file.doc.clone().or_else(|| base.map(|it| it.doc.clone())).unwrap_or_default(),
            layer: file.layer.or(base.map(|it| it.layer)).unwrap_or(Layer::Native),
            goal: file.goal.or(base.map(|it| it.goal)).unwrap_or(Goal::Speed),
            source_modules,
            target,
            imports,
            api: self.table(file.api.as_ref()).or_else(|| base.and_then(|it| it.api.clone())),
            kinds: self.table(file.kinds.as_ref()).or_else(|| base.and_then(|it| it.kinds.clone())),
            guards: self.guards(file, base),
            rules: std::mem::take(&mut self.rules),
            examples,
            origin: origin.to_owned(),
            alternatives: std::mem::take(&mut self.alternatives),
            index: Index::default(),
        };
        pass.index = Index::new(pass.alternatives.iter().map(|it| &it.pattern));
        pass
    }

    fn check_header(&mut self, file: &PassFile) {
        if file.schema.value != SCHEMA {
            let message = format!("schema `{}` is not known", file.schema.value);
            self.error(
                FileError::at(file.schema.bytes.clone(), message)
                    .with_hint(format!("write `schema: {SCHEMA}`")),
            );
        }
        let is_id = |id: &str| {
            !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        for id in [&file.id].into_iter().chain(file.rules.iter().map(|rule| &rule.value.id)) {
            if !is_id(&id.value) {
                let message =
                    format!("`{}` is no id: lower-case letters, digits and hyphens make one", id.value);
                self.error(FileError::at(id.bytes.clone(), message));
            }
        }
        if file.extends.is_some() {
            return;
        }
        let header = [
            ("summary", file.summary.is_some()),
            ("layer", file.layer.is_some()),
            ("goal", file.goal.is_some()),
            ("source", file.source.is_some()),
            ("target", file.target.is_some()),
        ];
        for (key, _) in header.iter().filter(|(_, given)| !given) {
            let message = format!("`{key}` is missing");
            self.error(
                FileError::at(file.id.bytes.clone(), message)
                    .with_hint("only a pass that `extends` another may leave it out"),
            );
        }
        if let Some(first) = file.disable.first() {
            self.error(
                FileError::at(first.bytes.clone(), "there is nothing to disable")
                    .with_hint("`disable` takes rules away from the pass named by `extends`"),
            );
        }
    }

    fn base(&mut self, file: &PassFile) -> Base {
        let Some(extends) = &file.extends else { return Base { pass: None, layer: 0 } };
        if let Some(pass) = self.library.pass(&extends.value) {
            let layer = pass.alternatives.iter().map(|it| it.rank.layer).max().unwrap_or(0) + 1;
            Base { pass: Some(pass), layer }
        } else {
            let message = format!("there is no pass `{}` to extend", extends.value);
            self.error(FileError::at(extends.bytes.clone(), message));
            Base { pass: None, layer: 0 }
        }
    }

    /// Adds the rules of the pass that this one extends, without those it disables or replaces.
    fn inherit(&mut self, file: &PassFile, base: &Base) {
        let Some(pass) = &base.pass else { return };
        for id in &file.disable {
            if !pass.rules.iter().any(|rule| rule.id == id.value) {
                let message = format!("`{}` has no rule `{}`", pass.id, id.value);
                self.error(FileError::at(id.bytes.clone(), message));
            }
        }
        let own: BTreeSet<&str> = file
            .rules
            .iter()
            .map(|rule| &rule.value.id)
            .chain(&file.disable)
            .map(|id| id.value.as_str())
            .collect();
        let mut places = BTreeMap::new();
        for (i, rule) in pass.rules.iter().enumerate() {
            if !own.contains(rule.id.as_str()) {
                places.insert(i, self.rules.len());
                self.rules.push(rule.clone());
            }
        }
        for alternative in &pass.alternatives {
            if let Some(rule_index) = places.get(&alternative.rule_index) {
                self.alternatives.push(Alternative { rule_index: *rule_index, ..alternative.clone() });
            }
        }
    }

    fn check_duplicates(&mut self, rules: &[Located<RuleEntry>]) {
        let mut seen = BTreeSet::new();
        for rule in rules {
            if !seen.insert(&rule.value.id.value) {
                let message = format!("a second rule `{}`", rule.value.id.value);
                self.error(FileError::at(rule.value.id.bytes.clone(), message));
            }
        }
    }

    fn check_ties(&mut self, rules: &[Located<RuleEntry>]) {
        let mut told = BTreeSet::new();
        let mut errors = Vec::new();
        for (i, left) in self.alternatives.iter().enumerate() {
            for right in &self.alternatives[i + 1..] {
                let pair = (left.rule_index, right.rule_index);
                if is_tie(left, right) && told.insert(pair) {
                    let message = format!(
                        "`{}` and `{}` can match the same code, and neither is more special",
                        self.rules[left.rule_index].id, self.rules[right.rule_index].id
                    );
                    let bytes = rules.get(right.rule_index).map_or(0..0, |rule| rule.value.id.bytes.clone());
                    errors.push(FileError::at(bytes, message).with_hint(
                        "the rule with more literal nodes wins, then the one with more conditions: add a condition to one",
                    ));
                }
            }
        }
        self.errors.extend(errors);
    }

    fn table(&mut self, name: Option<&Located<String>>) -> Option<Arc<Table>> {
        let name = name?;
        match self.library.table(&name.value) {
            Ok(table) => Some(table),
            Err(message) => {
                self.error(FileError::at(name.bytes.clone(), message));
                None
            }
        }
    }

    fn guards(&mut self, file: &PassFile, base: Option<&Pass>) -> Vec<Arc<super::Guard>> {
        let mut guards = base.map(|it| it.guards.clone()).unwrap_or_default();
        for name in &file.guards {
            if let Some(guard) = self.library.guard(&name.value) {
                guards.push(guard);
            } else {
                let message = format!("there is no guard `{}` in patterns/guards.yaml", name.value);
                self.error(FileError::at(name.bytes.clone(), message));
            }
        }
        guards
    }

    pub(super) fn code(&mut self, code: &Located<String>) -> Code {
        if !self.library.knows_reason(&code.value) {
            let message = format!("`{}` is not in patterns/reasons.yaml", code.value);
            self.error(FileError::at(code.bytes.clone(), message));
        }
        Code::from_text(&code.value)
    }

    fn example(&mut self, entry: &Located<ExampleEntry>) -> Option<Example> {
        let example = &entry.value;
        if let Some(rule) = &example.advises
            && !self.rules.iter().any(|it| it.id == rule.value)
        {
            self.error(FileError::at(rule.bytes.clone(), format!("there is no rule `{}`", rule.value)));
            return None;
        }
        let refused = example.refused.as_ref().map(|code| self.code(code));
        Some(Example {
            title: example.title.clone(),
            before: example.before.value.clone(),
            after: example.after.as_ref().map(|it| it.value.clone()),
            refused,
            advises: example.advises.as_ref().map(|it| it.value.clone()),
            bytes: example.before.bytes.clone(),
        })
    }
}

fn text_or(own: Option<&Located<String>>, base: Option<&str>) -> String {
    own.map_or_else(|| base.unwrap_or_default().to_owned(), |it| it.value.clone())
}

fn target(file: &PassFile, base: Option<&Pass>) -> Target {
    let Some(target) = &file.target else {
        return base.map_or(
            Target { module: String::new(), alias: None, requires: Vec::new(), device: Device::Cpu },
            |base| base.target.clone(),
        );
    };
    Target {
        module: target.module.value.clone(),
        alias: target.alias.as_ref().map(|alias| alias.value.clone()),
        requires: target.requires.as_ref().map(|it| it.value.values()).unwrap_or_default(),
        device: target.device,
    }
}
