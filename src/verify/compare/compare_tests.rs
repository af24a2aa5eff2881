//! Properties of comparing whole captures, and captures that nobody should believe.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::walk::{Role, Walk};
use super::*;
use crate::verify::capture::Capture;
use crate::verify::{Metric, Workload};

fn contract(rtol: f64) -> Contract {
    Contract {
        workload: Workload::Script { path: "main.py".into(), arguments: Vec::new() },
        metric: Metric::Process,
        rtol: [rtol; 3],
        atol: None,
        min_speedup: 0.0,
        arrays: Arrays::Host,
        max_fallback: 0.0,
        runs: 1,
        timeout: std::time::Duration::from_mins(1),
        volatile: Vec::new(),
        tolerance: std::collections::BTreeMap::new(),
    }
}

fn capture(value: &Value) -> Capture {
    let text = json!({"format": "gpuport/capture/1", "value": value}).to_string();
    Capture::parse(Path::new("/nowhere"), text.as_bytes()).unwrap()
}

/// What is told of two captured values.
fn compared(before: &Capture, after: &Capture, rtol: f64, role: Role) -> Comparison {
    let contract = contract(rtol);
    let policy = Policy::new(&contract);
    let profile = Profile::default();
    let mut report = Report::new(Mode::Judge(&profile));
    if let (Some(a), Some(b)) = (&before.value, &after.value) {
        Walk::new((before, &[a]), (after, &[b]), &policy, (Arrays::Host, role), &mut report)
            .nodes("value", a, b);
    }
    report.finish()
}

fn array(values: &[f64]) -> Value {
    let digits = values.iter().flat_map(|value| value.to_le_bytes()).map(|byte| format!("{byte:02x}"));
    let data = digits.collect::<Vec<_>>().concat();
    json!({"type": "array", "class": "numpy.ndarray", "dtype": "<f8", "shape": [values.len()], "data": data})
}

/// Any tree, as the worker might write it.
fn trees() -> impl Strategy<Value = Value> {
    let numbers = prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(1.0), -10.0..10.0_f64];
    let float = |value: f64| {
        let text = if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") };
        json!({"type": "float", "value": text})
    };
    let leaf = prop_oneof![
        Just(json!({"type": "none"})),
        any::<bool>().prop_map(|value| json!({"type": "bool", "value": value})),
        (-3..3_i64).prop_map(|value| json!({"type": "int", "value": value.to_string()})),
        numbers.clone().prop_map(float),
        "[a-c1-3. ]{0,4}".prop_map(|value| json!({"type": "str", "value": value})),
        prop::collection::vec(numbers, 0..4).prop_map(|values| array(&values)),
        Just(json!({"type": "symbol", "class": "function"})),
        Just(json!({"type": "opaque", "class": "generator", "why": "its type is unknown"})),
        prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..3)
            .prop_map(|items| json!({"type": "text", "shape": [items.len()], "items": items})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| json!({"type": "sequence", "class": "list", "items": items})),
            prop::collection::btree_map("[a-c]", inner.clone(), 0..3).prop_map(|items| {
                let items: Vec<Value> = items
                    .into_iter()
                    .map(|(key, value)| json!([{"type": "str", "value": key}, value]))
                    .collect();
                json!({"type": "mapping", "class": "dict", "items": items})
            }),
            prop::collection::btree_map("\\.[a-c]", inner, 0..3).prop_map(|parts| {
                let parts: Vec<Value> =
                    parts.into_iter().map(|(at, value)| json!({"at": at, "value": value})).collect();
                json!({"type": "composite", "class": "thing", "parts": parts})
            }),
        ]
    })
}

