//! The report as SARIF 2.1.0, which code review and editors show beside the lines.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::plan::Advice;
use crate::reasons::{Code, Place, Refusal};
use crate::verify::{Finding, Verdict};

use super::model::{RunReport, UnitReport, verdict_name};
use super::reasons::Reasons;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The rule of a unit's verdict. Its reasons are results of their own.
const VERDICT_RULE: &str = "verdict";

/// `run` as SARIF that ends with a newline: a result for each refusal, each piece of advice, each verdict and each
/// reason for one.
pub fn sarif(run: &RunReport, reasons: &Reasons) -> String {
    let mut results: Vec<Value> = run.skipped.iter().map(refusal).collect();
    for unit in &run.units {
        results.push(verdict(unit));
        let of_changes = unit.changes.iter().flat_map(|change| {
            change.findings.iter().map(|it| finding(it, &change.change.place, change.verdict))
        });
        results.extend(of_changes);
        let start = start_of(&unit.path);
        results.extend(unit.findings.iter().map(|it| finding(it, &start, unit.verdict)));
        results.extend(unit.left.iter().map(refusal));
        results.extend(unit.advice.iter().map(advice));
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gpuport",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules(&results, reasons),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("text keys and no failing values") + "\n"
}

/// The rules that `results` name, with their texts where they are reason codes.
fn rules(results: &[Value], reasons: &Reasons) -> Vec<Value> {
    let ids: BTreeSet<&str> = results.iter().filter_map(|it| it["ruleId"].as_str()).collect();
    let rule = |id: &str| match reasons.get(&Code::from_text(id)) {
        Some(reason) => json!({
            "id": id,
            "shortDescription": {"text": reason.title},
            "fullDescription": {"text": reason.why.trim()},
            "help": {"text": reason.remedy.trim()},
        }),
        None => json!({"id": id}),
    };
    ids.into_iter().map(rule).collect()
}

fn refusal(refusal: &Refusal) -> Value {
    result(refusal.code.as_str(), "note", &refusal.message, &refusal.place)
}

fn advice(advice: &Advice) -> Value {
    let rule = advice.code.as_ref().map_or(advice.rule.as_str(), Code::as_str);
    result(rule, "note", &advice.message, &advice.place)
}

/// A reason for a verdict, at its own place or else where its unit or change begins.
fn finding(finding: &Finding, otherwise: &Place, verdict: Verdict) -> Value {
    let level = match verdict {
        Verdict::Rejected | Verdict::Inconclusive => "warning",
        Verdict::Accepted | Verdict::Unverified => "note",
    };
    result(finding.code.as_str(), level, &finding.message, finding.place.as_ref().unwrap_or(otherwise))
}

fn verdict(unit: &UnitReport) -> Value {
    let (kind, level) = match unit.verdict {
        Verdict::Accepted => ("pass", "none"),
        Verdict::Rejected => ("fail", "warning"),
        Verdict::Inconclusive => ("review", "none"),
        Verdict::Unverified => ("open", "none"),
    };
    let message = format!("{}: {}", unit.unit, verdict_name(unit.verdict));
    let mut value = result(VERDICT_RULE, level, &message, &start_of(&unit.path));
    value["kind"] = kind.into();
    value
}

fn start_of(path: &Path) -> Place {
    Place { path: path.to_owned(), line_number: 1, column_number: 1 }
}

fn result(rule: &str, level: &str, message: &str, place: &Place) -> Value {
    let mut location = json!({"artifactLocation": {"uri": uri(&place.path), "uriBaseId": "%SRCROOT%"}});
    // A notebook's lines count through its joined cells, and so are no lines of the file.
    if place.path.extension().is_none_or(|extension| extension != "ipynb") {
        location["region"] = json!({"startLine": place.line_number, "startColumn": place.column_number});
    }
    json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
    })
}

/// A relative path as a URI: bytes other than unreserved ones (RFC 3986) in percent form.
fn uri(path: &Path) -> String {
    path.as_os_str().as_bytes().iter().fold(String::new(), |mut out, &byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::run_report;
    use super::*;

    fn parsed() -> Value {
        serde_json::from_str(&sarif(&run_report(), Reasons::shipped())).unwrap()
    }

    #[test]
    fn every_result_has_a_rule_a_message_and_a_place() {
        let log = parsed();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["id"].as_str().unwrap())
            .collect();
        assert_eq!(rules, ["GP670", "GP671", "GP673", "torch/host-copy", "verdict"]);
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 1 + 3 + 1 + 1 + 2 + 1);
        for result in results {
            assert!(rules.contains(&result["ruleId"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            assert!(["none", "note", "warning"].contains(&result["level"].as_str().unwrap()));
            // Only a failure may have a level.
            assert!(result["kind"].is_null() || result["kind"] == "fail" || result["level"] == "none");
            let location = &result["locations"][0]["physicalLocation"];
            assert!(!location["artifactLocation"]["uri"].as_str().unwrap().is_empty());
        }
    }

    #[test]
    fn lines_of_notebooks_are_not_claimed() {
        let log = parsed();
        let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "%C3%BC%20b.ipynb");
        assert!(location["region"].is_null());
        let finding = &log["runs"][0]["results"][2]["locations"][0]["physicalLocation"];
        assert_eq!(finding["region"], json!({"startLine": 44, "startColumn": 9}));
    }
}
