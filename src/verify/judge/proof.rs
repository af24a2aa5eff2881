//! Whether the changed lines ran, and whether the GPU did the work.

use std::collections::BTreeMap;

use super::trial::{Answer, Trial, end_of};
use crate::gpu::DeviceUse;
use crate::verify::evidence::ChangeCoverage;
use crate::verify::protocol::{Activity, Calls, Covered, Device, Mode, Outcome};
use crate::verify::run::{Role, Run};
use crate::verify::why::functions;
use crate::verify::{Verdict, codes};

/// Fewer kernels than this are no evidence: one can be launched for show.
const LEAST_KERNELS: u64 = 2;
/// A context alone takes several times as much device memory. Asking the driver for its devices takes none.
const LEAST_CONTEXT_BYTES: u64 = 32 << 20;

impl Trial<'_, '_> {
    /// Runs the candidate under a tracer. A change of which no line ran was not verified by anything.
    pub(super) fn changed_lines_ran(&mut self) -> Answer {
        if self.claim.changed.iter().all(|changed| changed.lines.is_empty()) {
            return Ok(None);
        }
        let run = self.run(Role::After, Mode::Coverage, false, None)?;
        if let Some(verdict) = self.unusable(&run) {
            return Ok(Some(verdict));
        }
        let covered = match &run.outcome {
            Ok(outcome) if run.succeeded() => outcome.covered.clone(),
            _ => {
                let message =
                    format!("traced to see which changed lines run, the candidate {}", end_of(&run));
                return Ok(Some(self.decide(Verdict::Inconclusive, codes::NEVER_RAN, message)));
            }
        };
        run.remove()?;
        self.evidence.coverage =
            self.claim.changed.iter().map(|changed| coverage(changed, &covered)).collect();
        Ok(self.judge_coverage())
    }

    fn judge_coverage(&mut self) -> Option<Verdict> {
        let coverage = self.evidence.coverage.clone();
        for change in coverage.iter().filter(|change| is_idle(change)) {
            let name =
                change.change.as_ref().map_or_else(|| change.path.display().to_string(), |id| id.0.clone());
            self.find(codes::NEVER_RAN, format!("no changed line of {name} ran in this workload"), None);
            self.uncovered.extend(change.change.clone());
        }
        for change in &coverage {
            let idle: Vec<u32> =
                change.executable.iter().filter(|line| !change.executed.contains(line)).copied().collect();
            if !idle.is_empty() && !change.executed.is_empty() {
                let note =
                    format!("{}: changed lines {idle:?} never ran in this workload", change.path.display());
                self.evidence.notes.push(note);
            }
        }
        coverage.iter().any(is_idle).then_some(Verdict::Unverified)
    }

    /// Runs the candidate under the profilers, and weighs what they say together with what the judge saw.
    pub(super) fn ran_on_the_gpu(&mut self) -> Answer {
        if self.claim.device == Device::Cpu {
            return Ok(None);
        }
        let run = self.run(Role::After, Mode::Activity, false, None)?;
        if let Some(verdict) = self.candidate_failed(&run) {
            return Ok(Some(verdict));
        }
        let seen = used_device(&run) || self.captured.as_ref().is_some_and(used_device);
        let answer = run.outcome.as_ref().ok().and_then(|outcome| {
            if seen {
                idle_device(outcome)
            } else {
                Some("no process of the candidate was seen to use the GPU".to_owned())
            }
        });
        let accelerators =
            run.outcome.as_ref().map(|outcome| outcome.accelerators.clone()).unwrap_or_default();
        self.active = Some(run);
        if let Some(message) = answer {
            return Ok(Some(self.decide(Verdict::Rejected, codes::NO_GPU_ACTIVITY, message)));
        }
        let limit = self.judge.contract.max_fallback;
        match fallback(&accelerators, limit) {
            Some(message) => Ok(Some(self.decide(Verdict::Rejected, codes::FALLBACK, message))),
            None => Ok(None),
        }
    }
}

/// Whether the judge saw a process of `run` use the device: open, with the driver mapped, and memory taken.
fn used_device(run: &Run) -> bool {
    let observed = &run.ended.observed;
    observed.device_use.is_some_and(DeviceUse::is_complete)
        && observed.device_memory_bytes.is_none_or(|bytes| bytes >= LEAST_CONTEXT_BYTES)
}

/// The lines of one change that can run, and those that did.
fn coverage(changed: &super::ChangedLines, covered: &[Covered]) -> ChangeCoverage {
    let within = |lines: &[u32]| -> Vec<u32> {
        let is_changed =
            |line: &u32| changed.lines.iter().any(|(first, last)| (*first..=*last).contains(line));
        lines.iter().copied().filter(is_changed).collect()
    };
    let file = covered.iter().find(|file| file.path == changed.path);
    ChangeCoverage {
        change: changed.change.clone(),
        path: changed.path.clone(),
        executable: file.map(|file| within(&file.executable)).unwrap_or_default(),
        executed: file.map(|file| within(&file.executed)).unwrap_or_default(),
    }
}

