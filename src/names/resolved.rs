//! The answers for one module, as the rest of gpuport asks for them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::{Expr, ExprName};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::FxHashMap;

use super::answer::{Answer, Answers, answer};
use super::collect::{Collector, EXPORTED, Event, Scope, Slot, SlotId, Symbol, mangle};
use super::places::Places;
use super::star::{Around, Star};
use super::{BindingKind, Exports, Function, ImportBinding, Resolution, ScopeId, ScopeKind, Variable};
use crate::source::Module;

/// How many re-exports a path may lead through; more means that they go in a circle.
const MAX_REDIRECTS: usize = 16;

/// The resolved names of one module.
#[derive(Default)]
pub struct Names {
    pub(super) symbols: Vec<Arc<str>>,
    pub(super) symbol_of: FxHashMap<Arc<str>, Symbol>,
    pub(super) scopes: Vec<Scope>,
    marks: Vec<(TextSize, ScopeId)>,
    pub(super) slots: Vec<Slot>,
    pub(super) slot_at: FxHashMap<(u32, Symbol), SlotId>,
    /// Sorted by position.
    pub(super) events: Vec<Event>,
    pub(super) answers: Answers,
    imports: Vec<ImportBinding>,
    import_slots: Vec<Option<SlotId>>,
    functions: Vec<Function>,
    /// The project around the module.
    exports: Option<Arc<dyn Exports + Send + Sync>>,
    /// For each kept meaning, whether its path may lead on through the project.
    pub(super) kept_in_project: Vec<bool>,
    stars: Vec<Star>,
    pub(super) places: OnceLock<Places>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (self.scopes.len(), self.slots.len(), self.events.len());
        f.debug_struct("Names")
            .field("imports", &self.imports)
            .field("scopes, slots, events", &counts)
            .finish_non_exhaustive()
    }
}

impl Names {
    /// Resolves every name of `module`. `dotted` is the module's own dotted name (`pkg.mod`), `is_package` says whether
    /// it is an `__init__.py`.
    pub fn build(module: &Module, dotted: &str, is_package: bool, exports: &dyn Exports) -> Self {
        let mut collected = Collector::new(dotted, is_package, TextSize::of(module.text()));
        collected.visit_body(module.body());
        if let Some(listed) = super::exported::dunder_all(module.body()) {
            collected.export(listed.into_iter());
        }
        let around = Around { stars: Star::all(&collected.importer.imports, exports), exports };
        let answers = answer(&mut collected, &around);
        Self::assemble(collected, answers, around)
    }

    fn assemble(collected: Collector<'_>, answers: Answers, around: Around<'_>) -> Self {
        let symbols: Vec<Arc<str>> = collected.names.iter().map(|name| Arc::from(&**name)).collect();
        let symbol_of = symbols.iter().enumerate().map(|(at, name)| (name.clone(), at as Symbol)).collect();
        let mut events = collected.events;
        if !events.is_sorted_by_key(|event| event.range.start()) {
            events.sort_by_key(|event| event.range.start());
        }
        let mut marks = collected.marks;
        if !marks.is_sorted_by_key(|(offset, _)| *offset) {
            marks.sort_by_key(|(offset, _)| *offset);
        }
        let exports = around.exports;
        let kept_in_project = answers.kept.iter().map(|kept| leads_into_project(kept, exports)).collect();
        let mut names = Self {
            symbols,
            symbol_of,
            scopes: collected.scopes,
            marks,
            slots: collected.slots,
            slot_at: collected.slot_at,
            events,
            answers,
            imports: collected.importer.imports,
            import_slots: collected.importer.slots,
            functions: Vec::new(),
            exports: exports.shared(),
            kept_in_project,
            stars: around.stars,
            places: OnceLock::new(),
        };
        names.functions = names.list_functions();
        names
    }

    fn list_functions(&self) -> Vec<Function> {
        let ids = (0u32..).zip(&self.scopes).filter(|(_, scope)| scope.kind == ScopeKind::Function);
        ids.map(|(id, scope)| Function {
            scope: ScopeId(id),
            outer: self.outer(ScopeId(id)),
            name: scope.name.map_or_else(|| Arc::from(""), |name| self.symbols[name as usize].clone()),
            path: self.path(ScopeId(id)),
            range: scope.range,
        })
        .collect()
    }

