//! A unit: a file with the project modules that it reaches, and which planner it goes to.

use std::collections::BTreeSet;
use std::path::Path;

use ruff_python_ast::{Expr, Stmt};

use crate::names::{BindingKind, ImportBinding, ImportTime, ModuleId, Names, Project, Resolution};
use crate::pass::{Effect, Pass};
use crate::reasons::Refusal;
use crate::source::Module;

use super::activate::{self, Prepared};
use super::facts::{PartFacts, UnitFacts};
use super::{Advice, Pinned, Plan, guard, rewrite};

/// One module of a unit.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    /// Its place in the project.
    pub id: ModuleId,
    /// The module.
    pub module: &'p Module,
    /// What its names mean.
    pub names: &'p Names,
}

/// A file with the project modules that it reaches.
#[derive(Debug, Clone)]
pub struct Unit<'p> {
    project: &'p Project,
    /// The entry first.
    parts: Vec<Part<'p>>,
}

impl<'p> Unit<'p> {
    /// The unit of `entry`: the modules that its imports run, now or later, and those that theirs run.
    pub fn new(project: &'p Project, entry: ModuleId) -> Self {
        let mut parts: Vec<Part<'p>> = Vec::new();
        let mut seen = BTreeSet::from([entry]);
        let mut queue = vec![entry];
        while let Some(id) = queue.pop() {
            let names = project.names(id);
            parts.push(Part { id, module: project.module(id), names });
            let running = names.imports().iter().filter(|import| import.when != ImportTime::TypeChecking);
            for next in running.flat_map(|import| project.loaded_by(id, import)) {
                if seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        parts[1..].sort_by_key(|part| part.id);
        Self { project, parts }
    }

    /// The entry, then everything that it reaches, in the order of paths.
    pub fn parts(&self) -> &[Part<'p>] {
        &self.parts
    }

    /// The dotted name of `part` in the project.
    pub fn dotted(&self, part: &Part<'_>) -> String {
        self.project.dotted(part.id).to_owned()
    }

    /// The file that the unit is named after.
    pub fn entry(&self) -> &Part<'p> {
        &self.parts[0]
    }

    /// True where the entry is not on its own: it belongs to a package, or another module of the project imports it.
    pub fn entry_is_part(&self) -> bool {
        let id = self.entry().id;
        let in_package = || {
            let (package, _) = self.project.dotted(id).rsplit_once('.').unwrap_or_default();
            self.project.find(id, package).is_some()
        };
        self.project.is_package(id) || in_package() || !self.project.importers(id).is_empty()
    }

    /// True where the dotted `path` leads into the project, as `part` sees it.
    pub fn is_local(&self, part: &Part<'_>, path: &str) -> bool {
        self.project.locate(part.id, path).is_some()
    }

    /// The project modules that an import of `part` runs; none where it leads to a library.
    pub fn loaded_by(&self, part: &Part<'_>, import: &ImportBinding) -> Vec<ModuleId> {
        self.project.loaded_by(part.id, import)
    }

    /// True where an import of `part` runs, and leads to a library.
    pub fn leads_out(&self, part: &Part<'_>, import: &ImportBinding) -> bool {
        import.when != ImportTime::TypeChecking && self.loaded_by(part, import).is_empty()
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
            return meanings.into_iter().filter(|path| !self.is_local(part, path)).collect();
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

/// Plans `pass` for the unit of `entry`, a path relative to the project's root. The changes in `pinned` are left out.
///
/// Nothing is planned for a unit that never uses the library that the pass moves away from. A guard that refuses leaves
/// the whole unit alone.
pub fn plan_unit(project: &Project, entry: &Path, pass: &Pass, pinned: &Pinned) -> Plan {
    let Some(entry) = project.by_path(entry) else { return Plan::default() };
    let unit = Unit::new(project, entry);
    let switch =
        pass.rules.iter().find_map(|rule| rule.activation.as_ref().map(|activation| (rule, activation)));
    let Some((rule, activation)) = switch else {
        if !unit.parts().iter().any(|part| pass.concerns(part.names)) {
            return Plan::default();
        }
        return guarded(&unit, pass, |unit| matches(unit, pass, pinned));
    };
    let spot = match activate::prepare(&unit, pass, activation) {
        Prepared::Nothing => return Plan::default(),
        Prepared::Refused(refusal) => return Plan { left: vec![refusal], ..Plan::default() },
        Prepared::Ready(spot) => spot,
    };
    guarded(&unit, pass, |unit| {
        let mut plan = activate::activate(unit, pass, rule, activation, spot, pinned);
        if !plan.changes.is_empty() {
            plan.advice = matches(unit, pass, pinned).advice;
        }
        plan
    })
}

/// What `plan` makes of the unit, unless a guard refuses it.
fn guarded(unit: &Unit<'_>, pass: &Pass, plan: impl FnOnce(&Unit<'_>) -> Plan) -> Plan {
    let mut refusals = Vec::new();
    let mut advice = Vec::new();
    for guard in &pass.guards {
        for guard::Hit { place, message } in guard::hits(guard, unit) {
            match guard.effect {
                Effect::Refuse => {
                    let pass = Some(pass.id.clone());
                    refusals.push(Refusal { place, code: guard.code.clone(), message, pass });
                }
                Effect::Advise => {
                    let rule = format!("{}/{}", pass.id, guard.id);
                    advice.push(Advice { place, code: Some(guard.code.clone()), message, rule });
                }
            }
        }
    }
    if !refusals.is_empty() {
        refusals.sort();
        return Plan { left: refusals, ..Plan::default() };
    }
    let mut plan = plan(unit);
    if !plan.changes.is_empty() {
        plan.advice.extend(advice);
    }
    plan.advice.sort();
    plan
}

/// What the rules of `pass` make of the unit's modules one by one.
fn matches(unit: &Unit<'_>, pass: &Pass, pinned: &Pinned) -> Plan {
    let facts = UnitFacts::new(unit, pass.knowledge().cloned());
    let parts: Vec<PartFacts<'_, '_, '_>> = (0..unit.parts().len()).map(|at| facts.of_part(at)).collect();
    let files: Vec<rewrite::File<'_>> = unit
        .parts()
        .iter()
        .zip(&parts)
        .map(|(part, facts)| rewrite::File { module: part.module, names: part.names, facts })
        .collect();
    rewrite::plan(pass, &files, pinned)
}
