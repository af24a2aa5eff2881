//! From a solution to a plan: changes, their edits with the imports they need, and what is left and why.

use std::collections::BTreeSet;

use ruff_text_size::TextSize;

use super::code::{self, Finding};
use super::home::Ground;
use super::solve::Solution;
use super::walk::{Act, Way};
use crate::api::{Transfer, Transfers};
use crate::kinds::{Program, RegionId, SourceId};
use crate::names::ScopeId;
use crate::pass::{Aliases, Assembler, Needs, Pass, Speller, plan_imports};
use crate::plan::{Change, ChangeId, Plan, rewrite};
use crate::reasons::Refusal;

/// The rule that a change reports for the transfers in it.
const TRANSFER_RULE: &str = "transfer";

/// The plan that `solution` comes to.
pub(super) fn plan(ground: &Ground<'_, '_>, aliases: &Aliases, solution: &Solution) -> Plan {
    let mut plan = Plan::default();
    for source in (0..ground.program.sources.len() as u32).map(SourceId) {
        let regions: Vec<RegionId> = ground
            .program
            .region_ids()
            .filter(|id| {
                ground.program.region(*id).source == source && !solution.acts[id.0 as usize].is_empty()
            })
            .collect();
        if regions.is_empty() {
            continue;
        }
        let edits = edits(ground, aliases, solution, source, &regions);
        let module = ground.program.source(source).module;
        rewrite::check_parses(module, &edits);
        if !edits.is_empty() {
            plan.edits.insert(module.file.path.clone(), edits);
            plan.changes.extend(regions.into_iter().map(|id| change(ground, solution, id)));
        }
    }
    plan.left = left(ground, solution);
    plan
}

fn edits(
    ground: &Ground<'_, '_>,
    aliases: &Aliases,
    solution: &Solution,
    source: SourceId,
    regions: &[RegionId],
) -> crate::source::Edits {
    let data = ground.program.source(source);
    let transfers = ground.program.table.transfers.as_ref();
    let mut writer = Writer {
        assembler: Assembler::new(data.module),
        needs: Needs::default(),
        speller: Speller::new(ground.pass, data.names, aliases),
        transfers,
        scope: ScopeId(0),
    };
    for id in regions {
        writer.scope = import_scope(ground, *id);
        // Of two things around one expression, the one asked for first stands outside.
        let (wraps, others): (Vec<&Act>, Vec<&Act>) =
            solution.acts[id.0 as usize].iter().partition(|act| matches!(act, Act::Wrap(..)));
        wraps.into_iter().chain(others).for_each(|act| writer.act(ground, source, act));
    }
    let Writer { mut assembler, needs, .. } = writer;
    let removed = assembler.removed().to_vec();
    for edit in plan_imports(data.module, data.names, &needs, &removed) {
        assembler.edit(edit);
    }
    assembler.finish().expect("transfers nest around expressions, and matches lie in one another's captures")
}

/// Where an import for a region goes: beside those it makes itself, where the module makes none for it.
fn import_scope(ground: &Ground<'_, '_>, id: RegionId) -> ScopeId {
    let region = ground.program.region(id);
    let names = ground.program.source(region.source).names;
    let of_source = |module: &str| {
        ground.pass.source_modules.iter().any(|it| module == it || module.starts_with(&format!("{it}.")))
    };
    let own = |scope: ScopeId| names.imports().iter().any(|it| it.scope == scope && of_source(&it.module));
    if !own(ScopeId(0)) && own(region.scope) { region.scope } else { ScopeId(0) }
}

struct Writer<'w> {
    assembler: Assembler<'w>,
    needs: Needs,
    speller: Speller<'w>,
    transfers: Option<&'w Transfers>,
    scope: ScopeId,
}

