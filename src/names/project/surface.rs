//! What a module shows to others: the names its body binds, what it imports and when, and its `__all__`.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{ExceptHandler, Expr, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use crate::names::exported::dunder_all;
use crate::names::imports::Importer;
use crate::names::{ImportBinding, ImportTime, ScopeId};
use crate::source::Module;

/// What a module shows to others. Found from its statements alone: nothing inside functions is looked at but imports
/// and `global` declarations.
#[derive(Debug)]
pub(super) struct Surface {
    /// Every import of the module, at any depth, in source order.
    pub(super) imports: Vec<SurfaceImport>,
    /// Every name that the module body may bind, and whether by anything but an import.
    bound: FxHashMap<Box<str>, bool>,
    /// The names of `__all__`, where it is literal.
    all: Option<Vec<String>>,
}

/// One import clause.
#[derive(Debug)]
pub(super) struct SurfaceImport {
    pub(super) binding: ImportBinding,
    /// The statement of the module body that it stands in: itself, or the `if`, `try` or `def` around it.
    pub(super) anchor: TextRange,
    /// True where it binds a name of the module.
    pub(super) in_module: bool,
}

impl Surface {
    pub(super) fn build(module: &Module, dotted: &str, is_package: bool) -> Self {
        let mut walker = Walker {
            importer: Importer::new(dotted, is_package),
            places: Vec::new(),
            bound: FxHashMap::default(),
            when: ImportTime::Top,
            in_module: true,
            anchor: TextRange::default(),
            has_walrus: module.text().contains(":="),
        };
        for stmt in module.body() {
            walker.anchor = stmt.range();
            walker.stmt(stmt);
        }
        let imports = walker.importer.imports.into_iter().zip(walker.places);
        let imports =
            imports.map(|(binding, (anchor, in_module))| SurfaceImport { binding, anchor, in_module });
        let all = dunder_all(module.body()).map(|names| names.into_iter().map(str::to_owned).collect());
        Self { imports: imports.collect(), bound: walker.bound, all }
    }

    /// True where the module body may bind `name`, star imports aside.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.bound.contains_key(name)
    }

    /// True where something other than an import may bind `name`.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.bound.get(name).copied().unwrap_or(false)
    }

    /// The imports that bind `name` in the module.
    pub(super) fn imports_of(&self, name: &str) -> impl Iterator<Item = &ImportBinding> {
        let here = self.imports.iter().filter(|import| import.in_module);
        here.map(|import| &import.binding).filter(move |binding| &*binding.bound == name)
    }

    /// The modules star-imported by the module body.
    pub(super) fn stars(&self) -> impl Iterator<Item = &ImportBinding> {
        self.imports.iter().map(|import| &import.binding).filter(|binding| binding.is_star())
    }

    /// The names of `__all__`, where it is literal.
    pub(super) fn all(&self) -> Option<&[String]> {
        self.all.as_deref()
    }

    /// The public names that the module body binds, star imports aside, in no order.
    pub(super) fn public_names(&self) -> impl Iterator<Item = &str> {
        self.bound.keys().map(|name| &**name).filter(|name| !name.starts_with('_'))
    }
}

struct Walker {
    importer: Importer,
    places: Vec<(TextRange, bool)>,
    bound: FxHashMap<Box<str>, bool>,
    when: ImportTime,
    /// True where statements bind names of the module.
    in_module: bool,
    anchor: TextRange,
    has_walrus: bool,
}

impl Walker {
    fn body(&mut self, body: &[Stmt], when: ImportTime) {
        let outer = self.when;
        self.when = outer.max(when);
        for stmt in body {
            self.stmt(stmt);
        }
        self.when = outer;
    }

    /// The body of a function or class, whose names aren't the module's.
    fn inner(&mut self, body: &[Stmt], when: ImportTime) {
        let outer = std::mem::replace(&mut self.in_module, false);
        self.body(body, when);
        self.in_module = outer;
    }

    fn bind(&mut self, name: &str, otherwise: bool) {
        if self.in_module {
            self.declare(name, otherwise);
        }
    }

