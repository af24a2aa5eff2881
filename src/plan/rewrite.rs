//! Planning passes without placement: every match is rewritten where it stands, and imports follow.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::kinds::Facts;
use crate::names::Names;
use crate::pass::{
    Action, Aliases, FindOptions, Match, NearMiss, Need, Needs, Pass, RenamedImport, edits_of, find_with,
    renamed_imports,
};
use crate::pattern::Bound;
use crate::reasons::Refusal;
use crate::source::{Edits, Module};

use super::{Advice, Change, ChangeId, Pinned, Plan};

/// A module to plan for.
#[derive(Clone, Copy)]
pub struct File<'f> {
    /// The module.
    pub module: &'f Module,
    /// What its names mean.
    pub names: &'f Names,
    /// What is known of its values.
    pub facts: &'f dyn Facts,
    /// Whether other modules of the project take a name from it.
    pub taken: &'f dyn Fn(&str) -> bool,
}

/// Plans `pass` for `files`, the modules of a unit. Changes in `pinned` are left out, and imports are those that the
/// others need.
pub fn plan(pass: &Pass, files: &[File<'_>], pinned: &Pinned) -> Plan {
    let concerned: Vec<&File<'_>> = files.iter().filter(|file| pass.concerns(file.names)).collect();
    let aliases = Aliases::choose(pass, concerned.iter().map(|file| file.names));
    let mut plan = Plan::default();
    for file in concerned {
        plan_file(pass, *file, &aliases, pinned, &mut plan);
    }
    plan.left.sort();
    plan.advice.sort();
    plan
}

fn plan_file(pass: &Pass, file: File<'_>, aliases: &Aliases, pinned: &Pinned, plan: &mut Plan) {
    let options = FindOptions { aliases: Some(aliases), explain: false };
    let (matches, misses) = find_with(pass, file.module, file.names, file.facts, options);
    for matched in &matches {
        match pass.rules[matched.rule_index].action {
            Action::Advise => plan.advice.push(advice(pass, file, matched)),
            Action::Keep => plan.left.extend(kept(pass, file, matched)),
            Action::Rewrite | Action::Activate => {}
        }
    }
    plan.left.extend(misses.iter().filter_map(|miss| refused(pass, file, miss)));
    let regions = regions(file.module.body());
    let mut chosen = Work::default();
    for (region, work) in work_by_region(pass, file, &regions, &matches) {
        let change = change(pass, file, regions.get(region), &work);
        if !pinned.contains(&change.id) {
            chosen.matches.extend(work.matches);
            chosen.renames.extend(work.renames);
            plan.changes.push(change);
        }
    }
    let edits = edits(file, &chosen);
    if !edits.is_empty() {
        check_parses(file.module, &edits);
        plan.edits.insert(file.module.file.path.clone(), edits);
    }
}

/// What is to be done in a region.
#[derive(Default)]
struct Work<'m> {
    matches: Vec<&'m Match<'m>>,
    renames: Vec<RenamedImport>,
}

fn work_by_region<'m>(
    pass: &Pass,
    file: File<'_>,
    regions: &[Region],
    matches: &'m [Match<'m>],
) -> BTreeMap<usize, Work<'m>> {
    let mut by_region: BTreeMap<usize, Work<'m>> = BTreeMap::new();
    for matched in matches.iter().filter(|it| pass.rules[it.rule_index].action == Action::Rewrite) {
        by_region.entry(region_at(regions, matched.range.start())).or_default().matches.push(matched);
    }
    // A name that is used up goes with its uses; what others still need is renamed where it is imported.
    for renamed in renamed_imports(pass, file.module, file.names, matches) {
        let bound = file.names.imports().iter().find(|import| import.clause == renamed.clause);
        if !renamed.is_consumed || bound.is_some_and(|import| (file.taken)(&import.bound)) {
            by_region.entry(region_at(regions, renamed.clause.start())).or_default().renames.push(renamed);
        }
    }
    by_region
}

/// The edits that `work` comes to, with the imports that go with it.
fn edits(file: File<'_>, work: &Work<'_>) -> Edits {
    if work.matches.is_empty() && work.renames.is_empty() {
        return Edits::default();
    }
    let mut needs = Needs::default();
    work.renames.iter().for_each(|renamed| needs.add(renamed.need.clone()));
    for import in file.names.imports().iter().filter(|import| (file.taken)(&import.bound)) {
        needs.add(Need::Taken { name: import.bound.to_string() });
    }
    edits_of(file.module, file.names, &work.matches, &needs).expect("find refuses what can't be edited")
}

