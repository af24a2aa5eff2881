//! Planning passes without placement: every match is rewritten where it stands, and imports follow.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::kinds::Facts;
use crate::names::Names;
use crate::pass::{Action, Aliases, FindOptions, Match, NearMiss, Pass, edits_of, find_with};
use crate::pattern::Bound;
use crate::reasons::Refusal;
use crate::source::{Edits, Module};

use super::{Advice, Change, ChangeId, Pinned, Plan};

/// A module to plan for.
#[derive(Clone, Copy)]
pub struct File<'f> {
    /// The module.
    pub module: &'f Module,
    /// What its names mean.
    pub names: &'f Names,
    /// What is known of its values.
    pub facts: &'f dyn Facts,
}

/// Plans `pass` for `files`, the modules of a unit. Changes in `pinned` are left out, and imports are those that the
/// others need.
pub fn plan(pass: &Pass, files: &[File<'_>], pinned: &Pinned) -> Plan {
    let concerned: Vec<&File<'_>> = files.iter().filter(|file| pass.concerns(file.names)).collect();
    let aliases = Aliases::choose(pass, concerned.iter().map(|file| file.names));
    let mut plan = Plan::default();
    for file in concerned {
        plan_file(pass, *file, &aliases, pinned, &mut plan);
    }
    plan.left.sort();
    plan.advice.sort();
    plan
}

fn plan_file(pass: &Pass, file: File<'_>, aliases: &Aliases, pinned: &Pinned, plan: &mut Plan) {
    let options = FindOptions { aliases: Some(aliases), explain: false };
    let (matches, misses) = find_with(pass, file.module, file.names, file.facts, options);
    let regions = regions(file.module.body());
    let mut by_region: BTreeMap<usize, Vec<&Match<'_>>> = BTreeMap::new();
    for matched in &matches {
        let rule = &pass.rules[matched.rule_index];
        match rule.action {
            Action::Rewrite => {
                by_region.entry(region_at(&regions, matched.range.start())).or_default().push(matched);
            }
            Action::Advise => plan.advice.push(advice(pass, file, matched)),
            Action::Keep => plan.left.extend(kept(pass, file, matched)),
            Action::Activate => {}
        }
    }
    plan.left.extend(misses.iter().filter_map(|miss| refused(pass, file, miss)));
    let mut chosen: Vec<&Match<'_>> = Vec::new();
    for (region, matches) in by_region {
        let change = change(pass, file, regions.get(region), &matches);
        if !pinned.contains(&change.id) {
            chosen.extend(matches);
            plan.changes.push(change);
        }
    }
    if !chosen.is_empty() {
        let edits = edits_of(file.module, file.names, &chosen).expect("find refuses what can't be edited");
        check_parses(file.module, &edits);
        if !edits.is_empty() {
            plan.edits.insert(file.module.file.path.clone(), edits);
        }
    }
}

/// A candidate that doesn't parse is a mistake of gpuport's own, and nothing may come of it.
pub(super) fn check_parses(module: &Module, edits: &Edits) {
    if let Err(error) = module.parses(&edits.apply(module.text())) {
        panic!("{}: the rewritten file does not parse: {error}", module.file.path.display());
    }
}

/// A function, or a method with its class's name.
struct Region {
    name: String,
    range: TextRange,
}

/// The functions and methods of a module's top level, in source order.
fn regions(body: &[Stmt]) -> Vec<Region> {
    let mut regions = Vec::new();
    gather(body, "", &mut regions);
    regions
}

fn gather(body: &[Stmt], class: &str, regions: &mut Vec<Region>) {
    for statement in body {
        match statement {
            Stmt::FunctionDef(function) => {
                regions.push(Region { name: format!("{class}{}", function.name), range: function.range });
            }
            Stmt::ClassDef(it) => gather(&it.body, &format!("{class}{}.", it.name), regions),
            Stmt::If(it) => {
                gather(&it.body, class, regions);
                it.elif_else_clauses.iter().for_each(|clause| gather(&clause.body, class, regions));
            }
            Stmt::Try(it) => {
                gather(&it.body, class, regions);
                gather(&it.orelse, class, regions);
                gather(&it.finalbody, class, regions);
            }
            Stmt::With(it) => gather(&it.body, class, regions),
            _ => {}
        }
    }
}

/// The region that `offset` lies in, as an index; `usize::MAX` for the module's own level.
fn region_at(regions: &[Region], offset: TextSize) -> usize {
    regions.iter().position(|region| region.range.contains(offset)).unwrap_or(usize::MAX)
}

fn change(pass: &Pass, file: File<'_>, region: Option<&Region>, matches: &[&Match<'_>]) -> Change {
    let path = &file.module.file.path;
    let rules: BTreeSet<&str> = matches.iter().map(|it| pass.rules[it.rule_index].id.as_str()).collect();
    let range = region.map_or_else(|| spanned(matches), |region| region.range);
    let (name, what) = match region {
        Some(region) => (region.name.clone(), format!("function {}", region.name)),
        None => ("<module>".to_owned(), "module level".to_owned()),
    };
    let place = file.module.place(range.start());
    let last = file.module.place(range.end());
    Change {
        id: ChangeId(format!("{}:{}:{name}", pass.id, path.display())),
        pass: pass.id.clone(),
        lines: (place.line_number, last.line_number),
        place,
        what,
        rules: rules.into_iter().map(str::to_owned).collect(),
    }
}

