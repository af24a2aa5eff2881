//! One walk over each module: numbers its expressions, lists its functions and classes, and splits its variables
//! into slots.
//!
//! A variable that no other function sees gets a new slot at each assignment that stands directly in its function's
//! body: whatever comes later can only see that value (or what branches and loops after it assign).

use std::sync::Arc;

use ruff_python_ast::visitor::{Visitor, walk_arguments, walk_expr, walk_stmt};
use ruff_python_ast::{
    AnyParameterRef, Expr, ExprSubscript, HasNodeIndex, Number, Stmt, StmtAssign, StmtClassDef,
    StmtFunctionDef,
};
use rustc_hash::FxHashMap;

use super::program::{
    Class, ClassId, Definition, Given, Param, PathId, Ref, Region, RegionId, Slot, SlotId, Source, SourceId,
};
use crate::names::{BindingKind, Names, Resolution, ScopeId, Variable};

/// What the walk finds.
#[derive(Default)]
pub(super) struct Collected<'a> {
    pub(super) regions: Vec<Region<'a>>,
    pub(super) classes: Vec<Class<'a>>,
    pub(super) slots: Vec<Slot>,
    pub(super) paths: Vec<String>,
    pub(super) refs: Vec<Vec<Ref>>,
    path_of: FxHashMap<String, PathId>,
}

/// Walks all of `sources`.
pub(super) fn collect<'a>(sources: &[Source<'a>]) -> Collected<'a> {
    let mut collected = Collected::default();
    for (index, source) in (0u32..).zip(sources) {
        let region = RegionId(collected.regions.len() as u32);
        let body = source.module.body();
        let name = "<module>".to_owned();
        collected.regions.push(Region::new(SourceId(index), ScopeId(0), name, body));
        let mut walk = Walk {
            out: &mut collected,
            names: source.names,
            source: SourceId(index),
            region,
            scope: ScopeId(0),
            class: None,
            current: FxHashMap::default(),
            region_of: std::iter::once((ScopeId(0), region)).collect(),
            refs: Vec::new(),
        };
        walk.region_body(body);
        let refs = walk.refs;
        collected.refs.push(refs);
    }
    collected
}

struct Walk<'a, 'o> {
    out: &'o mut Collected<'a>,
    names: &'a Names,
    source: SourceId,
    region: RegionId,
    scope: ScopeId,
    class: Option<ClassId>,
    current: FxHashMap<(ScopeId, Arc<str>), SlotId>,
    region_of: FxHashMap<ScopeId, RegionId>,
    refs: Vec<Ref>,
}

