//! Comparing what has no parts: arrays, numbers, texts, bytes.

use super::arrays::{self, Elements};
use super::report::{Mode, Report};
use super::text::{self, Difference};
use super::tolerance::{Comparator, NOISE_CAP, NOISE_FACTOR, Policy, Precision, Tolerance, UpTo};
use super::walk::Walk;
use super::{codes, labels};
use crate::verify::capture::node::{Array, Binary, Content, Node};
use crate::verify::capture::npy::Kind;
use crate::verify::capture::source::Source;
use crate::verify::capture::{Capture, CaptureError};
use crate::verify::protocol::Worst;

/// Texts and bytes that are read at once.
const WHOLE_LIMIT: u64 = 1 << 30;

/// Two captured arrays.
pub fn arrays<'a>(
    walk: &mut Walk<'a, '_, '_>,
    path: &str,
    before: &'a Array,
    after: &'a Array,
) -> Result<(), CaptureError> {
    if before.class != after.class {
        walk.differs(path, codes::TYPE, &format!("{} became {}", before.class, after.class));
        return Ok(());
    }
    if walk.device_differs(path, before.device.as_ref(), after.device.as_ref()) {
        return Ok(());
    }
    let (a, b) = (Elements::from_node(walk.before.0, before)?, Elements::from_node(walk.after.0, after)?);
    elements(walk, path, a, b)
}

/// Two arrays from wherever.
pub fn elements(
    walk: &mut Walk<'_, '_, '_>,
    path: &str,
    a: Elements,
    b: Elements,
) -> Result<(), CaptureError> {
    let label = walk.label.clone();
    compare_elements(path, &label, walk.policy, walk.report, (a, b))
}

/// Two arrays, under the contract and the noise of the original.
pub fn compare_elements(
    path: &str,
    label: &str,
    policy: &Policy<'_>,
    report: &mut Report<'_>,
    (before, after): (Elements, Elements),
) -> Result<(), CaptureError> {
    let io_error = |error: std::io::Error| CaptureError::Inconsistent(error.to_string());
    if before.header.shape != after.header.shape {
        let shape = |array: &Elements| format!("{:?}", array.header.shape);
        let message = format!("{label}{path}: shape {} became {}", shape(&before), shape(&after));
        report.differs(path, codes::SHAPE, message);
        return Ok(());
    }
    if let Some(Comparator::UpTo { up_to: UpTo::Permutation }) = policy.comparator(path)
        && [&before, &after]
            .iter()
            .all(|array| matches!(array.header.dtype.kind, Kind::Int | Kind::Uint | Kind::Bool))
    {
        report.comparison.element_count += before.count();
        let (before, after) = arrays::same_order(before, after).map_err(io_error)?;
        if let Some(index) = labels::first_conflict(&before, &after).map_err(io_error)? {
            let place = before.index_text(index);
            let message = format!("{label}{path}{place}: the groups are others, whatever their labels");
            report.differs(path, codes::VALUE, message);
        }
        return Ok(());
    }
    if before.label != after.label {
        let message = format!("{label}{path}: dtype {} became {}", before.label, after.label);
        report.differs(path, codes::TYPE, message);
        return Ok(());
    }
    let pair = arrays::same_order(before, after).map_err(io_error)?;
    if pair.0.header.dtype != pair.1.header.dtype {
        return Err(CaptureError::Inconsistent("arrays of one dtype are stored as two".to_owned()));
    }
    report.comparison.element_count += pair.0.count();
    if report.learns() {
        return learn(path, policy, report, &pair).map_err(io_error);
    }
    judge(path, label, policy, report, &pair).map_err(io_error)
}

/// Notes by how much two runs of the original differ.
fn learn(
    path: &str,
    policy: &Policy<'_>,
    report: &mut Report<'_>,
    (before, again): &(Elements, Elements),
) -> std::io::Result<()> {
    let noise = arrays::noise(before, again)?;
    if noise == 0.0 {
        return Ok(());
    }
    let tolerance =
        before.precision().map_or(Tolerance::EXACT, |precision| policy.tolerance(path, precision));
    let beyond = NOISE_FACTOR * noise > NOISE_CAP * tolerance.rtol;
    // Single numbers and lists of them that differ are times or counts of something; an array is a result.
    if let Mode::Learn(profile) = &mut report.mode {
        if beyond && (before.count() == 1 || before.list) {
            profile.volatile.insert(path.to_owned());
        } else {
            profile.noise.insert(path.to_owned(), noise);
        }
    }
    Ok(())
}

