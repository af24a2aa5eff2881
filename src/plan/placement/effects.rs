//! Which variables share memory, and what is changed in place: within functions and through calls.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::home::Ground;
use super::matches::Matches;
use super::origins::{Origin, Returned, origins};
use crate::kinds::arguments::{Argument, argument, bind};
use crate::kinds::program::{Definition, Ref};
use crate::kinds::{Kind, Kinds, Program, RegionId, SlotId, SourceId};
use crate::pass::Pass;

/// How often the effects of calls are followed: deeper chains of calls count as changing everything they are given.
const MAX_ROUNDS: usize = 16;

/// What a program does to its arrays.
#[derive(Debug, Default)]
pub(super) struct Effects {
    parent: Vec<u32>,
    elsewhere: Vec<bool>,
    changes: Vec<Change>,
    /// By region: the parameters that it changes.
    changed: Vec<BTreeSet<usize>>,
    /// By region: what its results may share.
    shared: Vec<(Vec<usize>, bool)>,
}

/// A change in place of what a variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    slot: SlotId,
    region: RegionId,
    at: TextSize,
}

impl Returned for Effects {
    fn shares(&self, region: RegionId) -> (Vec<usize>, bool) {
        self.shared[region.0 as usize].clone()
    }
}

impl Effects {
    /// One variable that stands for all that share memory with `slot`.
    pub(super) fn root(&self, slot: SlotId) -> SlotId {
        let mut at = slot.0;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        SlotId(at)
    }

    /// True where what `slot` holds may be held by code outside its function too.
    pub(super) fn is_elsewhere(&self, slot: SlotId) -> bool {
        self.elsewhere[self.root(slot).0 as usize]
    }

    /// True where what `slot` holds is changed in place.
    pub(super) fn is_changed(&self, slot: SlotId) -> bool {
        let root = self.root(slot);
        self.changes.iter().any(|it| self.root(it.slot) == root)
    }

    /// True where what `slot` holds is changed in place inside `range` of `region`.
    pub(super) fn is_changed_within(&self, slot: SlotId, region: RegionId, range: TextRange) -> bool {
        let root = self.root(slot);
        let inside = |it: &&Change| it.region == region && range.contains(it.at);
        self.changes.iter().filter(inside).any(|it| self.root(it.slot) == root)
    }

    /// True where what `slot` holds is changed in place after `at`, or in a loop around it.
    pub(super) fn is_changed_after(
        &self,
        slot: SlotId,
        region: RegionId,
        at: TextSize,
        around: Option<TextRange>,
    ) -> bool {
        let root = self.root(slot);
        self.changes.iter().any(|it| {
            self.root(it.slot) == root
                && (it.region != region || it.at > at || around.is_some_and(|range| range.contains(it.at)))
        })
    }

    /// True where `region` changes what it is given for its parameter number `at`.
    pub(super) fn changes_parameter(&self, region: RegionId, at: usize) -> bool {
        self.changed[region.0 as usize].contains(&at)
    }

    fn union(&mut self, a: SlotId, b: SlotId) {
        let (a, b) = (self.root(a).0, self.root(b).0);
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            self.parent[high as usize] = low;
            self.elsewhere[low as usize] |= self.elsewhere[high as usize];
        }
    }
}

/// Finds the effects of `program`.
pub(super) fn effects<'a>(
    pass: &Pass,
    program: &Program<'a>,
    kinds: &Kinds,
    matches: &Matches<'a>,
) -> Effects {
    let regions = program.regions.len();
    let mut effects = Effects {
        parent: (0..program.slots.len() as u32).collect(),
        elsewhere: vec![false; program.slots.len()],
        changes: Vec::new(),
        changed: vec![BTreeSet::new(); regions],
        shared: vec![(Vec::new(), false); regions],
    };
    let nothing = Effects::default();
    let ground = Ground { pass, program, kinds, matches, effects: &nothing };
    for _ in 0..MAX_ROUNDS {
        let mut walk = Walk {
            ground: &ground,
            effects,
            source: SourceId(0),
            region: RegionId(0),
            returned: vec![BTreeSet::new(); regions],
        };
        walk.effects.changes.clear();
        for id in program.region_ids() {
            (walk.region, walk.source) = (id, program.region(id).source);
            program.region(id).body().iter().for_each(|stmt| walk.visit_stmt(stmt));
        }
        let stable = walk.conclude();
        effects = walk.effects;
        if stable {
            return effects;
        }
    }
    for (at, changed) in effects.changed.iter_mut().enumerate() {
        changed.extend(0..program.regions[at].params.len());
    }
    effects
}

