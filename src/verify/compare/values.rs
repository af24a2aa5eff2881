//! Comparing captured values: a program's globals, or a function's results and arguments call by call.

use super::report::Report;
use super::walk::{Role, Walk};
use super::{Terms, codes};
use crate::verify::capture::node::Node;
use crate::verify::capture::{Call, Capture, CaptureError};
use crate::verify::protocol::CaptureDir;

/// Compares the values of two runs, where they were asked for.
pub fn compare(before: &CaptureDir, after: &CaptureDir, terms: &Terms<'_>, report: &mut Report<'_>) {
    if !before.dir.exists() {
        return;
    }
    let a = match Capture::open(&before.dir) {
        Ok(capture) => capture,
        Err(error) if is_absent(&error) => {
            let why = "the original ended without handing over its values";
            return report.not_compared("globals", why.to_owned());
        }
        Err(error) => return report.undecided(format!("the original's values can't be read: {error}")),
    };
    let b = match Capture::open(&after.dir) {
        Ok(capture) => capture,
        Err(error) if is_absent(&error) => {
            let message = "globals: the candidate ended without handing over its values";
            return report.differs("globals", codes::MISSING, message.to_owned());
        }
        Err(error) => {
            return report.differs("globals", codes::UNREADABLE, format!("the candidate's values: {error}"));
        }
    };
    match (&a.globals, &b.globals) {
        (Some(globals_a), Some(globals_b)) => globals((&a, globals_a), (&b, globals_b), terms, report),
        (None, None) => {}
        _ => report.differs("globals", codes::MISSING, "globals: one side has none".to_owned()),
    }
    calls(&a, &b, terms, report);
}

fn is_absent(error: &CaptureError) -> bool {
    matches!(error, CaptureError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}

fn globals(before: (&Capture, &Node), after: (&Capture, &Node), terms: &Terms<'_>, report: &mut Report<'_>) {
    if let Node::Composite(composite) = before.1 {
        report.comparison.compared_count += composite.parts.len() as u64;
    }
    let (a, b) = ((before.0, &[before.1][..]), (after.0, &[after.1][..]));
    Walk::new(a, b, &terms.policy, (terms.arrays, Role::Left), report).nodes("globals", before.1, after.1);
}

/// Pairs each call of the candidate with a call of the original on the same inputs, and compares them.
fn calls(before: &Capture, after: &Capture, terms: &Terms<'_>, report: &mut Report<'_>) {
    for (index, call) in after.calls.iter().enumerate() {
        let same_place = before.calls.get(index).filter(|other| other.set == call.set);
        let Some(other) = same_place.or_else(|| before.calls.iter().find(|other| other.set == call.set))
        else {
            report.undecided(format!("call {index} has inputs that the original was not called with"));
            continue;
        };
        let label = if after.calls.len() > 1 { format!("call {index}: ") } else { String::new() };
        one_call((before, other), (after, call), (terms, label), report);
    }
    for call in &before.calls {
        if !after.calls.iter().any(|other| other.set == call.set) {
            let message = format!("return: the call with input set {} is missing", call.set);
            report.differs("return", codes::MISSING, message);
        }
    }
}

fn one_call(
    (before, before_call): (&Capture, &Call),
    (after, after_call): (&Capture, &Call),
    (terms, label): (&Terms<'_>, String),
    report: &mut Report<'_>,
) {
    report.comparison.compared_count += 2;
    let (roots_a, roots_b) =
        ([&before_call.returned, &before_call.arguments], [&after_call.returned, &after_call.arguments]);
    let (a, b) = ((before, &roots_a[..]), (after, &roots_b[..]));
    let mut walk = Walk::new(a, b, &terms.policy, (terms.arrays, Role::Returned), report);
    walk.label = label;
    walk.nodes("return", roots_a[0], roots_b[0]);
    walk.nodes("arguments", roots_a[1], roots_b[1]);
}
