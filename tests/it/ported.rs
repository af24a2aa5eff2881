//! Programs that placement has moved, run beside their originals under the stand-in for CuPy in `tests/fake_cupy`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use gpuport::names::Project;
use gpuport::pass::Registry;
use gpuport::plan::{ChangeId, Pinned, Plan, plan_unit};
use gpuport::source::{Module, SourceFile};

const PASS: &str = "numpy-to-cupy";

/// A program: its files by path.
type Files = BTreeMap<PathBuf, String>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn python() -> PathBuf {
    std::env::var_os("GPUPORT_TEST_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

/// The Python files in the fenced blocks of a golden scenario, where its entry is `main.py`.
fn program_of(markdown: &str) -> Option<Files> {
    let mut files = Files::new();
    let mut block: Option<(PathBuf, String)> = None;
    for line in markdown.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(info)) => {
                if let Some(attributes) = info.strip_prefix("python") {
                    let named = attributes.split_once("file=").map(|(_, rest)| rest.trim_end_matches(']'));
                    let name = named.and_then(|it| it.split(' ').next()).unwrap_or("main.py");
                    block = Some((PathBuf::from(name), String::new()));
                } else {
                    block = Some((PathBuf::new(), String::new()));
                }
            }
            (Some((path, text)), Some("")) => {
                if path.extension().is_some_and(|it| it == "py") {
                    files.insert(path.clone(), text.clone());
                }
                block = None;
            }
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    files.contains_key(Path::new("main.py")).then_some(files)
}

/// All programs: those of the golden scenarios, and the longer ones in `tests/programs`.
fn programs() -> Vec<(String, Files)> {
    let mut out = Vec::new();
    for (folder, extension) in [(format!("golden-tests/{PASS}"), "md"), ("tests/programs".to_owned(), "py")] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|it| it == extension));
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let program = match extension {
                "md" => program_of(&text),
                _ => Some(Files::from([(PathBuf::from("main.py"), text)])),
            };
            out.extend(program.map(|program| (name, program)));
        }
    }
    out
}

/// The plan with some changes left out, and the program it makes.
fn ported(files: &Files, pinned: &Pinned) -> (Plan, Files) {
    let modules = files.iter().map(|(path, text)| {
        let file = SourceFile::from_bytes(path, text.as_bytes()).unwrap();
        Arc::new(Module::parse(file).unwrap())
    });
    let project = Project::load(Path::new("."), modules.collect());
    let pass = Registry::shipped().pass(PASS).unwrap();
    let plan = plan_unit(&project, Path::new("main.py"), &pass, pinned);
    let mut after = files.clone();
    for (path, edits) in &plan.edits {
        let text = edits.apply(&files[path]);
        after.insert(path.clone(), text);
    }
    (plan, after)
}

fn run(files: &Files) -> Output {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Command::new(python())
        .arg("main.py")
        .current_dir(dir.path())
        .env("PYTHONPATH", root().join("tests/fake_cupy"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "Agg")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is wrong with a ported program, if anything: it must print what the original prints.
fn problem(original: &Output, files: &Files, pinned: &Pinned) -> Option<String> {
    let (_, after) = ported(files, pinned);
    let output = run(&after);
    if output.status.success() && output.stdout == original.stdout {
        return None;
    }
    Some(format!(
        "without {pinned:?}:\n{}\n--- prints\n{}--- instead of\n{}--- and tells\n{}",
        after.values().cloned().collect::<Vec<_>>().join("\n"),
        text(&output.stdout),
        text(&original.stdout),
        text(&output.stderr)
    ))
}

/// The sets of changes to leave out: none, each alone, and all but each.
fn choices(plan: &Plan) -> Vec<Pinned> {
    let all: BTreeSet<ChangeId> = plan.changes.iter().map(|it| it.id.clone()).collect();
    let mut out = BTreeSet::from([Pinned::new()]);
    for id in &all {
        out.insert(Pinned::from([id.clone()]));
        out.insert(all.iter().filter(|other| *other != id).cloned().collect());
    }
    out.into_iter().collect()
}

#[test]
fn ported_programs_print_what_their_originals_print() {
    let mut problems = Vec::new();
    let mut ran = 0;
    for (name, files) in programs() {
        let (plan, _) = ported(&files, &Pinned::new());
        if plan.changes.is_empty() {
            continue;
        }
        let original = run(&files);
        if text(&original.stderr).contains("ModuleNotFoundError") {
            continue;
        }
        assert!(original.status.success(), "{name}: {}", text(&original.stderr));
        for pinned in choices(&plan) {
            ran += 1;
            problems.extend(problem(&original, &files, &pinned).map(|it| format!("## {name} {it}")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(ran > 50, "only {ran} programs ran: is NumPy installed?");
}

#[test]
fn every_choice_of_changes_parses_and_is_planned_once() {
    for (name, files) in programs() {
        let (plan, _) = ported(&files, &Pinned::new());
        let ids: Vec<ChangeId> = plan.changes.iter().map(|it| it.id.clone()).take(6).collect();
        for mask in 0..1_u32 << ids.len() {
            let pinned: Pinned =
                (0..ids.len()).filter(|at| mask >> at & 1 == 1).map(|at| ids[at].clone()).collect();
            let (plan, after) = ported(&files, &pinned);
            assert!(plan.changes.iter().all(|it| !pinned.contains(&it.id)), "{name}: {pinned:?} is planned");
            let again = ported(&after, &Pinned::new());
            let changed: BTreeSet<&PathBuf> = plan.edits.keys().collect();
            let twice = again.0.edits.keys().any(|path| changed.contains(path));
            assert!(!twice, "{name}: {pinned:?} is planned again");
        }
    }
}
