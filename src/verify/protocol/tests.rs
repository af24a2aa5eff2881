//! What the judge reads of a child, strictly.

use super::*;

#[test]
fn marks_are_read_strictly() {
    let check = |line: &str, expected: Option<Mark>| assert_eq!(Mark::parse(line), expected, "{line:?}");
    check("program-begin", Some(Mark::ProgramBegin));
    check("call-begin 3", Some(Mark::CallBegin(3)));
    check("call-end 12", Some(Mark::CallEnd(12)));
    check("captured", Some(Mark::Captured));
    for bad in
        ["", "call-begin", "call-begin x", "call-begin -1", "program-end 1", "captured now", "call-end 1 2"]
    {
        check(bad, None);
    }
}

#[test]
fn an_outcome_needs_only_what_its_mode_has() {
    let outcome: Outcome = serde_json::from_str(r#"{"end": "raised"}"#).unwrap();
    assert_eq!(outcome.end, End::Raised);
    assert_eq!(outcome.schema, OUTCOME_SCHEMA);
    assert!(serde_json::from_str::<Outcome>(r#"{"end": "flown"}"#).is_err());
}
