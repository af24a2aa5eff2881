//! Replaces several files as one: all of them or none, whatever fails and whenever the process dies.
//!
//! In this order, each step on disk before the next begins: the originals are copied to the run's folder; the journal
//! says what is going to happen; every new file is written beside the one it replaces; each takes its name; the journal
//! says that it is done. A journal that never says so is put back by the next command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::folder::{Folder, Plain};
use super::journal::{Entry, Journal};
use super::{ApplyError, sha256};

const BACKUP_FOLDER: &str = "backup";

/// One file to replace.
#[derive(Debug)]
pub(super) struct Replacement {
    /// Relative to the root.
    pub(super) path: PathBuf,
    /// SHA-256 that its bytes must have.
    pub(super) before_sha256: String,
    /// Its new bytes.
    pub(super) after: Vec<u8>,
}

/// Where a transaction happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    /// The project's root.
    pub(super) root: &'a Folder,
    /// The folder of journal and backups.
    pub(super) home: &'a Folder,
    /// Names the transaction in the names of temporary files.
    pub(super) label: &'a str,
}

/// What putting a transaction back came to.
#[derive(Debug, Default)]
pub(super) struct PutBack {
    /// Files that have their former bytes again, by path relative to the root.
    pub(super) restored: Vec<PathBuf>,
    /// Files that somebody else changed since, with the copy of their former bytes, both relative to the root.
    pub(super) conflicts: Vec<(PathBuf, PathBuf)>,
}

/// Replaces all files, or leaves all as they were and says why.
pub(super) fn replace(
    site: Site<'_>,
    replacements: &[Replacement],
    disk: &mut Disk<'_>,
) -> Result<(), ApplyError> {
    for replacement in replacements {
        read_target(site.root, replacement)?;
    }
    let entries = replacements.iter().map(|it| Entry {
        path: it.path.clone(),
        before_sha256: it.before_sha256.clone(),
        after_sha256: sha256(&it.after),
    });
    let journal = Journal::prepared(entries.collect());
    let Err(cause) = carry_out(site, &journal, replacements, disk) else { return Ok(()) };
    match put_back(site, &journal, disk) {
        Ok(_) => Err(cause),
        Err(error) => Err(ApplyError::Stuck { cause: Box::new(cause), error: Box::new(error) }),
    }
}

fn carry_out(
    site: Site<'_>,
    journal: &Journal,
    replacements: &[Replacement],
    disk: &mut Disk<'_>,
) -> Result<(), ApplyError> {
    let backup = disk.make_folder(site.home, BACKUP_FOLDER)?;
    for (index, replacement) in replacements.iter().enumerate() {
        let original = read_target(site.root, replacement)?.plain;
        let name = backup_name(index);
        disk.remove(&backup, &name)?;
        disk.create(&backup, &name, &original.bytes, None)?;
    }
    disk.sync_folder(&backup)?;
    journal.write(site.home, disk)?;

    let files = || journal.files.iter().zip(replacements).enumerate();
    for (index, (entry, replacement)) in files() {
        let target = read_target(site.root, replacement)?;
        let temporary = entry.temporary_name(site.label, index);
        disk.create(&target.folder, &temporary, &replacement.after, Some(&target.plain))?;
    }
    for (index, (entry, replacement)) in files() {
        // Read again: whoever wrote the file in the meantime must not lose what they wrote.
        let target = read_target(site.root, replacement)?;
        disk.rename(&target.folder, &entry.temporary_name(site.label, index), &target.name)?;
    }
    sync_parents(site.root, replacements.iter().map(|it| it.path.as_path()), disk)?;
    Journal::commit(site.home, disk)
}

/// A file about to be replaced.
struct Target {
    folder: Folder,
    name: OsString,
    plain: Plain,
}

/// Opens the file and checks that it may be replaced and has the bytes it should have.
fn read_target(root: &Folder, replacement: &Replacement) -> Result<Target, ApplyError> {
    let (folder, name) = root.parent_of(&replacement.path)?;
    let plain = folder.read_existing(&name)?;
    if plain.sha256() != replacement.before_sha256 {
        return Err(ApplyError::Changed { path: replacement.path.clone() });
    }
    folder.check_writable(&name, &plain)?;
    Ok(Target { folder, name, plain })
}