impl Writer<'_> {
    fn act(&mut self, ground: &Ground<'_, '_>, source: SourceId, act: &Act) {
        match act {
            Act::Apply(id) => {
                let found = ground.matches.get(source, *id);
                if !found.pieces.is_empty() {
                    self.assembler.rewrite(found).expect("matching refuses what can't be edited");
                    self.needs.extend(&found.needs);
                }
            }
            Act::Wrap(range, way) => {
                let (before, after) = self.transfer(*way, range.start());
                self.assembler.wrap(*range, before, after);
            }
            Act::Rebind { at, indent, names } => {
                let targets: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
                let values: Vec<String> = names
                    .iter()
                    .map(|(name, way)| {
                        let (before, after) = self.transfer(*way, *at);
                        format!("{before}{name}{after}")
                    })
                    .collect();
                let newline = crate::pass::newline(ground.program.source(source).module);
                let text = format!("{indent}{} = {}{newline}", targets.join(", "), values.join(", "));
                self.assembler.insert(*at, text);
            }
        }
    }

    /// What stands before and after a value that crosses.
    fn transfer(&mut self, way: Way, at: TextSize) -> (String, String) {
        let Some(transfers) = self.transfers else { return (String::new(), String::new()) };
        let transfer: &Transfer = match way {
            Way::ToDevice => &transfers.to_device,
            Way::ToHost => &transfers.to_host,
            Way::ScalarToHost => &transfers.scalar_to_host,
            Way::NumberToHost => &transfers.number_to_host,
        };
        let spelled = match self.speller.spell(&transfer.path, at, self.scope) {
            Ok((text, need)) => {
                need.into_iter().for_each(|need| self.needs.add(need));
                text
            }
            Err(_) => transfer.path.clone(),
        };
        (format!("{spelled}("), format!("){}", transfer.after))
    }
}

/// The name of the change that ports a region.
pub(super) fn change_id(pass: &Pass, program: &Program<'_>, id: RegionId) -> ChangeId {
    let region = program.region(id);
    let module = program.source(region.source).module;
    let same = |other: &RegionId| {
        let other = program.region(*other);
        other.source == region.source && other.name == region.name
    };
    let number = program.region_ids().filter(same).position(|it| it == id).unwrap_or(0);
    let suffix = if number == 0 { String::new() } else { format!("#{}", number + 1) };
    ChangeId(format!("{}:{}:{}{suffix}", pass.id, module.file.path.display(), region.name))
}

fn change(ground: &Ground<'_, '_>, solution: &Solution, id: RegionId) -> Change {
    let region = ground.program.region(id);
    let module = ground.program.source(region.source).module;
    let mut rules = BTreeSet::new();
    for act in &solution.acts[id.0 as usize] {
        rules.insert(match act {
            Act::Apply(found) => {
                let rule_index = ground.matches.get(region.source, *found).rule_index;
                ground.pass.rules[rule_index].id.clone()
            }
            Act::Wrap(..) | Act::Rebind { .. } => TRANSFER_RULE.to_owned(),
        });
    }
    let range = region.range();
    let what = match region.def {
        Some(_) => format!("function {}", region.name),
        None => "module level".to_owned(),
    };
    Change {
        id: change_id(ground.pass, ground.program, id),
        pass: ground.pass.id.clone(),
        place: module.place(range.start()),
        what,
        rules: rules.into_iter().collect(),
        lines: (module.place(range.start()).line_number, module.place(range.end()).line_number),
    }
}

/// What stays on the host, and why.
fn left(ground: &Ground<'_, '_>, solution: &Solution) -> Vec<Refusal> {
    let mut out = BTreeSet::new();
    let mut add = |source: SourceId, finding: &Finding| {
        out.insert(Refusal {
            place: ground.program.source(source).module.place(finding.at),
            code: finding.code.clone(),
            message: finding.message.clone(),
            pass: Some(ground.pass.id.clone()),
        });
    };
    for (id, region) in ground.program.region_ids().zip(&solution.state.regions) {
        if !solution.bars.works[id.0 as usize] {
            continue;
        }
        let findings = if region.open { &region.notes } else { &region.refusals };
        findings.iter().for_each(|finding| add(ground.program.region(id).source, finding));
    }
    for (source, at) in (0u32..).zip(&solution.bars.ported) {
        if let Some(at) = at {
            let message = format!("the module uses `{}` already", ground.pass.target.module);
            add(SourceId(source), &Finding::new(*at, code::AGNOSTIC, message));
        }
    }
    out.into_iter().collect()
}
