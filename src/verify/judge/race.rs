//! Whether the candidate is faster: interleaved pairs of runs that nobody watches, until the answer is sure.

use super::trial::{Answer, Trial, end_of};
use crate::verify::error::JudgeError;
use crate::verify::evidence::TimingRecord;
use crate::verify::protocol::{Exit, Mark, Mode, Outcome};
use crate::verify::run::{Role, Run};
use crate::verify::timing::{Next, Pair, Speedup, median, next, noise, speedup};
use crate::verify::why::{Symptoms, limit};
use crate::verify::{Metric, Verdict, codes};

/// A whole process may take this many times what the marks say, and this many seconds more, before they are doubted.
const MARKS_FACTOR: f64 = 1.5;
const MARKS_SLACK: f64 = 0.5;

impl Trial<'_, '_> {
    /// Times pairs of runs, compares what each leaves behind, and answers where the candidate is not faster.
    pub(super) fn is_faster(&mut self) -> Answer {
        let (threshold, most) = (self.judge.contract.min_speedup, self.judge.contract.runs.max(1));
        if threshold <= 0.0 {
            return Ok(None);
        }
        let mut pairs = Vec::new();
        loop {
            match self.pair(pairs.len() as u32, most)? {
                Ok(pair) => pairs.push(pair),
                Err(verdict) => return Ok(Some(verdict)),
            }
            let step = next(&pairs, threshold, most);
            if step == Next::Another {
                continue;
            }
            let Some(found) = self.record(&pairs) else { continue };
            if let Some(verdict) = self.marks_are_doubtful(&pairs) {
                return Ok(Some(verdict));
            }
            if step == Next::NotFaster {
                self.not_faster(&pairs, found);
                return Ok(Some(Verdict::Rejected));
            }
            return Ok(None);
        }
    }

    /// Runs both sides once, the one that begins changing from pair to pair.
    fn pair(&mut self, index: u32, most: u32) -> Result<Result<Pair, Verdict>, JudgeError> {
        // In the first pair of processes nothing is captured: the time from start to exit is all the judge's own.
        let capture = index > 0 || self.judge.contract.metric == Metric::Warm;
        let number = Some((index + 1, most));
        let roles =
            if index.is_multiple_of(2) { [Role::Before, Role::After] } else { [Role::After, Role::Before] };
        let mut seconds = [0.0; 2];
        let mut lower_bound = false;
        for role in roles {
            let run = self.run(role, Mode::Time, capture, number)?;
            let timed = match role {
                Role::Before => self.timed_original(&run, &mut lower_bound),
                Role::After => self.timed_candidate(&run)?,
            };
            run.remove()?;
            match timed {
                Ok(found) => seconds[role as usize] = found,
                Err(verdict) => return Ok(Err(verdict)),
            }
        }
        Ok(Ok(Pair { before: seconds[0], after: seconds[1], lower_bound }))
    }

    fn timed_original(&mut self, run: &Run, lower_bound: &mut bool) -> Result<f64, Verdict> {
        if let Some(verdict) = self.unusable(run) {
            return Err(verdict);
        }
        if run.ended.exit == Exit::TimedOut && self.judge.contract.metric == Metric::Process {
            *lower_bound = true;
            return Ok(run.ended.wall.as_secs_f64());
        }
        if !run.succeeded() {
            let message = format!("timed, the original {}", end_of(run));
            return Err(self.decide(Verdict::Inconclusive, codes::BASELINE_FAILED, message));
        }
        self.seconds(run)
    }

    fn timed_candidate(&mut self, run: &Run) -> Result<Result<f64, Verdict>, JudgeError> {
        if let Some(verdict) = self.candidate_failed(run) {
            return Ok(Err(verdict));
        }
        if let Some(verdict) = self.compare(run)? {
            let message =
                "a timed run of the candidate left other results than the run that was judged first";
            self.find(codes::UNSTEADY, message, None);
            return Ok(Err(verdict));
        }
        Ok(self.seconds(run))
    }