/// A candidate that doesn't parse is a mistake of gpuport's own, and nothing may come of it.
pub(super) fn check_parses(module: &Module, edits: &Edits) {
    if let Err(error) = module.parses(&edits.apply(module.text())) {
        panic!("{}: the rewritten file does not parse: {error}", module.file.path.display());
    }
}

/// A function, or a method with its class's name.
struct Region {
    name: String,
    range: TextRange,
}

/// The functions and methods of a module's top level, in source order.
fn regions(body: &[Stmt]) -> Vec<Region> {
    let mut regions = Vec::new();
    gather(body, "", &mut regions);
    regions
}

fn gather(body: &[Stmt], class: &str, regions: &mut Vec<Region>) {
    for statement in body {
        match statement {
            Stmt::FunctionDef(function) => {
                regions.push(Region { name: format!("{class}{}", function.name), range: function.range });
            }
            Stmt::ClassDef(it) => gather(&it.body, &format!("{class}{}.", it.name), regions),
            Stmt::If(it) => {
                gather(&it.body, class, regions);
                it.elif_else_clauses.iter().for_each(|clause| gather(&clause.body, class, regions));
            }
            Stmt::Try(it) => {
                gather(&it.body, class, regions);
                gather(&it.orelse, class, regions);
                gather(&it.finalbody, class, regions);
            }
            Stmt::With(it) => gather(&it.body, class, regions),
            _ => {}
        }
    }
}

/// The region that `offset` lies in, as an index; `usize::MAX` for the module's own level.
fn region_at(regions: &[Region], offset: TextSize) -> usize {
    regions.iter().position(|region| region.range.contains(offset)).unwrap_or(usize::MAX)
}

fn change(pass: &Pass, file: File<'_>, region: Option<&Region>, work: &Work<'_>) -> Change {
    let path = &file.module.file.path;
    let of_matches = work.matches.iter().map(|it| (it.rule_index, it.range));
    let done: Vec<(usize, TextRange)> =
        of_matches.chain(work.renames.iter().map(|it| (it.rule_index, it.clause))).collect();
    let rules: BTreeSet<&str> = done.iter().map(|(index, _)| pass.rules[*index].id.as_str()).collect();
    let range = region.map_or_else(|| spanned(done.iter().map(|(_, range)| *range)), |region| region.range);
    let (name, what) = match region {
        Some(region) => (region.name.clone(), format!("function {}", region.name)),
        None => ("<module>".to_owned(), "module level".to_owned()),
    };
    let place = file.module.place(range.start());
    let last = file.module.place(range.end());
    Change {
        id: ChangeId(format!("{}:{}:{name}", pass.id, path.display())),
        pass: pass.id.clone(),
        lines: (place.line_number, last.line_number),
        place,
        what,
        rules: rules.into_iter().map(str::to_owned).collect(),
    }
}

fn spanned(ranges: impl Iterator<Item = TextRange>) -> TextRange {
    ranges.reduce(TextRange::cover).unwrap_or_default()
}

fn kept(pass: &Pass, file: File<'_>, matched: &Match<'_>) -> Option<Refusal> {
    let rule = &pass.rules[matched.rule_index];
    let code = rule.reason.clone()?;
    let message = rule.note.clone().unwrap_or_else(|| format!("`{}` stays", head_line(file, matched.range)));
    Some(Refusal {
        place: file.module.place(matched.range.start()),
        code,
        message,
        pass: Some(pass.id.clone()),
    })
}

fn refused(pass: &Pass, file: File<'_>, miss: &NearMiss) -> Option<Refusal> {
    Some(Refusal {
        place: file.module.place(miss.range.start()),
        code: miss.code.clone()?,
        message: miss.message.clone(),
        pass: Some(pass.id.clone()),
    })
}

fn advice(pass: &Pass, file: File<'_>, matched: &Match<'_>) -> Advice {
    let rule = &pass.rules[matched.rule_index];
    let text = rule.advice.clone().unwrap_or_default();
    Advice {
        place: file.module.place(matched.range.start()),
        code: rule.reason.clone(),
        message: filled(&text, file, matched),
        rule: format!("{}/{}", pass.id, rule.id),
    }
}

