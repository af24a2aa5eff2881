//! Planning a pass for a unit: what concerns it, which guards speak, and which planner it goes to.

use std::path::Path;
use std::sync::Mutex;

use crate::api::Table;
use crate::kinds::{self, Source};
use crate::names::{ModuleId, Project};
use crate::pass::{Effect, Pass};
use crate::reasons::Refusal;

use super::activate::script;
use super::activate::{self, Prepared};
use super::facts::{PartFacts, UnitFacts};
use super::guard::{self, Findings, Hit};
use super::placement;
use super::unit::{Part, Surroundings, Unit};
use super::{Advice, Pinned, Plan, rewrite};

/// Plans passes for the units of one project. Units may be planned at the same time; what they share is looked at once.
#[derive(Debug)]
pub struct Planner<'p> {
    around: Surroundings<'p>,
    findings: Mutex<Findings>,
}

/// How much of a unit is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The entry and everything that it reaches.
    Unit,
    /// The entry alone; what it reaches still decides whether a guard speaks.
    Entry,
}

/// Plans `pass` for the unit of `entry`, a path relative to the project's root: the file and the project modules that it
/// reaches. The changes in `pinned` are left out.
pub fn plan_unit(project: &Project, entry: &Path, pass: &Pass, pinned: &Pinned) -> Plan {
    Planner::new(project).unit(entry, pass, pinned)
}

impl<'p> Planner<'p> {
    /// A planner for the units of `project`.
    pub fn new(project: &'p Project) -> Self {
        Self { around: Surroundings::new(project), findings: Mutex::default() }
    }

    /// Plans `pass` for `entry` and the project modules that it reaches. The changes in `pinned` are left out.
    ///
    /// Nothing is planned for a unit that never uses the library that the pass moves away from. A guard that refuses
    /// leaves the whole unit alone.
    pub fn unit(&self, entry: &Path, pass: &Pass, pinned: &Pinned) -> Plan {
        self.plan(entry, pass, pinned, Scope::Unit)
    }

    /// The same for `entry` alone: changes of the modules that it reaches are left to their own turn.
    pub fn file(&self, entry: &Path, pass: &Pass, pinned: &Pinned) -> Plan {
        self.plan(entry, pass, pinned, Scope::Entry)
    }

    fn plan(&self, entry: &Path, pass: &Pass, pinned: &Pinned, scope: Scope) -> Plan {
        let Some(entry) = self.around.project.by_path(entry) else { return Plan::default() };
        let switch = pass.rules.iter().find(|rule| rule.activation.is_some());
        match switch {
            Some(_) => self.activation(entry, pass, pinned),
            None => self.rewriting(entry, pass, pinned, scope),
        }
    }

    fn activation(&self, entry: ModuleId, pass: &Pass, pinned: &Pinned) -> Plan {
        let mut rules = pass.rules.iter();
        let switch = rules.find_map(|it| Some((it, it.activation.as_ref()?)));
        let Some((rule, activation)) = switch else { return Plan::default() };
        let (unit, spot) = match activate::prepare(&self.around, entry, pass, activation) {
            Prepared::Nothing => return Plan::default(),
            Prepared::Refused(refusal) => return Plan { left: vec![refusal], ..Plan::default() },
            Prepared::Ready(unit, spot) => (unit, spot),
        };
        self.guarded(&unit, pass, || {
            let mut plan = activate::activate(&unit, pass, rule, activation, spot, pinned);
            if !plan.changes.is_empty() {
                plan.advice = matches(self.around.project, unit.parts(), pass, pinned).advice;
            }
            plan
        })
    }

    fn rewriting(&self, entry: ModuleId, pass: &Pass, pinned: &Pinned, scope: Scope) -> Plan {
        if scope == Scope::Entry && !pass.concerns(self.around.project.names(entry)) {
            return Plan::default();
        }
        let unit = Unit::new(&self.around, entry);
        if !unit.parts().iter().any(|part| pass.concerns(part.names)) {
            return Plan::default();
        }
        let parts = match scope {
            Scope::Unit => unit.parts(),
            Scope::Entry => &unit.parts()[..1],
        };
        if pass.rules.iter().any(|rule| rule.place.is_some()) {
            return self.guarded(&unit, pass, || self.placed(parts, pass, pinned));
        }
        self.guarded(&unit, pass, || matches(self.around.project, parts, pass, pinned))
    }

