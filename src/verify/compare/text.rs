//! Text, line by line: numbers within the tolerance of float64, everything else exactly.
//!
//! Whole numbers are exact. Another number may be off by its tolerance, and by one unit of its last printed digit
//! besides, where printing is so fine that a difference within the tolerance would often change that digit (up to
//! [`FINE`] tolerances a unit). Coarser digits that differ mean different values: the chance that two values within
//! the tolerance of each other fall on both sides of a rounding step is then less than one in [`FINE`].
//! Near zero the scale-aware floor holds, whose scale is that of the numbers in the same line: a printed row.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead};

use super::show;
use super::tokens::{Number, Token, tokens};
use super::tolerance::Tolerance;

/// One unit of the last digit counts only if it is at most this many tolerances.
pub const FINE: f64 = 10.0;
/// Longer lines are not cut into numbers, but compared as they are.
const LINE_LIMIT: usize = 16 << 20;

/// A difference in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The line, from 1.
    pub line_number: u64,
    /// Which number of the line, from 1; `None`: something else than a number.
    pub number: Option<usize>,
    /// What the original has there.
    pub before: String,
    /// What the candidate has.
    pub after: String,
    /// The absolute error between two numbers, and what is allowed.
    pub error: Option<(f64, f64)>,
}

/// What comparing two texts found.
#[derive(Debug, Clone, Default)]
pub struct Text {
    /// Differences, at most [`KEPT`].
    pub differences: Vec<Difference>,
    /// Differences, also those beyond.
    pub count: u64,
    /// The largest error in proportion to what is allowed, among those within.
    pub worst: Option<Difference>,
    /// Lines of the original, and of the candidate, that are not skipped.
    pub lines: (u64, u64),
}

/// Differences that are kept.
const KEPT: usize = 1000;

/// What differs between two runs of the original, by line.
pub type Volatile = HashMap<u64, Places>;

/// What of a line is not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// All of it.
    Line,
    /// These of its numbers, from 1.
    Numbers(BTreeSet<usize>),
}

/// Compares two texts. Lines for which `skip` holds are left out on both sides, before lines are paired.
pub fn compare(
    mut before: impl BufRead,
    mut after: impl BufRead,
    tolerance: Tolerance,
    volatile: &Volatile,
    skip: &dyn Fn(&[u8]) -> bool,
) -> io::Result<Text> {
    let mut found = Text::default();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut line_number = 0;
    loop {
        let more_a = read_line(&mut before, &mut a, skip, &mut line_number)?;
        let more_b = read_line(&mut after, &mut b, skip, &mut 0)?;
        found.lines.0 += u64::from(more_a);
        found.lines.1 += u64::from(more_b);
        if !more_a && !more_b {
            return Ok(found);
        }
        if !more_a || !more_b || a == b {
            continue;
        }
        let none = BTreeSet::new();
        let ignored = match volatile.get(&line_number) {
            Some(Places::Line) => continue,
            Some(Places::Numbers(numbers)) => numbers,
            None => &none,
        };
        for call in compare_lines(&a, &b, tolerance, ignored) {
            found.take(Difference { line_number, ..call });
        }
    }
}

impl Text {
    /// Notes a pair of unequal tokens.
    fn take(&mut self, call: Difference) {
        if call.ratio() > 1.0 {
            self.count += 1;
            if self.differences.len() < KEPT {
                self.differences.push(call);
            }
        } else if self.worst.as_ref().is_none_or(|worst| call.ratio() > worst.ratio()) {
            self.worst = Some(call);
        }
    }

    /// What is not to be looked at any more, if these two texts come from the same program.
    pub fn volatile(&self) -> Volatile {
        let mut volatile = Volatile::new();
        for difference in &self.differences {
            let places =
                volatile.entry(difference.line_number).or_insert_with(|| Places::Numbers(BTreeSet::new()));
            match (difference.number, places) {
                (Some(number), Places::Numbers(numbers)) => {
                    numbers.insert(number);
                }
                (None, places) => *places = Places::Line,
                (Some(_), Places::Line) => {}
            }
        }
        volatile
    }
}

