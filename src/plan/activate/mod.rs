//! Activation: switching a library on where a process starts, before anything loads what it replaces.

mod layout;
mod present;
mod reach;
pub(super) mod script;
mod spot;

use std::path::Path;

use ruff_text_size::{Ranged, TextRange};

use super::unit::{Surroundings, Unit};
use super::{Change, ChangeId, Pinned, Plan};
use crate::names::ModuleId;
use crate::pass::{Activation, Pass, Rule};
use crate::reasons::{Code, Refusal};
use crate::source::EditsBuilder;
pub(super) use layout::Spot;
use present::Present;
use reach::Reach;
use script::Role;

const LIBRARY_MODULE: Code = Code::new("GP302");
const TEST_MODULE: Code = Code::new("GP303");
const SWITCH_TOO_LATE: Code = Code::new("GP304");
const SWITCH_NAME_TAKEN: Code = Code::new("GP305");

/// What there is to do about a switch in a unit.
#[derive(Debug)]
pub(super) enum Prepared<'s> {
    /// Nothing: nothing in the unit reaches the library, or it is switched on already.
    Nothing,
    /// The switch can't be set.
    Refused(Refusal),
    /// The switch goes here.
    Ready(Unit<'s>, Spot),
}

/// Finds what there is to do about the switch of `pass` in the unit of `entry`.
pub(super) fn prepare<'s>(
    around: &'s Surroundings<'s>,
    entry: ModuleId,
    pass: &Pass,
    activation: &Activation,
) -> Prepared<'s> {
    let part = around.part(entry);
    let refused = |(code, range, message): (Code, TextRange, String)| {
        let place = part.module.place(range.start());
        Prepared::Refused(Refusal { place, code, message, pass: Some(pass.id.clone()) })
    };
    match script::role(part.module, part.names, &activation.reaches, || around.is_part_of_another(&part)) {
        Role::Script => {}
        role => {
            // What a library reaches through others is for the script to see to.
            let mut imports = around.library_imports(&part);
            let import = imports.find(|import| reach::names_library(activation, import));
            let refusal = import.map(|import| not_here(role, import.statement, activation));
            return refusal.map_or(Prepared::Nothing, refused);
        }
    }
    let unit = Unit::new(around, entry);
    match spot(&unit, activation) {
        Ok(Some(spot)) => Prepared::Ready(unit, spot),
        Ok(None) => Prepared::Nothing,
        Err(refusal) => refused(refusal),
    }
}

/// Where the switch goes in the unit's entry, or why it can't be set.
fn spot(unit: &Unit<'_>, activation: &Activation) -> Result<Option<Spot>, (Code, TextRange, String)> {
    let reach = Reach::new(unit, activation);
    if !reach.reaches() {
        return Ok(None);
    }
    match present::find(unit, activation, &reach) {
        Present::No => {}
        Present::InTime => return Ok(None),
        Present::Late(range) => {
            let message = format!("`{}` comes after an import that it should act on", activation.call());
            return Err((SWITCH_TOO_LATE, range, message));
        }
    }
    let entry = unit.entry();
    let module = activation.module();
    if unit.around.is_local(entry, module) {
        let range = reach.suspects().first().map_or_else(TextRange::default, |import| import.statement);
        let root = module.split('.').next().unwrap_or(module);
        return Err((
            SWITCH_NAME_TAKEN,
            range,
            format!("the project has a module of its own named `{root}`"),
        ));
    }
    Ok(spot::find(entry.module, entry.names, &reach.suspects()))
}

/// Why a file that is no script gets no switch.
fn not_here(role: Role, import: TextRange, activation: &Activation) -> (Code, TextRange, String) {
    let module = activation.module();
    if let (Role::Test, Some(option)) = (role, &activation.pytest) {
        return (TEST_MODULE, import, format!("tests switch `{module}` on by `pytest {option}`"));
    }
    let message =
        format!("`{module}` is switched on by the script that imports this module, not by the module");
    (LIBRARY_MODULE, import, message)
}

/// Sets the switch of `rule` at `spot`, unless it is pinned.
pub(super) fn activate(
    unit: &Unit<'_>,
    pass: &Pass,
    rule: &Rule,
    activation: &Activation,
    spot: Spot,
    pinned: &Pinned,
) -> Plan {
    let mut plan = Plan::default();
    let entry = unit.entry();
    let path = &entry.module.file.path;
    let id = change_id(&pass.id, path);
    if pinned.contains(&id) {
        return plan;
    }
    let (offset, text) = match &activation.notebook {
        Some(line) if entry.module.file.is_notebook() => layout::cell_insertion(entry.module, spot, line),
        _ => layout::insertion(entry.module, spot, &activation.statement),
    };
    let mut edits = EditsBuilder::new();
    edits.insert(offset, text);
    let anchor = match spot {
        Spot::Above(index) | Spot::Below(index) => &entry.module.body()[index],
    };
    plan.changes.push(Change {
        id,
        pass: pass.id.clone(),
        place: entry.module.place(anchor.start()),
        what: format!("activation of {}", activation.module()),
        rules: vec![rule.id.clone()],
        lines: (entry.module.place(anchor.start()).line_number, entry.module.place(anchor.end()).line_number),
    });
    plan.edits.insert(path.clone(), edits.finish().expect("one insertion overlaps nothing"));
    plan
}

fn change_id(pass: &str, path: &Path) -> ChangeId {
    ChangeId(format!("{pass}:{}:activation", path.display()))
}
