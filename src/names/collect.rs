//! What the first pass gathers: scopes, imports, and every place where a name is bound or used.

use std::borrow::Cow;

use ruff_python_ast::Identifier;
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashMap;

use super::imports::Importer;
use super::{BindingKind, ImportTime, ScopeId, ScopeKind};

/// A symbol: an interned name.
pub(super) type Symbol = u32;
/// A slot: one name as one scope mentions it.
pub(super) type SlotId = u32;

/// The scope binds the name.
pub(super) const BOUND: u8 = 1;
/// The scope declares the name `global`.
pub(super) const GLOBAL: u8 = 2;
/// The scope declares the name `nonlocal`.
pub(super) const NONLOCAL: u8 = 4;
/// The name stands in the module's `__all__`.
pub(super) const EXPORTED: u8 = 8;

/// One name as one scope mentions it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) scope: u32,
    pub(super) symbol: Symbol,
    pub(super) flags: u8,
}

/// What happens to a name at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Bind(BindingKind),
}

/// One place where a name stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) range: TextRange,
    pub(super) slot: SlotId,
    pub(super) action: Action,
}

/// One scope while collecting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<u32>,
    /// The function's or class's name.
    pub(super) name: Option<Symbol>,
    /// The class whose private names (`__x`) are mangled here.
    pub(super) class: Option<Symbol>,
    /// The node that opens it.
    pub(super) range: TextRange,
}

/// Everything the first pass finds.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    pub(super) symbols: FxHashMap<Cow<'a, str>, Symbol>,
    pub(super) names: Vec<Cow<'a, str>>,
    /// For each symbol, the scope that mentioned it last and its slot there.
    recent: Vec<(u32, SlotId)>,
    pub(super) slot_at: FxHashMap<(u32, Symbol), SlotId>,
    pub(super) slots: Vec<Slot>,
    pub(super) events: Vec<Event>,
    pub(super) scopes: Vec<Scope>,
    /// From each offset on, the scope that code is in.
    pub(super) marks: Vec<(TextSize, ScopeId)>,
    pub(super) importer: Importer,
    pub(super) current: u32,
    pub(super) binding: BindingKind,
    pub(super) when: ImportTime,
}

impl<'a> Collector<'a> {
    pub(super) fn new(dotted: &str, is_package: bool, text_len: TextSize) -> Self {
        let events = usize::from(text_len) / 16;
        Self {
            symbols: FxHashMap::default(),
            names: Vec::new(),
            recent: Vec::new(),
            slot_at: FxHashMap::default(),
            slots: Vec::new(),
            events: Vec::with_capacity(events),
            scopes: vec![Scope {
                kind: ScopeKind::Module,
                parent: None,
                name: None,
                class: None,
                range: TextRange::up_to(text_len),
            }],
            marks: vec![(TextSize::default(), ScopeId(0))],
            importer: Importer::new(dotted, is_package),
            current: 0,
            binding: BindingKind::Assignment,
            when: ImportTime::Top,
        }
    }

    /// The symbol for `name` as it stands in the current scope: private names of a class are mangled as Python does.
    pub(super) fn symbol(&mut self, name: &'a str) -> Symbol {
        if name.starts_with("__")
            && !name.ends_with("__")
            && let Some(class) = self.scopes[self.current as usize].class
        {
            let mangled = mangle(&self.names[class as usize], name);
            return self.intern(mangled);
        }
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        self.intern(Cow::Borrowed(name))
    }

    pub(super) fn intern(&mut self, name: Cow<'a, str>) -> Symbol {
        if let Some(&symbol) = self.symbols.get(&name) {
            return symbol;
        }
        let symbol = self.names.len() as Symbol;
        self.names.push(name.clone());
        self.recent.push((u32::MAX, 0));
        self.symbols.insert(name, symbol);
        symbol
    }

