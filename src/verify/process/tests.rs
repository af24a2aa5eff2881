//! Children of every kind, run to their end.

use super::*;

struct Case {
    folder: tempfile::TempDir,
    interrupt: AtomicBool,
}

impl Case {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), interrupt: AtomicBool::new(false) }
    }

    fn run(&self, script: &str, timeout: Duration) -> Ended {
        let (reader, writer) = mark_pipe().unwrap();
        let mut environment: Vec<(OsString, OsString)> = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let fd = std::os::fd::AsRawFd::as_raw_fd(&writer);
        environment.push(("MARKS".into(), fd.to_string().into()));
        let launch = Launch {
            program: Path::new("/bin/bash"),
            arguments: vec!["-c".into(), script.into()],
            directory: self.folder.path(),
            environment,
            stdout: self.folder.path().join("stdout"),
            stderr: self.folder.path().join("stderr"),
            stream_cap: 1024,
            timeout,
            interrupt: &self.interrupt,
            watch: Watch::Processes,
            confinement: None,
        };
        run(&launch, (reader, writer)).unwrap()
    }

    fn stdout(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stdout")).unwrap()
    }

    /// The process whose id the script wrote to `file`.
    fn pid(&self, file: &str) -> i32 {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap().trim().parse().unwrap()
    }
}

const LONG: Duration = Duration::from_secs(30);

fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

#[test]
fn ends_are_told_apart() {
    let check =
        |script: &str, expected: Exit| assert_eq!(Case::new().run(script, LONG).exit, expected, "{script}");
    check("exit 0", Exit::Status(0));
    check("exit 7", Exit::Status(7));
    check("kill -SEGV $$", Exit::Signal(libc::SIGSEGV));
    check("kill -KILL $$", Exit::Signal(libc::SIGKILL));
}

#[test]
fn output_marks_and_use_of_the_machine_are_reported() {
    let case = Case::new();
    let ended = case.run("echo program-begin >&$MARKS; sleep 0.1; echo out; echo program-end >&$MARKS", LONG);
    assert_eq!(case.stdout(), "out\n");
    assert!(ended.stdout.complete);
    let (names, times): (Vec<Mark>, Vec<Duration>) = ended.marks.into_iter().unzip();
    assert_eq!(names, [Mark::ProgramBegin, Mark::ProgramEnd]);
    assert!(times[1] >= times[0] + Duration::from_millis(90), "{times:?}");
    assert!(ended.wall >= times[1]);
    assert!(ended.observed.peak_memory_bytes.unwrap() > 0);
    assert_eq!(ended.observed.device_use, Some(DeviceUse::default()));
}

#[test]
fn standard_input_is_empty() {
    let case = Case::new();
    case.run("cat; echo end", LONG);
    assert_eq!(case.stdout(), "end\n");
}

#[test]
fn a_flood_is_counted_and_capped() {
    let case = Case::new();
    let ended = case.run("head -c 30000000 /dev/zero", LONG);
    assert_eq!((ended.stdout.bytes, ended.stdout.complete), (30_000_000, false));
    assert_eq!(case.stdout().len(), 1024);
}

#[test]
fn a_hang_ends_at_its_limit_with_all_descendants() {
    let case = Case::new();
    let start = Instant::now();
    let ended = case.run("sleep 100 & echo $! >child; sleep 100", Duration::from_millis(500));
    assert_eq!(ended.exit, Exit::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(!lives(case.pid("child")));
    assert!(ended.survivors.is_empty());
}

#[test]
fn a_daemon_that_left_its_session_is_found_and_killed() {
    let case = Case::new();
    let ended = case.run("setsid bash -c 'sleep 100 & echo $! >daemon' & sleep 0.3", LONG);
    assert_eq!(ended.exit, Exit::Status(0));
    assert!(ended.killed_count >= 1);
    assert!(!lives(case.pid("daemon")));
}

#[test]
fn killing_the_supervisor_hides_nobody() {
    let case = Case::new();
    let ended =
        case.run("(trap '' TERM; setsid sleep 100 & echo $! >child); kill -KILL $PPID; sleep 100", LONG);
    assert_eq!(ended.exit, Exit::Signal(libc::SIGKILL));
    assert!(!lives(case.pid("child")));
}

#[test]
fn helpers_that_end_by_themselves_are_given_the_time() {
    let case = Case::new();
    let ended = case.run("(sleep 0.1; echo late >file) & exit 0", LONG);
    assert_eq!((ended.exit, ended.killed_count), (Exit::Status(0), 0));
    assert_eq!(std::fs::read_to_string(case.folder.path().join("file")).unwrap(), "late\n");
}

#[test]
fn an_interrupt_ends_it_within_a_second() {
    let case = Case::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            case.interrupt.store(true, Ordering::Relaxed);
        });
        let start = Instant::now();
        assert_eq!(case.run("sleep 100", LONG).exit, Exit::Interrupted);
        assert!(start.elapsed() < Duration::from_millis(1200));
    });
}

#[test]
fn closing_its_streams_is_no_end() {
    let case = Case::new();
    let ended = case.run("exec >&- 2>&-; sleep 0.3; exit 3", LONG);
    assert_eq!(ended.exit, Exit::Status(3));
    assert!(ended.wall >= Duration::from_millis(300));
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let case = Case::new();
    let launch = Launch {
        program: Path::new("/nowhere/python"),
        arguments: Vec::new(),
        directory: case.folder.path(),
        environment: Vec::new(),
        stdout: case.folder.path().join("stdout"),
        stderr: case.folder.path().join("stderr"),
        stream_cap: 1,
        timeout: LONG,
        interrupt: &case.interrupt,
        watch: Watch::Nothing,
        confinement: None,
    };
    let error = run(&launch, mark_pipe().unwrap()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
