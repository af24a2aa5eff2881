//! Comparing standard output and the files that runs wrote, by format.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use super::arrays::Elements;
use super::leaves::{self, compare_elements};
use super::report::Report;
use super::tolerance::{Comparator, Named};
use super::walk::{Role, Walk};
use super::{Terms, codes, text};
use crate::verify::capture::source::Source;
use crate::verify::capture::{Capture, CaptureError, open_plain};
use crate::verify::protocol::CaptureDir;

/// A member of an `.npz` archive that unpacks to more than this is not read.
const MEMBER_LIMIT: u64 = 4 << 30;
/// What tells text from other files is looked for in this many bytes.
const SNIFFED: u64 = 64 << 10;
/// Formats that a clean process of the judge's own turns into the capture form.
const CONVERTED: [&str; 13] =
    ["parquet", "pq", "feather", "arrow", "h5", "hdf5", "hdf", "png", "tif", "tiff", "bmp", "jpg", "jpeg"];

/// Whether a file needs a conversion before it can be compared by its content.
pub fn wants_conversion(path: &Path) -> bool {
    CONVERTED.contains(&extension(path).as_str())
}

fn extension(path: &Path) -> String {
    path.extension().map_or_else(String::new, |extension| extension.to_string_lossy().to_ascii_lowercase())
}

/// Compares standard output.
pub fn stdout(before: &CaptureDir, after: &CaptureDir, terms: &Terms<'_>, report: &mut Report<'_>) {
    report.comparison.compared_count += 1;
    if before.stdout_sha256 == after.stdout_sha256 && !before.stdout_sha256.is_empty() {
        return;
    }
    if skipped("stdout", terms, report) {
        return;
    }
    if report.skip_volatile("stdout") {
        return report
            .undecided("stdout: two runs of the original print different numbers of lines".to_owned());
    }
    let result = open_plain(&before.stdout)
        .and_then(|a| Ok((a, open_plain(&after.stdout)?)))
        .and_then(|(a, b)| texts("stdout", (a, b), terms, report));
    if let Err(error) = result {
        report.differs("stdout", codes::UNREADABLE, format!("stdout: {error}"));
    }
    if !before.stdout_complete || !after.stdout_complete {
        report.not_compared("stdout", "there is more of it than is kept".to_owned());
    }
}

/// Whether the contract says not to look at an output; then it is listed.
fn skipped(path: &str, terms: &Terms<'_>, report: &mut Report<'_>) -> bool {
    let ignored = terms.policy.comparator(path) == Some(&Comparator::Named(Named::Ignore));
    if ignored {
        report.volatile(path);
    }
    ignored
}

fn texts(
    path: &str,
    (before, after): (File, File),
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    report.comparison.element_count += 1;
    let tolerance = leaves::text_tolerance(path, &terms.policy, report);
    let profile = report.text_profile(path);
    let skip = |line: &[u8]| terms.volatile.is_match(line);
    let found = text::compare(BufReader::new(before), BufReader::new(after), tolerance, &profile, &skip)
        .map_err(|error| CaptureError::Inconsistent(error.to_string()))?;
    leaves::text_findings(path, "", report, &found, tolerance);
    let mut volatile: Vec<&u64> = profile.keys().collect();
    volatile.sort();
    for line_number in volatile.into_iter().take(100) {
        report.volatile(&format!("{path}:{line_number}"));
    }
    Ok(())
}

/// Compares the files that the runs wrote and removed.
pub fn written(before: &CaptureDir, after: &CaptureDir, terms: &Terms<'_>, report: &mut Report<'_>) {
    fn names(paths: &[PathBuf]) -> BTreeSet<&Path> {
        paths.iter().map(PathBuf::as_path).collect()
    }
    let (a, b) = (names(&before.written), names(&after.written));
    for path in a.union(&b) {
        let output = format!("files/{}", path.display());
        if skipped(&output, terms, report) || report.skip_volatile(&output) {
            continue;
        }
        report.comparison.compared_count += u64::from(a.contains(path));
        match (a.contains(path), b.contains(path)) {
            (true, true) => one_file(&output, path, (before, after), terms, report),
            (true, false) => {
                report.differs(&output, codes::MISSING, format!("{output}: it is not written any more"));
            }
            _ => {
                report.differs(
                    &output,
                    codes::SURPLUS,
                    format!("{output}: the original writes no such file"),
                );
            }
        }
    }
    let (a, b) = (names(&before.removed), names(&after.removed));
    for path in a.symmetric_difference(&b) {
        let output = format!("files/{}", path.display());
        if !skipped(&output, terms, report) && !report.skip_volatile(&output) {
            let what = if a.contains(path) { "is not removed any more" } else { "is removed" };
            report.differs(&output, codes::SURPLUS, format!("{output}: it {what}"));
        }
    }
}

fn one_file(
    output: &str,
    path: &Path,
    (before, after): (&CaptureDir, &CaptureDir),
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) {
    let files =
        open_plain(&before.root.join(path)).and_then(|a| Ok((a, open_plain(&after.root.join(path))?)));
    let result = files.and_then(|(a, b)| {
        let io_error = |error: io::Error| CaptureError::Inconsistent(error.to_string());
        let same = Source::from_file(a.try_clone().map_err(io_error)?)
            .and_then(|source| source.same(&Source::from_file(b.try_clone()?)?))
            .map_err(io_error)?;
        if same {
            report.comparison.element_count += 1;
            return Ok(());
        }
        let converted = |run: &CaptureDir| run.converted.as_ref().map(|dir| dir.join(path));
        by_format(output, (a, b), converted(before).zip(converted(after)), terms, report)
    });
    if let Err(error) = result {
        report.differs(output, codes::UNREADABLE, format!("{output}: {error}"));
    }
}

