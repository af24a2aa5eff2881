//! First pass: one walk over the tree, in source order, that fills the collector.

use std::borrow::Cow;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, ExprLambda, Identifier, Parameters, Pattern, Stmt,
    StmtAnnAssign, StmtAssign, StmtClassDef, StmtFunctionDef, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::collect::{Collector, GLOBAL, NONLOCAL};
use super::{BindingKind, ImportTime, ScopeId, ScopeKind};

impl<'a> Collector<'a> {
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
                    self.importer.import(stmt, alias, name, Some(slot), scope, when);
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

    fn annotated(&mut self, assign: &'a StmtAnnAssign) {
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

    /// Statements whose targets or conditions matter.
    fn block(&mut self, stmt: &'a Stmt) {
        match stmt {
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
            _ => {}
        }
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
            Stmt::AnnAssign(assign) => self.annotated(assign),
            Stmt::For(_) | Stmt::With(_) | Stmt::If(_) => self.block(stmt),
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
