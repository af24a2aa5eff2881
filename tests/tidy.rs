//! Rules of the repository that no compiler checks. Each failure says what to do about it.
//!
//! `UPDATE_DOCS=1 cargo test --test tidy` writes the generated pages anew.
#![allow(clippy::unwrap_used, reason = "a failing test may panic anywhere")]

#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/rust.rs"]
mod rust;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use files::File;
use gpuport::report::{Reasons, json_schema, pages};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 50;

#[track_caller]
fn assert_none(problems: impl IntoIterator<Item = String>) {
    let problems: Vec<String> = problems.into_iter().collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// The top-level modules in the order of `src/lib.rs`.
fn layers(files: &[File]) -> Vec<String> {
    let library = files.iter().find(|it| it.path == "src/lib.rs").expect("src/lib.rs");
    let declared = library.text.lines().filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';'));
    declared.map(str::to_owned).collect()
}

/// Why `folder` may not use `other`; `None` where it may.
fn layer_problem(layers: &[String], folder: &str, other: &str) -> Option<&'static str> {
    let rank = |name: &str| layers.iter().position(|it| it == name);
    let is_later = rank(other)? > rank(folder)?;
    match (folder, other) {
        _ if folder == other => None,
        ("plan" | "verify" | "cli" | "python", "gpu") | ("gpu", "reasons") => None,
        (_, "gpu") => {
            Some("only plan, verify and cli may use gpu: let one of them ask and pass the answer on")
        }
        ("gpu", _) => Some("gpu is a leaf and uses reasons alone: pass it plain values"),
        _ if is_later => {
            Some("that stands later in src/lib.rs: move what both need to the earlier one, or pass it in")
        }
        _ => None,
    }
}

#[test]
fn modules_use_only_earlier_ones() {
    let files = files::all();
    let layers = layers(&files);
    let mut problems = Vec::new();
    for source in rust::sources(&files) {
        let own = source.path["src/".len()..].split('/').next().unwrap_or_default().trim_end_matches(".rs");
        for (line_number, used) in source.modules_used() {
            if let Some(problem) = layer_problem(&layers, own, &used) {
                problems
                    .push(format!("{}:{line_number}: {own} uses crate::{used}, but {problem}", source.path));
            }
        }
    }
    assert_none(problems);
}

#[test]
fn layers_are_judged_as_meant() {
    let layers: Vec<String> =
        ["reasons", "source", "plan", "diff", "gpu", "verify", "report", "cli"].map(str::to_owned).into();
    let is_fine = |user, used| layer_problem(&layers, user, used).is_none();
    assert!(
        is_fine("plan", "source")
            && is_fine("plan", "gpu")
            && is_fine("gpu", "reasons")
            && is_fine("cli", "gpu")
    );
    assert!(is_fine("plan", "plan") && is_fine("plan", "Unknown"));
    assert!(
        !is_fine("source", "plan")
            && !is_fine("diff", "gpu")
            && !is_fine("gpu", "source")
            && !is_fine("report", "gpu")
    );
}

#[test]
fn files_and_functions_are_short() {
    let files = files::all();
    let mut problems = Vec::new();
    for source in rust::sources(&files) {
        if source.lines.len() > FILE_LINES {
            let length = source.lines.len();
            problems.push(format!(
                "{}: {length} lines without tests: split it, at most {FILE_LINES}",
                source.path
            ));
        }
        for function in source.functions().iter().filter(|it| it.length > FUNCTION_LINES) {
            let rust::Function { name, line_number, length } = function;
            let path = source.path;
            problems.push(format!(
                "{path}:{line_number}: `{name}` has {length} lines: split it, at most {FUNCTION_LINES}"
            ));
        }
    }
    assert_none(problems);
}

#[test]
fn every_file_says_what_it_answers_for() {
    let files = files::all();
    let is_silent = |file: &&File| file.has_extension(&["rs"]) && !file.text.starts_with("//!");
    assert_none(
        files.iter().filter(is_silent).map(|it| format!("{}: begin it with a `//!` sentence", it.path)),
    );
}

