//! Applying and undoing in a process of its own that is really killed, or really runs out of disk.
//!
//! This binary starts itself as that process: the test `child` does nothing unless the variables below say what.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gpuport::diff::{
    ApplyError, FileChange, NoSteps, RunId, RunState, Step, Steps, apply, new_run, recover, run_state, undo,
};

const ROOT: &str = "GPUPORT_IT_ROOT";
const ACTION: &str = "GPUPORT_IT_ACTION";
const STOP_AT: &str = "GPUPORT_IT_STOP_AT";
/// What the child prints when it has come to the step at which it waits to be killed.
const STOPPED: &str = "stopped at the step";

/// The run that the child applies or undoes: the first one of its root.
fn run() -> RunId {
    RunId::parse("1").unwrap()
}

fn changes() -> Vec<FileChange> {
    let old = |number: usize| format!("import numpy\n# {number}\r\n").repeat(50);
    (0..3)
        .map(|number| {
            let path = if number == 0 { "main.py".to_owned() } else { format!("pkg {number}/módulo.py") };
            FileChange::new(path, old(number), old(number).replace("numpy", "cupy"))
        })
        .collect()
}

/// A root with the old files and the folder of the first run.
fn prepare(root: &Path) {
    for change in changes() {
        let path = root.join(&change.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &change.before).unwrap();
    }
    assert_eq!(new_run(root).unwrap(), run());
}

#[derive(Debug, PartialEq, Eq)]
enum Content {
    Old,
    New,
}

/// What all files are; panics where they are not all the same.
#[track_caller]
fn content(root: &Path) -> Content {
    let bytes: Vec<Vec<u8>> = changes().iter().map(|it| fs::read(root.join(&it.path)).unwrap()).collect();
    let leftover = Command::new("find").arg(root).args(["-name", ".gpuport-*"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&leftover.stdout), "");
    if bytes == changes().iter().map(|it| it.before.clone()).collect::<Vec<_>>() {
        return Content::Old;
    }
    assert_eq!(bytes, changes().iter().map(|it| it.after.clone()).collect::<Vec<_>>());
    Content::New
}

/// Tells the parent, on a line of its own: the test harness has begun one.
fn say(text: &str) {
    let mut out = io::stdout();
    write!(out, "\n{text}\n").and_then(|()| out.flush()).unwrap();
}

/// Stops for good before a step, so that the parent can kill the process there.
struct Stop {
    at: usize,
    index: usize,
}

impl Steps for Stop {
    fn before(&mut self, _step: Step) -> io::Result<()> {
        if self.index == self.at {
            say(STOPPED);
            loop {
                std::thread::park();
            }
        }
        self.index += 1;
        Ok(())
    }
}

#[test]
fn child() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let variable = |name| std::env::var(name).unwrap();
    let mut steps = Stop { at: variable(STOP_AT).parse().unwrap(), index: 0 };
    match variable(ACTION).as_str() {
        "apply" => drop(apply(&root, &run(), &changes(), &mut steps).unwrap()),
        "undo" => drop(undo(&root, None, &mut steps).unwrap()),
        "recover" => drop(recover(&root, &mut steps).unwrap()),
        "fill" => fill_and_apply(&root),
        other => panic!("unknown action {other}"),
    }
}

fn child_command(program: &Path, root: &Path, action: &str, stop_at: usize) -> Command {
    let mut command = Command::new(program);
    command.env(ROOT, root).env(ACTION, action).env(STOP_AT, stop_at.to_string()).stdout(Stdio::piped());
    command
}

/// Runs `action` in a child and kills it before step `stop_at`. False where it finished before.
fn killed(root: &Path, action: &str, stop_at: usize) -> bool {
    let mut child: Child = child_command(&std::env::current_exe().unwrap(), root, action, stop_at)
        .args(["--exact", "apply::child", "--nocapture"])
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let stopped = lines.map(Result::unwrap).any(|line| line == STOPPED);
    if stopped {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    assert!(stopped || status.success(), "{status}");
    stopped
}

/// Kills `action` before each of its steps in turn, in a fresh root made by `prepare_root`, and calls `check` after
/// the next command has recovered.
fn check_every_step(action: &str, prepare_root: impl Fn(&Path), check: impl Fn(&Path)) {
    let mut stop_at = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        prepare_root(root);
        let was_killed = killed(root, action, stop_at);
        recover(root, &mut NoSteps).unwrap();
        check(root);
        if !was_killed {
            break;
        }
        stop_at += 1;
    }
    assert!(stop_at > 20, "only {stop_at} steps");
}