struct Walk<'g, 'a> {
    ground: &'g Ground<'g, 'a>,
    effects: Effects,
    source: SourceId,
    region: RegionId,
    returned: Vec<BTreeSet<Origin>>,
}

impl Walk<'_, '_> {
    fn origins(&self, expression: &Expr) -> Vec<Origin> {
        origins(self.ground, &self.effects, self.source, expression)
    }

    fn kind(&self, expression: &Expr) -> &Kind {
        self.ground.kinds.of(self.source, expression)
    }

    /// `target = value`: both names mean one memory from now on.
    fn alias(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Tuple(targets), Expr::Tuple(values)) if targets.elts.len() == values.elts.len() => {
                for (target, value) in targets.elts.iter().zip(&values.elts) {
                    self.alias(target, value);
                }
            }
            _ => {
                let from = self.origins(value);
                self.alias_all(target, &from);
            }
        }
    }

    fn alias_all(&mut self, target: &Expr, from: &[Origin]) {
        match target {
            Expr::Name(_) => {
                let Some(slot) = self.ground.program.slot_of(self.source, target) else { return };
                if !self.ground.kinds.slot(slot).may_hold_arrays() {
                    return;
                }
                for origin in from {
                    match origin {
                        Origin::Slot(other) => self.effects.union(slot, *other),
                        Origin::Elsewhere => {
                            let root = self.effects.root(slot);
                            self.effects.elsewhere[root.0 as usize] = true;
                        }
                    }
                }
            }
            Expr::Tuple(it) => it.elts.iter().for_each(|target| self.alias_all(target, from)),
            Expr::List(it) => it.elts.iter().for_each(|target| self.alias_all(target, from)),
            Expr::Starred(it) => self.alias_all(&it.value, from),
            Expr::Subscript(it) => match self.kind(&it.value) {
                Kind::Array(_) | Kind::Unknown | Kind::Loaded => self.change(&it.value, target.start()),
                Kind::List(_) | Kind::Tuple(_) => self.put_into(&it.value, from),
                _ => {}
            },
            Expr::Attribute(it) if self.kind(&it.value).is_array() => self.change(&it.value, target.start()),
            _ => {}
        }
    }

    /// What `from` names is put into a list.
    fn put_into(&mut self, list: &Expr, from: &[Origin]) {
        for owner in self.origins(list) {
            let Origin::Slot(owner) = owner else { continue };
            for origin in from {
                match origin {
                    Origin::Slot(other) => self.effects.union(owner, *other),
                    Origin::Elsewhere => {
                        let root = self.effects.root(owner);
                        self.effects.elsewhere[root.0 as usize] = true;
                    }
                }
            }
        }
    }

    /// What `expression` holds is changed in place.
    fn change(&mut self, expression: &Expr, at: TextSize) {
        for origin in self.origins(expression) {
            if let Origin::Slot(slot) = origin {
                self.effects.changes.push(Change { slot, region: self.region, at });
            }
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let keywords = &call.arguments.keywords;
        for keyword in keywords.iter().filter(|it| it.arg.as_ref().is_some_and(|arg| arg.starts_with("out")))
        {
            self.change(&keyword.value, call.end());
        }
        let program = self.ground.program;
        let function = match self.kind(&call.func) {
            Kind::Function(function) => Some(*function),
            _ => match program.definition(self.source, &call.func) {
                Some(Definition::Function(function)) => Some(function),
                _ => None,
            },
        };
        if let Some(function) = function {
            return self.project_call(call, function, 0);
        }
        match (program.reference(self.source, &call.func), &*call.func) {
            (Ref::Path(path), _) => {
                let info = program.path(path);
                let (changes, parameters) = match (info.callable, info.host) {
                    (Some(entry), _) => (&entry.changes, entry.source_parameters.as_slice()),
                    (None, Some(entry)) => (&entry.changes, entry.parameters.as_deref().unwrap_or_default()),
                    (None, None) => return,
                };
                let changed = changes.as_ref().and_then(|name| argument(call, parameters, name));
                changed.into_iter().for_each(|it| self.change(it, call.end()));
            }
            (Ref::None, Expr::Attribute(attribute)) => {
                self.method(call, &attribute.value, attribute.attr.as_str());
            }
            _ => {}
        }
    }

    fn method(&mut self, call: &ExprCall, owner: &Expr, name: &str) {
        let program = self.ground.program;
        match self.kind(owner).clone() {
            Kind::Array(_) | Kind::Loaded => {
                let shared = program.array_method(name).and_then(|it| it.changes.as_ref());
                let host = program.host_array_method(name).and_then(|it| it.changes.as_ref());
                if shared.or(host).is_some() {
                    self.change(owner, call.end());
                }
            }
            Kind::List(_) | Kind::Tuple(_) => {
                if matches!(name, "append" | "add" | "extend" | "insert" | "appendleft" | "update") {
                    for argument in &call.arguments.args {
                        let from = self.origins(argument);
                        self.put_into(owner, &from);
                    }
                }
            }
            Kind::Object(class) => {
                let Some(entry) = program.host_entry(&format!("{class}.{name}")) else { return };
                let parameters = entry.parameters.as_deref().unwrap_or_default();
                let changed = entry.changes.as_ref().and_then(|name| argument(call, parameters, name));
                changed.into_iter().for_each(|it| self.change(it, call.end()));
            }
            Kind::Instance(class) => {
                if let Some(method) = program.class(class).methods.get(name) {
                    self.project_call(call, *method, 1);
                }
            }
            _ => {}
        }
    }

    fn project_call(&mut self, call: &ExprCall, function: RegionId, skip: usize) {
        let region = self.ground.program.region(function);
        let bound = bind(region, skip, call, |starred| match self.kind(starred) {
            Kind::Tuple(elements) => Some(elements.len()),
            _ => None,
        });
        for (at, argument) in bound.given {
            if self.effects.changes_parameter(function, at) {
                let (Argument::Whole(expression) | Argument::Element(expression, _)) = argument;
                self.change(expression, call.end());
            }
        }
    }

    /// Draws from this round what calls will do in the next; true where nothing new came of it.
    fn conclude(&mut self) -> bool {
        let program = self.ground.program;
        let mut stable = true;
        for id in program.region_ids() {
            let at = id.0 as usize;
            let region = program.region(id);
            let mut shared = (Vec::new(), false);
            for origin in &self.returned[at] {
                match origin {
                    Origin::Elsewhere => shared.1 = true,
                    Origin::Slot(slot) => {
                        let root = self.effects.root(*slot);
                        shared.1 |= self.effects.elsewhere[root.0 as usize];
                        shared.1 |= program.slot(*slot).region != id;
                        let same =
                            |param: &crate::kinds::program::Param<'_>| self.effects.root(param.slot) == root;
                        shared.0.extend(
                            region.params.iter().enumerate().filter(|(_, it)| same(it)).map(|(at, _)| at),
                        );
                    }
                }
            }
            shared.0.sort_unstable();
            shared.0.dedup();
            let changed: BTreeSet<usize> = (0..region.params.len())
                .filter(|&param| self.changes_in(id, region.params[param].slot))
                .collect();
            stable &= shared == self.effects.shared[at] && changed == self.effects.changed[at];
            self.effects.shared[at] = shared;
            self.effects.changed[at] = changed;
        }
        stable
    }

    fn changes_in(&self, region: RegionId, slot: SlotId) -> bool {
        let root = self.effects.root(slot);
        self.effects.changes.iter().any(|it| it.region == region && self.effects.root(it.slot) == root)
    }
}

