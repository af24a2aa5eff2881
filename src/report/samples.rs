//! A report with one of everything, for the tests of its renderers.

use std::time::Duration;

use crate::diff::RunId;
use crate::plan::{Advice, Change, ChangeId};
use crate::reasons::{Code, Place, Refusal};
use crate::verify::{Finding, Metric, Verdict};

use super::model::{
    Baseline, ChangeReport, Fallback, GpuUse, LimitingFactor, RunReport, Timing, TreeOutcome, UnitReport,
};

fn place(path: &str, line_number: u32, column_number: u32) -> Place {
    Place { path: path.into(), line_number, column_number }
}

fn change(line: u32, what: &str, verdict: Verdict, findings: Vec<Finding>) -> ChangeReport {
    let change = Change {
        id: ChangeId(format!("numpy-to-cupy:main.py:{what}")),
        pass: "numpy-to-cupy".to_owned(),
        place: place("main.py", line, 1),
        what: format!("function {what}"),
        rules: vec!["supported-call".to_owned()],
        lines: (line, line + 8),
    };
    ChangeReport { change, verdict, findings }
}

fn refusal(path: &str, line: u32) -> Refusal {
    let pass = Some("numpy-to-cupy".to_owned());
    Refusal { place: place(path, line, 5), code: Code::new("GP671"), message: "stays".to_owned(), pass }
}

fn empty_unit(unit: &str, verdict: Verdict) -> UnitReport {
    UnitReport {
        unit: unit.to_owned(),
        path: unit.into(),
        verdict,
        changes: Vec::new(),
        findings: Vec::new(),
        timing: None,
        gpu: None,
        limited_by: None,
        left: Vec::new(),
        advice: Vec::new(),
    }
}

fn accepted() -> UnitReport {
    let wrong = Finding {
        code: Code::new("GP670"),
        message: "element 3 differs by 0.1".to_owned(),
        place: Some(place("main.py", 44, 9)),
    };
    let fallback = |(callable, calls): (&str, u64)| Fallback { callable: callable.to_owned(), calls };
    UnitReport {
        changes: vec![
            change(12, "simulate", Verdict::Accepted, Vec::new()),
            change(40, "step", Verdict::Rejected, vec![wrong]),
        ],
        timing: Some(Timing {
            metric: Metric::Process,
            before: Duration::from_millis(1200),
            after: Duration::from_millis(285),
            speedup: 4.2,
            interval: (3.9, 4.6),
            confidence: 0.95,
            min_speedup: 1.05,
            runs: 5,
            baseline: Baseline::Measured,
        }),
        gpu: Some(GpuUse {
            kernels: 1240,
            busy: Some(Duration::from_millis(180)),
            bytes_to_device: Some(80_000_000),
            bytes_to_host: Some(8_000_000),
            peak_bytes: Some(1_200_000_000),
            fallbacks: [("a", 2), ("b", 1), ("c", 1), ("d", 1)].map(fallback).to_vec(),
        }),
        left: vec![refusal("main.py", 3), refusal("main.py", 4)],
        advice: vec![Advice {
            place: place("main.py", 5, 1),
            code: None,
            message: "batch the copies".to_owned(),
            rule: "torch/host-copy".to_owned(),
        }],
        ..empty_unit("main.py", Verdict::Accepted)
    }
}

fn rejected() -> UnitReport {
    UnitReport {
        findings: vec![Finding {
            code: Code::new("GP673"),
            message: "slower than before".to_owned(),
            place: None,
        }],
        timing: Some(Timing {
            metric: Metric::Warm,
            before: Duration::from_millis(210),
            after: Duration::from_millis(512),
            speedup: 0.41,
            interval: (0.38, 0.45),
            confidence: 0.95,
            min_speedup: 1.05,
            runs: 1,
            baseline: Baseline::LowerBound,
        }),
        limited_by: Some(LimitingFactor::Transfers),
        ..empty_unit("lib/step.py", Verdict::Rejected)
    }
}

/// A run with an accepted, a rejected and an unverified unit.
pub(super) fn run_report() -> RunReport {
    RunReport {
        run: RunId::parse("7"),
        tree: TreeOutcome::Applied(vec!["main.py".into(), "ü b.py".into()]),
        patch_sha256: Some("0".repeat(64)),
        units: vec![accepted(), rejected(), empty_unit("c.py", Verdict::Unverified)],
        skipped: vec![refusal("ü b.ipynb", 1)],
    }
}
