//! Applying, undoing and recovering under every failure: at each step the process dies or the disk fills up.

use std::any::Any;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::*;

/// What happens at a step, and at which, counted from 0.
struct Faulty<F> {
    fault: F,
    index: usize,
    at: usize,
}

impl<F: FnMut(Step, bool) -> io::Result<()>> Steps for Faulty<F> {
    fn before(&mut self, step: Step) -> io::Result<()> {
        let is_due = self.index >= self.at;
        self.index += 1;
        (self.fault)(step, is_due)
    }
}

struct Killed;

/// The process dies before step `at`: nothing runs afterwards, so an unwinding that nothing catches stands for it.
fn die_at(at: usize) -> impl Steps {
    let fault = |_, is_due| if is_due { resume_unwind(Box::new(Killed)) } else { Ok(()) };
    Faulty { fault, index: 0, at }
}

/// Step `at` fails, and all after it if the disk `stays_full`.
fn full_at(at: usize, stays_full: bool) -> impl Steps {
    let mut is_over = false;
    let fault = move |_, is_due| {
        if is_due && !is_over {
            is_over = !stays_full;
            return Err(Errno::NOSPC.into());
        }
        Ok(())
    };
    Faulty { fault, index: 0, at }
}

/// Runs `work`; `None` if it was killed.
fn until_killed<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|payload: Box<dyn Any + Send>| assert!(payload.is::<Killed>(), "a real panic"))
        .ok()
}

/// A project with three files to change in three folders, and one that stays.
struct Project {
    folder: tempfile::TempDir,
    changes: Vec<FileChange>,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let changes = vec![
            FileChange::new("a.py", "a = 1\n", "a = 2\n"),
            FileChange::new("sub/b.py", "b = 1\r\n", "b = 22\r\n"),
            FileChange::new("sub/deep/c ü.py", "", "c = 2"),
        ];
        let project = Self { folder, changes };
        fs::create_dir_all(project.root().join("sub/deep")).unwrap();
        for change in &project.changes {
            project.write(&change.path, &change.before);
        }
        project.write("other.py", b"x");
        project
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        fs::write(self.root().join(path), bytes).unwrap();
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        self.changes.iter().map(|change| fs::read(self.root().join(&change.path)).unwrap()).collect()
    }

    fn apply(&self, run: &RunId, steps: &mut dyn Steps) -> Result<Applied, ApplyError> {
        apply(self.root(), run, &self.changes, steps)
    }

    fn applied(&self) -> RunId {
        let run = new_run(self.root()).unwrap();
        self.apply(&run, &mut NoSteps).unwrap();
        run
    }

    #[track_caller]
    fn assert_old(&self) {
        let old: Vec<Vec<u8>> = self.changes.iter().map(|change| change.before.clone()).collect();
        assert_eq!(self.bytes(), old);
        self.assert_tidy();
    }

    #[track_caller]
    fn assert_new(&self) {
        let new: Vec<Vec<u8>> = self.changes.iter().map(|change| change.after.clone()).collect();
        assert_eq!(self.bytes(), new);
        self.assert_tidy();
    }

    /// Nothing lies about outside `.gpuport`.
    #[track_caller]
    fn assert_tidy(&self) {
        for (folder, expected) in [("", 4), ("sub", 2), ("sub/deep", 1)] {
            let names: Vec<_> =
                fs::read_dir(self.root().join(folder)).unwrap().map(|it| it.unwrap().file_name()).collect();
            assert!(names.len() <= expected, "{folder}: {names:?}");
        }
    }

    /// Old or new as the run's state says, and nothing in between.
    #[track_caller]
    fn assert_whole(&self, run: &RunId) {
        match run_state(self.root(), run).unwrap() {
            RunState::Applied => self.assert_new(),
            RunState::Untouched | RunState::Undone => self.assert_old(),
            RunState::Interrupted => panic!("still interrupted"),
        }
    }
}

/// Calls `round` with 0, 1, … until it says that the last step was passed; returns how many steps there are.
fn every_step(mut round: impl FnMut(usize) -> bool) -> usize {
    let count = (0..500).find(|&at| round(at)).expect("fewer than 500 steps");
    assert!(count > 10, "only {count} steps");
    count
}