    /// The nearest scope around `scope` that is no type-parameter scope.
    fn outer(&self, scope: ScopeId) -> ScopeId {
        let mut outer = self.parent(scope);
        while let Some(id) = outer
            && self.kind_of(id) == ScopeKind::TypeParameters
        {
            outer = self.parent(id);
        }
        outer.unwrap_or(ScopeId(0))
    }

    /// Names of the functions and classes around and at `scope`, with dots; empty for the module.
    pub fn path(&self, scope: ScopeId) -> String {
        let mut parts: Vec<&str> = Vec::new();
        let mut at = Some(scope);
        while let Some(id) = at {
            let data = &self.scopes[id.0 as usize];
            parts.extend(data.name.map(|name| &*self.symbols[name as usize]));
            at = data.parent.map(ScopeId);
        }
        parts.reverse();
        parts.join(".")
    }

    pub(super) fn event_at(&self, offset: TextSize) -> Option<&Event> {
        let at = self.events.binary_search_by_key(&offset, |event| event.range.start()).ok()?;
        Some(&self.events[at])
    }

    /// What `expression` (a name or a chain of attributes) means where it stands.
    pub fn resolve(&self, expression: &Expr) -> Resolution {
        let mut attributes: Vec<&str> = Vec::new();
        let mut base = expression;
        while let Expr::Attribute(attribute) = base {
            attributes.push(attribute.attr.as_str());
            base = &attribute.value;
        }
        let Expr::Name(name) = base else { return Resolution::NotAName };
        let Some(event) = self.event_at(name.start()) else { return Resolution::Unbound };
        attributes.reverse();
        let class = self.scopes[self.slots[event.slot as usize].scope as usize].class;
        let with = |base: &str| {
            let mut path = String::with_capacity(base.len() + 16);
            path.push_str(base);
            for attribute in &attributes {
                path.push('.');
                match class {
                    Some(class) if attribute.starts_with("__") && !attribute.ends_with("__") => {
                        path.push_str(&mangle(&self.symbols[class as usize], attribute));
                    }
                    _ => path.push_str(attribute),
                }
            }
            path
        };
        match self.answers.by_slot[event.slot as usize] {
            Answer::Variable(slot) => Resolution::Local(self.variable_of_slot(slot)),
            Answer::Kept(kept) => match &self.answers.kept[kept as usize] {
                Resolution::Qualified(path) if self.kept_in_project[kept as usize] => {
                    Resolution::Qualified(self.redirected(with(path)))
                }
                Resolution::Qualified(path) => Resolution::Qualified(with(path)),
                Resolution::Ambiguous(paths) => {
                    Resolution::Ambiguous(paths.iter().map(|path| with(path)).collect())
                }
                Resolution::Builtin(name) => Resolution::Builtin(with(name)),
                other => other.clone(),
            },
        }
    }

    /// What the leftmost name of `expression` means; `None` where it is no dotted name. Cheaper than
    /// [`resolve`](Self::resolve) where only imports matter: `Some` of a qualified path, or the other kept meanings.
    pub fn head(&self, expression: &Expr) -> Option<&Resolution> {
        let mut base = expression;
        while let Expr::Attribute(attribute) = base {
            base = &attribute.value;
        }
        let event = self.event_at(base.as_name_expr()?.start())?;
        match self.answers.by_slot[event.slot as usize] {
            Answer::Variable(_) => None,
            Answer::Kept(kept) => Some(&self.answers.kept[kept as usize]),
        }
    }

    /// Follows re-exports of the project that `path` reaches by attributes.
    fn redirected(&self, mut path: String) -> String {
        let Some(exports) = &self.exports else { return path };
        for _ in 0..MAX_REDIRECTS {
            let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
            let mut splits = ends.scan(0, |start, end| Some((std::mem::replace(start, end), end))).skip(1);
            let found = splits.find_map(|(dot, end)| {
                let target = exports.lookup(&path[..dot], &path[dot + 1..end])?;
                (target != path[..end]).then_some((end, target))
            });
            let Some((end, target)) = found else { break };
            path = format!("{target}{}", &path[end..]);
        }
        path
    }

    pub(super) fn variable_of_slot(&self, slot: SlotId) -> Variable {
        let slot = self.slots[slot as usize];
        Variable { scope: ScopeId(slot.scope), name: self.symbols[slot.symbol as usize].clone() }
    }

