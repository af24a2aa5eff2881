//! Tests of comparing text: what agrees, where a difference is, what is volatile.
#![allow(clippy::float_cmp, clippy::cast_possible_wrap, reason = "exact results and small numbers are meant")]

use proptest::prelude::*;

use super::*;
use crate::verify::compare::tolerance::Precision;

fn tolerance() -> Tolerance {
    Tolerance { rtol: 1e-7, ..Tolerance::unit(Precision::Double) }
}

fn differences(before: &str, after: &str) -> Text {
    compare(before.as_bytes(), after.as_bytes(), tolerance(), &Volatile::new(), &|_| false).unwrap()
}

#[test]
fn texts_agree_up_to_the_tolerance_of_their_numbers() {
    let check = |before: &str, after: &str, agrees: bool| {
        let found = differences(before, after);
        assert_eq!(found.count == 0, agrees, "{before:?} and {after:?}: {:?}", found.differences);
    };
    check("mean 0.1234567890123", "mean 0.1234567890124", true);
    check("mean 0.12345678", "mean 0.12345679", true);
    check("mean 0.123457", "mean 0.123458", false);
    check("mean 0.12", "mean 0.13", false);
    check("n 1000000000001", "n 1000000000002", false);
    check("n 3", "n 3.0", false);
    check("n 007", "n 7", false);
    check("[ 1.5  2.  ]", "[1.5 2. ]", true);
    check("[-0.  1.]", "[0. 1.]", true);
    check("x=1.5", "y=1.5", false);
    check("nan", "nan", true);
    check("nan", "1.0", false);
    check("inf", "-inf", false);
    check("1e-17 1.0", "-3e-17 1.0", true);
    check("1e-17", "-3e-17", false);
    check("Done", "done", false);
    check("1 2", "12", false);
    check("100.0%", "100.00000001%", true);
}

#[test]
fn a_difference_says_where() {
    let found = differences("a\nb 1.5 2.5\nc", "a\nb 1.5 2.75\nd");
    assert_eq!(found.count, 2);
    let first = &found.differences[0];
    assert_eq!((first.line_number, first.number), (2, Some(2)));
    assert_eq!((first.before.as_str(), first.after.as_str()), ("2.5", "2.75"));
    assert_eq!(first.error.unwrap().0, 0.25);
    assert_eq!((found.differences[1].line_number, found.differences[1].number), (3, None));
    assert_eq!(found.lines, (3, 3));
}

#[test]
fn lines_are_counted_on_both_sides() {
    assert_eq!(differences("a\nb\n", "a\n").lines, (2, 1));
    assert_eq!(differences("", "a").lines, (0, 1));
    assert_eq!(differences("a", "a\n").lines, (1, 1));
}

#[test]
fn what_differs_between_two_runs_of_the_original_is_left_alone() {
    let volatile =
        differences("took 1.25 s, sum 2.5\nid ab\nend", "took 1.75 s, sum 2.5\nid cd\nend").volatile();
    assert_eq!(volatile[&1], Places::Numbers([1].into()));
    assert_eq!(volatile[&2], Places::Line);
    let against = |after: &str| {
        let before = "took 1.25 s, sum 2.5\nid ab\nend";
        compare(before.as_bytes(), after.as_bytes(), tolerance(), &volatile, &|_| false).unwrap().count
    };
    assert_eq!(against("took 9.0 s, sum 2.5\nid xy\nend"), 0);
    assert_eq!(against("took 9.0 s, sum 2.6\nid xy\nend"), 1);
    assert_eq!(against("took 9.0 s, sum 2.5\nid xy\nfin"), 1);
}

proptest! {
    #[test]
    fn comparing_is_reflexive(text in "[-+.0-9eEjna\\n ]{0,60}") {
        prop_assert_eq!(differences(&text, &text).count, 0);
    }

    #[test]
    fn comparing_is_symmetric_but_for_the_floor(a in "[-+.0-9ea\n ]{0,30}", b in "[-+.0-9ea\n ]{0,30}") {
        let compared = |a: &str, b: &str| {
            let tolerance = Tolerance { kappa: 0.0, ..tolerance() };
            compare(a.as_bytes(), b.as_bytes(), tolerance, &Volatile::new(), &|_| false).unwrap()
        };
        let (there, back) = (compared(&a, &b), compared(&b, &a));
        prop_assert_eq!(there.count == 0 && there.lines.0 == there.lines.1, back.count == 0 && back.lines.0 == back.lines.1);
    }

    #[test]
    fn printing_agrees_with_itself_at_any_precision(
        values in prop::collection::vec(-1e6..1e6_f64, 1..6), decimals in 0..17_usize
    ) {
        // Rounding of one part in 10¹³ is what a port's other order of summation does.
        let print = |factor: f64| values.iter().map(|v| format!("{:.decimals$}", v * factor)).collect::<Vec<_>>().join(" ");
        let found = differences(&print(1.0), &print(1.0 + 1e-13));
        let coarse = found.differences.iter().all(|d| d.error.unwrap().1 * FINE < 10.0_f64.powi(-(decimals as i32)));
        prop_assert!(found.count == 0 || coarse, "{:?}", found.differences);
    }
}
