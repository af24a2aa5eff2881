//! Groups with labels that mean nothing by themselves: clusterings, components, colourings.

use std::collections::HashMap;
use std::io;

use super::arrays::Elements;

/// The first element at which no renaming of labels turns one labelling into the other.
///
/// Labels below zero say that an element belongs to no group; they must be the same on both sides.
pub fn first_conflict(before: &Elements, after: &Elements) -> io::Result<Option<u64>> {
    let mut labels = Vec::new();
    after.for_each_key(|_, label| labels.push(label))?;
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    let mut conflict = None;
    before.for_each_key(|index, label| {
        if conflict.is_some() {
            return;
        }
        let Some(other) = usize::try_from(index).ok().and_then(|index| labels.get(index).copied()) else {
            conflict = Some(index);
            return;
        };
        let fits = if label < 0 || other < 0 {
            label == other
        } else {
            *there.entry(label).or_insert(other) == other && *back.entry(other).or_insert(label) == label
        };
        if !fits {
            conflict = Some(index);
        }
    })?;
    Ok(conflict)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verify::capture::npy::Dtype;

    fn labels(values: &[i32]) -> Elements {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Elements::from_bytes(Dtype::parse("<i4").unwrap(), vec![values.len() as u64], bytes).unwrap()
    }

    #[test]
    fn groups_count_and_names_do_not() {
        let check = |before: &[i32], after: &[i32], expected: Option<u64>| {
            assert_eq!(
                first_conflict(&labels(before), &labels(after)).unwrap(),
                expected,
                "{before:?} {after:?}"
            );
        };
        check(&[0, 0, 1, 2], &[2, 2, 0, 1], None);
        check(&[0, 0, 1, 2], &[2, 2, 0, 0], Some(3));
        check(&[0, 0, 1, 1], &[0, 1, 2, 2], Some(1));
        check(&[-1, 0, 1], &[-1, 1, 0], None);
        check(&[-1, 0, 1], &[0, 1, 2], Some(0));
        check(&[], &[], None);
    }

    proptest! {
        #[test]
        fn any_renaming_agrees(values in prop::collection::vec(0..5_i32, 0..30), shift in 0..5_i32) {
            let renamed: Vec<i32> = values.iter().map(|value| (value + shift) % 5).collect();
            prop_assert_eq!(first_conflict(&labels(&values), &labels(&renamed)).unwrap(), None);
        }
    }
}