    /// The variable that `name` reads or writes; `None` where it is an import, a builtin or unbound. A name that is
    /// bound by an import and otherwise too is a variable.
    pub fn variable(&self, name: &ExprName) -> Option<Variable> {
        let slot = self.event_at(name.start())?.slot as usize;
        match self.answers.by_slot[slot] {
            Answer::Variable(slot) => Some(self.variable_of_slot(slot)),
            Answer::Kept(_) => {
                let owner = self.answers.owners[slot]?;
                self.answers.mixed.contains(&owner).then(|| self.variable_of_slot(owner))
            }
        }
    }

    /// The innermost scope at `offset`. A decorator, default value or base class is in the scope around its
    /// definition, and so is the first iterable of a comprehension.
    pub fn scope_at(&self, offset: TextSize) -> ScopeId {
        let after = self.marks.partition_point(|(at, _)| *at <= offset);
        after.checked_sub(1).map_or(ScopeId(0), |at| self.marks[at].1)
    }

    /// The scope that a `def`, `lambda`, class or comprehension starting at `offset` (a decorator's, where there is
    /// one) opens; of several, the outermost.
    pub fn scope_opened_at(&self, offset: TextSize) -> Option<ScopeId> {
        let opens = |scope: &Scope| scope.parent.is_some() && scope.kind != ScopeKind::TypeParameters;
        // Scopes are listed in the order of their starts, as they are met in one walk in source order.
        let first = self.scopes.partition_point(|scope| scope.range.start() < offset);
        let at = (first..self.scopes.len()).take_while(|&at| self.scopes[at].range.start() == offset);
        at.into_iter().find(|&at| opens(&self.scopes[at])).map(|at| ScopeId(at as u32))
    }

    /// The scope that the node with exactly this range opens.
    pub fn scope_opened_by(&self, node: impl Ranged) -> Option<ScopeId> {
        let range = node.range();
        let first = self.scopes.partition_point(|scope| scope.range.start() < range.start());
        (first..self.scopes.len())
            .take_while(|&at| self.scopes[at].range.start() == range.start())
            .find(|&at| {
                let scope = &self.scopes[at];
                scope.range == range && scope.parent.is_some() && scope.kind != ScopeKind::TypeParameters
            })
            .map(|at| ScopeId(at as u32))
    }

    /// True where `dotted` is a module (or a folder of modules) of the project for imports in this module: then
    /// `numpy.sum` is not the library's.
    pub fn is_project_module(&self, dotted: &str) -> bool {
        self.exports.as_ref().is_some_and(|exports| exports.has(dotted))
    }

    /// What kind of scope `scope` is.
    pub fn kind_of(&self, scope: ScopeId) -> ScopeKind {
        self.scopes.get(scope.0 as usize).map_or(ScopeKind::Module, |scope| scope.kind)
    }

    /// The scope around `scope`; `None` for the module.
    pub fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes.get(scope.0 as usize)?.parent.map(ScopeId)
    }

    /// All import bindings, in source order.
    pub fn imports(&self) -> &[ImportBinding] {
        &self.imports
    }

    /// Every function of the module, in source order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// True where any scope binds `name`, or anything in the module reads it, or a star import is known to bind it: it
    /// can't be taken as a fresh alias.
    pub fn mentions(&self, name: &str) -> bool {
        self.symbol_of.contains_key(name) || self.mentioned_by_star(name)
    }

    pub(super) fn mentioned_by_star(&self, name: &str) -> bool {
        self.stars.iter().any(|star| star.may_bind(name))
    }

    /// How often the binding of `import` is read, or deleted, or listed in `__all__`: at 0 nothing in this module
    /// needs it. Imports that bind the same variable (`import a.b` and `import a.c`) share their uses.
    pub fn uses_of(&self, import: &ImportBinding) -> usize {
        let Some(at) = self.imports.iter().position(|it| it == import) else { return 0 };
        let Some(owner) = self.import_slots[at].and_then(|slot| self.answers.owners[slot as usize]) else {
            return 0;
        };
        let places = self.places();
        let deleted = places.bindings(owner).iter().filter(|it| it.kind == BindingKind::Delete).count();
        let exported = usize::from(self.slots[owner as usize].flags & EXPORTED != 0);
        places.reads(owner).len() + deleted + exported
    }
}

fn leads_into_project(meaning: &Resolution, exports: &dyn Exports) -> bool {
    match meaning {
        Resolution::Qualified(path) => exports.has(path.split('.').next().unwrap_or_default()),
        _ => false,
    }
}
