//! The program with a set of changes: new bytes, the patch, and which lines belong to which change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::super::sources::{self, Sources};
use crate::diff::{FileChange, Patch};
use crate::plan::{Change, Plan};
use crate::verify::{ChangedLines, Side, Tree};

/// A plan turned into files.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The changes made.
    pub changes: Vec<Change>,
    /// The new bytes by path, relative to the root.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Candidate {
    /// The files that `plan` makes of `sources`. A file that no longer parses is a bug of gpuport's, and an error.
    pub(crate) fn new(sources: &Sources, plan: &Plan) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (path, edits) in &plan.edits {
            let module = sources.module(path).map_err(|refusal| anyhow::anyhow!("{}", refusal.message))?;
            let bytes = module.file.rewritten(edits).with_context(|| path.display().to_string())?;
            if let Err(refusal) = sources::parse(path, &bytes) {
                bail!(
                    "gpuport made {} unreadable at line {}: {}. This is a bug in a pass or in gpuport; nothing was written",
                    path.display(),
                    refusal.place.line_number,
                    refusal.message
                );
            }
            files.insert(path.clone(), bytes);
        }
        Ok(Self { changes: plan.changes.clone(), files })
    }

    /// The candidate as one side of a comparison.
    pub(crate) fn side(&self, sources: &Sources, python: &Path) -> Side {
        let mut overlay = sources.overlay.clone();
        overlay.extend(self.files.clone());
        Side { tree: Tree { root: sources.root.clone(), overlay }, python: python.to_owned() }
    }

    /// The changed lines in the candidate's text, by the change whose region they began in.
    pub(crate) fn changed_lines(&self, sources: &Sources) -> Result<Vec<ChangedLines>> {
        let mut all = Vec::new();
        for (path, after) in &self.files {
            let before = sources.bytes(path)?;
            let ranges = changed_ranges(&before, after);
            for change in self.changes.iter().filter(|change| change.place.path == *path) {
                let inside = |old: u32| change.lines.0 <= old && old <= change.lines.1;
                let lines: Vec<(u32, u32)> =
                    ranges.iter().filter(|(old, _)| inside(*old)).map(|(_, new)| *new).collect();
                if !lines.is_empty() {
                    all.push(ChangedLines { change: Some(change.id.clone()), path: path.clone(), lines });
                }
            }
        }
        Ok(all)
    }
}

/// The files that differ between disk and `sources`, as changes to apply.
pub(crate) fn changes_between(root: &Path, sources: &Sources) -> Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    for (path, after) in &sources.overlay {
        let before = std::fs::read(root.join(path)).with_context(|| path.display().to_string())?;
        if before != *after {
            changes.push(FileChange::new(path, before, after.clone()));
        }
    }
    Ok(changes)
}

impl Candidate {
    /// SHA-256 of the patch from `sources` to this candidate.
    pub(crate) fn patch_sha256(&self, sources: &Sources) -> Result<String> {
        let mut changes = Vec::new();
        for (path, after) in &self.files {
            changes.push(FileChange::new(path, sources.bytes(path)?, after.clone()));
        }
        Ok(Patch::new(&changes).sha256().to_owned())
    }
}

/// Changed lines as `(first line in the old text, inclusive range in the new text)`, from 1. Where lines only went,
/// the range is the line that now stands there.
fn changed_ranges(before: &[u8], after: &[u8]) -> Vec<(u32, (u32, u32))> {
    let split = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, new) = (split(before), split(after));
    let number = |index: usize| u32::try_from(index + 1).unwrap_or(u32::MAX);
    capture_diff_slices(Algorithm::Myers, &old, &new)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            (number(old.start), (number(new.start), number(new.end.saturating_sub(1).max(new.start))))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::changed_ranges;

    #[test]
    fn ranges_are_of_the_new_text() {
        assert_eq!(changed_ranges(b"a\nb\nc\n", b"x\na\nB\nC\n"), [(1, (1, 1)), (2, (3, 4))]);
        assert_eq!(changed_ranges(b"a\nb\nc\n", b"a\nc\n"), [(2, (2, 2))]);
    }
}
