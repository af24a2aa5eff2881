//! Runs `golden-tests/<pass>/<scenario>.md`: one test per scenario.
//!
//! A scenario is prose with fenced blocks. `python [file=name.py]` blocks (and others with `[file=…]`) are the program;
//! an optional `toml` block has `entry`, `passes` and `pinned`; a `diff` block is the expected patch and a `report` block
//! what is expected to be said. A missing block means that nothing is expected there. `golden-tests/README.md` has the
//! whole format.
//!
//! `UPDATE_GOLDEN=1` writes what happened into the blocks. `GPUPORT_DATA=DIR` takes passes and patterns from `DIR`.

#[path = "golden/checks.rs"]
mod checks;
#[path = "golden/run.rs"]
mod run;
#[path = "golden/scenario.rs"]
mod scenario;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use scenario::Scenario;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden-tests");
    let trials = scenario_files(&root).into_iter().map(|file| {
        let name = file.strip_prefix(&root).unwrap_or(&file).with_extension("").display().to_string();
        Trial::test(name, move || check(&file).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The Markdown files below `root`, sorted; `README.md` is none.
fn scenario_files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ignore::WalkBuilder::new(root)
        .standard_filters(false)
        .build()
        .flatten()
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "md") && !path.ends_with("README.md"))
        .collect();
    files.sort();
    files
}

fn check(file: &Path) -> Result<(), String> {
    let markdown = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let scenario = Scenario::parse(file, markdown)?;
    let outcome = run::run(&scenario)?;
    run::invariants(&scenario, &outcome)?;
    let (diff, report) = (outcome.diff_text(), outcome.report_text());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let blessed = scenario.blessed(&diff, &report);
        if blessed != scenario.markdown {
            fs::write(&scenario.file, blessed).map_err(|error| error.to_string())?;
        }
        return Ok(());
    }
    expect("diff", scenario.expected(scenario.diff.as_ref()), &diff)?;
    expect("report", scenario.expected(scenario.report.as_ref()), &report)
}

/// White space at line ends does not count: editors strip it.
fn expect(what: &str, expected: &str, actual: &str) -> Result<(), String> {
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    if lines(expected) == lines(actual) {
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(expected, actual);
    let diff = diff.unified_diff().header("expected", "actual").to_string();
    Err(format!("the {what} differs (UPDATE_GOLDEN=1 accepts it):\n{diff}"))
}
