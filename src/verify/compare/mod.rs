//! Whether two runs left the same behind: status, output, values, files, each by its type.
//!
//! With a second run of the original, comparing goes twice: the original against itself teaches how noisy each output
//! is and which are volatile; the candidate against the original is then judged by that.

use regex::bytes::RegexSet;

use super::protocol::{CaptureDir, Comparison, Exit};
use super::{Arrays, Contract};

pub mod arrays;
pub mod codes;
pub mod files;
pub mod kernel;
pub mod labels;
pub mod leaves;
pub mod report;
pub mod scalars;
pub mod show;
pub mod text;
pub mod texts;
pub mod tokens;
pub mod tolerance;
pub mod values;
pub mod walk;

use report::{Mode, Profile, Report};
use tolerance::Policy;

/// What comparing goes by.
pub struct Terms<'a> {
    /// What the contract says of outputs.
    pub policy: Policy<'a>,
    /// Whose types callers may see.
    pub arrays: Arrays,
    /// Lines of text that are not compared.
    pub volatile: RegexSet,
}

/// Compares what the original and the candidate left behind. `noise` is a second run of the original.
pub fn compare_captures(
    before: &CaptureDir,
    after: &CaptureDir,
    noise: Option<&CaptureDir>,
    contract: &Contract,
) -> Comparison {
    let volatile = RegexSet::new(&contract.volatile);
    let terms = Terms {
        policy: Policy::new(contract),
        arrays: contract.arrays,
        volatile: volatile.clone().unwrap_or_else(|_| RegexSet::empty()),
    };
    let profile = noise.map_or_else(Profile::default, |again| {
        let mut report = Report::new(Mode::Learn(Box::default()));
        compare_all(before, again, &terms, &mut report);
        match report.mode {
            Mode::Learn(profile) => *profile,
            Mode::Judge(_) => Profile::default(),
        }
    });
    let mut report = Report::new(Mode::Judge(&profile));
    if let Err(error) = volatile {
        report.undecided(format!("the contract's volatile lines can't be told: {error}"));
    }
    compare_all(before, after, &terms, &mut report);
    report.finish()
}

fn compare_all(before: &CaptureDir, after: &CaptureDir, terms: &Terms<'_>, report: &mut Report<'_>) {
    ends(before, after, report);
    files::stdout(before, after, terms, report);
    values::compare(before, after, terms, report);
    files::written(before, after, terms, report);
    for run in [before, after] {
        for entry in &run.not_compared {
            if !report.comparison.not_compared.iter().any(|known| known.what == entry.what) {
                report.not_compared(&entry.what, entry.why.clone());
            }
        }
    }
}

/// How the runs ended, by status and by type of exception.
fn ends(before: &CaptureDir, after: &CaptureDir, report: &mut Report<'_>) {
    if report.skip_volatile("exit") {
        return report.undecided("two runs of the original end in different ways".to_owned());
    }
    if before.exit != after.exit {
        let message = format!("{} became {}", end_text(before.exit), end_text(after.exit));
        report.differs("exit", codes::ENDED, message);
    } else if before.exception != after.exception {
        let name = |run: &CaptureDir| run.exception.clone().unwrap_or_else(|| "no exception".to_owned());
        report.differs("exit", codes::ENDED, format!("{} became {}", name(before), name(after)));
    }
}

fn end_text(exit: Exit) -> String {
    match exit {
        Exit::Status(status) => format!("status {status}"),
        Exit::Signal(signal) => format!("the end by signal {signal}"),
        Exit::TimedOut => "a timeout".to_owned(),
        Exit::Interrupted => "an interruption".to_owned(),
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
