//! Where each variable is bound and read, and whether other scopes reach it.

use ruff_text_size::TextRange;
use rustc_hash::FxHashSet;

use super::collect::{Action, GLOBAL, NONLOCAL, SlotId};
use super::resolved::Names;
use super::{Binding, BindingKind, ScopeId, ScopeKind, Variable};

/// Bindings and reads grouped by the slot that owns the variable.
#[derive(Debug, Default)]
pub(super) struct Places {
    read_starts: Vec<u32>,
    reads: Vec<TextRange>,
    binding_starts: Vec<u32>,
    bindings: Vec<Binding>,
    captured: FxHashSet<SlotId>,
    global: FxHashSet<SlotId>,
    nonlocal: FxHashSet<SlotId>,
}

impl Places {
    fn build(names: &Names) -> Self {
        let count = names.slots.len();
        let mut places =
            Self { read_starts: vec![0; count + 1], binding_starts: vec![0; count + 1], ..Self::default() };
        for event in &names.events {
            let Some(owner) = names.answers.owners[event.slot as usize] else { continue };
            if reads(event.action) {
                places.read_starts[owner as usize + 1] += 1;
            }
            if matches!(event.action, Action::Bind(_)) {
                places.binding_starts[owner as usize + 1] += 1;
            }
        }
        for at in 0..count {
            places.read_starts[at + 1] += places.read_starts[at];
            places.binding_starts[at + 1] += places.binding_starts[at];
        }
        places.fill(names);
        places.note_other_scopes(names);
        places
    }

    fn fill(&mut self, names: &Names) {
        let count = names.slots.len();
        let empty = Binding { range: TextRange::default(), kind: BindingKind::Assignment, scope: ScopeId(0) };
        self.reads = vec![TextRange::default(); self.read_starts[count] as usize];
        self.bindings = vec![empty; self.binding_starts[count] as usize];
        let mut next_read = self.read_starts.clone();
        let mut next_binding = self.binding_starts.clone();
        for event in &names.events {
            let Some(owner) = names.answers.owners[event.slot as usize] else { continue };
            if reads(event.action) {
                let next = &mut next_read[owner as usize];
                self.reads[*next as usize] = event.range;
                *next += 1;
            }
            if let Action::Bind(kind) = event.action {
                let next = &mut next_binding[owner as usize];
                let scope = ScopeId(names.slots[event.slot as usize].scope);
                self.bindings[*next as usize] = Binding { range: event.range, kind, scope };
                *next += 1;
            }
        }
    }

    fn note_other_scopes(&mut self, names: &Names) {
        for (slot, owner) in (0u32..).zip(&names.answers.owners) {
            let Some(owner) = *owner else { continue };
            let data = names.slots[slot as usize];
            if data.flags & GLOBAL != 0 {
                self.global.insert(owner);
            }
            if data.flags & NONLOCAL != 0 {
                self.nonlocal.insert(owner);
            }
            let at_home = |scope: u32| {
                let mut scope = ScopeId(scope);
                while matches!(names.kind_of(scope), ScopeKind::Comprehension | ScopeKind::TypeParameters)
                    && let Some(parent) = names.parent(scope)
                {
                    scope = parent;
                }
                scope
            };
            if at_home(data.scope) != at_home(names.slots[owner as usize].scope) {
                self.captured.insert(owner);
            }
        }
    }

    pub(super) fn reads(&self, owner: SlotId) -> &[TextRange] {
        let at = owner as usize;
        &self.reads[self.read_starts[at] as usize..self.read_starts[at + 1] as usize]
    }

    pub(super) fn bindings(&self, owner: SlotId) -> &[Binding] {
        let at = owner as usize;
        &self.bindings[self.binding_starts[at] as usize..self.binding_starts[at + 1] as usize]
    }
}

fn reads(action: Action) -> bool {
    matches!(action, Action::Read | Action::Bind(BindingKind::Augmented))
}

impl Names {
    /// Places of every variable, grouped when first asked for.
    pub(super) fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::build(self))
    }

    fn owner_of(&self, variable: &Variable) -> Option<SlotId> {
        let symbol = *self.symbol_of.get(&variable.name)?;
        self.slot_at.get(&(variable.scope.0, symbol)).copied()
    }

    /// Every place that reads `variable`, in source order, from whichever scope; `x += 1` is one.
    pub fn uses(&self, variable: &Variable) -> &[TextRange] {
        self.owner_of(variable).map_or(&[], |owner| self.places().reads(owner))
    }

    /// Every place that binds `variable` (or deletes it, or annotates it), in source order, from whichever scope.
    pub fn bindings(&self, variable: &Variable) -> &[Binding] {
        self.owner_of(variable).map_or(&[], |owner| self.places().bindings(owner))
    }

    /// The one place that gives `variable` a value, where there is only one. That place may still run often (in a loop).
    pub fn only_binding(&self, variable: &Variable) -> Option<Binding> {
        let mut bindings = self.bindings(variable).iter().filter(|it| it.kind != BindingKind::Annotation);
        let first = *bindings.next()?;
        bindings.next().is_none().then_some(first)
    }

    /// True where some function or class declares `variable` as `global`.
    pub fn is_declared_global(&self, variable: &Variable) -> bool {
        self.owner_of(variable).is_some_and(|owner| self.places().global.contains(&owner))
    }

    /// True where some inner function declares `variable` as `nonlocal`.
    pub fn is_declared_nonlocal(&self, variable: &Variable) -> bool {
        self.owner_of(variable).is_some_and(|owner| self.places().nonlocal.contains(&owner))
    }

    /// True where a function, lambda or class inside the variable's own scope reads or binds it. Comprehensions don't
    /// count: they run where they stand.
    pub fn is_captured(&self, variable: &Variable) -> bool {
        self.owner_of(variable).is_some_and(|owner| self.places().captured.contains(&owner))
    }

    /// The variables of `scope`, in the order in which their names are first met.
    pub fn variables(&self, scope: ScopeId) -> impl Iterator<Item = Variable> {
        let owned = (0u32..).zip(&self.answers.owners).filter(|(slot, owner)| **owner == Some(*slot));
        let in_scope = owned.filter(move |(slot, _)| self.slots[*slot as usize].scope == scope.0);
        in_scope.map(move |(slot, _)| {
            let symbol = self.slots[slot as usize].symbol as usize;
            Variable { scope, name: self.symbols[symbol].clone() }
        })
    }
}