    fn declare(&mut self, name: &str, otherwise: bool) {
        match self.bound.get_mut(name) {
            Some(known) => *known |= otherwise,
            None => {
                self.bound.insert(name.into(), otherwise);
            }
        }
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), true),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.target(element)),
            Expr::List(list) => list.elts.iter().for_each(|element| self.target(element)),
            Expr::Starred(starred) => self.target(&starred.value),
            _ => {}
        }
    }

    fn assign(&mut self, target: &Expr, value: Option<&Expr>) {
        match (target, value) {
            (Expr::Name(name), Some(Expr::NoneLiteral(_))) => self.bind(name.id.as_str(), false),
            (Expr::Name(_), None) => {}
            _ => self.target(target),
        }
    }

    fn import(&mut self, stmt: &Stmt) {
        let scope = ScopeId(0);
        match stmt {
            Stmt::Import(import) => {
                let when = if import.is_lazy { self.when.max(ImportTime::Deferred) } else { self.when };
                for alias in &import.names {
                    let bound = alias.asname.as_ref().map_or_else(
                        || alias.name.as_str().split('.').next().unwrap_or_default(),
                        |asname| asname.as_str(),
                    );
                    self.bind(bound, false);
                    self.importer.import(stmt, alias, bound, None, scope, when);
                    self.places.push((self.anchor, self.in_module));
                }
            }
            Stmt::ImportFrom(import) => {
                let when = if import.is_lazy { self.when.max(ImportTime::Deferred) } else { self.when };
                for alias in &import.names {
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                    if bound.as_str() != "*" {
                        self.bind(bound.as_str(), false);
                    }
                    self.importer.import_from(import, alias, None, scope, when);
                    self.places.push((self.anchor, self.in_module));
                }
            }
            _ => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if self.has_walrus && self.in_module {
            self.walrus(stmt);
        }
        match stmt {
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(stmt),
            Stmt::FunctionDef(def) => {
                self.bind(def.name.as_str(), true);
                self.inner(&def.body, ImportTime::Deferred);
            }
            Stmt::ClassDef(def) => {
                self.bind(def.name.as_str(), true);
                self.inner(&def.body, ImportTime::Conditional);
            }
            // Whatever the function then does to the name, it isn't only what the module body says.
            Stmt::Global(global) => global.names.iter().for_each(|name| self.declare(name.as_str(), true)),
            Stmt::Assign(node) => {
                for target in &node.targets {
                    self.assign(target, Some(&node.value));
                }
            }
            Stmt::AnnAssign(node) => self.assign(&node.target, node.value.as_deref()),
            Stmt::AugAssign(node) => self.target(&node.target),
            Stmt::TypeAlias(node) => self.target(&node.name),
            Stmt::Delete(node) => node.targets.iter().for_each(|target| self.target(target)),
            _ => self.block(stmt),
        }
    }

    fn block(&mut self, stmt: &Stmt) {
        let when = ImportTime::Conditional;
        match stmt {
            Stmt::If(node) => {
                let (then, otherwise) = ImportTime::of_branches(&node.test);
                self.body(&node.body, then);
                node.elif_else_clauses.iter().for_each(|clause| self.body(&clause.body, otherwise));
            }
            Stmt::For(node) => {
                self.target(&node.target);
                self.body(&node.body, when);
                self.body(&node.orelse, when);
            }
            Stmt::While(node) => {
                self.body(&node.body, when);
                self.body(&node.orelse, when);
            }
            Stmt::With(node) => {
                node.items
                    .iter()
                    .filter_map(|item| item.optional_vars.as_deref())
                    .for_each(|it| self.target(it));
                self.body(&node.body, when);
            }
            Stmt::Try(node) => {
                self.body(&node.body, when);
                for ExceptHandler::ExceptHandler(handler) in &node.handlers {
                    handler.name.iter().for_each(|name| self.bind(name.as_str(), true));
                    self.body(&handler.body, when);
                }
                self.body(&node.orelse, when);
                self.body(&node.finalbody, when);
            }
            Stmt::Match(node) => {
                for case in &node.cases {
                    Expressions(self).visit_pattern(&case.pattern);
                    self.body(&case.body, when);
                }
            }
            _ => {}
        }
    }

    /// Binds what `:=` binds in the statement's own expressions.
    fn walrus(&mut self, stmt: &Stmt) {
        Expressions(self).visit_stmt(stmt);
    }
}

/// Finds names bound inside expressions and patterns.
struct Expressions<'w>(&'w mut Walker);

impl<'a> SourceOrderVisitor<'a> for Expressions<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        source_order::walk_stmt(self, stmt);
    }

    /// Nested statements are visited on their own.
    fn visit_body(&mut self, _body: &'a [Stmt]) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Named(named) => {
                self.0.target(&named.target);
                self.visit_expr(&named.value);
            }
            Expr::Lambda(_) => {}
            _ => source_order::walk_expr(self, expr),
        }
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
            self.0.bind(name.as_str(), true);
        }
    }
}
