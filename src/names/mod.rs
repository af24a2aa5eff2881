//! What every dotted name means: scope-correct resolution of names to imports, variables or builtins.
//!
//! Two passes over one module: the first lists scopes, imports and every mention of a name; in the second each
//! mention gets its answer by Python's static scoping. Nothing here depends on the order in which code runs: a name
//! that may mean two things is [`Resolution::Ambiguous`], never a guess.

mod answer;
mod builtins;
mod collect;
mod exported;
mod imports;
mod meaning;
mod places;
mod project;
mod resolved;
mod star;
mod walk;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use ruff_text_size::TextRange;

pub(crate) use builtins::is_builtin;
pub use project::{ModuleId, Project, Reach, View};
pub use resolved::Names;

/// What an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// An imported thing, by its full path from a top-level module: `numpy.linalg.norm`. Names that the project's own
    /// modules re-export are followed to where they come from.
    Qualified(String),
    /// Several things may be meant: these imports (`try: import cupy as xp / except ImportError: import numpy as xp`),
    /// or, where it is only one, that import or something else that the same scope binds to the name.
    Ambiguous(Vec<String>),
    /// A variable, parameter, function or class of this module (or an attribute of one).
    Local(Variable),
    /// A builtin that nothing shadows: `print` (or an attribute of one: `str.join`).
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
    /// The type parameters (`[T]`) of a function, class or type alias; it stands between these and the scope around.
    TypeParameters,
}

/// How a name is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// An import.
    Import,
    /// `x = …`, also inside a tuple, and with an annotation.
    Assignment,
    /// `x = None`.
    NoneLiteral,
    /// `x += …`: reads it too.
    Augmented,
    /// `x: int` without a value: makes the name local and binds nothing.
    Annotation,
    /// The target of a `for` statement.
    For,
    /// The target of a `with` item.
    With,
    /// `except … as x`.
    Except,
    /// A parameter of a function or lambda.
    Parameter,
    /// A `def`.
    Function,
    /// A `class`.
    Class,
    /// `(x := …)`.
    Walrus,
    /// `del x`.
    Delete,
    /// A capture in a `case` pattern.
    Match,
    /// The target of a comprehension's `for`.
    Comprehension,
    /// A type parameter.
    TypeParameter,
    /// `type X = …`.
    TypeAlias,
}

/// One place that binds a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// The name's own range.
    pub range: TextRange,
    /// How it is bound.
    pub kind: BindingKind,
    /// The scope the place is in; with `global` and `nonlocal` not the variable's own.
    pub scope: ScopeId,
}

/// A `def` or `async def` of the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The scope it opens.
    pub scope: ScopeId,
    /// The scope it is defined in: the module, a class, or another function.
    pub outer: ScopeId,
    /// Its name.
    pub name: Arc<str>,
    /// Names of enclosing functions and classes and its own, with dots: `Solver.step`.
    pub path: String,
    /// The whole statement, decorators included.
    pub range: TextRange,
}

/// When an import statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportTime {
    /// Always, when the module body runs: a statement at the top level.
    Top,
    /// Perhaps, when the module body runs: under `if`, `try`, `with`, a loop or a class.
    Conditional,
    /// When the module runs as a script: under `if __name__ == "__main__"`.
    MainGuard,
    /// Later or never: in a function, or declared lazy.
    Deferred,
    /// Never: under `if TYPE_CHECKING`.
    TypeChecking,
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
    /// A relative import that leaves the known packages keeps its leading dots, here and in `qualified`.
    pub module: String,
    /// True where it stands at the top level of a module body, not under `if`, `try`, a function or a class.
    pub top_level: bool,
    /// When it runs.
    pub when: ImportTime,
}

impl ImportBinding {
    /// True for `from module import *`.
    pub fn is_star(&self) -> bool {
        &*self.bound == "*"
    }
}

/// Where a module stands in its project: needed for relative imports and re-exports.
pub trait Exports: Sync {
    /// What `name` of project module `module` means outside: `Some("numpy.sum")` where it is re-exported from there,
    /// `None` where the project has no such module or the module itself defines the name.
    fn lookup(&self, module: &str, name: &str) -> Option<String>;

    /// The public names of `module` for `from module import *`, where known (project module or a known library).
    fn star(&self, module: &str) -> Option<Vec<String>>;

    /// Every meaning that `name` of project module `module` may have outside; none as for [`lookup`](Self::lookup).
    fn meanings(&self, module: &str, name: &str) -> Vec<String> {
        self.lookup(module, name).into_iter().collect()
    }

    /// True where `module` is a module or a folder of modules of the project.
    fn has(&self, _module: &str) -> bool {
        false
    }

    /// The same exports in a form that [`Names`] can keep, to follow re-exports that are reached by attributes
    /// (`import pkg`, then `pkg.compat.np.sum`); `None` where there is no project.
    fn shared(&self) -> Option<Arc<dyn Exports + Send + Sync>> {
        None
    }
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