/// Gives every file of `journal` its former bytes and forgets the journal. May be killed and called again at any point.
pub(super) fn put_back(
    site: Site<'_>,
    journal: &Journal,
    disk: &mut Disk<'_>,
) -> Result<PutBack, ApplyError> {
    let mut done = PutBack::default();
    for (index, entry) in journal.files.iter().enumerate() {
        match put_back_one(site, entry, index, disk)? {
            Fate::Untouched => {}
            Fate::Restored => done.restored.push(entry.path.clone()),
            Fate::Conflict => {
                let kept = site.home.path_of(BACKUP_FOLDER).join(backup_name(index));
                done.conflicts.push((entry.path.clone(), kept));
            }
        }
    }
    sync_parents(site.root, done.restored.iter().map(PathBuf::as_path), disk)?;
    Journal::forget(site.home, disk)?;
    if done.conflicts.is_empty() {
        // All is as it was; a copy too many does no harm.
        let _ = discard_backups(site.home, journal, disk);
    }
    Ok(done)
}

/// What became of a file that was to be put back.
enum Fate {
    /// It had its former bytes all along.
    Untouched,
    /// It has its former bytes again.
    Restored,
    /// It has bytes that are neither its former nor its new ones, or is gone.
    Conflict,
}

fn put_back_one(
    site: Site<'_>,
    entry: &Entry,
    index: usize,
    disk: &mut Disk<'_>,
) -> Result<Fate, ApplyError> {
    let (folder, name) = match site.root.parent_of(&entry.path) {
        Ok(found) => found,
        Err(error) => return conflict_or(error),
    };
    let temporary = entry.temporary_name(site.label, index);
    disk.remove(&folder, &temporary)?;
    let present = match folder.read_existing(&name) {
        Ok(present) => present,
        Err(error) => return conflict_or(error),
    };
    let hash = present.sha256();
    if hash == entry.before_sha256 {
        return Ok(Fate::Untouched);
    }
    if hash != entry.after_sha256 {
        return Ok(Fate::Conflict);
    }
    let original = read_backup(site.home, entry, index)?;
    disk.create(&folder, &temporary, &original, Some(&present))?;
    disk.rename(&folder, &temporary, &name)?;
    Ok(Fate::Restored)
}

/// A path that no longer leads to a plain file is somebody's later change; anything else is an error.
fn conflict_or(error: ApplyError) -> Result<Fate, ApplyError> {
    match error {
        ApplyError::Vanished { .. } | ApplyError::NotPlain { .. } => Ok(Fate::Conflict),
        other => Err(other),
    }
}

/// The former bytes of a file, checked.
pub(super) fn read_backup(home: &Folder, entry: &Entry, index: usize) -> Result<Vec<u8>, ApplyError> {
    let path = home.path_of(BACKUP_FOLDER).join(backup_name(index));
    let damaged = |what: &str| ApplyError::Damaged {
        path: path.clone(),
        what: format!("the copy of {} {what}", entry.path.display()),
    };
    let file = match home.sub(BACKUP_FOLDER)? {
        Some(backup) => backup.read(backup_name(index))?,
        None => None,
    };
    let file = file.ok_or_else(|| damaged("is missing"))?;
    if file.sha256() == entry.before_sha256 {
        Ok(file.bytes)
    } else {
        Err(damaged("has other bytes than were copied"))
    }
}

fn discard_backups(home: &Folder, journal: &Journal, disk: &mut Disk<'_>) -> Result<(), ApplyError> {
    let Some(backup) = home.sub(BACKUP_FOLDER)? else { return Ok(()) };
    (0..journal.files.len()).try_for_each(|index| disk.remove(&backup, &backup_name(index)))
}

fn backup_name(index: usize) -> OsString {
    index.to_string().into()
}

/// Forces the folders that hold `paths` to disk, each once.
fn sync_parents<'p>(
    root: &Folder,
    paths: impl Iterator<Item = &'p Path>,
    disk: &mut Disk<'_>,
) -> Result<(), ApplyError> {
    let by_parent: BTreeMap<Option<&Path>, &Path> = paths.map(|path| (path.parent(), path)).collect();
    by_parent.into_values().try_for_each(|path| disk.sync_folder(&root.parent_of(path)?.0))
}
