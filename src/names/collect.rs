//! First pass: one walk over the tree that lists scopes, imports, and every place where a name is bound or used.

use std::borrow::Cow;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, ExprLambda, Identifier, Parameters, Pattern, Stmt,
    StmtAssign, StmtClassDef, StmtFunctionDef, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};
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
    pub(super) slot_at: FxHashMap<(u32, Symbol), SlotId>,
    pub(super) slots: Vec<Slot>,
    pub(super) events: Vec<Event>,
    pub(super) scopes: Vec<Scope>,
    /// From each offset on, the scope that code is in.
    pub(super) marks: Vec<(TextSize, ScopeId)>,
    pub(super) importer: Importer,
    current: u32,
    binding: BindingKind,
    when: ImportTime,
}

impl<'a> Collector<'a> {
    pub(super) fn new(dotted: &str, is_package: bool, text_len: TextSize) -> Self {
        let events = usize::from(text_len) / 16;
        Self {
            symbols: FxHashMap::default(),
            names: Vec::new(),
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
    fn symbol(&mut self, name: &'a str) -> Symbol {
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

    fn intern(&mut self, name: Cow<'a, str>) -> Symbol {
        if let Some(&symbol) = self.symbols.get(&name) {
            return symbol;
        }
        let symbol = self.names.len() as Symbol;
        self.names.push(name.clone());
        self.symbols.insert(name, symbol);
        symbol
    }

    /// The slot of `symbol` in `scope`.
    pub(super) fn slot(&mut self, scope: u32, symbol: Symbol) -> SlotId {
        let next = self.slots.len() as SlotId;
        let slot = *self.slot_at.entry((scope, symbol)).or_insert(next);
        if slot == next {
            self.slots.push(Slot { scope, symbol, flags: 0 });
        }
        slot
    }

    fn read(&mut self, name: &'a str, range: TextRange) {
        let symbol = self.symbol(name);
        let slot = self.slot(self.current, symbol);
        self.events.push(Event { range, slot, action: Action::Read });
    }

    fn bind(&mut self, name: &'a str, range: TextRange, kind: BindingKind) -> SlotId {
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

    fn bind_identifier(&mut self, name: &'a Identifier, kind: BindingKind) {
        self.bind(name.id.as_str(), name.range, kind);
    }

    fn declare(&mut self, names: &'a [Identifier], flag: u8) {
        for name in names {
            let symbol = self.symbol(name.id.as_str());
            let slot = self.slot(self.current, symbol);
            if self.current != 0 {
                self.slots[slot as usize].flags |= flag;
            }
        }
    }

    fn open(&mut self, kind: ScopeKind, name: Option<&'a str>, parent: u32, range: TextRange) -> u32 {
        let name = name.map(|name| self.intern(Cow::Borrowed(name)));
        let class = if kind == ScopeKind::Class { name } else { self.scopes[parent as usize].class };
        self.scopes.push(Scope { kind, parent: Some(parent), name, class, range });
        self.scopes.len() as u32 - 1
    }

    /// Runs `visit` for code at `range` that belongs to `scope`.
    fn within(&mut self, scope: u32, range: TextRange, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.current, scope);
        self.marks.push((range.start(), ScopeId(scope)));
        visit(self);
        self.current = outer;
        self.marks.push((range.end(), ScopeId(outer)));
    }

    /// Runs `visit` for code that runs at `when`, or at the stricter time that already holds.
    fn under(&mut self, when: ImportTime, visit: impl FnOnce(&mut Self)) {
        let outer = self.when;
        self.when = outer.max(when);
        visit(self);
        self.when = outer;
    }

    /// Visits `targets` with every name stored in them bound as `kind`.
    fn targets(&mut self, kind: BindingKind, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.binding, kind);
        visit(self);
        self.binding = outer;
    }

    fn function(&mut self, def: &'a StmtFunctionDef) {
        let generic = self.open_generic(def.type_params.as_deref(), def.range);
        let scope = self.open(ScopeKind::Function, Some(def.name.as_str()), generic, def.range);
        for decorator in &def.decorator_list {
            self.visit_decorator(decorator);
        }
        self.bind_identifier(&def.name, BindingKind::Function);
        self.type_parameters(def.type_params.as_deref(), generic);
        self.parameters(&def.parameters, scope, generic);
        let mut header_end = def.parameters.end();
        if let Some(returns) = &def.returns {
            self.within(generic, returns.range(), |this| this.visit_annotation(returns));
            header_end = returns.end();
        }
        self.within(scope, TextRange::new(header_end, def.end()), |this| {
            this.under(ImportTime::Deferred, |this| this.visit_body(&def.body));
        });
    }

    /// Opens the scope of type parameters; the current one where there are none.
    fn open_generic(&mut self, parameters: Option<&'a TypeParams>, range: TextRange) -> u32 {
        match parameters {
            Some(_) => self.open(ScopeKind::TypeParameters, None, self.current, range),
            None => self.current,
        }
    }

    fn type_parameters(&mut self, parameters: Option<&'a TypeParams>, generic: u32) {
        let Some(parameters) = parameters else { return };
        self.within(generic, parameters.range, |this| {
            for parameter in &parameters.type_params {
                this.bind_identifier(parameter.name(), BindingKind::TypeParameter);
                this.visit_type_param(parameter);
            }
        });
    }

    /// Parameters are names of `scope`, annotations belong to `generic`, defaults to the scope around both.
    fn parameters(&mut self, parameters: &'a Parameters, scope: u32, generic: u32) {
        for parameter in parameters.iter_source_order() {
            let name = parameter.name();
            self.within(scope, name.range, |this| this.bind_identifier(name, BindingKind::Parameter));
            if let Some(annotation) = parameter.annotation() {
                self.within(generic, annotation.range(), |this| this.visit_annotation(annotation));
            }
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
    }

    fn class(&mut self, def: &'a StmtClassDef) {
        let generic = self.open_generic(def.type_params.as_deref(), def.range);
        if generic != self.current {
            // The names of a class's type parameters are private to that class.
            self.scopes[generic as usize].class = Some(self.intern(Cow::Borrowed(def.name.as_str())));
        }
        let scope = self.open(ScopeKind::Class, Some(def.name.as_str()), generic, def.range);
        for decorator in &def.decorator_list {
            self.visit_decorator(decorator);
        }
        self.bind_identifier(&def.name, BindingKind::Class);
        self.type_parameters(def.type_params.as_deref(), generic);
        let mut header_end = def.type_params.as_ref().map_or(def.name.end(), |parameters| parameters.end());
        if let Some(arguments) = &def.arguments {
            self.within(generic, arguments.range, |this| this.visit_arguments(arguments));
            header_end = arguments.end();
        }
        self.within(scope, TextRange::new(header_end, def.end()), |this| {
            this.under(ImportTime::Conditional, |this| this.visit_body(&def.body));
        });
    }

    fn lambda(&mut self, lambda: &'a ExprLambda) {
        let scope = self.open(ScopeKind::Lambda, None, self.current, lambda.range);
        let mut header_end = lambda.start();
        if let Some(parameters) = &lambda.parameters {
            self.parameters(parameters, scope, self.current);
            header_end = parameters.end();
        }
        self.within(scope, TextRange::new(header_end, lambda.end()), |this| {
            this.visit_expr(&lambda.body);
        });
    }

    fn comprehension(&mut self, range: TextRange, elements: &[&'a Expr], generators: &'a [Comprehension]) {
        let outer = self.current;
        let scope = self.open(ScopeKind::Comprehension, None, outer, range);
        self.within(scope, range, |this| {
            for element in elements {
                this.visit_expr(element);
            }
            for (index, generator) in generators.iter().enumerate() {
                this.targets(BindingKind::Comprehension, |this| this.visit_expr(&generator.target));
                if index == 0 {
                    // Python evaluates the first iterable before it enters the comprehension.
                    let first = &generator.iter;
                    this.within(outer, first.range(), |this| this.visit_expr(first));
                } else {
                    this.visit_expr(&generator.iter);
                }
                for condition in &generator.ifs {
                    this.visit_expr(condition);
                }
            }
        });
    }

    fn assign(&mut self, assign: &'a StmtAssign) {
        let kind = if assign.value.is_none_literal_expr() {
            BindingKind::NoneLiteral
        } else {
            BindingKind::Assignment
        };
        for target in &assign.targets {
            let kind = if target.is_name_expr() { kind } else { BindingKind::Assignment };
            self.targets(kind, |this| this.visit_expr(target));
        }
        self.visit_expr(&assign.value);
    }

    fn import(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let (name, range) = match &alias.asname {
                        Some(asname) => (asname.as_str(), asname.range),
                        None => first_component(&alias.name),
                    };
                    let slot = self.bind(name, range, BindingKind::Import);
                    let scope = ScopeId(self.current);
                    let when = if import.is_lazy { self.when.max(ImportTime::Deferred) } else { self.when };
                    self.importer.import(stmt, alias, name, slot, scope, when);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    let slot = (name.as_str() != "*")
                        .then(|| self.bind(name.as_str(), name.range, BindingKind::Import));
                    let scope = ScopeId(self.current);
                    let when = if import.is_lazy { self.when.max(ImportTime::Deferred) } else { self.when };
                    self.importer.import_from(import, alias, slot, scope, when);
                }
            }
            _ => {}
        }
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

/// The `a` of `import a.b.c`.
fn first_component(name: &Identifier) -> (&str, TextRange) {
    let first = name.as_str().split('.').next().unwrap_or_default();
    let length = TextSize::of(first).min(name.range.len());
    (first, TextRange::at(name.start(), length))
}

impl<'a> SourceOrderVisitor<'a> for Collector<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(stmt),
            Stmt::Global(global) => self.declare(&global.names, GLOBAL),
            Stmt::Nonlocal(nonlocal) => self.declare(&nonlocal.names, NONLOCAL),
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => {
                self.targets(BindingKind::Augmented, |this| this.visit_expr(&assign.target));
                self.visit_expr(&assign.value);
            }
            Stmt::AnnAssign(assign) => {
                let kind = match &assign.value {
                    Some(value) if value.is_none_literal_expr() => BindingKind::NoneLiteral,
                    Some(_) => BindingKind::Assignment,
                    None => BindingKind::Annotation,
                };
                // `(x): int` alone neither binds nor declares.
                if assign.value.is_some() || assign.simple || !assign.target.is_name_expr() {
                    self.targets(kind, |this| this.visit_expr(&assign.target));
                }
                self.visit_annotation(&assign.annotation);
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
            }
            Stmt::For(node) => {
                self.targets(BindingKind::For, |this| this.visit_expr(&node.target));
                self.visit_expr(&node.iter);
                self.under(ImportTime::Conditional, |this| {
                    this.visit_body(&node.body);
                    this.visit_body(&node.orelse);
                });
            }
            Stmt::With(node) => {
                for item in &node.items {
                    self.visit_expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.targets(BindingKind::With, |this| this.visit_expr(target));
                    }
                }
                self.under(ImportTime::Conditional, |this| this.visit_body(&node.body));
            }
            Stmt::If(node) => {
                let (then, otherwise) = ImportTime::of_branches(&node.test);
                self.visit_expr(&node.test);
                self.under(then, |this| this.visit_body(&node.body));
                for clause in &node.elif_else_clauses {
                    self.under(otherwise, |this| this.visit_elif_else_clause(clause));
                }
            }
            Stmt::Try(_) | Stmt::While(_) | Stmt::Match(_) => {
                self.under(ImportTime::Conditional, |this| source_order::walk_stmt(this, stmt));
            }
            Stmt::TypeAlias(alias) => {
                self.targets(BindingKind::TypeAlias, |this| this.visit_expr(&alias.name));
                let generic = self.open_generic(alias.type_params.as_deref(), alias.range);
                self.type_parameters(alias.type_params.as_deref(), generic);
                self.within(generic, alias.value.range(), |this| this.visit_expr(&alias.value));
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => match name.ctx {
                ExprContext::Store => {
                    self.bind(name.id.as_str(), name.range, self.binding);
                }
                ExprContext::Del => {
                    self.bind(name.id.as_str(), name.range, BindingKind::Delete);
                }
                ExprContext::Load | ExprContext::Invalid => self.read(name.id.as_str(), name.range),
            },
            Expr::Attribute(attribute) => self.visit_expr(&attribute.value),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::Named(named) => {
                self.targets(BindingKind::Walrus, |this| this.visit_expr(&named.target));
                self.visit_expr(&named.value);
            }
            Expr::ListComp(comp) => self.comprehension(comp.range, &[&comp.elt], &comp.generators),
            Expr::SetComp(comp) => self.comprehension(comp.range, &[&comp.elt], &comp.generators),
            Expr::Generator(comp) => self.comprehension(comp.range, &[&comp.elt], &comp.generators),
            Expr::DictComp(comp) => match &comp.key {
                Some(key) => self.comprehension(comp.range, &[key, &comp.value], &comp.generators),
                None => self.comprehension(comp.range, &[&comp.value], &comp.generators),
            },
            _ => source_order::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(kind) = &handler.type_ {
            self.visit_expr(kind);
        }
        if let Some(name) = &handler.name {
            self.bind_identifier(name, BindingKind::Except);
        }
        self.visit_body(&handler.body);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        source_order::walk_pattern(self, pattern);
        let captured = match pattern {
            Pattern::MatchAs(node) => node.name.as_ref(),
            Pattern::MatchStar(node) => node.name.as_ref(),
            Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = captured {
            self.bind_identifier(name, BindingKind::Match);
        }
    }
}