    /// The slot of `symbol` in `scope`.
    pub(super) fn slot(&mut self, scope: u32, symbol: Symbol) -> SlotId {
        // Most names are met several times in one scope before another scope mentions them.
        let (recent_scope, recent_slot) = self.recent[symbol as usize];
        if recent_scope == scope {
            return recent_slot;
        }
        let next = self.slots.len() as SlotId;
        let slot = *self.slot_at.entry((scope, symbol)).or_insert(next);
        if slot == next {
            self.slots.push(Slot { scope, symbol, flags: 0 });
        }
        self.recent[symbol as usize] = (scope, slot);
        slot
    }

    pub(super) fn read(&mut self, name: &'a str, range: TextRange) {
        let symbol = self.symbol(name);
        let slot = self.slot(self.current, symbol);
        self.events.push(Event { range, slot, action: Action::Read });
    }

    pub(super) fn bind(&mut self, name: &'a str, range: TextRange, kind: BindingKind) -> SlotId {
        let symbol = self.symbol(name);
        let slot = self.slot(self.binding_scope(kind), symbol);
        // A bare annotation makes the name local, exactly as an assignment does.
        self.slots[slot as usize].flags |= BOUND;
        self.events.push(Event { range, slot, action: Action::Bind(kind) });
        slot
    }

    /// A walrus inside a comprehension binds in the scope around the comprehension.
    fn binding_scope(&self, kind: BindingKind) -> u32 {
        let mut scope = self.current;
        if kind == BindingKind::Walrus {
            while let Scope { kind: ScopeKind::Comprehension, parent: Some(parent), .. } =
                self.scopes[scope as usize]
            {
                scope = parent;
            }
        }
        scope
    }

    pub(super) fn bind_identifier(&mut self, name: &'a Identifier, kind: BindingKind) {
        self.bind(name.id.as_str(), name.range, kind);
    }

    pub(super) fn declare(&mut self, names: &'a [Identifier], flag: u8) {
        for name in names {
            let symbol = self.symbol(name.id.as_str());
            let slot = self.slot(self.current, symbol);
            if self.current != 0 {
                self.slots[slot as usize].flags |= flag;
            }
        }
    }

    pub(super) fn open(
        &mut self,
        kind: ScopeKind,
        name: Option<&'a str>,
        parent: u32,
        range: TextRange,
    ) -> u32 {
        let name = name.map(|name| self.intern(Cow::Borrowed(name)));
        let class = if kind == ScopeKind::Class { name } else { self.scopes[parent as usize].class };
        self.scopes.push(Scope { kind, parent: Some(parent), name, class, range });
        self.scopes.len() as u32 - 1
    }

    /// Runs `visit` for code at `range` that belongs to `scope`.
    pub(super) fn within(&mut self, scope: u32, range: TextRange, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.current, scope);
        self.marks.push((range.start(), ScopeId(scope)));
        visit(self);
        self.current = outer;
        self.marks.push((range.end(), ScopeId(outer)));
    }

    /// Runs `visit` for code that runs at `when`, or at the stricter time that already holds.
    pub(super) fn under(&mut self, when: ImportTime, visit: impl FnOnce(&mut Self)) {
        let outer = self.when;
        self.when = outer.max(when);
        visit(self);
        self.when = outer;
    }

    /// Visits `targets` with every name stored in them bound as `kind`.
    pub(super) fn targets(&mut self, kind: BindingKind, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.binding, kind);
        visit(self);
        self.binding = outer;
    }

    /// Marks the names that `__all__` lists.
    pub(super) fn export(&mut self, names: impl Iterator<Item = &'a str>) {
        for name in names {
            let symbol = self.intern(Cow::Borrowed(name));
            let slot = self.slot(0, symbol);
            self.slots[slot as usize].flags |= EXPORTED;
        }
    }
}

/// `name` inside `class`, as Python mangles private names; a class of underscores alone mangles nothing.
pub(super) fn mangle<'a>(class: &str, name: &'a str) -> Cow<'a, str> {
    match class.trim_start_matches('_') {
        "" => Cow::Borrowed(name),
        class => Cow::Owned(format!("_{class}{name}")),
    }
}
