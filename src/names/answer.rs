//! Second pass: which variable each mention of a name means, and what that variable is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::builtins::is_builtin;
use super::collect::{Action, BOUND, Collector, GLOBAL, NONLOCAL, SlotId, Symbol};
use super::star::Around;
use super::{BindingKind, Resolution, ScopeKind};

/// What a slot means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The variable that lives in this slot, bound by no import.
    Variable(SlotId),
    /// A meaning kept apart: imports, builtins, stars.
    Kept(u32),
}

/// The second pass's result.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// For each slot, the slot that owns its variable; `None` where the module binds it nowhere.
    pub(super) owners: Vec<Option<SlotId>>,
    /// For each slot, what it means.
    pub(super) by_slot: Vec<Answer>,
    /// The meanings that are not plain variables.
    pub(super) kept: Vec<Resolution>,
    /// The variables that an import binds and something else too.
    pub(super) mixed: FxHashSet<SlotId>,
}

/// Finds what every slot means.
pub(super) fn answer(collected: &mut Collector<'_>, around: &Around<'_>) -> Answers {
    own_globals(collected);
    let owners: Vec<Option<SlotId>> =
        (0u32..).take(collected.slots.len()).map(|slot| owner(collected, slot)).collect();
    let others = bindings_beside_imports(collected, &owners);
    let imported = imported(collected, &owners, around);
    let mut kept = Vec::new();
    let mut kept_for_owner: FxHashMap<SlotId, Answer> = FxHashMap::default();
    let mut kept_for_symbol: FxHashMap<Symbol, Answer> = FxHashMap::default();
    let by_slot = collected.slots.iter().zip(&owners).map(|(slot, owner)| match owner {
        Some(owner) => match imported.get(owner) {
            None => Answer::Variable(*owner),
            Some(candidates) => *kept_for_owner.entry(*owner).or_insert_with(|| {
                let mixed = others[*owner as usize];
                keep(&mut kept, meaning_of_imports(collected, *owner, candidates, mixed, around))
            }),
        },
        None => *kept_for_symbol
            .entry(slot.symbol)
            .or_insert_with(|| keep(&mut kept, around.meaning(&collected.names[slot.symbol as usize]))),
    });
    let by_slot = by_slot.collect();
    let mixed = imported.keys().copied().filter(|&owner| others[owner as usize]).collect();
    Answers { owners, by_slot, kept, mixed }
}

fn keep(kept: &mut Vec<Resolution>, resolution: Resolution) -> Answer {
    kept.push(resolution);
    Answer::Kept(kept.len() as u32 - 1)
}

/// A name that any scope declares `global` is a variable of the module, even where the module itself binds it nowhere.
fn own_globals(collected: &mut Collector<'_>) {
    for slot in 0..collected.slots.len() {
        let found = collected.slots[slot];
        if found.flags & GLOBAL != 0 && found.flags & BOUND != 0 {
            let own = collected.slot(0, found.symbol);
            collected.slots[own as usize].flags |= BOUND;
        }
    }
}

/// The slot whose variable `slot` means, by Python's static scoping.
fn owner(collected: &Collector<'_>, slot: SlotId) -> Option<SlotId> {
    let found = collected.slots[slot as usize];
    let module = || collected.slot_at.get(&(0, found.symbol)).copied().filter(|&own| bound(collected, own));
    if found.flags & GLOBAL != 0 {
        return module();
    }
    if found.flags & BOUND != 0 && found.flags & NONLOCAL == 0 {
        return Some(slot);
    }
    let sees_class = collected.scopes[found.scope as usize].kind == ScopeKind::TypeParameters;
    let mut scope = collected.scopes[found.scope as usize].parent;
    let mut direct = true;
    while let Some(id) = scope {
        let data = collected.scopes[id as usize];
        let visible = data.kind != ScopeKind::Class || (sees_class && direct);
        if visible
            && id != 0
            && let Some(&own) = collected.slot_at.get(&(id, found.symbol))
        {
            let flags = collected.slots[own as usize].flags;
            if flags & GLOBAL != 0 {
                return module();
            }
            if flags & BOUND != 0 && flags & NONLOCAL == 0 {
                return Some(own);
            }
        }
        direct = false;
        scope = data.parent;
    }
    if found.flags & NONLOCAL != 0 { None } else { module() }
}

fn bound(collected: &Collector<'_>, slot: SlotId) -> bool {
    collected.slots[slot as usize].flags & BOUND != 0
}

/// For each slot that owns a variable, whether anything but an import can give it a value (or take it away so that
/// another one shows). `x = None` beside an import is no other value: what reads an attribute of it means the import.
fn bindings_beside_imports(collected: &Collector<'_>, owners: &[Option<SlotId>]) -> Vec<bool> {
    let mut others = vec![false; owners.len()];
    for event in &collected.events {
        let Action::Bind(kind) = event.action else { continue };
        let Some(owner) = owners[event.slot as usize] else { continue };
        others[owner as usize] |= match kind {
            BindingKind::Import | BindingKind::NoneLiteral | BindingKind::Annotation => false,
            BindingKind::Delete => {
                let slot = collected.slots[owner as usize];
                collected.scopes[slot.scope as usize].kind == ScopeKind::Class
                    || is_builtin(&collected.names[slot.symbol as usize])
            }
            _ => true,
        };
    }
    others
}

/// For each variable that imports bind, what those imports mean, each meaning once.
fn imported(
    collected: &Collector<'_>,
    owners: &[Option<SlotId>],
    around: &Around<'_>,
) -> FxHashMap<SlotId, Vec<String>> {
    let mut result: FxHashMap<SlotId, Vec<String>> = FxHashMap::default();
    for (import, slot) in collected.importer.imports.iter().zip(&collected.importer.slots) {
        let Some(owner) = slot.and_then(|slot| owners[slot as usize]) else { continue };
        let candidates = result.entry(owner).or_default();
        for meaning in around.follow(&import.qualified) {
            if !candidates.contains(&meaning) {
                candidates.push(meaning);
            }
        }
    }
    result
}

fn meaning_of_imports(
    collected: &Collector<'_>,
    owner: SlotId,
    candidates: &[String],
    mixed: bool,
    around: &Around<'_>,
) -> Resolution {
    let slot = collected.slots[owner as usize];
    let mut candidates = candidates.to_vec();
    if slot.scope == 0 {
        around.add_rebindings(&collected.names[slot.symbol as usize], &mut candidates);
    }
    match candidates.as_slice() {
        [only] if !mixed => Resolution::Qualified(only.clone()),
        _ => Resolution::Ambiguous(candidates),
    }
}