/// Compares two files that are not the same byte for byte.
fn by_format(
    output: &str,
    (before, after): (File, File),
    converted: Option<(PathBuf, PathBuf)>,
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    let io_error = |error: io::Error| CaptureError::Inconsistent(error.to_string());
    if let Some((a, b)) = converted.filter(|(a, b)| a.is_dir() && b.is_dir()) {
        return conversions(output, (&a, &b), terms, report);
    }
    match extension(Path::new(output)).as_str() {
        "npy" => {
            let arrays =
                (Source::from_file(before).map_err(io_error)?, Source::from_file(after).map_err(io_error)?);
            npy(output, arrays, terms, report)
        }
        "npz" => npz(output, (before, after), terms, report),
        _ if is_text(&before).map_err(io_error)? && is_text(&after).map_err(io_error)? => {
            texts(output, (before, after), terms, report)
        }
        _ => {
            differ_as_bytes(output, report);
            Ok(())
        }
    }
}

/// The finding for files whose format is not read.
fn differ_as_bytes(output: &str, report: &mut Report<'_>) {
    report.comparison.element_count += 1;
    report.differs(output, codes::VALUE, format!("{output}: its bytes differ, and its format is not read"));
}

fn npy(
    output: &str,
    (before, after): (Source, Source),
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    use crate::verify::capture::npy::NpyError;
    match (Elements::from_npy(before), Elements::from_npy(after)) {
        (Err(CaptureError::Npy(NpyError::Unsupported(_))), _)
        | (_, Err(CaptureError::Npy(NpyError::Unsupported(_)))) => {
            differ_as_bytes(output, report);
            Ok(())
        }
        (a, b) => compare_elements(output, "", &terms.policy, report, (a?, b?)),
    }
}

/// Compares two `.npz` archives member by member.
fn npz(
    output: &str,
    (before, after): (File, File),
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    let archive =
        |file| zip::ZipArchive::new(file).map_err(|error| CaptureError::Inconsistent(error.to_string()));
    let (mut a, mut b) = (archive(before)?, archive(after)?);
    let names = |archive: &zip::ZipArchive<File>| {
        let names = archive.file_names().map(|name| name.map(std::borrow::Cow::into_owned));
        names
            .collect::<Result<BTreeSet<String>, _>>()
            .map_err(|error| CaptureError::Inconsistent(error.to_string()))
    };
    let (names_a, names_b) = (names(&a)?, names(&b)?);
    for name in names_a.union(&names_b) {
        let member = format!("{output}[{:?}]", name.trim_end_matches(".npy"));
        match (names_a.contains(name), names_b.contains(name)) {
            (true, true) => {
                let pair = (unpacked(&mut a, name)?, unpacked(&mut b, name)?);
                if !pair.0.same(&pair.1).map_err(|error| CaptureError::Inconsistent(error.to_string()))? {
                    npy(&member, pair, terms, report)?;
                }
            }
            (true, false) => report.differs(&member, codes::MISSING, format!("{member}: it is missing")),
            _ => {
                report.differs(&member, codes::SURPLUS, format!("{member}: the original has no such member"));
            }
        }
    }
    Ok(())
}

/// A member of an archive, never more than the limit whatever its header says.
fn unpacked(archive: &mut zip::ZipArchive<impl Read + Seek>, name: &str) -> Result<Source, CaptureError> {
    let damaged = |error: String| CaptureError::Inconsistent(format!("member {name:?}: {error}"));
    let member = archive.by_name(name).map_err(|error| damaged(error.to_string()))?;
    let mut bytes = Vec::new();
    member.take(MEMBER_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
    if bytes.len() as u64 > MEMBER_LIMIT {
        return Err(damaged("it is too large".to_owned()));
    }
    Ok(Source::from_memory(bytes))
}

/// Compares what a clean process made of two files.
fn conversions(
    output: &str,
    (before, after): (&Path, &Path),
    terms: &Terms<'_>,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    let (a, b) = (Capture::open(before)?, Capture::open(after)?);
    match (&a.value, &b.value) {
        (Some(value_a), Some(value_b)) => {
            let (left, right) = ((&a, &[value_a][..]), (&b, &[value_b][..]));
            Walk::new(left, right, &terms.policy, (terms.arrays, Role::Left), report)
                .nodes(output, value_a, value_b);
            Ok(())
        }
        _ => Err(CaptureError::Inconsistent("its conversion is no capture of a value".to_owned())),
    }
}

/// Whether a file looks like text: UTF-8 without NUL at its beginning.
fn is_text(file: &File) -> io::Result<bool> {
    let source = Source::from_file(file.try_clone()?)?;
    let mut head = vec![0; source.len().min(SNIFFED) as usize];
    source.read_at(&mut head, 0)?;
    let utf8 = match std::str::from_utf8(&head) {
        Ok(_) => true,
        // A character that the end of the piece cuts.
        Err(error) => error.error_len().is_none(),
    };
    Ok(utf8 && !head.contains(&0))
}
