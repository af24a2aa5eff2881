//! The journal of a transaction: which files it replaces, their hashes before and after, and whether it is through.
//!
//! `journal.json` lies in the run's folder beside the folder `backup/`, and is only ever replaced as a whole.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ApplyError;
use super::disk::Disk;
use super::folder::Folder;

const SCHEMA: &str = "gpuport/journal/1";
const JOURNAL: &str = "journal.json";
/// The journal before it gets its name.
const JOURNAL_NEW: &str = "journal.json.new";
/// The journal of the finished transaction, written before the first file is replaced: finishing then is one rename,
/// which needs no space on the disk.
const JOURNAL_COMMITTED: &str = "journal.json.committed";

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// Files may have been replaced; if the process is gone, they are put back.
    Prepared,
    /// All files have been replaced.
    Committed,
}

/// A transaction as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    schema: String,
    /// How far it is.
    pub(super) state: State,
    /// The files, in the order they are replaced. The file's index names its backup.
    pub(super) files: Vec<Entry>,
}

/// One file of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Relative to the root.
    #[serde(with = "path_text")]
    pub(super) path: PathBuf,
    /// SHA-256 of the bytes that are replaced.
    pub(super) before_sha256: String,
    /// SHA-256 of the bytes that replace them.
    pub(super) after_sha256: String,
}

impl Entry {
    /// The name of the file that is written beside this one and then takes its name. It is made from what the journal
    /// says, so that a transaction that was killed can be cleaned up after.
    pub(super) fn temporary_name(&self, label: &str, index: usize) -> OsString {
        let hash_start: String = self.after_sha256.chars().take(8).collect();
        format!(".gpuport-{label}-{index}-{hash_start}.tmp").into()
    }
}

impl Journal {
    /// The journal of a transaction that is about to start.
    pub(super) fn prepared(files: Vec<Entry>) -> Self {
        Self { schema: SCHEMA.to_owned(), state: State::Prepared, files }
    }

    /// Reads the journal in `home`; `None` where there is none.
    pub(super) fn read(home: &Folder) -> Result<Option<Self>, ApplyError> {
        let Some(file) = home.read(JOURNAL)? else { return Ok(None) };
        let damaged = |what: String| ApplyError::Damaged { path: home.path_of(JOURNAL), what };
        let journal: Self = serde_json::from_slice(&file.bytes)
            .map_err(|error| damaged(format!("not a journal: {error}")))?;
        if journal.schema != SCHEMA {
            return Err(damaged(format!("schema `{}` is not known; expected `{SCHEMA}`", journal.schema)));
        }
        if journal
            .files
            .iter()
            .any(|entry| !is_sha256(&entry.before_sha256) || !is_sha256(&entry.after_sha256))
        {
            return Err(damaged("a hash is not SHA-256".to_owned()));
        }
        Ok(Some(journal))
    }

    /// Writes the journal to `home`, and its later, committed form beside it. From here on a killed transaction is
    /// found and put back.
    pub(super) fn write(&self, home: &Folder, disk: &mut Disk<'_>) -> Result<(), ApplyError> {
        let committed = Self { state: State::Committed, ..self.clone() };
        for (name, journal) in [(JOURNAL_COMMITTED, &committed), (JOURNAL_NEW, self)] {
            let bytes =
                serde_json::to_vec_pretty(journal).expect("a journal has text keys and no failing values");
            disk.remove(home, name.as_ref())?;
            disk.create(home, name.as_ref(), &bytes, None)?;
        }
        disk.rename(home, JOURNAL_NEW.as_ref(), JOURNAL.as_ref())?;
        disk.sync_folder(home)
    }

    /// Declares the written transaction finished.
    pub(super) fn commit(home: &Folder, disk: &mut Disk<'_>) -> Result<(), ApplyError> {
        disk.rename(home, JOURNAL_COMMITTED.as_ref(), JOURNAL.as_ref())?;
        // The rename decided. If it does not reach the disk before the power fails, the files are put back: whole as well.
        let _ = disk.sync_folder(home);
        Ok(())
    }

    /// Forgets a transaction whose files have been put back.
    pub(super) fn forget(home: &Folder, disk: &mut Disk<'_>) -> Result<(), ApplyError> {
        for name in [JOURNAL, JOURNAL_NEW, JOURNAL_COMMITTED] {
            disk.remove(home, OsStr::new(name))?;
        }
        disk.sync_folder(home)
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Paths as text, or as bytes where they are not UTF-8.
mod path_text {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum PathText {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => PathText::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match PathText::deserialize(deserializer)? {
            PathText::Text(text) => PathBuf::from(text),
            PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::diff::NoSteps;

    fn entry(path: &[u8]) -> Entry {
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        Entry { path, before_sha256: "0".repeat(64), after_sha256: "a".repeat(64) }
    }

    #[test]
    fn a_journal_is_read_back_whatever_its_paths() {
        let path = tempfile::tempdir().unwrap();
        let home = Folder::open_root(path.path()).unwrap();
        assert_eq!(Journal::read(&home).unwrap(), None);
        let journal =
            Journal::prepared(vec![entry(b"a/b.py"), entry("ü\n.py".as_bytes()), entry(b"\xff.py")]);
        let mut steps = NoSteps;
        let mut disk = Disk::new(&mut steps);
        journal.write(&home, &mut disk).unwrap();
        assert_eq!(Journal::read(&home).unwrap(), Some(journal.clone()));
        Journal::commit(&home, &mut disk).unwrap();
        let committed = Journal { state: State::Committed, ..journal };
        assert_eq!(Journal::read(&home).unwrap(), Some(committed));
        Journal::forget(&home, &mut disk).unwrap();
        assert_eq!(home.names().unwrap(), Vec::<OsString>::new());
    }

    #[test]
    fn a_damaged_journal_is_named() {
        for (text, expected) in [
            ("{", "not a journal"),
            (r#"{"schema": "gpuport/journal/2", "state": "prepared", "files": []}"#, "not known"),
            (r#"{"schema": "gpuport/journal/1", "state": "prepared", "files": [], "x": 1}"#, "unknown field"),
            (
                r#"{"schema": "gpuport/journal/1", "state": "prepared", "files":
                    [{"path": "a.py", "before_sha256": "../../x", "after_sha256": ""}]}"#,
                "not SHA-256",
            ),
        ] {
            let path = tempfile::tempdir().unwrap();
            std::fs::write(path.path().join(JOURNAL), text).unwrap();
            let error = Journal::read(&Folder::open_root(path.path()).unwrap()).unwrap_err();
            assert!(matches!(error, ApplyError::Damaged { .. }));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