/// The tree with every float a little larger.
fn shifted(tree: &Value, factor: f64) -> Value {
    match tree {
        Value::Object(fields) if fields.get("type") == Some(&json!("float")) => {
            let value: f64 = fields["value"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0.0);
            if value.is_finite() {
                json!({"type": "float", "value": format!("{:?}", value * factor)})
            } else {
                tree.clone()
            }
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shifted(value, factor))).collect()
        }
        Value::Array(items) => items.iter().map(|item| shifted(item, factor)).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn comparing_is_reflexive(tree in trees(), left: bool) {
        let (a, b) = (capture(&tree), capture(&tree));
        let role = if left { Role::Left } else { Role::Returned };
        let comparison = compared(&a, &b, 0.0, role);
        prop_assert!(comparison.findings.is_empty(), "{:?}", comparison.findings);
    }

    #[test]
    fn comparing_is_symmetric_in_exactness(one in trees(), other in trees()) {
        // What the original can't show is not compared, whatever the candidate has.
        prop_assume!(!one.to_string().contains("opaque") && !other.to_string().contains("opaque"));
        let (a, b) = (capture(&one), capture(&other));
        let there = compared(&a, &b, 0.0, Role::Returned).findings.is_empty();
        let back = compared(&b, &a, 0.0, Role::Returned).findings.is_empty();
        prop_assert_eq!(there, back);
    }

    #[test]
    fn comparing_is_monotone_in_tolerance(tree in trees(), shift in 0.0..0.2_f64, rtol in 0.0..0.2_f64, more in 0.0..0.2_f64) {
        let (a, b) = (capture(&tree), capture(&shifted(&tree, 1.0 + shift)));
        let found = |rtol| compared(&a, &b, rtol, Role::Left).findings.len();
        prop_assert!(found(rtol + more) <= found(rtol));
    }

    #[test]
    fn no_manifest_makes_it_panic(tree in trees(), cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let good = capture(&tree);
        let mut text = json!({"format": "gpuport/capture/1", "value": tree}).to_string().into_bytes();
        for (place, byte) in cuts {
            let place = place.index(text.len());
            text[place] = byte;
        }
        if let Ok(bad) = Capture::parse(Path::new("/nowhere"), &text) {
            compared(&good, &bad, 1e-7, Role::Left);
            compared(&bad, &good, 1e-7, Role::Returned);
        }
    }
}

#[test]
fn a_manifest_that_contradicts_itself_is_a_finding() {
    let good = capture(&array(&[1.0, 2.0]));
    let check = |bad: Value, expected: &str| {
        let told = format!("{:?}", compared(&good, &capture(&bad), 1e-7, Role::Left).findings);
        assert!(told.contains(expected), "{bad}: {told}");
    };
    let with = |name: &str, value: Value| {
        let mut bad = array(&[1.0, 2.0]);
        bad[name] = value;
        bad
    };
    check(with("shape", json!([3])), "GP506");
    check(with("shape", json!([u64::MAX, 16])), "GP506");
    check(with("data", json!("00")), "GP506");
    check(with("data", json!("zz")), "GP506");
    check(with("dtype", json!("|O")), "GP506");
    check(with("file", json!("000001.npy")), "GP506");
    check(json!({"type": "ref", "to": 7}), "GP501");
    check(json!({"type": "text", "shape": [2], "items": ["a"]}), "GP501");
    let texts = capture(&json!({"type": "text", "shape": [1], "items": ["a"]}));
    let bad = capture(&json!({"type": "text", "shape": [u64::MAX], "bytes": "000001.bin"}));
    let told = format!("{:?}", compared(&texts, &bad, 1e-7, Role::Left).findings);
    assert!(told.contains("GP506"), "{told}");
}

#[test]
fn references_may_go_round_in_circles() {
    let round = json!({"type": "sequence", "class": "list", "id": 0, "items": [{"type": "ref", "to": 0}]});
    let two = json!({"type": "sequence", "class": "list", "id": 0, "items": [
        {"type": "sequence", "class": "list", "id": 1, "items": [{"type": "ref", "to": 0}]}]});
    let endless = json!({"type": "ref", "to": 3, "id": 3});
    for (before, after) in [(&round, &round), (&round, &two), (&two, &round), (&endless, &endless)] {
        compared(&capture(before), &capture(after), 1e-7, Role::Left);
    }
    assert!(compared(&capture(&round), &capture(&two), 1e-7, Role::Left).findings.is_empty());
}
