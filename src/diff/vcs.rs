//! Whether version control holds what is about to be changed, so that a person can get it back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use thiserror::Error;

use crate::reasons::Code;

/// How the tree stands to version control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeState {
    /// Everything is committed.
    Clean,
    /// These files are not, sorted by path.
    Dirty(Vec<Dirt>),
    /// No version control is in use.
    NoVcs(NoVcs),
}

/// Why there is no version control to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVcs {
    /// There is no `git` to run.
    NoGit,
    /// The root lies in no git work tree.
    NoRepository,
}

/// A file that version control does not hold as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dirt {
    /// Relative to the root. A folder with nothing committed in it ends with `/`.
    pub path: PathBuf,
    /// What is not committed about it.
    pub kind: DirtKind,
}

/// What is not committed about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DirtKind {
    /// Changed, and the change is not staged.
    Modified,
    /// Changed, and the change is staged.
    Staged,
    /// In the middle of a merge.
    Conflicted,
    /// Unknown to git.
    Untracked,
    /// Ignored by git, and about to be changed.
    Ignored,
}

impl fmt::Display for DirtKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modified => "modified",
            Self::Staged => "staged",
            Self::Conflicted => "in conflict",
            Self::Untracked => "untracked",
            Self::Ignored => "ignored",
        })
    }
}

/// Why git gave no answer.
#[derive(Debug, Error)]
pub enum VcsError {
    /// It could not be started.
    #[error("{}: can't run git: {error}", .root.display())]
    NotRun {
        /// Where.
        root: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It failed.
    #[error("{}: git says: {message}", .root.display())]
    Failed {
        /// Where.
        root: PathBuf,
        /// Its error output.
        message: String,
    },
}

impl VcsError {
    /// The reason code whose page explains this error and its remedy.
    pub fn code(&self) -> Code {
        Code::new("GP682")
    }
}

impl TreeState {
    /// The reason code whose page explains why this state stops a change of the tree; `None` where it does not.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Clean => None,
            Self::Dirty(_) => Some(Code::new("GP680")),
            Self::NoVcs(_) => Some(Code::new("GP681")),
        }
    }
}

/// How the tree under `root` stands, of which the files `to_change` (relative to it) are about to be changed.
///
/// As with `cargo fix`, any change under the root that is not committed counts, staged or not, new files too. A file to
/// change must be tracked. What lies under the root's `.gpuport` never counts.
pub fn tree_state(root: &Path, to_change: &[PathBuf]) -> Result<TreeState, VcsError> {
    if let Some(absence) = absence(root)? {
        return Ok(TreeState::NoVcs(absence));
    }
    let mut dirt = uncommitted(root, &prefix(root)?)?;
    let tracked = tracked(root)?;
    for path in to_change.iter().filter(|path| !tracked.contains(path.as_path())) {
        dirt.entry(path.clone()).or_insert(DirtKind::Ignored);
    }
    let dirt: Vec<Dirt> = dirt.into_iter().map(|(path, kind)| Dirt { path, kind }).collect();
    Ok(if dirt.is_empty() { TreeState::Clean } else { TreeState::Dirty(dirt) })
}

/// Where `root` lies below the top of its repository; `None` where there is none.
pub fn prefix_in_repository(root: &Path) -> Result<Option<PathBuf>, VcsError> {
    match absence(root)? {
        Some(_) => Ok(None),
        None => Ok(Some(PathBuf::from(OsString::from_vec(prefix(root)?)).components().collect())),
    }
}

/// Why git can't be asked about `root`; `None` where it can.
fn absence(root: &Path) -> Result<Option<NoVcs>, VcsError> {
    let inside = match git(root, &["rev-parse", "--is-inside-work-tree"]) {
        Err(VcsError::NotRun { error, .. }) if error.kind() == io::ErrorKind::NotFound && root.is_dir() => {
            return Ok(Some(NoVcs::NoGit));
        }
        other => other?,
    };
    let message = String::from_utf8_lossy(&inside.stderr);
    if !inside.status.success() && !message.contains("not a git repository") {
        return Err(VcsError::Failed { root: root.to_owned(), message: message.trim().to_owned() });
    }
    let is_inside = inside.stdout.trim_ascii() == b"true";
    Ok((!is_inside).then_some(NoVcs::NoRepository))
}