impl<'a> Walk<'a, '_> {
    /// The statements that stand directly in a function or module: their assignments may open new slots.
    fn region_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => {
                    self.visit_expr(&assign.value);
                    assign.targets.iter().for_each(|target| self.renew(target));
                    assign.targets.iter().for_each(|target| self.visit_expr(target));
                    self.note_literal(assign);
                }
                Stmt::AnnAssign(assign) => {
                    self.visit_annotation(&assign.annotation);
                    if let Some(value) = &assign.value {
                        self.visit_expr(value);
                        self.renew(&assign.target);
                    }
                    self.visit_expr(&assign.target);
                }
                _ => self.visit_stmt(stmt),
            }
        }
    }

    /// Opens new slots for the variables of this region that `target` assigns.
    fn renew(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                let Some(variable) = self.names.variable(name) else { return };
                let fresh = variable.scope == self.scope
                    && !self.names.is_captured(&variable)
                    && !self.names.is_declared_global(&variable);
                if fresh && self.current.contains_key(&(variable.scope, variable.name.clone())) {
                    self.open(&variable);
                }
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.renew(element)),
            Expr::List(list) => list.elts.iter().for_each(|element| self.renew(element)),
            _ => {}
        }
    }

    fn open(&mut self, variable: &Variable) -> SlotId {
        let id = SlotId(self.out.slots.len() as u32);
        self.out.slots.push(Slot {
            source: self.source,
            region: self.owner_of(variable.scope),
            scope: variable.scope,
            name: variable.name.clone(),
            captured: self.names.is_captured(variable),
            nonlocal: self.names.is_declared_nonlocal(variable),
            definition: None,
            literal: None,
            text_index: false,
            indexed: false,
        });
        self.current.insert((variable.scope, variable.name.clone()), id);
        id
    }

    /// The region whose variables the scope's are: comprehensions, lambdas and classes belong to the region around.
    fn owner_of(&self, scope: ScopeId) -> RegionId {
        let mut at = Some(scope);
        while let Some(id) = at {
            if let Some(region) = self.region_of.get(&id) {
                return *region;
            }
            at = self.names.parent(id);
        }
        self.region
    }

    fn slot(&mut self, variable: &Variable) -> SlotId {
        match self.current.get(&(variable.scope, variable.name.clone())) {
            Some(slot) => *slot,
            None => self.open(variable),
        }
    }

    fn path(&mut self, name: String) -> PathId {
        if let Some(path) = self.out.path_of.get(&name) {
            return *path;
        }
        let id = PathId(self.out.paths.len() as u32);
        self.out.paths.push(name.clone());
        self.out.path_of.insert(name, id);
        id
    }

    fn reference(&mut self, expression: &Expr) -> Ref {
        let name = match expression {
            Expr::Name(name) => Some(name),
            Expr::Attribute(_) => None,
            _ => return Ref::None,
        };
        let names = self.names;
        match (names.head(expression), name) {
            (Some(Resolution::Qualified(_) | Resolution::Builtin(_)), _) => match names.resolve(expression) {
                Resolution::Qualified(path) => Ref::Path(self.path(path)),
                Resolution::Builtin(path) => Ref::Builtin(self.path(path)),
                _ => Ref::Unclear,
            },
            (Some(_), _) => Ref::Unclear,
            (None, Some(name)) => match names.variable(name) {
                Some(variable) => Ref::Slot(self.slot(&variable)),
                None => Ref::Unclear,
            },
            (None, None) => Ref::None,
        }
    }

    fn function(&mut self, def: &'a StmtFunctionDef) {
        def.decorator_list.iter().for_each(|it| self.visit_decorator(it));
        if let Some(returns) = &def.returns {
            self.visit_annotation(returns);
        }
        let bound_to = self.bind(def.name.as_str(), BindingKind::Function);
        let scope = self.names.scope_opened_by(def).unwrap_or(self.scope);
        let id = RegionId(self.out.regions.len() as u32);
        let mut region = Region::new(self.source, scope, self.names.path(scope), &def.body);
        region.def = Some(def);
        region.outer = Some(self.region);
        region.class = self.class;
        region.bound_to = bound_to;
        self.out.regions.push(region);
        self.region_of.insert(scope, id);
        self.define(bound_to, Definition::Function(id));
        if let Some(class) = self.class {
            self.out.classes[class.0 as usize].methods.insert(def.name.as_str(), id);
        }
        self.parameters(def, id, scope);
        let outer = (self.region, self.scope, self.class.take());
        (self.region, self.scope) = (id, scope);
        self.region_body(&def.body);
        (self.region, self.scope, self.class) = outer;
    }

    fn parameters(&mut self, def: &'a StmtFunctionDef, region: RegionId, scope: ScopeId) {
        let positional_only = def.parameters.posonlyargs.len();
        let positional = positional_only + def.parameters.args.len();
        for (index, any) in def.parameters.iter_source_order().enumerate() {
            let parameter = any.as_parameter();
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
            let default = any.default();
            if let Some(default) = default {
                self.visit_expr(default);
            }
            let given = match any {
                AnyParameterRef::Variadic(_) => Given::Rest,
                AnyParameterRef::NonVariadic(_) if index < positional_only => Given::Position,
                AnyParameterRef::NonVariadic(_) if index < positional => Given::Either,
                AnyParameterRef::NonVariadic(_) => Given::Name,
            };
            let variable = Variable { scope, name: Arc::from(parameter.name.as_str()) };
            let slot = self.slot(&variable);
            self.out.slots[slot.0 as usize].region = region;
            let name = parameter.name.as_str();
            let annotation = parameter.annotation();
            let param = Param { slot, name, default, annotation, given };
            self.out.regions[region.0 as usize].params.push(param);
        }
    }

    /// The slot of a `def`'s or `class`'s name, where nothing else is ever bound to it.
    fn bind(&mut self, name: &str, kind: BindingKind) -> Option<SlotId> {
        let variable = Variable { scope: self.scope, name: Arc::from(name) };
        let slot = self.slot(&variable);
        let only = self.names.only_binding(&variable)?;
        (only.kind == kind).then_some(slot)
    }

    fn define(&mut self, slot: Option<SlotId>, definition: Definition) {
        if let Some(slot) = slot {
            self.out.slots[slot.0 as usize].definition = Some(definition);
        }
    }

    fn class(&mut self, def: &'a StmtClassDef) {
        def.decorator_list.iter().for_each(|it| self.visit_decorator(it));
        if let Some(arguments) = &def.arguments {
            walk_arguments(self, arguments);
        }
        let bound_to = self.bind(def.name.as_str(), BindingKind::Class);
        let id = ClassId(self.out.classes.len() as u32);
        let (source, methods) = (self.source, FxHashMap::default());
        self.out.classes.push(Class { source, def, methods, bound_to });
        self.define(bound_to, Definition::Class(id));
        let outer = (self.scope, self.class.replace(id));
        self.scope = self.names.scope_opened_by(def).unwrap_or(self.scope);
        def.body.iter().for_each(|stmt| self.visit_stmt(stmt));
        (self.scope, self.class) = outer;
    }

    /// Notes what a subscript says of its base: `data["u"]` is no array, `row[1:]` no scalar.
    fn note_index(&mut self, subscript: &ExprSubscript) {
        if let Ref::Slot(slot) = self.refs_of(&subscript.value) {
            let slot = &mut self.out.slots[slot.0 as usize];
            slot.indexed = true;
            slot.text_index |= subscript.slice.is_string_literal_expr();
        }
    }

    fn refs_of(&self, expression: &Expr) -> Ref {
        super::program::node(expression).and_then(|at| self.refs.get(at).copied()).unwrap_or_default()
    }

    /// Notes the integer that a variable is always bound to.
    fn note_literal(&mut self, assign: &StmtAssign) {
        let ([Expr::Name(name)], Expr::NumberLiteral(number)) = (&*assign.targets, &*assign.value) else {
            return;
        };
        let Number::Int(int) = &number.value else { return };
        let Some(variable) = self.names.variable(name) else { return };
        if self.names.only_binding(&variable).is_some_and(|it| it.kind == BindingKind::Assignment) {
            let slot = self.slot(&variable);
            self.out.slots[slot.0 as usize].literal = int.as_i64();
        }
    }
}

impl<'a> Visitor<'a> for Walk<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        expression.node_index().set((self.refs.len() as u32).into());
        self.refs.push(Ref::None);
        let at = self.refs.len() - 1;
        let reference = self.reference(expression);
        self.refs[at] = reference;
        walk_expr(self, expression);
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) => self.out.regions[self.region.0 as usize].yields = true,
            Expr::Subscript(subscript) => self.note_index(subscript),
            _ => {}
        }
    }
}