/// True where lines can run and none did. Where none can, as in comments, there is nothing that had to.
fn is_idle(change: &ChangeCoverage) -> bool {
    change.executed.is_empty() && !change.executable.is_empty()
}

/// Why what the child counted is no evidence, if it isn't.
fn idle_device(outcome: &Outcome) -> Option<String> {
    if functions(&outcome.accelerators).any(|(_, calls)| calls.gpu > 0) {
        return None;
    }
    match &outcome.activity {
        None => Some("the GPU was opened, but nothing was counted on it".to_owned()),
        Some(Activity { kernels: Some(kernels), .. }) if *kernels < LEAST_KERNELS => {
            Some(format!("the GPU was opened, but it ran {kernels} kernels"))
        }
        Some(Activity { kernels: Some(_), .. }) => None,
        Some(activity) => {
            let bytes = activity.peak_bytes.max(activity.bytes_to_device).unwrap_or(0);
            (bytes == 0).then(|| "the GPU was opened, but no array was placed on it".to_owned())
        }
    }
}

/// Why too much ran on the CPU, if it did.
fn fallback(accelerators: &BTreeMap<String, BTreeMap<String, Calls>>, limit: f64) -> Option<String> {
    let (gpu, cpu) =
        functions(accelerators).fold((0, 0), |(gpu, cpu), (_, calls)| (gpu + calls.gpu, cpu + calls.cpu));
    let share = cpu as f64 / (gpu + cpu).max(1) as f64;
    if share <= limit {
        return None;
    }
    let mut fallen: Vec<(&str, u64)> = functions(accelerators)
        .filter(|(_, calls)| calls.cpu > 0)
        .map(|(name, calls)| (name, calls.cpu))
        .collect();
    fallen.sort_by_key(|(name, cpu)| (std::cmp::Reverse(*cpu), *name));
    let named: Vec<String> = fallen.iter().take(3).map(|(name, cpu)| format!("{name} ({cpu})")).collect();
    Some(format!(
        "{:.0} % of the accelerator's calls ran on the CPU, {:.0} % are allowed; mostly {}",
        share * 100.0,
        limit * 100.0,
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::ChangedLines;
    use super::*;
    use crate::plan::ChangeId;

    #[test]
    fn a_change_counts_as_run_when_one_of_its_lines_did() {
        let check = |lines: &[(u32, u32)], executed: &[u32], idle: bool| {
            // Line 20 is the last that can run.
            let changed = ChangedLines {
                change: Some(ChangeId("p:main.py:f".to_owned())),
                path: "main.py".into(),
                lines: lines.to_vec(),
            };
            let executable = (1..=20).collect();
            let covered = Covered { path: "main.py".into(), executable, executed: executed.to_vec() };
            assert_eq!(is_idle(&coverage(&changed, &[covered])), idle, "{lines:?} {executed:?}");
        };
        check(&[(3, 5)], &[1, 4], false);
        check(&[(3, 5)], &[1, 2, 6], true);
        check(&[(3, 3), (9, 12)], &[12], false);
        check(&[(3, 5)], &[], true);
        check(&[(21, 22)], &[], false);
    }

    #[test]
    fn counters_alone_are_weighed() {
        let check = |activity: Option<Activity>, gpu_calls: u64, idle: bool| {
            let calls = Calls { gpu: gpu_calls, ..Calls::default() };
            let accelerators =
                BTreeMap::from([("cudf.pandas".to_owned(), BTreeMap::from([("merge".to_owned(), calls)]))]);
            let outcome = Outcome { activity, accelerators, ..Outcome::default() };
            assert_eq!(idle_device(&outcome).is_some(), idle, "{outcome:?}");
        };
        let kernels = |kernels| Some(Activity { kernels: Some(kernels), ..Activity::default() });
        check(None, 0, true);
        check(kernels(0), 0, true);
        check(kernels(1), 0, true);
        check(kernels(2), 0, false);
        check(kernels(0), 3, false);
        check(Some(Activity::default()), 0, true);
        check(Some(Activity { peak_bytes: Some(512), ..Activity::default() }), 0, false);
    }

    #[test]
    fn fallback_is_a_share_of_calls() {
        let check = |gpu: u64, cpu: u64, limit: f64, refused: bool| {
            let calls = Calls { gpu, cpu, ..Calls::default() };
            let accelerators =
                BTreeMap::from([("cudf.pandas".to_owned(), BTreeMap::from([("apply".to_owned(), calls)]))]);
            assert_eq!(fallback(&accelerators, limit).is_some(), refused, "{gpu} {cpu} {limit}");
        };
        check(9, 1, 0.1, false);
        check(9, 2, 0.1, true);
        check(0, 0, 0.0, false);
        check(0, 1, 0.1, true);
        check(0, 5, 1.0, false);
    }
}
