//! The report as JSON. The types here are the documented form; what they are made from may change without them.
//!
//! `docs/reference/report.schema.json` is generated from them. A new key keeps the schema's number; a key that goes or
//! changes its meaning raises it.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan;
use crate::reasons;
use crate::verify;

use super::model::{self, Baseline, RunReport, TreeOutcome, UnitReport, metric_name, verdict_name};

/// The name and number of this form.
const SCHEMA: &str = "gpuport/report/1";

/// `run` as indented JSON that ends with a newline.
pub fn json(run: &RunReport) -> String {
    pretty(&Report::from(run))
}

/// The JSON Schema of [`json`]'s output.
pub fn json_schema() -> String {
    pretty(&schemars::schema_for!(Report))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("text keys and no failing values") + "\n"
}

/// A report of `gpuport scan`, `apply` or `verify`.
#[derive(Debug, Serialize, JsonSchema)]
struct Report {
    /// `gpuport/report/1`.
    schema: &'static str,
    /// The version of gpuport that wrote it.
    gpuport: &'static str,
    /// The run's name, where it has a folder under `.gpuport/runs/`.
    run: Option<String>,
    /// What became of the tree: `untouched` or `applied`.
    tree: &'static str,
    /// The files with new bytes, relative to the root.
    changed_files: Vec<String>,
    /// SHA-256 of the patch that was written or printed, in hex.
    patch_sha256: Option<String>,
    /// What was planned together, in the order of paths.
    units: Vec<Unit>,
    /// Files that could not be read, decoded or parsed.
    skipped: Vec<Refusal>,
}

/// What was planned together: a script with the modules it reaches, a library function, a notebook.
#[derive(Debug, Serialize, JsonSchema)]
struct Unit {
    /// What people call it.
    name: String,
    /// The file it begins in, relative to the root.
    path: String,
    /// `accepted`, `rejected`, `inconclusive` or `unverified`.
    verdict: &'static str,
    /// Its changes, those left out included.
    changes: Vec<Change>,
    /// Why the verdict is what it is.
    findings: Vec<Finding>,
    /// How long both sides took.
    timing: Option<Timing>,
    /// What the GPU did in one run of the port.
    gpu: Option<Gpu>,
    /// `problem-size`, `transfers`, `cpu-fallback`, `memory-pressure`, `launch-granularity` or `algorithm`.
    limited_by: Option<&'static str>,
    /// What was left as it was.
    left: Vec<Refusal>,
    /// What people should know.
    advice: Vec<Advice>,
}

/// A place in a file. Lines and columns count from 1, columns in characters; in a notebook, lines count through the
/// joined code cells.
#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    /// Relative to the root, with `/`.
    path: String,
    /// The line.
    line: u32,
    /// The column.
    column: u32,
}

/// A region that is ported or not.
#[derive(Debug, Serialize, JsonSchema)]
struct Change {
    /// `<pass>:<path>:<region>`.
    id: String,
    /// The pass that makes it.
    pass: String,
    /// What it is, for people.
    what: String,
    /// Where the region begins.
    place: Place,
    /// The region's first line in the original file.
    first_line: u32,
    /// The region's last line in the original file.
    last_line: u32,
    /// The rules that matched in it.
    rules: Vec<String>,
    /// `accepted`, `rejected`, `inconclusive` or `unverified`.
    verdict: &'static str,
    /// Why it is not accepted.
    findings: Vec<Finding>,
}

/// One reason for a verdict.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    /// A reason code.
    code: String,
    /// One sentence with the figures.
    message: String,
    /// Where, if that is known.
    place: Option<Place>,
}

/// Something left as it was, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct Refusal {
    /// A reason code.
    code: String,
    /// One sentence about this very place.
    message: String,
    /// Where.
    place: Place,
    /// The pass that would have changed it.
    pass: Option<String>,
}

/// Something a person should know; nothing is changed for it.
#[derive(Debug, Serialize, JsonSchema)]
struct Advice {
    /// A reason code, if there is one.
    code: Option<String>,
    /// What to know or do.
    message: String,
    /// Where.
    place: Place,
    /// The rule that says it, as `pass/rule`.
    rule: String,
}

