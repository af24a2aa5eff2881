//! Why a port doesn't pay: which part of the candidate's time is the largest, from the evidence of its run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::codes;
use super::protocol::{Activity, Calls};
use crate::reasons::Code;

/// Seconds from the first use of the device to the end of the first kernel: making a context. Measured on an H200
/// with driver 580 and CuPy 14.
const CONTEXT_SECONDS: f64 = 0.76;
/// Seconds that launching one kernel costs the host from an array library. Measured there: element loops take 10 to
/// 20 µs for each operation.
const LAUNCH_SECONDS: f64 = 10e-6;
/// Bytes each second from ordinary host memory to the device, and back. Measured there.
const TO_DEVICE_RATE: f64 = 8.4e9;
const TO_HOST_RATE: f64 = 2.8e9;
/// A part below this share of the time is not what limits.
const LEAST_SHARE: f64 = 0.25;
/// Device memory counts as short where this share of it is in use.
const FULL: f64 = 0.9;

/// What limits a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// Starting the GPU alone takes as long as the original.
    TooSmall,
    /// Copies between host and device.
    TransferBound,
    /// Many short kernels.
    LaunchBound,
    /// Calls that ran on the CPU after all.
    Fallback,
    /// Device memory is short.
    Memory,
    /// The host's own work.
    HostBound,
    /// The device's own work: the algorithm doesn't suit it, or the host does it as fast.
    ComputeBound,
}

impl Factor {
    /// Its reason code.
    pub fn code(self) -> Code {
        match self {
            Self::TooSmall => codes::TOO_SMALL,
            Self::TransferBound => codes::TRANSFER_BOUND,
            Self::LaunchBound => codes::LAUNCH_BOUND,
            Self::Fallback => codes::FALLBACK_BOUND,
            Self::Memory => codes::MEMORY_BOUND,
            Self::HostBound => codes::HOST_BOUND,
            Self::ComputeBound => codes::COMPUTE_BOUND,
        }
    }
}

/// What limits, with the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What it is.
    pub factor: Factor,
    /// One sentence with the figures, without a full stop.
    pub message: String,
    /// Its share of the candidate's time, 0 to 1; `None` where it is no matter of time.
    pub share: Option<f64>,
}

/// What is known of a candidate's run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symptoms<'a> {
    /// Seconds of the original.
    pub(super) before_seconds: f64,
    /// Seconds of the run in which activity was counted: of the process, or of the program where starting is not
    /// part of the metric.
    pub(super) seconds: f64,
    /// Seconds from the start to the first use of the device; `None` where starting is not part of the metric.
    pub(super) until_device_seconds: Option<f64>,
    /// What was counted.
    pub(super) activity: Option<&'a Activity>,
    /// What accelerators say.
    pub(super) accelerators: &'a BTreeMap<String, BTreeMap<String, Calls>>,
    /// The most device memory in use, in bytes.
    pub(super) peak_bytes: Option<u64>,
    /// The device's memory, in bytes.
    pub(super) device_bytes: Option<u64>,
}

/// What limits, where nothing ran for lack of memory.
pub(super) fn out_of_memory(exception: &str) -> Limit {
    let message = format!("memory ran out ({exception}): try smaller inputs, or work on them in parts");
    Limit { factor: Factor::Memory, message, share: None }
}

/// What limits: short memory, else the largest part of the time.
pub(super) fn limit(symptoms: &Symptoms<'_>) -> Limit {
    let parts =
        [startup(symptoms), transfers(symptoms), launches(symptoms), fallback(symptoms), compute(symptoms)];
    let largest = parts
        .into_iter()
        .flatten()
        .max_by(|one, other| one.share.unwrap_or(0.0).total_cmp(&other.share.unwrap_or(0.0)));
    memory(symptoms)
        .or_else(|| largest.filter(|limit| limit.share.is_some_and(|share| share >= LEAST_SHARE)))
        .unwrap_or_else(|| host(symptoms))
}

fn part(symptoms: &Symptoms<'_>, factor: Factor, seconds: f64, message: String) -> Limit {
    let share = if symptoms.seconds > 0.0 { (seconds / symptoms.seconds).clamp(0.0, 1.0) } else { 0.0 };
    Limit { factor, message, share: Some(share) }
}

fn memory(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let (peak, total) = (symptoms.peak_bytes? as f64, symptoms.device_bytes? as f64);
    let message = format!("{} of {} device memory in use", size(peak), size(total));
    (peak >= FULL * total).then_some(Limit { factor: Factor::Memory, message, share: None })
}

fn startup(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let startup = symptoms.until_device_seconds? + CONTEXT_SECONDS;
    let message = format!(
        "loading the libraries and starting the GPU takes {startup:.2} s, the whole original {:.2} s",
        symptoms.before_seconds
    );
    (symptoms.before_seconds <= startup).then(|| part(symptoms, Factor::TooSmall, startup, message))
}

fn transfers(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let activity = symptoms.activity?;
    let to_device = activity.bytes_to_device.unwrap_or(0) as f64;
    let to_host = activity.bytes_to_host.unwrap_or(0) as f64;
    let estimated = to_device / TO_DEVICE_RATE + to_host / TO_HOST_RATE;
    let seconds = activity.copy_seconds.unwrap_or(estimated);
    let origin = if activity.copy_seconds.is_some() { "took" } else { "take about" };
    let message = format!(
        "copies of {} to the device and {} back {origin} {seconds:.2} s: keep arrays on the device between steps",
        size(to_device),
        size(to_host)
    );
    Some(part(symptoms, Factor::TransferBound, seconds, message))
}