#[test]
fn apply_replaces_all_files_and_undo_restores_them() {
    let project = Project::new();
    let run = new_run(project.root()).unwrap();
    let applied = project.apply(&run, &mut NoSteps).unwrap();
    assert_eq!(applied.files, ["a.py", "sub/b.py", "sub/deep/c ü.py"].map(PathBuf::from));
    project.assert_new();
    assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Applied);
    assert!(matches!(project.apply(&run, &mut NoSteps), Err(ApplyError::Taken { .. })));

    let undone = undo(project.root(), None, &mut NoSteps).unwrap();
    assert_eq!((undone.run, undone.files), (run.clone(), applied.files));
    project.assert_old();
    assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Undone);
    assert!(matches!(undo(project.root(), Some(&run), &mut NoSteps), Err(ApplyError::NotApplied { .. })));
    assert!(matches!(undo(project.root(), None, &mut NoSteps), Err(ApplyError::NothingToUndo)));
    assert_eq!(recover(project.root(), &mut NoSteps).unwrap(), []);
}

#[test]
fn undo_without_a_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(undo(folder.path(), None, &mut NoSteps), Err(ApplyError::NothingToUndo)));
    let run = RunId::parse("3").unwrap();
    assert!(matches!(undo(folder.path(), Some(&run), &mut NoSteps), Err(ApplyError::NoRun { .. })));
    let run = new_run(folder.path()).unwrap();
    assert!(matches!(undo(folder.path(), Some(&run), &mut NoSteps), Err(ApplyError::NotApplied { .. })));
    assert!(!folder.path().join(".gpuport/runs/0003").exists());
}

#[test]
fn files_without_a_difference_are_not_touched() {
    let project = Project::new();
    let run = new_run(project.root()).unwrap();
    let same = FileChange::new("other.py", "x", "x");
    let applied = apply(project.root(), &run, &[same], &mut NoSteps).unwrap();
    assert_eq!(applied.files, Vec::<PathBuf>::new());
    assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Untouched);
}

#[test]
fn killed_at_any_step_of_apply_the_tree_is_whole_after_recovery() {
    every_step(|at| {
        let project = Project::new();
        let run = new_run(project.root()).unwrap();
        let finished = until_killed(|| project.apply(&run, &mut die_at(at)).unwrap()).is_some();
        recover(project.root(), &mut NoSteps).unwrap();
        project.assert_whole(&run);
        if run_state(project.root(), &run).unwrap() == RunState::Untouched {
            project.apply(&run, &mut NoSteps).unwrap();
            project.assert_new();
        }
        undo(project.root(), Some(&run), &mut NoSteps).unwrap();
        project.assert_old();
        finished
    });
}

#[test]
fn killed_at_any_step_of_undo_the_tree_is_whole_after_recovery() {
    every_step(|at| {
        let project = Project::new();
        let run = project.applied();
        let finished = until_killed(|| undo(project.root(), None, &mut die_at(at)).unwrap()).is_some();
        recover(project.root(), &mut NoSteps).unwrap();
        project.assert_whole(&run);
        if run_state(project.root(), &run).unwrap() == RunState::Applied {
            undo(project.root(), None, &mut NoSteps).unwrap();
            project.assert_old();
        }
        finished
    });
}

#[test]
fn killed_at_any_step_of_recovery_the_next_one_completes_it() {
    every_step(|at| {
        let mut recovery_steps = 0;
        loop {
            let project = Project::new();
            let run = new_run(project.root()).unwrap();
            let finished = until_killed(|| project.apply(&run, &mut die_at(at)).unwrap()).is_some();
            let recovered =
                until_killed(|| recover(project.root(), &mut die_at(recovery_steps)).unwrap()).is_some();
            recover(project.root(), &mut NoSteps).unwrap();
            project.assert_whole(&run);
            if recovered {
                return finished;
            }
            recovery_steps += 1;
        }
    });
}

#[test]
fn a_step_that_fails_leaves_the_tree_as_it_was() {
    let steps = every_step(|at| {
        let project = Project::new();
        let run = new_run(project.root()).unwrap();
        match project.apply(&run, &mut full_at(at, false)) {
            Ok(_) => return true,
            Err(error) => assert!(matches!(error, ApplyError::DiskFull { .. }), "{error}"),
        }
        project.assert_old();
        assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Untouched);
        project.apply(&run, &mut NoSteps).unwrap();
        project.assert_new();
        false
    });
    every_step(|at| {
        let project = Project::new();
        project.applied();
        match undo(project.root(), None, &mut full_at(at, false)) {
            Ok(_) => return true,
            Err(error) => assert!(matches!(error, ApplyError::DiskFull { .. }), "{error}"),
        }
        project.assert_new();
        false
    });
    assert!(steps > 30, "{steps}");
}

