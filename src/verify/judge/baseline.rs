//! The original's own runs: whether it can be compared with, and how much it differs from itself.

use std::time::Duration;

use super::trial::{Answer, Trial, end_of};
use crate::verify::error::JudgeError;
use crate::verify::protocol::{Exit, Mode};
use crate::verify::run::{Role, Run};
use crate::verify::{Verdict, codes};

/// However fast the original is, a candidate may take this long: loading libraries and compiling kernels for the
/// first time take tens of seconds.
const LEAST_LIMIT: Duration = Duration::from_mins(2);
/// A candidate that takes this many times as long as the original is not waited for.
const LIMIT_FACTOR: u32 = 20;

/// The original, run twice in the same way.
#[derive(Debug)]
pub(super) struct Baseline {
    pub(super) first: Run,
    pub(super) second: Run,
}

impl Baseline {
    /// The shorter of its times, without capturing.
    pub(super) fn net(&self) -> Duration {
        self.first.net().min(self.second.net())
    }
}

impl Trial<'_, '_> {
    /// Runs the original, unless that was done for another candidate.
    pub(super) fn original_can_be_compared_with(&mut self) -> Answer {
        if self.judge.baseline.is_some() {
            self.evidence.runs = self.judge.records.clone();
            return Ok(None);
        }
        if self.is_function()
            && let Some(verdict) = self.make_inputs()?
        {
            return Ok(Some(verdict));
        }
        let first = self.run(Role::Before, Mode::Capture, true, None)?;
        if let Some(verdict) = self.original_failed(&first)? {
            return Ok(Some(verdict));
        }
        let second = self.run(Role::Before, Mode::Capture, true, None)?;
        if let Some(verdict) = self.original_failed(&second)? {
            return Ok(Some(verdict));
        }
        self.judge.baseline = Some(Baseline { first, second });
        self.judge.records.clone_from(&self.evidence.runs);
        Ok(None)
    }

    fn make_inputs(&mut self) -> Answer {
        let run = self.run(Role::Before, Mode::Inputs, false, None)?;
        if let Some(verdict) = self.unusable(&run) {
            return Ok(Some(verdict));
        }
        let made = run.succeeded();
        let end = end_of(&run);
        run.remove()?;
        if made {
            return Ok(None);
        }
        Ok(Some(self.decide(
            Verdict::Inconclusive,
            codes::NO_INPUTS,
            format!("the inputs could not be made: the maker {end}"),
        )))
    }

    fn original_failed(&mut self, run: &Run) -> Answer {
        if let Some(verdict) = self.unusable(run) {
            return Ok(Some(verdict));
        }
        if run.ended.exit == Exit::TimedOut {
            let message = self.lower_bound(run)?;
            return Ok(Some(self.decide(Verdict::Inconclusive, codes::BASELINE_TIMED_OUT, message)));
        }
        if run.succeeded() {
            return Ok(None);
        }
        let mut message = format!("the original {}: there is nothing to compare with", end_of(run));
        if run.confined && message.contains("PermissionError") {
            message.push_str(" (while judged, a program may write to its project and to TMPDIR only)");
        }
        Ok(Some(self.decide(Verdict::Inconclusive, codes::BASELINE_FAILED, message)))
    }

    /// What can still be said where the original did not end: how long the candidate takes.
    fn lower_bound(&mut self, run: &Run) -> Result<String, JudgeError> {
        let limit = run.ended.wall.as_secs_f64();
        let mut message =
            format!("the original did not end within {limit:.0} s: there is nothing to compare with");
        let candidate = self.run(Role::After, Mode::Capture, false, None)?;
        if self.unusable(&candidate).is_none() && candidate.succeeded() {
            let seconds = candidate.net().as_secs_f64();
            message = format!(
                "{message}; the candidate took {seconds:.2} s, at least {:.1} times less, if it is right",
                limit / seconds
            );
        }
        candidate.remove()?;
        Ok(message)
    }

    /// How long a run may take.
    pub(super) fn limit_of(&self, role: Role, mode: Mode) -> Duration {
        let contract = self.judge.contract;
        let must_be_faster = role == Role::After && contract.min_speedup > 0.0;
        match &self.judge.baseline {
            Some(baseline) if must_be_faster && matches!(mode, Mode::Capture | Mode::Time) => {
                contract.timeout.min(LEAST_LIMIT.max(baseline.net() * LIMIT_FACTOR))
            }
            _ => contract.timeout,
        }
    }
}