#[test]
fn killed_while_applying() {
    check_every_step("apply", prepare, |root| match run_state(root, &run()).unwrap() {
        RunState::Untouched => {
            assert_eq!(content(root), Content::Old);
            apply(root, &run(), &changes(), &mut NoSteps).unwrap();
            assert_eq!(content(root), Content::New);
        }
        RunState::Applied => assert_eq!(content(root), Content::New),
        other => panic!("{other:?}"),
    });
}

#[test]
fn killed_while_applying_then_undo() {
    let mut stop_at = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        prepare(root);
        let was_killed = killed(root, "apply", stop_at);
        match undo(root, None, &mut NoSteps) {
            Ok(_) | Err(ApplyError::NothingToUndo) => {}
            Err(error) => panic!("{error}"),
        }
        assert_eq!(content(root), Content::Old);
        if !was_killed {
            break;
        }
        stop_at += 1;
    }
}

#[test]
fn killed_while_undoing() {
    let prepare_applied = |root: &Path| {
        prepare(root);
        apply(root, &run(), &changes(), &mut NoSteps).unwrap();
    };
    check_every_step("undo", prepare_applied, |root| match run_state(root, &run()).unwrap() {
        RunState::Applied => assert_eq!(content(root), Content::New),
        RunState::Undone => assert_eq!(content(root), Content::Old),
        other => panic!("{other:?}"),
    });
}

#[test]
fn killed_while_recovering() {
    let count_steps = |root: &Path| {
        let mut counter = Stop { at: usize::MAX, index: 0 };
        apply(root, &run(), &changes(), &mut counter).unwrap();
        counter.index
    };
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    // The last steps are a folder for each of the three files, then the commit and its folder: all files are renamed.
    let stop_at = count_steps(folder.path()) - 3;
    let prepare_interrupted = |root: &Path| {
        prepare(root);
        assert!(killed(root, "apply", stop_at));
        assert_eq!(run_state(root, &run()).unwrap(), RunState::Interrupted);
    };
    check_every_step("recover", prepare_interrupted, |root| assert_eq!(content(root), Content::Old));
}

/// Leaves no more than a few kilobytes on the small file system at `root`, then applies.
fn fill_and_apply(root: &Path) {
    for free_kilobytes in [0, 4, 8, 12, 16, 24, 32, 40] {
        let small = root.join(format!("{free_kilobytes}"));
        fs::create_dir(&small).unwrap();
        prepare(&small);
        let filler = root.join("filler");
        while fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&filler)
            .unwrap()
            .write_all(&[0; 4096])
            .is_ok()
        {}
        let length = fs::metadata(&filler).unwrap().len();
        let file = fs::OpenOptions::new().write(true).open(&filler).unwrap();
        file.set_len(length.saturating_sub(free_kilobytes * 1024)).unwrap();
        match apply(&small, &run(), &changes(), &mut NoSteps) {
            Ok(_) => assert_eq!(content(&small), Content::New),
            Err(error) => {
                assert!(matches!(error, ApplyError::DiskFull { .. }), "{error}");
                assert_eq!(content(&small), Content::Old);
                say(&format!("full with {free_kilobytes} kB free"));
            }
        }
        fs::remove_file(&filler).unwrap();
        fs::remove_dir_all(&small).unwrap();
    }
}

#[test]
fn a_full_disk_is_one_error_and_an_untouched_tree() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=256k none "$GPUPORT_IT_ROOT" || exit 77; exec "$@""#;
    let mut command = child_command(Path::new("unshare"), folder.path(), "fill", 0);
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "apply::child", "--nocapture"]);
    let Ok(output) = command.stderr(Stdio::piped()).output() else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || error.contains("unshare failed") {
        // This system lets nobody mount a small file system; the same failures are simulated in the unit tests.
        return;
    }
    assert!(output.status.success(), "{text}{error}");
    assert!(text.matches("full with").count() >= 2, "{text}");
}
