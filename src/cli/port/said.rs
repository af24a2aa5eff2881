//! What the judge found, in the report's words.

use std::time::Duration;

use crate::plan::Change;
use crate::report::{Baseline, ChangeReport, Fallback, GpuUse, LimitingFactor, Timing, UnitReport};
use crate::verify::protocol::Mode;
use crate::verify::{Evidence, Factor, Finding, Role, Verdict, codes};

/// How sure the interval of a speed-up is; the judge's own.
const CONFIDENCE: f64 = 0.95;

/// Adds `changes` with one verdict.
pub(super) fn add(report: &mut UnitReport, changes: &[Change], verdict: Verdict, findings: &[Finding]) {
    report.changes.extend(changes.iter().map(|change| ChangeReport {
        change: change.clone(),
        verdict,
        findings: findings.to_vec(),
    }));
}

/// The verdict for a unit: the best of its changes where any was accepted, else the worst that happened.
pub(super) fn overall(changes: &[ChangeReport]) -> Verdict {
    let verdicts = || changes.iter().map(|change| change.verdict);
    if changes.is_empty() || verdicts().any(|verdict| verdict == Verdict::Accepted) {
        return Verdict::Accepted;
    }
    verdicts().min().unwrap_or(Verdict::Accepted)
}

/// Takes figures of speed and GPU use from `evidence`.
pub(super) fn evidence(report: &mut UnitReport, evidence: Option<&Evidence>) {
    let Some(evidence) = evidence else { return };
    report.timing = timing(evidence).or(report.timing);
    report.gpu = gpu_use(evidence).or(report.gpu.take());
    report.limited_by = limiting_factor(evidence).or(report.limited_by);
}

/// True where a part of the changes may pass although all together did not.
pub(super) fn worth_searching(findings: &[Finding], change_count: usize) -> bool {
    let hopeless = [codes::NO_GPU, codes::INTERRUPTED, codes::BASELINE_FAILED];
    change_count > 1 && !findings.iter().any(|finding| hopeless.contains(&finding.code))
}

/// The median of seconds.
fn median(seconds: impl Iterator<Item = f64>) -> Duration {
    let mut sorted: Vec<f64> = seconds.map(|seconds| seconds.max(0.0)).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    };
    Duration::from_secs_f64(median)
}

/// How long both sides took.
fn timing(evidence: &Evidence) -> Option<Timing> {
    let record = evidence.timing.as_ref()?;
    let speedup = &record.speedup;
    Some(Timing {
        metric: record.metric,
        before: median(record.pairs.iter().map(|pair| pair.before)),
        after: median(record.pairs.iter().map(|pair| pair.after)),
        speedup: speedup.ratio,
        interval: (speedup.low, speedup.high),
        confidence: CONFIDENCE,
        min_speedup: record.min_speedup,
        runs: u32::try_from(record.pairs.len()).unwrap_or(u32::MAX),
        baseline: if record.pairs.iter().any(|pair| pair.lower_bound) {
            Baseline::LowerBound
        } else {
            Baseline::Measured
        },
    })
}

/// What the device did in the run in which that was counted.
fn gpu_use(evidence: &Evidence) -> Option<GpuUse> {
    let run = evidence.runs.iter().rev().find(|run| run.mode == Mode::Activity && run.role == Role::After)?;
    let outcome = run.attested.as_ref()?;
    let activity = outcome.activity.clone().unwrap_or_default();
    let calls = outcome.accelerators.iter().flat_map(|(library, calls)| {
        calls.iter().map(move |(callable, calls)| (format!("{library}: {callable}"), calls))
    });
    Some(GpuUse {
        kernels: activity.kernels.unwrap_or(0),
        busy: activity.busy_seconds.map(|seconds| Duration::from_secs_f64(seconds.max(0.0))),
        bytes_to_device: activity.bytes_to_device,
        bytes_to_host: activity.bytes_to_host,
        peak_bytes: activity.peak_bytes,
        fallbacks: calls
            .filter(|(_, calls)| calls.cpu > 0)
            .map(|(callable, calls)| Fallback { callable, calls: calls.cpu })
            .collect(),
    })
}

/// What limits the candidate.
fn limiting_factor(evidence: &Evidence) -> Option<LimitingFactor> {
    Some(match evidence.limit.as_ref()?.factor {
        Factor::TooSmall => LimitingFactor::ProblemSize,
        Factor::TransferBound => LimitingFactor::Transfers,
        Factor::LaunchBound => LimitingFactor::LaunchGranularity,
        Factor::Fallback => LimitingFactor::CpuFallback,
        Factor::Memory => LimitingFactor::MemoryPressure,
        Factor::HostBound | Factor::ComputeBound => LimitingFactor::Algorithm,
    })
}
