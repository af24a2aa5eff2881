//! Times, sizes and counts as people read them.

use std::time::Duration;

/// Three significant digits with a unit: `1.20 s`, `285 ms`, `12.3 µs`.
pub(super) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = if seconds >= 1.0 {
        (seconds, "s")
    } else if seconds >= 1e-3 {
        (seconds * 1e3, "ms")
    } else {
        (seconds * 1e6, "µs")
    };
    format!("{} {unit}", three_digits(value))
}

/// Decimal multiples, as disks and buses are measured: `80.0 MB`.
pub(super) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    let mut units = ["B", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or("B");
    for next in units {
        // 999.5 would be shown as 1000.
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1e3, next);
    }
    if unit == "B" { format!("{count} B") } else { format!("{} {unit}", three_digits(value)) }
}

/// A factor: `4.20x`.
pub(super) fn factor(value: f64) -> String {
    format!("{}x", three_digits(value))
}

/// `1 file`, `2 files`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        for (nanoseconds, expected) in [
            (1_200_000_000, "1.20 s"),
            (285_000_000, "285 ms"),
            (99_960_000, "100 ms"),
            (12_340, "12.3 µs"),
            (4_000, "4.00 µs"),
            (3_600_000_000_000, "3600 s"),
            (0, "0.00 µs"),
        ] {
            assert_eq!(seconds(Duration::from_nanos(nanoseconds)), expected);
        }
        for (number, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (80_000_000, "80.0 MB"),
            (999_600, "1.00 MB"),
            (150_000_000_000, "150 GB"),
            (2_000_000_000_000, "2000 GB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
        assert_eq!(
            (factor(4.2), factor(0.4149), factor(123.4)),
            ("4.20x".into(), "0.41x".into(), "123x".into())
        );
        assert_eq!((count(1, "file"), count(0, "file")), ("1 file".into(), "0 files".into()));
    }
}