impl<'b> Visitor<'b> for Walk<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::FunctionDef(_) => return,
            Stmt::Assign(it) => it.targets.iter().for_each(|target| self.alias(target, &it.value)),
            Stmt::AnnAssign(it) => {
                it.value.iter().for_each(|value| self.alias(&it.target, value));
            }
            Stmt::AugAssign(it) => match &*it.target {
                Expr::Subscript(subscript) => self.change(&subscript.value, stmt.start()),
                target if self.kind(target).may_hold_arrays() => {
                    self.change(target, stmt.start());
                    if matches!(self.kind(target), Kind::List(_)) {
                        let from = self.origins(&it.value);
                        self.put_into(target, &from);
                    }
                }
                _ => {}
            },
            Stmt::For(it) => self.alias(&it.target, &it.iter),
            Stmt::With(it) => {
                for item in &it.items {
                    item.optional_vars.iter().for_each(|target| self.alias(target, &item.context_expr));
                }
            }
            Stmt::Return(it) => {
                let from = it.value.as_ref().map(|value| self.origins(value)).unwrap_or_default();
                self.returned[self.region.0 as usize].extend(from);
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expression: &'b Expr) {
        match expression {
            Expr::Call(it) => self.call(it),
            Expr::Named(it) => self.alias(&it.target, &it.value),
            Expr::Lambda(_) => return,
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_comprehension(&mut self, comprehension: &'b Comprehension) {
        self.alias(&comprehension.target, &comprehension.iter);
        ruff_python_ast::visitor::walk_comprehension(self, comprehension);
    }
}
