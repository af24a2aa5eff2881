//! Activation: switching a library on where a process starts, before anything loads what it replaces.

mod layout;
mod present;
mod reach;
mod script;
mod spot;

use std::path::Path;

use ruff_text_size::Ranged;

use super::unit::Unit;
use super::{Change, ChangeId, Pinned, Plan};
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
pub(super) enum Prepared {
    /// Nothing: nothing in the unit reaches the library, or it is switched on already.
    Nothing,
    /// The switch can't be set.
    Refused(Refusal),
    /// The switch goes here.
    Ready(Spot),
}

/// Finds what there is to do about the switch of `pass` in the unit's entry.
pub(super) fn prepare(unit: &Unit<'_>, pass: &Pass, activation: &Activation) -> Prepared {
    let reach = Reach::new(unit, activation);
    if !reach.reaches() {
        return Prepared::Nothing;
    }
    let entry = unit.entry();
    let refused = |code, offset, message| {
        let place = entry.module.place(offset);
        Prepared::Refused(Refusal { place, code, message, pass: Some(pass.id.clone()) })
    };
    match present::find(unit, activation, &reach) {
        Present::No => {}
        Present::InTime => return Prepared::Nothing,
        Present::Late(range) => {
            let message = format!("`{}` comes after an import that it should act on", activation.call());
            return refused(SWITCH_TOO_LATE, range.start(), message);
        }
    }
    match decide(unit, activation, &reach) {
        Ok(spot) => Prepared::Ready(spot),
        Err((code, message)) => refused(
            code,
            reach.first_in_entry().map_or_else(Default::default, |range| range.start()),
            message,
        ),
    }
}

/// Where the switch goes, or why it doesn't.
fn decide(unit: &Unit<'_>, activation: &Activation, reach: &Reach<'_>) -> Result<Spot, (Code, String)> {
    let entry = unit.entry();
    let module = activation.module();
    if unit.is_local(entry, module) {
        let root = module.split('.').next().unwrap_or(module);
        return Err((SWITCH_NAME_TAKEN, format!("the project has a module of its own named `{root}`")));
    }
    match script::role(entry.module, entry.names, &activation.reaches, unit.entry_is_part()) {
        Role::Script => spot::find(entry.module, entry.names, &|import| reach.may_load(import))
            .ok_or_else(|| (LIBRARY_MODULE, "nothing loads the library when this file runs".to_owned())),
        Role::Library => Err((
            LIBRARY_MODULE,
            format!("`{module}` is switched on by the script that imports this module, not by the module"),
        )),
        Role::Test => Err((
            TEST_MODULE,
            format!(
                "tests switch `{module}` on by `pytest {}`",
                activation.pytest.as_deref().unwrap_or_default()
            ),
        )),
    }
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
    let (offset, text) = layout::insertion(entry.module, spot, &activation.statement);
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
