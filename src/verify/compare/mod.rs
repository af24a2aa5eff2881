//! Stand-in until the comparison proper is merged: standard output and written files, byte by byte.
use super::protocol::{CaptureDir, Comparison};
use super::{Contract, Finding};
use crate::reasons::Code;

/// Compares.
pub fn compare_captures(
    before: &CaptureDir,
    after: &CaptureDir,
    _n: Option<&CaptureDir>,
    _c: &Contract,
) -> Comparison {
    let mut out = Comparison { compared_count: 1, ..Comparison::default() };
    let read = |p: &std::path::Path| std::fs::read(p).unwrap_or_default();
    if read(&before.stdout) != read(&after.stdout) {
        out.findings.push(Finding {
            code: Code::new("GP500"),
            message: format!(
                "stdout differs: {:?} {:?}",
                String::from_utf8_lossy(&read(&before.stdout)),
                String::from_utf8_lossy(&read(&after.stdout))
            ),
            place: None,
        });
    }
    for f in &before.written {
        if read(&before.root.join(f)) != read(&after.root.join(f)) {
            out.findings.push(Finding {
                code: Code::new("GP500"),
                message: format!("{f:?} differs"),
                place: None,
            });
        }
    }
    out
}