/// How long the original and the port took. Times are medians in seconds.
#[derive(Debug, Serialize, JsonSchema)]
struct Timing {
    /// `process`: a whole process from start to exit; `warm`: one call on fresh inputs after warm-up.
    metric: &'static str,
    /// The original.
    before_seconds: f64,
    /// The port.
    after_seconds: f64,
    /// Original over port; above 1 the port is faster.
    speedup: f64,
    /// Lower end of the speed-up's confidence interval.
    speedup_low: f64,
    /// Upper end of the speed-up's confidence interval.
    speedup_high: f64,
    /// How sure the interval is, e.g. 0.95.
    confidence: f64,
    /// What the lower end had to beat; 0 where speed was not asked for.
    min_speedup: f64,
    /// Timed runs of each side.
    runs: u32,
    /// True where the original ran into the time limit: `before_seconds` and `speedup` are lower bounds.
    lower_bound: bool,
}

/// What the GPU did. A value that was not measured is null.
#[derive(Debug, Serialize, JsonSchema)]
struct Gpu {
    /// Kernels launched.
    kernels: u64,
    /// Seconds in which the GPU ran any of them.
    busy_seconds: Option<f64>,
    /// Bytes copied to the device.
    bytes_to_device: Option<u64>,
    /// Bytes copied back.
    bytes_to_host: Option<u64>,
    /// Most bytes of device memory in use at once.
    peak_bytes: Option<u64>,
    /// Calls that an accelerator ran on the CPU.
    fallbacks: Vec<Fallback>,
}

/// Calls of one function that an accelerator ran on the CPU.
#[derive(Debug, Serialize, JsonSchema)]
struct Fallback {
    /// The function's full name.
    callable: String,
    /// How often.
    calls: u64,
}

/// JSON is Unicode: a byte of a path that is not shows as U+FFFD.
fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn all<'s, S, T: From<&'s S>>(items: &'s [S]) -> Vec<T> {
    items.iter().map(T::from).collect()
}

impl From<&RunReport> for Report {
    fn from(run: &RunReport) -> Self {
        let (tree, changed_files) = match &run.tree {
            TreeOutcome::Untouched => ("untouched", Vec::new()),
            TreeOutcome::Applied(files) => ("applied", files.iter().map(|path| path_text(path)).collect()),
        };
        Self {
            schema: SCHEMA,
            gpuport: env!("CARGO_PKG_VERSION"),
            run: run.run.as_ref().map(ToString::to_string),
            tree,
            changed_files,
            patch_sha256: run.patch_sha256.clone(),
            units: all(&run.units),
            skipped: all(&run.skipped),
        }
    }
}

impl From<&UnitReport> for Unit {
    fn from(unit: &UnitReport) -> Self {
        Self {
            name: unit.unit.clone(),
            path: path_text(&unit.path),
            verdict: verdict_name(unit.verdict),
            changes: all(&unit.changes),
            findings: all(&unit.findings),
            timing: unit.timing.as_ref().map(Timing::from),
            gpu: unit.gpu.as_ref().map(Gpu::from),
            limited_by: unit.limited_by.map(model::LimitingFactor::id),
            left: all(&unit.left),
            advice: all(&unit.advice),
        }
    }
}

impl From<&reasons::Place> for Place {
    fn from(place: &reasons::Place) -> Self {
        Self { path: path_text(&place.path), line: place.line_number, column: place.column_number }
    }
}

impl From<&model::ChangeReport> for Change {
    fn from(report: &model::ChangeReport) -> Self {
        let change = &report.change;
        Self {
            id: change.id.0.clone(),
            pass: change.pass.clone(),
            what: change.what.clone(),
            place: Place::from(&change.place),
            first_line: change.lines.0,
            last_line: change.lines.1,
            rules: change.rules.clone(),
            verdict: verdict_name(report.verdict),
            findings: all(&report.findings),
        }
    }
}

impl From<&verify::Finding> for Finding {
    fn from(finding: &verify::Finding) -> Self {
        Self {
            code: finding.code.to_string(),
            message: finding.message.clone(),
            place: finding.place.as_ref().map(Place::from),
        }
    }
}