/// `text` with each metavariable replaced by what it stands for.
fn filled(text: &str, file: File<'_>, matched: &Match<'_>) -> String {
    let mut names: Vec<&(String, Bound<'_>)> = matched.bindings.iter().collect();
    // `$XY` before `$X`.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut text = text.trim().to_owned();
    for (name, bound) in names {
        let value = match bound {
            Bound::Component(component) => component.clone(),
            other => {
                let ranges = other.ranges();
                let parts: Vec<&str> = ranges.iter().map(|range| file.module.slice(*range)).collect();
                parts.join(", ")
            }
        };
        text = text.replace(&format!("$$${name}"), &value).replace(&format!("${name}"), &value);
    }
    text
}

fn head_line(file: File<'_>, range: impl Ranged) -> &str {
    file.module.slice(range).lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use crate::names::Project;
    use crate::pass::Registry;
    use crate::plan::{ChangeId, Pinned, Plan, plan_unit};
    use crate::source::{Module, SourceFile};

    /// The plan of `numpy-modern` for the first of `files`.
    fn plan(files: &[(&str, &str)], pinned: &[&str]) -> Plan {
        let modules = files.iter().map(|(path, text)| {
            let file = SourceFile::from_bytes(Path::new(path), text.as_bytes()).unwrap();
            Arc::new(Module::parse(file).unwrap())
        });
        let project = Project::load(Path::new("."), modules.collect());
        let pass = Registry::shipped().pass("numpy-modern").unwrap();
        let pinned: Pinned = pinned.iter().map(|id| ChangeId((*id).to_owned())).collect();
        plan_unit(&project, Path::new(files[0].0), &pass, &pinned)
    }

    fn texts(plan: &Plan, files: &[(&str, &str)]) -> Vec<String> {
        let text = |(path, text): &(&str, &str)| match plan.edits.get(&PathBuf::from(path)) {
            Some(edits) => edits.apply(text),
            None => (*text).to_owned(),
        };
        files.iter().map(text).collect()
    }

    fn ids(plan: &Plan) -> Vec<String> {
        plan.changes.iter().map(|change| format!("{} {:?}", change.id.0, change.lines)).collect()
    }

    const REGIONS: &str = "\
from numpy import float_, pi

def area(r):
    return float_(pi) * r

class Circle:
    def area(self):
        def inner():
            return float_(pi)
        return inner()

zero = float_(0)
";

    #[test]
    fn each_function_is_a_change_of_its_own() {
        let files = [("main.py", REGIONS)];
        let plan = plan(&files, &[]);
        assert_eq!(
            ids(&plan),
            [
                "numpy-modern:main.py:area (3, 4)",
                "numpy-modern:main.py:Circle.area (7, 10)",
                "numpy-modern:main.py:<module> (12, 12)",
            ]
        );
        assert_eq!(texts(&plan, &files)[0], REGIONS.replace("float_", "float64"));
    }

    #[test]
    fn what_is_pinned_stays_and_imports_follow() {
        let files = [("main.py", REGIONS)];
        let pinned = ["numpy-modern:main.py:area", "numpy-modern:main.py:<module>"];
        let plan = plan(&files, &pinned);
        assert_eq!(ids(&plan), ["numpy-modern:main.py:Circle.area (7, 10)"]);
        let expected = REGIONS
            .replace("            return float_(pi)", "            return float64(pi)")
            .replace("import float_, pi", "import float_, pi, float64");
        assert_eq!(texts(&plan, &files)[0], expected);
    }

    #[test]
    fn names_that_other_modules_take_stay() {
        let files = [
            (
                "main.py",
                "import compat\nfrom compat import product\nprint(compat.sometrue([1]), product([2]))\n",
            ),
            ("compat.py", "from numpy import product, sometrue, in1d\nx = sometrue([0])\n"),
        ];
        let plan = plan(&files, &[]);
        assert_eq!(
            texts(&plan, &files),
            [
                "import numpy as np\nprint(np.any([1]), np.prod([2]))\n",
                "from numpy import prod as product, any as sometrue, in1d\nimport numpy as np\nx = np.any([0])\n",
            ]
        );
    }

    #[test]
    fn advice_and_refusals_are_placed() {
        let files = [(
            "main.py",
            "import numpy as np\n\ndef f(a, b):\n    np.find_common_type([a], [b])\n    return np.in1d(a(),  # ids\n        b())\n",
        )];
        let plan = plan(&files, &[]);
        let advice: Vec<String> =
            plan.advice.iter().map(|it| format!("{} {}", it.place, it.message)).collect();
        assert_eq!(
            advice,
            [
                "main.py:4:5 `numpy.find_common_type` is gone in NumPy 2, and no other call is sure to mean the same here"
            ]
        );
        assert!(plan.left.is_empty(), "{:?}", plan.left);
        assert_eq!(texts(&plan, &files)[0].lines().nth(4), Some("    return np.isin(np.ravel(a()),  # ids"));
    }
}
