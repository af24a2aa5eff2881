//! A unit: a file with the project modules that it reaches, and what its imports and names lead to.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use ruff_python_ast::{Expr, Stmt};

use crate::names::{BindingKind, ImportBinding, ImportTime, ModuleId, Names, Project, Resolution};
use crate::source::Module;

/// How many assignments an alias may lead through; more means that they go in a circle.
const MAX_ALIASES: usize = 8;

/// A project with what planning many units of it would otherwise look up again and again.
#[derive(Debug)]
pub(super) struct Surroundings<'p> {
    pub(super) project: &'p Project,
    /// For each module and each of its imports, the project modules that the import runs.
    loads: Vec<OnceLock<Vec<Vec<ModuleId>>>>,
    /// Modules that another one imports.
    imported: OnceLock<BTreeSet<ModuleId>>,
}

/// One module of a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'p> {
    /// Its place in the project.
    pub(super) id: ModuleId,
    /// The module.
    pub(super) module: &'p Module,
    /// What its names mean.
    pub(super) names: &'p Names,
}

/// A file with the project modules that it reaches.
#[derive(Debug)]
pub(super) struct Unit<'s> {
    pub(super) around: &'s Surroundings<'s>,
    /// The entry first.
    parts: Vec<Part<'s>>,
}

impl<'p> Surroundings<'p> {
    pub(super) fn new(project: &'p Project) -> Self {
        Self { project, loads: project.ids().map(|_| OnceLock::new()).collect(), imported: OnceLock::new() }
    }

    pub(super) fn part(&self, id: ModuleId) -> Part<'_> {
        Part { id, module: self.project.module(id), names: self.project.names(id) }
    }

    /// The imports of `part` that run, now or later, with the project modules that each runs; none where it leads to a
    /// library.
    pub(super) fn imports<'s>(
        &'s self,
        part: &Part<'s>,
    ) -> impl Iterator<Item = (&'s ImportBinding, &'s [ModuleId])> {
        let loads = self.loads[part.id.0 as usize].get_or_init(|| {
            part.names.imports().iter().map(|import| self.project.loaded_by(part.id, import)).collect()
        });
        let imports = part.names.imports().iter().zip(loads.iter().map(Vec::as_slice));
        imports.filter(|(import, _)| import.when != ImportTime::TypeChecking)
    }

    /// The imports of `part` that run and lead to a library.
    pub(super) fn library_imports<'s>(&'s self, part: &Part<'s>) -> impl Iterator<Item = &'s ImportBinding> {
        self.imports(part).filter(|(_, loaded)| loaded.is_empty()).map(|(import, _)| import)
    }

    /// True where the dotted `path` leads into the project, as `part` sees it.
    pub(super) fn is_local(&self, part: &Part<'_>, path: &str) -> bool {
        self.project.locate(part.id, path).is_some()
    }

    /// The top-level package that `part` belongs to, where it belongs to one.
    pub(super) fn package(&self, part: &Part<'_>) -> Option<&str> {
        let dotted = self.project.dotted(part.id);
        let (package, inside) = dotted.split_once('.').unwrap_or((dotted, ""));
        (!inside.is_empty() || self.project.is_package(part.id)).then_some(package)
    }

    /// True where `part` is not on its own: it belongs to a package, or another module of the project imports it.
    pub(super) fn is_part_of_another(&self, part: &Part<'_>) -> bool {
        let in_package = || {
            let (package, _) = self.project.dotted(part.id).rsplit_once('.').unwrap_or_default();
            self.project.find(part.id, package).is_some()
        };
        let imported = self.imported.get_or_init(|| {
            let modules = self.project.ids();
            let pairs = modules.flat_map(|id| {
                let part = self.part(id);
                self.imports(&part)
                    .flat_map(|(_, loaded)| loaded)
                    .copied()
                    .filter(move |other| *other != id)
                    .collect::<Vec<_>>()
            });
            pairs.collect()
        });
        self.project.is_package(part.id) || in_package() || imported.contains(&part.id)
    }
}

impl<'s> Unit<'s> {
    /// The unit of `entry`: the modules that its imports run, now or later, and those that theirs run. Modules that only
    /// functions of a package elsewhere would load are left out.
    pub(super) fn new(around: &'s Surroundings<'s>, entry: ModuleId) -> Self {
        let mut unit = Self { around, parts: vec![around.part(entry)] };
        let mut seen = BTreeSet::from([entry]);
        let mut queue = vec![entry];
        while let Some(id) = queue.pop() {
            let part = around.part(id);
            let running = around.imports(&part).filter(|(import, _)| unit.runs(&part, import.when));
            let next: Vec<ModuleId> = running.flat_map(|(_, loaded)| loaded).copied().collect();
            for id in next {
                if seen.insert(id) {
                    unit.parts.push(around.part(id));
                    queue.push(id);
                }
            }
        }
        unit.parts[1..].sort_by_key(|part| part.id);
        unit
    }

    /// The entry, then everything that it reaches, in the order of paths.
    pub(super) fn parts(&self) -> &[Part<'s>] {
        &self.parts
    }

    /// The file that the unit is named after.
    pub(super) fn entry(&self) -> &Part<'s> {
        &self.parts[0]
    }

    /// True where `part` is a piece of the program that the entry starts. A package that lies elsewhere than beside the
    /// entry is one that the program uses: what its functions do is an offer to whoever calls them.
    pub(super) fn owns(&self, part: &Part<'_>) -> bool {
        let entry = self.entry();
        let package = self.around.package(part);
        let folder = entry.module.file.path.parent().unwrap_or(Path::new(""));
        package.is_none()
            || package == self.around.package(entry)
            || part.module.file.path.starts_with(folder)
    }

    /// True where what runs at `when` in `part` is a piece of what the program does. In a package that it only uses, that
    /// is what always runs: imports in functions or under `try` are offers to whoever has the library.
    pub(super) fn counts(&self, part: &Part<'_>, when: ImportTime) -> bool {
        match when {
            ImportTime::Top => true,
            ImportTime::Conditional | ImportTime::Deferred => self.owns(part),
            ImportTime::MainGuard => part.id == self.entry().id,
            ImportTime::TypeChecking => false,
        }
    }

    /// True where an import of `part` that runs at `when` may run when the program does.
    fn runs(&self, part: &Part<'_>, when: ImportTime) -> bool {
        when == ImportTime::Conditional || self.counts(part, when)
    }
}

/// What `expression`, a dotted name in `part`, may mean. A name that is bound once, to another dotted name, means
/// what that one means.
pub(super) fn meanings(part: &Part<'_>, expression: &Expr) -> Vec<String> {
    let mut expression = expression;
    for _ in 0..MAX_ALIASES {
        return match part.names.resolve(expression) {
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
    }
    Vec::new()
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