    /// What placement makes of `parts`, the entry first.
    fn placed(&self, parts: &[Part<'_>], pass: &Pass, pinned: &Pinned) -> Plan {
        let sources = parts.iter().map(|part| Source {
            module: part.module,
            names: part.names,
            dotted: self.around.project.dotted(part.id).to_owned(),
            role: self.role(parts, part, pass),
        });
        let host_tables: Vec<&Table> = pass.kinds.as_deref().into_iter().collect();
        placement::plan(pass, sources.collect(), &host_tables, pinned)
    }

    /// Who may call into `part`, one of `parts` with the entry first.
    fn role(&self, parts: &[Part<'_>], part: &Part<'_>, pass: &Pass) -> kinds::Role {
        let is_part = || self.around.is_part_of_another(part);
        let plain = script::role(part.module, part.names, &pass.source_modules, is_part);
        if plain == script::Role::Test {
            return kinds::Role::Fixed;
        }
        if part.id == parts[0].id {
            let alone = plain == script::Role::Script && !is_part();
            return if alone { kinds::Role::Script } else { kinds::Role::Library };
        }
        let importers = self.around.project.importers(part.id);
        let inside = importers.iter().all(|id| parts.iter().any(|it| it.id == *id));
        let helps = inside
            && self.around.package(part).is_none()
            && self.role(parts, &parts[0], pass) == kinds::Role::Script;
        if helps { kinds::Role::Helper } else { kinds::Role::Library }
    }

    /// What `plan` makes of the unit, unless a guard refuses it.
    fn guarded(&self, unit: &Unit<'_>, pass: &Pass, plan: impl FnOnce() -> Plan) -> Plan {
        let mut refusals = Vec::new();
        let mut advice = Vec::new();
        for guard in &pass.guards {
            for Hit { place, message } in guard::hits(guard, unit, &self.findings) {
                let code = guard.code.clone();
                match guard.effect {
                    Effect::Refuse => {
                        refusals.push(Refusal { place, code, message, pass: Some(pass.id.clone()) });
                    }
                    Effect::Advise => {
                        let rule = format!("{}/{}", pass.id, guard.id);
                        advice.push(Advice { place, code: Some(code), message, rule });
                    }
                }
            }
        }
        if !refusals.is_empty() {
            refusals.sort();
            return Plan { left: refusals, ..Plan::default() };
        }
        let mut plan = plan();
        if !plan.changes.is_empty() {
            plan.advice.extend(advice);
            plan.advice.sort();
        }
        plan
    }
}

/// What the rules of `pass` make of `parts`.
fn matches(project: &Project, parts: &[Part<'_>], pass: &Pass, pinned: &Pinned) -> Plan {
    let facts = UnitFacts::new(project, parts, pass.knowledge().cloned());
    let of_parts: Vec<PartFacts<'_, '_, '_>> = (0..parts.len()).map(|index| facts.of_part(index)).collect();
    let taken: Vec<_> =
        parts.iter().map(|part| |name: &str| project.is_used_outside(part.id, name)).collect();
    let files: Vec<rewrite::File<'_>> = parts
        .iter()
        .zip(&of_parts)
        .zip(&taken)
        .map(|((part, facts), taken)| rewrite::File { module: part.module, names: part.names, facts, taken })
        .collect();
    rewrite::plan(pass, &files, pinned)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::pass::Registry;
    use crate::source::{Module, SourceFile};

    fn project(files: &[(&str, &str)]) -> Project {
        let module = |(path, text): &(&str, &str)| {
            let file = SourceFile::from_bytes(Path::new(path), text.as_bytes()).unwrap();
            Arc::new(Module::parse(file).unwrap())
        };
        Project::load(Path::new(""), files.iter().map(module).collect())
    }

    fn edited(plan: &Plan) -> Vec<PathBuf> {
        plan.edits.keys().cloned().collect()
    }

    #[test]
    fn a_file_alone_keeps_to_itself() {
        let project = project(&[
            ("main.py", "import numpy as np\nimport steps\nprint(np.NaN, steps.x)\n"),
            ("steps.py", "import numpy as np\nx = np.Inf\n"),
        ]);
        let pass = Registry::shipped().pass("numpy-modern").unwrap();
        let planner = Planner::new(&project);
        let unit = |entry: &str| edited(&planner.unit(Path::new(entry), &pass, &Pinned::new()));
        let file = |entry: &str| edited(&planner.file(Path::new(entry), &pass, &Pinned::new()));
        assert_eq!(unit("main.py"), [Path::new("main.py"), Path::new("steps.py")]);
        assert_eq!(file("main.py"), [Path::new("main.py")]);
        assert_eq!(file("steps.py"), [Path::new("steps.py")]);
        assert_eq!(unit("nothing.py"), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_is_kept_between_units_changes_nothing() {
        let project = project(&[
            ("a.py", "import pandas as pd\nimport pool\nprint(pd.read_csv('a'), pool.run)\n"),
            ("b.py", "import pandas as pd\nimport pool\nprint(pd.read_csv('b'), pool.run)\n"),
            ("c.py", "import pandas as pd\nprint(pd.read_csv('c'))\n"),
            (
                "pool.py",
                "import multiprocessing\ndef run(f, x):\n    return multiprocessing.Pool().map(f, x)\n",
            ),
        ]);
        let pass = Registry::shipped().pass("pandas-to-cudf-pandas").unwrap();
        let planner = Planner::new(&project);
        for entry in ["a.py", "b.py", "c.py", "a.py", "c.py", "pool.py"] {
            let kept = planner.unit(Path::new(entry), &pass, &Pinned::new());
            let fresh = plan_unit(&project, Path::new(entry), &pass, &Pinned::new());
            assert_eq!(format!("{kept:?}"), format!("{fresh:?}"), "{entry}");
            assert_eq!(kept.changes.is_empty(), entry != "c.py", "{entry}");
        }
    }
}