impl Difference {
    /// The error in proportion to what is allowed.
    pub fn ratio(&self) -> f64 {
        match self.error {
            Some((0.0, _)) => 0.0,
            Some((error, allowed)) if error < f64::INFINITY => error / allowed,
            _ => f64::INFINITY,
        }
    }
}

/// Reads the next line that is not skipped, without its end. `false` at the end of the text.
fn read_line(
    text: &mut impl BufRead,
    line: &mut Vec<u8>,
    skip: &dyn Fn(&[u8]) -> bool,
    line_number: &mut u64,
) -> io::Result<bool> {
    loop {
        line.clear();
        if text.read_until(b'\n', line)? == 0 {
            return Ok(false);
        }
        *line_number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if !skip(line) {
            return Ok(true);
        }
    }
}

/// The unequal tokens of two lines, or the lines themselves where their tokens can't be matched.
fn compare_lines(
    before: &[u8],
    after: &[u8],
    tolerance: Tolerance,
    ignored: &BTreeSet<usize>,
) -> Vec<Difference> {
    let lines = || {
        let text = |line| show::text(&String::from_utf8_lossy(line));
        vec![Difference {
            line_number: 0,
            number: None,
            before: text(before),
            after: text(after),
            error: None,
        }]
    };
    if before.len().max(after.len()) > LINE_LIMIT {
        return lines();
    }
    let (a, b) = (tokens(before), tokens(after));
    if a.len() != b.len() {
        return lines();
    }
    let scale = tolerance.kappa * rms(&a);
    let (mut number, mut found) = (0, Vec::new());
    for pair in a.iter().zip(&b) {
        match pair {
            (Token::Number(a), Token::Number(b)) => {
                number += 1;
                if a.text != b.text && !ignored.contains(&number) {
                    let text = |number: &Number<'_>| String::from_utf8_lossy(number.text).into_owned();
                    let error = Some(judge(*a, *b, tolerance, scale));
                    let (before, after) = (text(a), text(b));
                    found.push(Difference { line_number: 0, number: Some(number), before, after, error });
                }
            }
            (Token::Other(a), Token::Other(b)) if a == b => {}
            _ => return lines(),
        }
    }
    found
}

/// The error between two numbers, and what is allowed.
fn judge(before: Number<'_>, after: Number<'_>, tolerance: Tolerance, scale: f64) -> (f64, f64) {
    let (a, b) = (before.value, after.value);
    if let (Some(unit_a), Some(unit_b)) = (before.unit, after.unit) {
        if a.total_cmp(&b).is_eq() || a - b == 0.0 || (a.is_nan() && b.is_nan()) {
            return (0.0, 0.0);
        }
        if a.is_finite() && b.is_finite() {
            let allowed = tolerance.allowed(a, b, scale);
            let unit = unit_a.max(unit_b);
            return ((a - b).abs(), if unit <= FINE * allowed { allowed + unit } else { allowed });
        }
        return (f64::INFINITY, 0.0);
    }
    // Whole numbers, written differently.
    let error = (a - b).abs();
    (if error > 0.0 { error } else { f64::INFINITY }, 0.0)
}

/// The root mean square of a line's numbers, whole ones aside.
fn rms(line: &[Token<'_>]) -> f64 {
    let floats = line.iter().filter_map(|token| match token {
        Token::Number(number) if number.unit.is_some() && number.value.is_finite() => Some(number.value),
        _ => None,
    });
    let (sum, count) = floats.fold((0.0, 0.0), |(sum, count), value| (sum + value * value, count + 1.0));
    if sum < f64::INFINITY { (sum / f64::max(count, 1.0)).sqrt() } else { 0.0 }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