/// Judges two arrays of equal type, shape and order.
fn judge(
    path: &str,
    label: &str,
    policy: &Policy<'_>,
    report: &mut Report<'_>,
    (before, after): &(Elements, Elements),
) -> std::io::Result<()> {
    let noise = report.noise(path);
    let stated = before.precision().map_or(Tolerance::EXACT, |precision| policy.tolerance(path, precision));
    let (tolerance, beyond) = stated.with_noise(noise);
    let judged = arrays::compare(before, after, tolerance)?;
    let found = judged.found;
    if found.ratio > 0.0 {
        let worst = worst(path, tolerance, judged.scale, (before, after), found.index)?;
        report.call(found.ratio, || worst);
    }
    if found.fails == 0 {
        return Ok(());
    }
    let worst = worst(path, tolerance, judged.scale, (before, after), found.index)?;
    let error = match (worst.absolute, worst.allowed) {
        (Some(error), Some(allowed)) => format!(", error {error:.3e} where {allowed:.3e} is allowed"),
        _ => String::new(),
    };
    let share = if before.count() == 1 {
        String::new()
    } else {
        format!("; {} of {} elements differ", found.fails, before.count())
    };
    let message = format!("{label}{}: {} became {}{error}{share}", worst.what, worst.before, worst.after);
    if beyond {
        report.undecided(format!(
            "{message}; but two runs of the original differ by {noise:.3e} themselves, which is too much to judge by"
        ));
    } else {
        report.differs(path, codes::VALUE, message);
    }
    Ok(())
}

/// An element as the worst of its array.
fn worst(
    path: &str,
    tolerance: Tolerance,
    scale: f64,
    (before, after): (&Elements, &Elements),
    index: u64,
) -> std::io::Result<Worst> {
    let ((text_a, a), (text_b, b)) = (before.show(index)?, after.show(index)?);
    let error = a.zip(b).map(|(a, b)| (a - b).abs()).filter(|error| error.is_finite());
    let largest = a.zip(b).map(|(a, b)| a.abs().max(b.abs()));
    Ok(Worst {
        what: format!("{path}{}", before.index_text(index)),
        before: text_a,
        after: text_b,
        absolute: error,
        relative: error
            .zip(largest)
            .map(|(error, largest)| error / largest)
            .filter(|error| error.is_finite()),
        allowed: error.and(a.zip(b)).map(|(a, b)| tolerance.allowed(a, b, scale)),
    })
}

/// A list that is packed on one side only: a list of numbers of which some are of another type.
pub fn packed_and_listed<'a>(
    walk: &mut Walk<'a, '_, '_>,
    path: &str,
    (values, items): (&'a Node, &'a [Node]),
    before_is_packed: bool,
) -> Result<(), CaptureError> {
    let (packed, listed) =
        if before_is_packed { (walk.before.0, walk.after.0) } else { (walk.after.0, walk.before.0) };
    let Node::Array(array) = values else {
        walk.differs(path, codes::TYPE, "its elements are of other types");
        return Ok(());
    };
    let array = Elements::from_node(packed, array)?;
    for (index, item) in items.iter().enumerate() {
        let below = format!("{path}[{index}]");
        let one = single(&array, index as u64)?;
        match super::scalars::scalar(listed, item) {
            Some(other) => {
                let other = other?.elements;
                let pair = if before_is_packed { (one, other) } else { (other, one) };
                elements(walk, &below, pair.0, pair.1)?;
            }
            None => walk.differs(&below, codes::TYPE, &format!("{} stands against a number", item.kind())),
        }
    }
    Ok(())
}

/// One element of an array, without dimensions.
fn single(array: &Elements, index: u64) -> Result<Elements, CaptureError> {
    let bytes = array.element(index).map_err(|error| CaptureError::Inconsistent(error.to_string()))?;
    let mut elements = Elements::from_bytes(array.header.dtype.clone(), Vec::new(), bytes)?;
    elements.label.clone_from(&array.label);
    Ok(elements)
}

/// Two texts that a program holds: like printed ones.
pub fn strings(
    walk: &mut Walk<'_, '_, '_>,
    path: &str,
    before: &Content,
    after: &Content,
) -> Result<(), CaptureError> {
    let (a, b) = (content(walk.before.0, before)?, content(walk.after.0, after)?);
    let label = walk.label.clone();
    printed(path, &label, walk.policy, walk.report, (&a, &b))
        .map_err(|error| CaptureError::Inconsistent(error.to_string()))
}

fn content(capture: &Capture, content: &Content) -> Result<Vec<u8>, CaptureError> {
    match (&content.value, &content.file) {
        (Some(value), None) => Ok(value.as_bytes().to_vec()),
        (None, Some(file)) => whole(&capture.file(file)?),
        _ => Err(CaptureError::Inconsistent("a text has no place".to_owned())),
    }
}