#[test]
fn a_disk_that_stays_full_leaves_what_the_next_command_puts_back() {
    every_step(|at| {
        let project = Project::new();
        let run = new_run(project.root()).unwrap();
        match project.apply(&run, &mut full_at(at, true)) {
            Ok(_) => return true,
            Err(ApplyError::DiskFull { .. } | ApplyError::Stuck { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        recover(project.root(), &mut NoSteps).unwrap();
        project.assert_old();
        false
    });
}

/// Applies to a project that `prepare` spoilt, and expects an error and no other change.
fn check_refused(prepare: impl FnOnce(&mut Project), expected: &str) {
    let mut project = Project::new();
    prepare(&mut project);
    let others = |project: &Project| {
        let paths = ["a.py", "sub/deep/c ü.py", "other.py"];
        paths.map(|path| fs::read(project.root().join(path)).ok())
    };
    let before = others(&project);
    let run = new_run(project.root()).unwrap();
    let error = project.apply(&run, &mut NoSteps).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(others(&project), before);
    assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Untouched);
    project.assert_tidy();
}

#[test]
fn what_can_not_be_replaced_safely_is_refused() {
    let b = |project: &Project| project.root().join("sub/b.py");
    check_refused(
        |project| project.write("sub/b.py", b"mine"),
        "sub/b.py: changed since gpuport read or wrote it",
    );
    check_refused(|project| fs::remove_file(b(project)).unwrap(), "sub/b.py: no longer exists");
    check_refused(
        |project| {
            fs::remove_file(b(project)).unwrap();
            project.write("target.py", b"b = 1\r\n");
            symlink(project.root().join("target.py"), b(project)).unwrap();
            fs::remove_file(project.root().join("other.py")).unwrap();
        },
        "sub/b.py: is a symbolic link, which gpuport never writes through",
    );
    check_refused(
        |project| {
            fs::rename(project.root().join("sub"), project.root().join("real")).unwrap();
            symlink("real", project.root().join("sub")).unwrap();
            fs::remove_file(project.root().join("other.py")).unwrap();
        },
        "sub: is a symbolic link, which gpuport never writes through",
    );
    check_refused(
        |project| {
            fs::remove_file(b(project)).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, b(project), rustix::fs::Mode::from_raw_mode(0o600))
                .unwrap();
        },
        "sub/b.py: is not a plain file, which gpuport never writes through",
    );
    check_refused(
        |project| fs::set_permissions(b(project), fs::Permissions::from_mode(0o444)).unwrap(),
        "sub/b.py: is read-only",
    );
    for (path, expected) in [
        ("../out.py", "../out.py: leads out of the project's root"),
        ("/out.py", "/out.py: leads out of the project's root"),
        ("sub/../../out.py", "sub/../../out.py: leads out of the project's root"),
        ("", ": leads out of the project's root"),
        ("none/x.py", "none/x.py: no longer exists"),
    ] {
        check_refused(|project| project.changes.push(FileChange::new(path, "1", "2")), expected);
    }
}

#[test]
fn a_file_changed_while_others_are_written_keeps_that_change() {
    let project = Project::new();
    let run = new_run(project.root()).unwrap();
    let mut renames = 0;
    let fault = |step, _| {
        renames += usize::from(step == Step::Rename);
        // The journal takes its name first, then `a.py`.
        if renames == 2 {
            project.write("sub/b.py", b"mine");
        }
        Ok(())
    };
    let error = project.apply(&run, &mut Faulty { fault, index: 0, at: 0 }).unwrap_err();
    assert!(matches!(&error, ApplyError::Changed { path } if path == Path::new("sub/b.py")), "{error}");
    assert_eq!(project.bytes(), [&b"a = 1\n"[..], b"mine", b""]);
    project.assert_tidy();
}

#[test]
fn a_file_changed_after_the_interruption_is_left_and_its_former_bytes_are_named() {
    let project = Project::new();
    let run = new_run(project.root()).unwrap();
    let mut renames = 0;
    let fault = |step, _| {
        renames += usize::from(step == Step::Rename);
        if renames == 4 { resume_unwind(Box::new(Killed)) } else { Ok(()) }
    };
    assert!(until_killed(|| project.apply(&run, &mut Faulty { fault, index: 0, at: 0 })).is_none());
    assert_eq!(run_state(project.root(), &run).unwrap(), RunState::Interrupted);
    project.write("a.py", b"mine");
    let recovered = recover(project.root(), &mut NoSteps).unwrap();
    assert_eq!(project.bytes(), [&b"mine"[..], b"b = 1\r\n", b""]);
    let former = PathBuf::from(".gpuport/runs/0001/backup/0");
    assert_eq!(fs::read(project.root().join(&former)).unwrap(), b"a = 1\n");
    let expected = Recovered {
        run,
        interrupted: Interrupted::Apply,
        restored: vec!["sub/b.py".into()],
        conflicts: vec![Conflict { path: "a.py".into(), former }],
    };
    assert_eq!(recovered, [expected]);
    assert_eq!(recover(project.root(), &mut NoSteps).unwrap(), []);
}

#[test]
fn undo_refuses_where_a_file_is_no_longer_what_the_run_wrote() {
    let project = Project::new();
    let run = project.applied();
    project.write("sub/b.py", b"mine");
    let error = undo(project.root(), None, &mut NoSteps).unwrap_err();
    assert_eq!(error.to_string(), "sub/b.py: changed since gpuport read or wrote it");
    assert_eq!(project.bytes(), [&b"a = 2\n"[..], b"mine", b"c = 2"]);
    project.write("sub/b.py", b"b = 22\r\n");
    project.write(".gpuport/runs/0001/backup/1", b"not it");
    let error = undo(project.root(), Some(&run), &mut NoSteps).unwrap_err();
    assert_eq!(
        error.to_string(),
        ".gpuport/runs/0001/backup/1: the copy of sub/b.py has other bytes than were copied"
    );
    project.assert_new();
}

#[test]
fn permissions_attributes_and_links_beside_survive() {
    let project = Project::new();
    let path = project.root().join("a.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let no_flags = rustix::fs::XattrFlags::empty();
    let has_attributes = rustix::fs::setxattr(&path, "user.gpuport", b"kept", no_flags).is_ok();
    fs::hard_link(&path, project.folder.path().join("sub/deep/link")).unwrap();
    let run = new_run(project.root()).unwrap();
    apply(project.root(), &run, &project.changes[..1], &mut NoSteps).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    if has_attributes {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(&path, "user.gpuport", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    // The file's other name keeps its bytes: it may belong to another tree.
    assert_eq!(fs::read(project.root().join("sub/deep/link")).unwrap(), b"a = 1\n");
}

#[test]
fn two_processes_do_not_change_one_tree_at_once() {
    let project = Project::new();
    let run = new_run(project.root()).unwrap();
    let mut attempts = Vec::new();
    let fault = |step, _| {
        if step == Step::Rename {
            attempts.push(project.apply(&run, &mut NoSteps).map(|_| ()));
            attempts.push(undo(project.root(), None, &mut NoSteps).map(|_| ()));
        }
        Ok(())
    };
    project.apply(&run, &mut Faulty { fault, index: 0, at: 0 }).unwrap();
    assert!(attempts.len() > 4 && attempts.iter().all(|it| matches!(it, Err(ApplyError::Busy { .. }))));
    project.assert_new();
}

#[test]
fn every_error_has_a_reason_code() {
    let run = RunId::parse("1").unwrap();
    let path = PathBuf::from("a.py");
    let full = || ApplyError::DiskFull { path: path.clone() };
    let errors = [
        ApplyError::Changed { path: path.clone() },
        ApplyError::Vanished { path: path.clone() },
        ApplyError::Outside { path: path.clone() },
        ApplyError::ReadOnly { path: path.clone() },
        full(),
        ApplyError::Busy { root: path.clone() },
        ApplyError::NoRun { run },
        ApplyError::Damaged { path: path.clone(), what: String::new() },
        ApplyError::Stuck { cause: Box::new(full()), error: Box::new(full()) },
        ApplyError::from_system(&path, "read the file", Errno::IO),
    ];
    let codes: Vec<String> = errors.iter().map(|error| error.code().to_string()).collect();
    let expected: Vec<String> = (670..680).map(|number| format!("GP{number}")).collect();
    assert_eq!(codes, expected);
}