    /// What the metric says of `run`.
    fn seconds(&mut self, run: &Run) -> Result<f64, Verdict> {
        if self.judge.contract.metric == Metric::Process {
            return Ok(run.net().as_secs_f64());
        }
        let calls = run.calls();
        if calls.len() == super::TIMED_CALLS as usize {
            return Ok(median(&calls));
        }
        let message = format!("{} of {} calls were marked", calls.len(), super::TIMED_CALLS);
        self.find(codes::MARKS_DISAGREE, message, None);
        Err(Verdict::Inconclusive)
    }

    fn record(&mut self, pairs: &[Pair]) -> Option<Speedup> {
        let speedup = speedup(pairs)?;
        self.evidence.timing = Some(TimingRecord {
            metric: self.judge.contract.metric,
            pairs: pairs.to_vec(),
            speedup,
            min_speedup: self.judge.contract.min_speedup,
            noise: noise(pairs),
        });
        Some(speedup)
    }

    /// The first pair was timed without the worker's marks. If it says otherwise than the rest, the marks hide time.
    fn marks_are_doubtful(&mut self, pairs: &[Pair]) -> Option<Verdict> {
        let [first, rest @ ..] = pairs else { return None };
        if self.judge.contract.metric != Metric::Process || rest.is_empty() {
            return None;
        }
        let marked = median(&rest.iter().map(|pair| pair.after).collect::<Vec<_>>());
        if first.after <= marked * MARKS_FACTOR + MARKS_SLACK {
            return None;
        }
        let message = format!(
            "the candidate took {:.2} s from start to exit, but by its marks only {marked:.2} s: the times can't be trusted",
            first.after
        );
        self.find(codes::MARKS_DISAGREE, message, None);
        Some(Verdict::Inconclusive)
    }

    fn not_faster(&mut self, pairs: &[Pair], found: Speedup) {
        let side = |seconds: fn(&Pair) -> f64| median(&pairs.iter().map(seconds).collect::<Vec<_>>());
        let (before, after) = (side(|pair| pair.before), side(|pair| pair.after));
        let mut message = format!(
            "{:.2}× as fast: {before:.3} s before, {after:.3} s after (95 % interval {:.2} to {:.2}, {} pairs; {:.2} is asked for)",
            found.ratio,
            found.low,
            found.high,
            pairs.len(),
            self.judge.contract.min_speedup
        );
        if let Some(spread) = noise(pairs) {
            message = format!(
                "{message}; this machine is noisy: the original's own times spread by {:.0} %",
                spread * 100.0
            );
        }
        self.find(codes::NOT_FASTER, message, None);
        if let Some(limit) = self.why(before) {
            self.limited(limit);
        }
    }

    /// What limits the candidate, where it was watched on the device.
    fn why(&self, before_seconds: f64) -> Option<crate::verify::why::Limit> {
        let run = self.active.as_ref()?;
        let outcome = run.outcome.as_ref().ok()?;
        let whole = self.judge.contract.metric == Metric::Process;
        let program =
            || Some(run.at(Mark::ProgramEnd)?.saturating_sub(run.at(Mark::ProgramBegin)?).as_secs_f64());
        let device_bytes =
            self.judge.gpu.as_ref().ok().and_then(|gpu| gpu.devices.first()).map(|gpu| gpu.memory_bytes);
        Some(limit(&Symptoms {
            before_seconds,
            seconds: if whole { run.net().as_secs_f64() } else { program()? },
            until_device_seconds: run.ended.observed.device_seconds.filter(|_| whole),
            activity: outcome.activity.as_ref(),
            accelerators: &outcome.accelerators,
            peak_bytes: peak(outcome, run),
            device_bytes,
        }))
    }
}

/// The most device memory: what the driver accounted for, else what the libraries say.
fn peak(outcome: &Outcome, run: &Run) -> Option<u64> {
    let counted = outcome.activity.as_ref().and_then(|activity| activity.peak_bytes);
    run.ended.observed.device_memory_bytes.max(counted)
}
