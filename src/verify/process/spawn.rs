//! Starts a program under a supervisor: a process of its own session to which everything the program leaves behind falls.
//!
//! The supervisor is made by a fork between the judge and the program. It does nothing but collect ended processes
//! and pass on how the program ended, so that the processes of one run are always exactly those below it, also where
//! several runs go on at once.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::pipes::nonblocking_pipe;
use crate::verify::sandbox::Confinement;

/// A started program.
#[derive(Debug)]
pub(super) struct Spawned {
    /// The supervisor.
    pub(super) supervisor: Child,
    /// Yields one [`Ending`] when the program has ended.
    pub(super) ending: File,
    /// The program's standard output.
    pub(super) stdout: File,
    /// The program's standard error.
    pub(super) stderr: File,
    /// The program's marks.
    pub(super) marks: File,
}

/// How the program ended and what it used, in the supervisor's words.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ending {
    /// As `wait` reports it.
    pub(super) wait_status: i32,
    /// Always zero; keeps the layout free of holes.
    reserved: i32,
    /// Peak resident memory of the largest of its processes that were waited for, in KiB.
    pub(super) peak_kib: i64,
    /// User and system time of the program and the processes it waited for, in µs.
    pub(super) cpu_microseconds: i64,
}

/// Bytes of an [`Ending`] on the pipe.
pub(super) const ENDING_BYTES: usize = size_of::<Ending>();

impl Ending {
    /// Reads what the supervisor wrote.
    pub(super) fn from_bytes(bytes: &[u8; ENDING_BYTES]) -> Self {
        let int = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| i64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Self { wait_status: int(0), reserved: 0, peak_kib: long(8), cpu_microseconds: long(16) }
    }
}

/// What the program's side of the fork needs, prepared before it: nothing is allocated after.
#[derive(Debug, Clone, Copy)]
struct Handles {
    judge: libc::pid_t,
    ending: RawFd,
    marks: RawFd,
    ruleset: Option<RawFd>,
}

/// A pipe for marks: the judge's end, and the program's, whose number a job names.
pub(in crate::verify) fn mark_pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = nonblocking_pipe()?;
    Ok((File::from(reader), writer))
}

/// Starts `command` with nothing on its standard input. `marks` is a [`mark_pipe`].
pub(super) fn spawn(
    mut command: Command,
    marks: (File, OwnedFd),
    confinement: Option<&Confinement>,
) -> io::Result<Spawned> {
    let (ending, ending_writer) = nonblocking_pipe()?;
    let (stdout, stdout_writer) = nonblocking_pipe()?;
    let (stderr, stderr_writer) = nonblocking_pipe()?;
    let handles = Handles {
        judge: std::process::id().cast_signed(),
        ending: ending_writer.as_raw_fd(),
        marks: marks.1.as_raw_fd(),
        ruleset: confinement.map(Confinement::ruleset),
    };
    command.stdin(Stdio::null()).stdout(stdout_writer).stderr(stderr_writer);
    supervise(&mut command, handles);
    let supervisor = command.spawn()?;
    Ok(Spawned {
        supervisor,
        ending: File::from(ending),
        stdout: File::from(stdout),
        stderr: File::from(stderr),
        marks: marks.0,
    })
}

#[expect(unsafe_code, reason = "what runs between fork and exec is the caller's promise")]
fn supervise(command: &mut Command, handles: Handles) {
    // SAFETY: `become_supervisor` only makes system calls.
    unsafe { command.pre_exec(move || become_supervisor(handles)) };
}

/// Runs in the forked child. Returns in the program's process, which goes on to `exec`; the supervisor never returns.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
fn become_supervisor(handles: Handles) -> io::Result<()> {
    // SAFETY: system calls that pass no memory but what lives here.
    unsafe {
        libc::setsid();
        die_with_parent(handles.judge)?;
        check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))?;
        let supervisor = libc::getpid();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => become_program(supervisor, handles),
            program => collect(program, handles.ending),
        }
    }
}

/// The program's process: its own session, no core file, marks on an open pipe, and only then confined.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn become_program(supervisor: libc::pid_t, handles: Handles) -> io::Result<()> {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: system calls that pass no memory but `no_core`.
    unsafe {
        libc::setsid();
        die_with_parent(supervisor)?;
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        check(libc::fcntl(handles.marks, libc::F_SETFD, 0))?;
        if let Some(ruleset) = handles.ruleset {
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            let restricted = libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0);
            check(i32::try_from(restricted).unwrap_or(-1))?;
        }
    }
    Ok(())
}

/// The kernel kills this process when `parent` ends; if that has happened already, nobody is there to start for.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn die_with_parent(parent: libc::pid_t) -> io::Result<()> {
    // SAFETY: system calls that pass no memory.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        if libc::getppid() != parent {
            libc::_exit(0);
        }
    }
    Ok(())
}

fn check(returned: i32) -> io::Result<()> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The supervisor: passes on how `program` ended, collects all others, and ends when none is left.
#[expect(unsafe_code, reason = "system calls after a fork")]
unsafe fn collect(program: libc::pid_t, ending: RawFd) -> ! {
    // SAFETY: system calls that pass no memory but what lives here.
    unsafe {
        close_all_but(ending);
        loop {
            let mut wait_status = 0;
            let mut usage: libc::rusage = std::mem::zeroed();
            let ended = libc::wait4(-1, &raw mut wait_status, 0, &raw mut usage);
            if ended == program {
                let report = Ending {
                    wait_status,
                    reserved: 0,
                    peak_kib: usage.ru_maxrss,
                    cpu_microseconds: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
                };
                // Below the pipe's capacity: one write is whole.
                libc::write(ending, (&raw const report).cast(), ENDING_BYTES);
            } else if ended == -1 && *libc::__errno_location() == libc::ECHILD {
                libc::_exit(0);
            }
        }
    }
}

fn microseconds(time: libc::timeval) -> i64 {
    time.tv_sec * 1_000_000 + time.tv_usec
}

/// Else the supervisor would keep the program's pipes open, and the judge's report of a failed `exec` waiting.
#[expect(unsafe_code, reason = "system calls after a fork")]
unsafe fn close_all_but(kept: RawFd) {
    let kept = kept.cast_unsigned();
    // SAFETY: this process uses no other descriptor again.
    unsafe {
        if kept > 0 {
            libc::syscall(libc::SYS_close_range, 0, kept - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, u32::MAX, 0);
    }
}
