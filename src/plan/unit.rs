//! A unit: a file with the project modules that it reaches, and which planner it goes to.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt};

use crate::names::{BindingKind, ImportBinding, Names, Resolution};
use crate::source::Module;

/// One module of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    /// The module.
    pub module: &'p Module,
    /// What its names mean.
    pub names: &'p Names,
    /// Its own dotted name: `pkg.mod`.
    pub dotted: &'p str,
}

/// A file with the project modules that it reaches.
#[derive(Debug, Clone)]
pub struct Unit<'p> {
    /// The entry first.
    parts: Vec<Part<'p>>,
    /// All modules and packages of the project, by dotted name.
    local: BTreeSet<&'p str>,
    /// The entry belongs to a package, or another module imports it.
    entry_is_part: bool,
}

impl<'p> Unit<'p> {
    /// The entry and everything else that was planned on together.
    pub fn parts(&self) -> &[Part<'p>] {
        &self.parts
    }

    /// The file that the unit is named after.
    pub fn entry(&self) -> &Part<'p> {
        &self.parts[0]
    }

    /// True where the entry belongs to a package, or another module of the project imports it.
    pub fn entry_is_part(&self) -> bool {
        self.entry_is_part
    }

    /// True where the dotted `path` begins with a module of the project.
    pub fn is_local(&self, path: &str) -> bool {
        let root = path.split('.').next().unwrap_or_default();
        root.is_empty() || self.local.contains(root)
    }

    /// The project modules that running `import` loads: the one it names, the packages around it, and the submodule
    /// that `from package import submodule` binds.
    pub fn loaded_by<'i>(&'i self, import: &'i ImportBinding) -> impl Iterator<Item = &'p str> + 'i {
        let prefixes = |path: &'i str| {
            path.match_indices('.').map(|(at, _)| at).chain([path.len()]).map(|end| &path[..end])
        };
        let named = prefixes(&import.module).chain(prefixes(&import.qualified));
        named.filter_map(|path| self.local.get(path).copied())
    }

    /// What `expression`, a dotted name in `part`, may mean outside the project. A name that is bound once, to another
    /// dotted name, means what that one means.
    pub fn meanings(&self, part: &Part<'p>, expression: &Expr) -> Vec<String> {
        let mut expression = expression;
        // An alias of an alias of … ends here at last.
        for _ in 0..8 {
            let meanings = match part.names.resolve(expression) {
                Resolution::Qualified(path) => vec![path],
                Resolution::Ambiguous(paths) => paths,
                Resolution::MaybeStar(modules) => {
                    let name = part.module.slice(expression);
                    modules.iter().map(|module| format!("{module}.{name}")).collect()
                }
                Resolution::Local(_) => match alias(part, expression) {
                    Some(target) => {
                        expression = target;
                        continue;
                    }
                    None => Vec::new(),
                },
                Resolution::Builtin(_) | Resolution::Unbound | Resolution::NotAName => Vec::new(),
            };
            return meanings.into_iter().filter(|path| !self.is_local(path)).collect();
        }
        Vec::new()
    }
}

/// The dotted name that the variable `expression` is bound to by its only assignment, at the top level of the module.
fn alias<'p>(part: &Part<'p>, expression: &Expr) -> Option<&'p Expr> {
    let variable = part.names.variable(expression.as_name_expr()?)?;
    let binding =
        part.names.only_binding(&variable).filter(|binding| binding.kind == BindingKind::Assignment)?;
    part.module.body().iter().find_map(|stmt| match stmt {
        Stmt::Assign(assign) => match &*assign.targets {
            [Expr::Name(target)] if target.range == binding.range => Some(&*assign.value),
            _ => None,
        },
        _ => None,
    })
}

/// True where the dotted `path` is `library` or inside it.
pub(super) fn is_within(path: &str, library: &str) -> bool {
    path.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
