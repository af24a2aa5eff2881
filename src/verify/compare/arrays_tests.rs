//! Tests of comparing arrays: the floor, pieces, orders.
#![allow(clippy::float_cmp, reason = "exact results are meant")]

use super::*;

/// An array in C order.
fn array(dtype: &str, shape: &[u64], bytes: Vec<u8>) -> Elements {
    Elements::from_bytes(Dtype::parse(dtype).unwrap(), shape.to_vec(), bytes).unwrap()
}

fn doubles(values: &[f64]) -> Elements {
    array("<f8", &[values.len() as u64], values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn default_tolerance() -> Tolerance {
    Tolerance { rtol: 1e-7, ..Tolerance::unit(Precision::Double) }
}

#[test]
fn the_floor_forgives_rounding_of_the_scale_and_no_more() {
    let check = |small: f64, agrees: bool| {
        let before: Vec<f64> = (0..1000).map(|i| if i == 500 { 0.0 } else { 1.0 }).collect();
        let mut after = before.clone();
        after[500] = small;
        let judged = compare(&doubles(&before), &doubles(&after), default_tolerance()).unwrap();
        assert_eq!(judged.found.fails == 0, agrees, "{small}");
    };
    check(1e-16, true);
    check(4e-12, true);
    check(1e-11, false);
    check(1e-7, false);
}

#[test]
fn one_peak_does_not_hide_errors_elsewhere() {
    let before: Vec<f64> = (0..1_000_000).map(|i| if i == 0 { 1e9 } else { 1.0 }).collect();
    let after: Vec<f64> = before.iter().map(|value| if *value == 1.0 { 1.001 } else { *value }).collect();
    let judged = compare(&doubles(&before), &doubles(&after), default_tolerance()).unwrap();
    assert_eq!(judged.found.fails, 999_999);
}

#[test]
fn the_floor_survives_huge_and_tiny_numbers() {
    let check = |unit: f64| {
        let before: Vec<f64> = (0..100).map(|i| if i == 7 { 0.0 } else { unit }).collect();
        let mut after = before.clone();
        after[7] = unit * 1e-14;
        let judged = compare(&doubles(&before), &doubles(&after), default_tolerance()).unwrap();
        assert_eq!(judged.found.fails, 0, "{unit}");
        after[7] = unit * 1e-3;
        let judged = compare(&doubles(&before), &doubles(&after), default_tolerance()).unwrap();
        assert_eq!(judged.found.fails, 1, "{unit}");
    };
    check(1e300);
    check(1e-250);
}

#[test]
fn many_pieces_are_one_array() {
    let before: Vec<f64> = (0..100_000).map(f64::from).collect();
    let mut after = before.clone();
    after[77_777] += 1.0;
    after[3] += 1e-3;
    let judged = compare(&doubles(&before), &doubles(&after), default_tolerance()).unwrap();
    assert_eq!((judged.found.fails, judged.found.index), (2, 3));
    assert!((noise(&doubles(&before), &doubles(&after)).unwrap() - 1e-3 / 3.001).abs() < 1e-3);
    assert_eq!(noise(&doubles(&before), &doubles(&before)).unwrap(), 0.0);
}

#[test]
fn integers_are_compared_exactly() {
    let ints = |values: &[i32]| {
        array("<i4", &[values.len() as u64], values.iter().flat_map(|value| value.to_le_bytes()).collect())
    };
    let judged = compare(&ints(&[1, 2, 3]), &ints(&[1, 2, 3]), default_tolerance()).unwrap();
    assert_eq!(judged.found.fails, 0);
    let judged =
        compare(&ints(&[1, 2, 1 << 30]), &ints(&[1, 2, (1 << 30) + 1]), default_tolerance()).unwrap();
    assert_eq!((judged.found.fails, judged.found.index), (1, 2));
}

#[test]
fn orders_are_brought_together() {
    let shape = [2, 3, 4];
    let c: Vec<i64> = (0..24).collect();
    let mut f = vec![0; 24];
    for index in 0..24 {
        f[fortran_place(index, &shape) as usize] = c[index as usize];
    }
    let bytes = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let before = array("<i8", &shape, bytes(&c));
    let mut after = array("<i8", &shape, bytes(&f));
    after.header.fortran_order = true;
    assert_eq!(after.index_text(1), "[1, 0, 0]");
    assert_eq!(before.index_text(23), "[1, 2, 3]");
    let (before, after) = same_order(before, after).unwrap();
    assert_eq!(compare(&before, &after, default_tolerance()).unwrap().found.fails, 0);
}

#[test]
fn empty_arrays_agree() {
    for dtype in ["<f8", "<i4", "<U0", "<c16"] {
        let judged = compare(
            &array(dtype, &[0, 3], Vec::new()),
            &array(dtype, &[0, 3], Vec::new()),
            default_tolerance(),
        );
        assert_eq!(judged.unwrap().found.fails, 0, "{dtype}");
    }
}