/// The root's path below its repository's top, with a slash at its end; empty at the top.
fn prefix(root: &Path) -> Result<Vec<u8>, VcsError> {
    let mut prefix = successful(root, &["rev-parse", "--show-prefix"])?;
    if prefix.ends_with(b"\n") {
        prefix.pop();
    }
    Ok(prefix)
}

/// The paths that `git status` lists under the root, which lies at `prefix` below its repository's top.
fn uncommitted(root: &Path, prefix: &[u8]) -> Result<BTreeMap<PathBuf, DirtKind>, VcsError> {
    let status =
        ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--", ".", ":(exclude).gpuport"];
    let listed = successful(root, &status)?;
    let mut dirt = BTreeMap::new();
    let mut records = listed.split(|&byte| byte == 0).filter(|record| record.len() > 3);
    while let Some(record) = records.next() {
        let (index, tree) = (record[0], record[1]);
        // Paths are relative to the repository's top.
        let path = record[3..].strip_prefix(prefix).unwrap_or(&record[3..]);
        let kind = match (index, tree) {
            (b'?', _) => DirtKind::Untracked,
            (b'U', _) | (_, b'U') | (b'A', b'A') | (b'D', b'D') => DirtKind::Conflicted,
            (_, b' ') => DirtKind::Staged,
            _ => DirtKind::Modified,
        };
        dirt.insert(PathBuf::from(OsStr::from_bytes(path)), kind);
        if matches!(index, b'R' | b'C') {
            // The name it had before.
            records.next();
        }
    }
    Ok(dirt)
}

/// The tracked files under the root.
fn tracked(root: &Path) -> Result<BTreeSet<PathBuf>, VcsError> {
    let listed = successful(root, &["ls-files", "-z"])?;
    let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    Ok(paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect())
}

fn successful(root: &Path, arguments: &[&str]) -> Result<Vec<u8>, VcsError> {
    let output = git(root, arguments)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(VcsError::Failed { root: root.to_owned(), message })
}