fn spanned(matches: &[&Match<'_>]) -> TextRange {
    let start = matches.iter().map(|it| it.range.start()).min().unwrap_or_default();
    let end = matches.iter().map(|it| it.range.end()).max().unwrap_or_default();
    TextRange::new(start, end)
}

fn kept(pass: &Pass, file: File<'_>, matched: &Match<'_>) -> Option<Refusal> {
    let rule = &pass.rules[matched.rule_index];
    let code = rule.reason.clone()?;
    let message = rule.note.clone().unwrap_or_else(|| format!("`{}` stays", head_line(file, matched.range)));
    Some(Refusal {
        place: file.module.place(matched.range.start()),
        code,
        message,
        pass: Some(pass.id.clone()),
    })
}

fn refused(pass: &Pass, file: File<'_>, miss: &NearMiss) -> Option<Refusal> {
    Some(Refusal {
        place: file.module.place(miss.range.start()),
        code: miss.code.clone()?,
        message: miss.message.clone(),
        pass: Some(pass.id.clone()),
    })
}

fn advice(pass: &Pass, file: File<'_>, matched: &Match<'_>) -> Advice {
    let rule = &pass.rules[matched.rule_index];
    let text = rule.advice.clone().unwrap_or_default();
    Advice {
        place: file.module.place(matched.range.start()),
        code: rule.reason.clone(),
        message: filled(&text, file, matched),
        rule: format!("{}/{}", pass.id, rule.id),
    }
}

/// `text` with each metavariable replaced by what it stands for.
fn filled(text: &str, file: File<'_>, matched: &Match<'_>) -> String {
    let mut names: Vec<&(String, Bound<'_>)> = matched.bindings.iter().collect();
    // `$XY` before `$X`.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut text = text.trim().to_owned();
    for (name, bound) in names {
        let value = match bound {
            Bound::Component(component) => component.clone(),
            other => {
                let ranges = other.ranges();
                let parts: Vec<&str> = ranges.iter().map(|range| file.module.slice(*range)).collect();
                parts.join(", ")
            }
        };
        text = text.replace(&format!("$$${name}"), &value).replace(&format!("${name}"), &value);
    }
    text
}

fn head_line<'f>(file: File<'f>, range: impl Ranged) -> &'f str {
    file.module.slice(range).lines().next().unwrap_or_default()
}