#[test]
fn banned_words_stay_out() {
    let files = files::all();
    let mut problems = Vec::new();
    for source in rust::sources(&files) {
        for (line_number, line) in source.code() {
            let mut ban = |word: &str, advice: &str| {
                if line.contains(word) {
                    problems.push(format!("{}:{line_number}: `{word}`: {advice}", source.path));
                }
            };
            ban(".unwrap()", "return an error, or `expect` with the invariant that holds");
            ban("todo!", "finish it, or return an error");
            ban("unimplemented!", "finish it, or return an error");
            ban("dbg!", "remove it");
            if !source.path.starts_with("src/gpu/") {
                ban("cudarc", "only src/gpu may name it: ask that module");
            }
            if source.path != "src/python.rs" {
                ban("pyo3", "only src/python.rs may name it");
            }
        }
    }
    assert_none(problems);
}

#[test]
fn text_has_no_tabs_and_no_trailing_space() {
    let extensions = ["rs", "py", "pyi", "yaml", "yml", "toml", "md", "sh"];
    let files = files::all();
    let mut problems = Vec::new();
    // Golden tests and evidence show bytes as they are.
    let is_free =
        |file: &&File| file.is_in("golden-tests") || file.is_in("docs/evidence") || file.is_in("tests/data");
    for file in files.iter().filter(|it| !is_free(it) && (it.has_extension(&extensions) || it.is_python())) {
        let mut is_fenced = false;
        for (line_number, line) in file.numbered_lines() {
            is_fenced ^= file.has_extension(&["md"]) && line.trim_start().starts_with("```");
            if line.ends_with([' ', '\t', '\r']) && !is_fenced {
                problems.push(format!("{}:{line_number}: remove the space at the line's end", file.path));
            }
            if line.contains('\t') && !is_fenced {
                problems.push(format!(
                    "{}:{line_number}: replace the tab by spaces, or in a string by \\t",
                    file.path
                ));
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            problems.push(format!("{}: end the last line with a newline", file.path));
        }
    }
    assert_none(problems);
}

/// The reason codes in `text`.
fn codes_in(text: &str) -> BTreeSet<String> {
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let candidates = text.match_indices("GP").filter_map(|(at, _)| {
        let code = text.get(at..at + 5)?;
        let is_code = code[2..].bytes().all(|byte| byte.is_ascii_digit());
        let is_alone = !is_word(text[..at].chars().next_back()) && !is_word(text[at + 5..].chars().next());
        (is_code && is_alone).then(|| code.to_owned())
    });
    candidates.collect()
}

#[test]
fn reason_codes_are_explained_and_used() {
    let files = files::all();
    let mut uses: BTreeMap<String, String> = BTreeMap::new();
    for source in rust::sources(&files) {
        for (line_number, line) in source.lines {
            uses.extend(
                codes_in(line).into_iter().map(|code| (code, format!("{}:{line_number}", source.path))),
            );
        }
    }
    let is_data = |it: &&File| it.is_in("transforms") || it.is_in("patterns") || it.is_in("python");
    for file in files.iter().filter(is_data).filter(|it| it.path != "patterns/reasons.yaml") {
        for (line_number, line) in file.numbered_lines() {
            uses.extend(
                codes_in(line).into_iter().map(|code| (code, format!("{}:{line_number}", file.path))),
            );
        }
    }
    let known: BTreeSet<String> = Reasons::shipped().iter().map(|reason| reason.code.to_string()).collect();
    let unknown = uses.iter().filter(|(code, _)| !known.contains(*code));
    let unused = known.iter().filter(|code| !uses.contains_key(*code));
    assert_none(
        unknown
            .map(|(code, place)| format!("{place}: {code} is not in patterns/reasons.yaml: add it there"))
            .chain(
                unused
                    .map(|code| format!("patterns/reasons.yaml: nothing gives {code}: use it or remove it")),
            ),
    );
}

#[test]
fn every_pass_has_golden_tests() {
    let files = files::all();
    let stem = |path: &str| path.split('/').nth(1).map(|name| name.trim_end_matches(".yaml").to_owned());
    let passes: BTreeSet<String> = files
        .iter()
        .filter(|it| it.is_in("transforms") && it.has_extension(&["yaml"]))
        .filter_map(|it| stem(&it.path))
        .collect();
    let tested: BTreeSet<String> = files
        .iter()
        .filter(|it| {
            it.is_in("golden-tests") && it.has_extension(&["md"]) && it.path.matches('/').count() == 2
        })
        .filter_map(|it| stem(&it.path))
        .collect();
    let untested = passes.difference(&tested).map(|pass| {
        format!("transforms/{pass}.yaml: add scenarios, positive and negative, in golden-tests/{pass}/")
    });
    assert_none(untested);
}

#[test]
fn no_path_of_one_machine_is_named() {
    let files = files::all();
    let mut problems = Vec::new();
    let mut check = |path: &str, line_number: usize, line: &str| {
        for machine_path in ["/work/", "/root/", "/tmp/"] {
            let is_start =
                |at: usize| !line[..at].ends_with(|it: char| it.is_alphanumeric() || "._-}/".contains(it));
            if line.match_indices(machine_path).any(|(at, _)| is_start(at)) {
                problems.push(format!(
                    "{path}:{line_number}: `{machine_path}`: ask the system, or take it as an argument"
                ));
            }
        }
    };
    for source in rust::sources(&files) {
        source.lines.iter().for_each(|(line_number, line)| check(source.path, *line_number, line));
    }
    let folders = ["transforms", "patterns", "python", "scripts", ".ci"];
    for file in files.iter().filter(|file| folders.iter().any(|folder| file.is_in(folder))) {
        file.numbered_lines().for_each(|(line_number, line)| check(&file.path, line_number, line));
    }
    assert_none(problems);
}

#[test]
fn python_files_compile() {
    let files = files::all();
    let problems = files.iter().filter(|it| it.is_python()).filter_map(|file| {
        let error = ruff_python_parser::parse_module(&file.text).err()?;
        let line_number = file.text[..usize::from(error.location.start())].matches('\n').count() + 1;
        Some(format!("{}:{line_number}: {}", file.path, error.error))
    });
    assert_none(problems);
}

/// Compares generated files with what is there, or writes them where `UPDATE_DOCS` is set.
fn check_generated(folder: &str, expected: &BTreeMap<String, String>) {
    let folder_path = files::root().join(folder);
    let path = |name: &String| -> PathBuf { folder_path.join(name) };
    let stale =
        expected.iter().filter(|(name, text)| fs::read_to_string(path(name)).ok().as_ref() != Some(*text));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(&folder_path).unwrap();
        stale.for_each(|(name, text)| fs::write(path(name), text).unwrap());
        return;
    }
    assert_none(
        stale.map(|(name, _)| format!("{folder}/{name} is stale: run UPDATE_DOCS=1 cargo test --test tidy")),
    );
}

#[test]
fn pages_of_reasons_are_up_to_date() {
    let expected = pages(Reasons::shipped());
    check_generated("docs/reasons", &expected);
    let present = fs::read_dir(files::root().join("docs/reasons")).unwrap();
    let names = present.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_none(
        names
            .filter(|name| !expected.contains_key(name))
            .map(|name| format!("docs/reasons/{name}: no reason has this code any more: remove the page")),
    );
}

#[test]
fn the_schema_of_reports_is_up_to_date() {
    check_generated("docs/reference", &BTreeMap::from([("report.schema.json".to_owned(), json_schema())]));
}

#[test]
fn every_dependency_is_explained() {
    let text = fs::read_to_string(files::root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let page = fs::read_to_string(files::root().join("docs/decisions/dependencies.md")).unwrap();
    let names = ["dependencies", "dev-dependencies"]
        .into_iter()
        .filter_map(|section| manifest.get(section)?.as_table());
    let unexplained = names.flat_map(|it| it.keys()).filter(|name| !page.contains(&format!("`{name}`")));
    assert_none(unexplained.map(|name| {
        format!("Cargo.toml: `{name}`: say in docs/decisions/dependencies.md what for, what instead, and who keeps it")
    }));
}
