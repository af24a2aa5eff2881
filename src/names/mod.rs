//! What every dotted name means: scope-correct resolution of names to imports, variables or builtins.

use std::sync::Arc;

use ruff_python_ast::{Expr, ExprName};
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashMap;

use crate::source::Module;

/// What an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// An imported thing, by its full path from a top-level module: `numpy.linalg.norm`. Names that the project's own
    /// modules re-export are followed to where they come from.
    Qualified(String),
    /// Several imports may be meant (`try: import cupy as xp / except ImportError: import numpy as xp`).
    Ambiguous(Vec<String>),
    /// A variable, parameter, function or class of this module (or an attribute of one).
    Local(Variable),
    /// A builtin that nothing shadows: `print`.
    Builtin(String),
    /// Bound nowhere in this module, but a star import of these modules may bind it.
    MaybeStar(Vec<String>),
    /// Bound nowhere.
    Unbound,
    /// Not a dotted name at all (a call, a subscript, …).
    NotAName,
}

/// A scope of one module, by index; 0 is the module itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

/// A variable: a name in the scope that binds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    /// The scope whose variable it is (after `global`, `nonlocal` and class-scope rules).
    pub scope: ScopeId,
    /// Its name.
    pub name: Arc<str>,
}

/// What kind of scope a scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The module.
    Module,
    /// A `def` or `async def`.
    Function,
    /// A class body.
    Class,
    /// A lambda.
    Lambda,
    /// A comprehension or generator expression.
    Comprehension,
}

/// One name bound by an import statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBinding {
    /// The whole statement.
    pub statement: TextRange,
    /// The alias clause inside it (`numpy as np`).
    pub clause: TextRange,
    /// The scope it binds in.
    pub scope: ScopeId,
    /// The name it binds (`np`; for `import os.path` it is `os`; for a star import `*`).
    pub bound: Arc<str>,
    /// What that name then means (`numpy`; for `import os.path` it is `os`).
    pub qualified: String,
    /// The module that the statement loads (`numpy.linalg` for `from numpy.linalg import norm` and for `import numpy.linalg`).
    pub module: String,
    /// True where it stands at the top level of a module body, not under `if`, `try`, a function or a class.
    pub top_level: bool,
}

/// Where a module stands in its project: needed for relative imports and re-exports.
pub trait Exports: Sync {
    /// What `name` of project module `module` means outside: `Some("numpy.sum")` where it is re-exported from there,
    /// `None` where the project has no such module or the module itself defines the name.
    fn lookup(&self, module: &str, name: &str) -> Option<String>;
    /// The public names of `module` for `from module import *`, where known (project module or a known library).
    fn star(&self, module: &str) -> Option<Vec<String>>;
}

/// No project around the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoExports;

impl Exports for NoExports {
    fn lookup(&self, _module: &str, _name: &str) -> Option<String> {
        None
    }
    fn star(&self, _module: &str) -> Option<Vec<String>> {
        None
    }
}

/// The resolved names of one module.
#[derive(Debug, Default)]
pub struct Names {
    imports: Vec<ImportBinding>,
    at: FxHashMap<TextSize, Resolution>,
}

impl Names {
    /// Resolves every name of `module`. `dotted` is the module's own dotted name (`pkg.mod`), `is_package` says whether
    /// it is an `__init__.py`.
    pub fn build(_module: &Module, _dotted: &str, _is_package: bool, _exports: &dyn Exports) -> Self {
        Self::default()
    }

    /// What `expression` (a name or a chain of attributes) means where it stands.
    pub fn resolve(&self, expression: &Expr) -> Resolution {
        match expression {
            Expr::Name(name) => self.at.get(&name.range.start()).cloned().unwrap_or(Resolution::Unbound),
            _ => Resolution::NotAName,
        }
    }

    /// The variable that `name` reads or writes; `None` where it is an import, a builtin or unbound.
    pub fn variable(&self, _name: &ExprName) -> Option<Variable> {
        None
    }

    /// The innermost scope at `offset`.
    pub fn scope_at(&self, _offset: TextSize) -> ScopeId {
        ScopeId(0)
    }

    /// The scope that a `def`, `lambda`, class or comprehension starting at `offset` opens.
    pub fn scope_opened_at(&self, _offset: TextSize) -> Option<ScopeId> {
        None
    }

    /// What kind of scope `scope` is.
    pub fn kind_of(&self, _scope: ScopeId) -> ScopeKind {
        ScopeKind::Module
    }

    /// The scope around `scope`; `None` for the module.
    pub fn parent(&self, _scope: ScopeId) -> Option<ScopeId> {
        None
    }

    /// All import bindings, in source order.
    pub fn imports(&self) -> &[ImportBinding] {
        &self.imports
    }

    /// True where any scope binds `name`, or anything in the module reads it: it can't be taken as a fresh alias.
    pub fn mentions(&self, _name: &str) -> bool {
        false
    }

    /// How often the binding of `import` is read.
    pub fn uses_of(&self, _import: &ImportBinding) -> usize {
        0
    }
}