impl From<&reasons::Refusal> for Refusal {
    fn from(refusal: &reasons::Refusal) -> Self {
        Self {
            code: refusal.code.to_string(),
            message: refusal.message.clone(),
            place: Place::from(&refusal.place),
            pass: refusal.pass.clone(),
        }
    }
}

impl From<&plan::Advice> for Advice {
    fn from(advice: &plan::Advice) -> Self {
        Self {
            code: advice.code.as_ref().map(ToString::to_string),
            message: advice.message.clone(),
            place: Place::from(&advice.place),
            rule: advice.rule.clone(),
        }
    }
}

impl From<&model::Timing> for Timing {
    fn from(timing: &model::Timing) -> Self {
        Self {
            metric: metric_name(timing.metric),
            before_seconds: timing.before.as_secs_f64(),
            after_seconds: timing.after.as_secs_f64(),
            speedup: timing.speedup,
            speedup_low: timing.interval.0,
            speedup_high: timing.interval.1,
            confidence: timing.confidence,
            min_speedup: timing.min_speedup,
            runs: timing.runs,
            lower_bound: timing.baseline == Baseline::LowerBound,
        }
    }
}

impl From<&model::GpuUse> for Gpu {
    fn from(gpu: &model::GpuUse) -> Self {
        let fallback = |it: &model::Fallback| Fallback { callable: it.callable.clone(), calls: it.calls };
        Self {
            kernels: gpu.kernels,
            busy_seconds: gpu.busy.map(|busy| busy.as_secs_f64()),
            bytes_to_device: gpu.bytes_to_device,
            bytes_to_host: gpu.bytes_to_host,
            peak_bytes: gpu.peak_bytes,
            fallbacks: gpu.fallbacks.iter().map(fallback).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::samples::run_report;
    use super::*;

    #[test]
    fn the_report_has_every_fact() {
        let text = json(&run_report());
        assert!(text.ends_with("}\n"));
        let report: Value = serde_json::from_str(&text).unwrap();
        for (pointer, expected) in [
            ("/schema", Value::from("gpuport/report/1")),
            ("/run", Value::from("0007")),
            ("/tree", Value::from("applied")),
            ("/changed_files/1", Value::from("ü b.py")),
            ("/units/0/verdict", Value::from("accepted")),
            ("/units/0/timing/speedup_low", Value::from(3.9)),
            ("/units/0/timing/after_seconds", Value::from(0.285)),
            ("/units/0/gpu/fallbacks/3/callable", Value::from("d")),
            ("/units/0/changes/1/findings/0/place/column", Value::from(9)),
            ("/units/0/changes/1/last_line", Value::from(48)),
            ("/units/0/advice/0/code", Value::Null),
            ("/units/1/limited_by", Value::from("transfers")),
            ("/units/1/timing/lower_bound", Value::from(true)),
            ("/units/2/timing", Value::Null),
            ("/skipped/0/place/path", Value::from("ü b.ipynb")),
        ] {
            assert_eq!(report.pointer(pointer), Some(&expected), "{pointer}");
        }
    }

    /// Each object has the keys that the schema lists for it, and no others.
    #[test]
    fn the_report_keeps_to_its_schema() {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        let report: Value = serde_json::from_str(&json(&run_report())).unwrap();
        assert!(check_keys(&schema, &schema, &report) > 15);
    }

    fn check_keys(root: &Value, schema: &Value, value: &Value) -> usize {
        if let Some(name) = schema["$ref"].as_str() {
            return check_keys(root, root.pointer(name.trim_start_matches('#')).unwrap(), value);
        }
        if let (Some(options), false) = (schema["anyOf"].as_array(), value.is_null()) {
            return check_keys(root, &options[0], value);
        }
        match value {
            Value::Array(items) => items.iter().map(|item| check_keys(root, &schema["items"], item)).sum(),
            Value::Object(object) => {
                let properties = schema["properties"].as_object().unwrap();
                assert_eq!(object.keys().collect::<Vec<_>>(), properties.keys().collect::<Vec<_>>());
                1 + object.iter().map(|(key, item)| check_keys(root, &properties[key], item)).sum::<usize>()
            }
            _ => 0,
        }
    }
}