fn whole(source: &Source) -> Result<Vec<u8>, CaptureError> {
    source.read_all(WHOLE_LIMIT).map_err(|error| CaptureError::Inconsistent(error.to_string()))
}

/// Two printed texts in memory.
fn printed(
    path: &str,
    label: &str,
    policy: &Policy<'_>,
    report: &mut Report<'_>,
    (before, after): (&[u8], &[u8]),
) -> std::io::Result<()> {
    report.comparison.element_count += 1;
    if before == after {
        return Ok(());
    }
    let tolerance = text_tolerance(path, policy, report);
    let profile = report.text_profile(path);
    if !profile.is_empty() {
        report.volatile(path);
    }
    let found = text::compare(before, after, tolerance, &profile, &|_| false)?;
    text_findings(path, label, report, &found, tolerance);
    Ok(())
}

/// The tolerance for the numbers of a text. To learn what is volatile, it is taken as wide as it may become.
pub fn text_tolerance(path: &str, policy: &Policy<'_>, report: &Report<'_>) -> Tolerance {
    let tolerance = policy.tolerance(path, Precision::Double);
    if report.learns() {
        Tolerance { rtol: tolerance.rtol * NOISE_CAP / NOISE_FACTOR, ..tolerance }
    } else {
        tolerance.with_noise(report.noise(path)).0
    }
}

/// Makes findings of what comparing two texts found; or a profile.
pub fn text_findings(
    path: &str,
    label: &str,
    report: &mut Report<'_>,
    found: &text::Text,
    tolerance: Tolerance,
) {
    if let Mode::Learn(profile) = &mut report.mode {
        if found.lines.0 == found.lines.1 {
            if found.count > 0 {
                profile.texts.insert(path.to_owned(), found.volatile());
            }
            if let Some(worst) = &found.worst {
                profile.noise.insert(path.to_owned(), worst.ratio() * tolerance.rtol);
            }
        } else {
            profile.volatile.insert(path.to_owned());
        }
        return;
    }
    if let Some(worst) = found.worst.as_ref().filter(|worst| worst.ratio() > 0.0) {
        report.call(worst.ratio(), || text_worst(path, worst));
    }
    if found.lines.0 != found.lines.1 {
        let message = format!("{label}{path}: {} lines became {}", found.lines.0, found.lines.1);
        report.differs(path, codes::SHAPE, message);
    }
    for difference in found.differences.iter().take(5) {
        let worst = text_worst(path, difference);
        let error = match difference.error {
            Some((error, allowed)) if error.is_finite() && allowed > 0.0 => {
                format!(", error {error:.3e} where {allowed:.3e} is allowed")
            }
            _ => String::new(),
        };
        let message = format!("{label}{}: {} became {}{error}", worst.what, worst.before, worst.after);
        report.call(difference.ratio(), || worst);
        report.differs(path, codes::TEXT, message);
    }
    if found.count > 5 {
        let message = format!("{label}{path}: {} differences in all", found.count);
        report.differs(path, codes::TEXT, message);
    }
}

fn text_worst(path: &str, difference: &Difference) -> Worst {
    let number = difference.number.map_or(String::new(), |number| format!(", number {number}"));
    let error = difference.error.map(|(error, _)| error).filter(|error| error.is_finite());
    Worst {
        what: format!("{path}:{}{number}", difference.line_number),
        before: difference.before.clone(),
        after: difference.after.clone(),
        absolute: error,
        relative: None,
        allowed: difference.error.map(|(_, allowed)| allowed).filter(|_| error.is_some()),
    }
}

/// Two byte strings.
pub fn bytes(
    walk: &mut Walk<'_, '_, '_>,
    path: &str,
    before: &Binary,
    after: &Binary,
) -> Result<(), CaptureError> {
    let read = |capture: &Capture, binary: &Binary| match (&binary.data, &binary.file) {
        (Some(data), None) => arrays::from_hex(data)
            .map(Source::from_memory)
            .ok_or_else(|| CaptureError::Inconsistent("bytes are not hexadecimal".to_owned())),
        (None, Some(file)) => capture.file(file),
        _ => Err(CaptureError::Inconsistent("bytes have no place".to_owned())),
    };
    let (a, b) = (read(walk.before.0, before)?, read(walk.after.0, after)?);
    walk.report.comparison.element_count += 1;
    if before.class != after.class {
        walk.differs(path, codes::TYPE, &format!("{} became {}", before.class, after.class));
    } else if !a.same(&b).map_err(|error| CaptureError::Inconsistent(error.to_string()))? {
        walk.differs(path, codes::VALUE, &format!("its {} bytes became {} others", a.len(), b.len()));
    }
    Ok(())
}
