//! Collecting what comparing finds, and what two runs of the original teach about each other.

use std::collections::{BTreeSet, HashMap};

use super::codes;
use super::text::Volatile;
use crate::reasons::Code;
use crate::verify::Finding;
use crate::verify::protocol::{Comparison, NotCompared, Worst};

/// Findings that are told one by one; more are counted.
const TOLD: usize = 100;

/// What two runs of the original teach: which outputs differ, and by how much floats do.
#[derive(Debug, Default)]
pub struct Profile {
    /// Outputs that differ beyond what the tolerance may grow to.
    pub volatile: BTreeSet<String>,
    /// The noise of float outputs, as scaled error; 0 is not kept.
    pub noise: HashMap<String, f64>,
    /// Lines and numbers of texts.
    pub texts: HashMap<String, Volatile>,
}

/// Whether two runs of the original are compared, to learn from, or an original and a candidate, to judge.
#[derive(Debug)]
pub enum Mode<'a> {
    /// Differences become a profile.
    Learn(Box<Profile>),
    /// Differences become findings, except those that a profile explains.
    Judge(&'a Profile),
}

/// The collection.
#[derive(Debug)]
pub struct Report<'a> {
    /// What it is for.
    pub mode: Mode<'a>,
    /// What is found.
    pub comparison: Comparison,
    worst_ratio: f64,
    untold: u64,
    listed: BTreeSet<String>,
}

impl<'a> Report<'a> {
    /// An empty collection.
    pub fn new(mode: Mode<'a>) -> Self {
        Self {
            mode,
            comparison: Comparison::default(),
            worst_ratio: -1.0,
            untold: 0,
            listed: BTreeSet::new(),
        }
    }

    /// Whether differences are learnt from instead of being judged.
    pub fn learns(&self) -> bool {
        matches!(self.mode, Mode::Learn(_))
    }

    /// The noise of an output.
    pub fn noise(&self, path: &str) -> f64 {
        match &self.mode {
            Mode::Judge(profile) => profile.noise.get(path).copied().unwrap_or(0.0),
            Mode::Learn(_) => 0.0,
        }
    }

    /// What of a text is not looked at.
    pub fn text_profile(&self, path: &str) -> Volatile {
        match &self.mode {
            Mode::Judge(profile) => profile.texts.get(path).cloned().unwrap_or_default(),
            Mode::Learn(_) => Volatile::new(),
        }
    }

    /// Whether an output differs between two runs of the original; then it is listed.
    pub fn skip_volatile(&mut self, path: &str) -> bool {
        let known = matches!(&self.mode, Mode::Judge(profile) if profile.volatile.contains(path));
        if known {
            self.volatile(path);
        }
        known
    }

    /// Lists an output that is not looked at, because of noise or of the contract.
    pub fn volatile(&mut self, path: &str) {
        if self.listed.insert(path.to_owned()) {
            self.comparison.volatile.push(path.to_owned());
        }
    }

    /// A difference. `path` is the output, `message` one sentence without a full stop.
    pub fn differs(&mut self, path: &str, code: Code, message: String) {
        match &mut self.mode {
            Mode::Learn(profile) => {
                profile.volatile.insert(path.to_owned());
            }
            Mode::Judge(_) if self.comparison.findings.len() < TOLD => {
                self.comparison.findings.push(Finding { code, message, place: None });
            }
            Mode::Judge(_) => self.untold += 1,
        }
    }

    /// Something that can't be decided, because the original is no reference.
    pub fn undecided(&mut self, message: String) {
        if !self.learns() {
            self.comparison.undecided.push(Finding { code: codes::IRREPRODUCIBLE, message, place: None });
        }
    }

    /// An output that could not be compared.
    pub fn not_compared(&mut self, what: &str, why: String) {
        let entry = NotCompared { what: what.to_owned(), why };
        if !self.comparison.not_compared.contains(&entry) {
            self.comparison.not_compared.push(entry);
        }
    }

    /// Remembers the largest error in proportion to what is allowed.
    pub fn call(&mut self, ratio: f64, worst: impl FnOnce() -> Worst) {
        if ratio > self.worst_ratio && ratio > 0.0 {
            self.worst_ratio = ratio;
            self.comparison.worst = Some(worst());
        }
    }

    /// The comparison, with the number of findings that were not told.
    pub fn finish(mut self) -> Comparison {
        if self.untold > 0 {
            let message = format!("{} more differences are not listed", self.untold);
            self.comparison.findings.push(Finding { code: codes::VALUE, message, place: None });
        }
        self.comparison
    }
}