/// Runs git in `root` so that it changes nothing, starts nothing and answers in English.
fn git(root: &Path, arguments: &[&str]) -> Result<Output, VcsError> {
    Command::new("git")
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false"])
        .args(arguments)
        .current_dir(root)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| VcsError::NotRun { root: root.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository with a committed `a.py`, `sub/b.py` and a `.gitignore` for `*.log`.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("sub")).unwrap();
        for (path, text) in [("a.py", "1\n"), ("sub/b.py", "1\n"), (".gitignore", "*.log\n")] {
            fs::write(root.join(path), text).unwrap();
        }
        run(root, &["init", "--quiet"]);
        run(root, &["add", "."]);
        run(root, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--message", "x"]);
        folder
    }

    fn run(root: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        // Nobody's own settings: they may sign commits or ignore files.
        command.args(arguments).current_dir(root).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().unwrap().success());
    }

    fn dirt(entries: &[(&str, DirtKind)]) -> TreeState {
        let dirt = |&(path, kind): &(&str, DirtKind)| Dirt { path: path.into(), kind };
        TreeState::Dirty(entries.iter().map(dirt).collect())
    }

    fn check(root: &Path, to_change: &[&str], expected: &TreeState) {
        let to_change: Vec<PathBuf> = to_change.iter().map(PathBuf::from).collect();
        assert_eq!(&tree_state(root, &to_change).unwrap(), expected);
    }

    #[test]
    fn a_committed_tree_is_clean_and_runs_are_no_part_of_it() {
        let folder = repository();
        check(folder.path(), &["a.py", "sub/b.py"], &TreeState::Clean);
        super::super::new_run(folder.path()).unwrap();
        check(folder.path(), &["a.py"], &TreeState::Clean);
        // Even where somebody made git track it.
        fs::write(folder.path().join(".gpuport/.gitignore"), "").unwrap();
        check(folder.path(), &["a.py"], &TreeState::Clean);
    }

    #[test]
    fn every_kind_of_uncommitted_change_is_listed() {
        let folder = repository();
        let root = folder.path();
        fs::write(root.join("a.py"), "2\n").unwrap();
        fs::write(root.join("new ü.py"), "").unwrap();
        fs::write(root.join("x.log"), "").unwrap();
        run(root, &["mv", "sub/b.py", "sub/c.py"]);
        check(
            root,
            &["a.py"],
            &dirt(&[
                ("a.py", DirtKind::Modified),
                ("new ü.py", DirtKind::Untracked),
                ("sub/c.py", DirtKind::Staged),
            ]),
        );
        run(root, &["add", "a.py"]);
        fs::remove_file(root.join("new ü.py")).unwrap();
        check(root, &[], &dirt(&[("a.py", DirtKind::Staged), ("sub/c.py", DirtKind::Staged)]));
        fs::write(root.join("a.py"), "3\n").unwrap();
        check(root, &[], &dirt(&[("a.py", DirtKind::Modified), ("sub/c.py", DirtKind::Staged)]));
    }

    #[test]
    fn a_merge_in_conflict_is_seen() {
        let folder = repository();
        let root = folder.path();
        let identity = ["-c", "user.name=x", "-c", "user.email=x@x"];
        let commit = |text: &str| {
            fs::write(root.join("a.py"), text).unwrap();
            run(root, &[&identity[..], &["commit", "--quiet", "--all", "--message", "y"]].concat());
        };
        run(root, &["checkout", "--quiet", "-b", "other"]);
        commit("2\n");
        run(root, &["checkout", "--quiet", "-"]);
        commit("3\n");
        let merge = Command::new("git").args(identity).args(["merge", "other"]).current_dir(root).output();
        assert!(!merge.unwrap().status.success());
        check(root, &[], &dirt(&[("a.py", DirtKind::Conflicted)]));
    }

    #[test]
    fn an_ignored_file_counts_only_if_it_is_to_be_changed() {
        let folder = repository();
        fs::write(folder.path().join("x.log"), "").unwrap();
        check(folder.path(), &["a.py"], &TreeState::Clean);
        check(folder.path(), &["a.py", "x.log"], &dirt(&[("x.log", DirtKind::Ignored)]));
    }

    #[test]
    fn only_what_lies_under_the_root_counts() {
        let folder = repository();
        fs::write(folder.path().join("a.py"), "2\n").unwrap();
        check(&folder.path().join("sub"), &["b.py"], &TreeState::Clean);
        fs::write(folder.path().join("sub/b.py"), "2\n").unwrap();
        check(&folder.path().join("sub"), &["b.py"], &dirt(&[("b.py", DirtKind::Modified)]));
    }

    #[test]
    fn a_root_knows_where_in_its_repository_it_lies() {
        let folder = repository();
        let check = |root: &Path, expected: Option<&str>| {
            assert_eq!(prefix_in_repository(root).unwrap().as_deref(), expected.map(Path::new));
        };
        check(folder.path(), Some(""));
        check(&folder.path().join("sub"), Some("sub"));
        check(tempfile::tempdir().unwrap().path(), None);
    }

    #[test]
    fn without_a_repository_there_is_no_version_control() {
        let folder = tempfile::tempdir().unwrap();
        check(folder.path(), &["a.py"], &TreeState::NoVcs(NoVcs::NoRepository));
        let folder = repository();
        check(&folder.path().join(".git"), &[], &TreeState::NoVcs(NoVcs::NoRepository));
    }

    #[test]
    fn a_broken_repository_is_an_error_not_an_absence() {
        let folder = repository();
        fs::write(folder.path().join(".git/config"), "[core]\n\trepositoryformatversion = 99\n").unwrap();
        let error = tree_state(folder.path(), &[]).unwrap_err();
        assert!(error.to_string().contains("99"), "{error}");
        assert!(matches!(tree_state(&folder.path().join("none"), &[]), Err(VcsError::NotRun { .. })));
    }
}