fn launches(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let activity = symptoms.activity?;
    let kernels = activity.kernels? as f64;
    let busy = activity.busy_seconds.unwrap_or(0.0);
    let seconds = (kernels * LAUNCH_SECONDS).min(symptoms.seconds - busy).max(0.0);
    let mut message = format!("{kernels} kernels were launched");
    if activity.busy_seconds.is_some() && kernels > 0.0 {
        let _ = write!(message, ", {:.1} µs each on average", busy / kernels * 1e6);
    }
    message.push_str(": work on larger arrays at a time, or fuse the steps of the loop");
    Some(part(symptoms, Factor::LaunchBound, seconds, message))
}

fn fallback(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let mut fallen: Vec<(&str, &Calls)> =
        functions(symptoms.accelerators).filter(|(_, calls)| calls.cpu > 0).collect();
    fallen.sort_by(|(_, one), (_, other)| other.cpu_seconds.total_cmp(&one.cpu_seconds));
    let seconds: f64 = fallen.iter().map(|(_, calls)| calls.cpu_seconds).sum();
    let named: Vec<&str> = fallen.iter().take(3).map(|(name, _)| *name).collect();
    let message = format!("calls that fell back to the CPU took {seconds:.2} s, mostly {}", named.join(", "));
    (!fallen.is_empty()).then(|| part(symptoms, Factor::Fallback, seconds, message))
}

fn compute(symptoms: &Symptoms<'_>) -> Option<Limit> {
    let busy = symptoms.activity?.busy_seconds?;
    let message = format!("the device computed for {busy:.2} s: it is no faster at this than the CPU");
    Some(part(symptoms, Factor::ComputeBound, busy, message))
}

fn host(symptoms: &Symptoms<'_>) -> Limit {
    let message = match symptoms.activity.and_then(|activity| activity.busy_seconds) {
        Some(busy) => format!(
            "the device was busy for {busy:.2} of {:.2} s, the rest is work of the host",
            symptoms.seconds
        ),
        None => "neither transfers nor launches explain the time: most of it is work of the host".to_owned(),
    };
    Limit { factor: Factor::HostBound, message, share: None }
}

/// All functions that accelerators report on.
pub(super) fn functions(
    accelerators: &BTreeMap<String, BTreeMap<String, Calls>>,
) -> impl Iterator<Item = (&str, &Calls)> {
    accelerators.values().flatten().map(|(name, calls)| (name.as_str(), calls))
}

/// Bytes for people.
pub(super) fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} kB", bytes / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Factor, change: impl FnOnce(&mut Symptoms<'_>, &mut Activity)) {
        let accelerators = BTreeMap::new();
        let mut activity = Activity::default();
        let mut symptoms = Symptoms {
            before_seconds: 10.0,
            seconds: 20.0,
            until_device_seconds: Some(0.5),
            activity: None,
            accelerators: &accelerators,
            peak_bytes: Some(1 << 30),
            device_bytes: Some(100 << 30),
        };
        change(&mut symptoms, &mut activity);
        let found = limit(&Symptoms { activity: Some(&activity), ..symptoms });
        assert_eq!(found.factor, expected, "{}", found.message);
        assert!(!found.message.ends_with('.'));
    }

    #[test]
    fn the_largest_part_of_the_time_is_named() {
        check(Factor::HostBound, |_, _| ());
        check(Factor::TooSmall, |symptoms, _| (symptoms.before_seconds, symptoms.seconds) = (0.4, 2.0));
        check(Factor::LaunchBound, |symptoms, activity| {
            // Tiny for the original, but the candidate's time goes into launches.
            symptoms.before_seconds = 0.06;
            activity.kernels = Some(1_200_000);
        });
        check(Factor::TransferBound, |_, activity| activity.bytes_to_host = Some(40_000_000_000));
        check(Factor::HostBound, |_, activity| {
            activity.bytes_to_host = Some(40_000_000_000);
            activity.copy_seconds = Some(0.1);
        });
        check(Factor::ComputeBound, |_, activity| {
            activity.busy_seconds = Some(19.0);
            activity.kernels = Some(1_900_000);
        });
        check(Factor::Memory, |symptoms, _| symptoms.peak_bytes = Some(99 << 30));
    }

    #[test]
    fn fallback_names_its_functions() {
        let calls = |cpu, cpu_seconds| Calls { cpu, cpu_seconds, ..Calls::default() };
        let functions =
            BTreeMap::from([("set_axis".to_owned(), calls(1, 0.1)), ("apply".to_owned(), calls(9, 5.0))]);
        let accelerators = BTreeMap::from([("cudf.pandas".to_owned(), functions)]);
        let found = limit(&Symptoms {
            before_seconds: 8.0,
            seconds: 9.0,
            until_device_seconds: None,
            activity: None,
            accelerators: &accelerators,
            peak_bytes: None,
            device_bytes: None,
        });
        assert_eq!(found.factor, Factor::Fallback);
        assert!(found.message.contains("apply, set_axis"), "{}", found.message);
    }
}
