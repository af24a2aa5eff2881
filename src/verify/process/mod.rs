//! Runs one child process from start to the end of its last descendant, and says what the judge saw of it.

mod descendants;
mod pipes;
mod spawn;
mod streams;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use self::descendants::{Family, kill};
use self::pipes::wait_for_any;
pub(super) use self::spawn::mark_pipe;
use self::spawn::{ENDING_BYTES, Ending, Spawned};
pub(super) use self::streams::StreamReport;
use self::streams::{MarkReader, Sink};
use super::protocol::{Exit, Mark};
use super::sandbox::Confinement;
use crate::gpu::{DeviceUse, MemoryWatch, device_use};

/// The longest wait without looking at the clock and at the user's wish to stop.
const TICK: Duration = Duration::from_millis(100);
/// How often a watched child's processes are looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(25);
/// How long processes that outlive the program may go on before they are killed: helpers that end by themselves.
const GRACE: Duration = Duration::from_millis(500);
/// The name of the variable by which the processes of a run are known.
const MARKER: &str = "GPUPORT_RUN";

/// What to run and within which bounds.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    /// The program.
    pub(super) program: &'a Path,
    /// Its arguments.
    pub(super) arguments: Vec<OsString>,
    /// Its working directory.
    pub(super) directory: &'a Path,
    /// All of its environment.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// A file of the judge's for its standard output.
    pub(super) stdout: PathBuf,
    /// A file of the judge's for its standard error.
    pub(super) stderr: PathBuf,
    /// How much of each stream is kept, in bytes. All is read.
    pub(super) stream_cap: u64,
    /// The limit, from start to exit.
    pub(super) timeout: Duration,
    /// Set when the user wants to stop.
    pub(super) interrupt: &'a AtomicBool,
    /// Whether to look for use of the GPU while it runs. Never in a timed run.
    pub(super) watch: Watch,
    /// What the kernel keeps it from.
    pub(super) confinement: Option<&'a Confinement>,
}

/// Whether the judge looks at a child's processes while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// Not at all: the run is under the clock.
    Nothing,
    /// At open device files.
    Processes,
    /// At open device files and at the driver's account of device memory.
    Device,
}

/// What the judge saw of one run.
#[derive(Debug)]
pub(super) struct Ended {
    /// How the program ended.
    pub(super) exit: Exit,
    /// Start to exit.
    pub(super) wall: Duration,
    /// Marks with the time since the start at which they came.
    pub(super) marks: Vec<(Mark, Duration)>,
    /// Standard output.
    pub(super) stdout: StreamReport,
    /// Standard error.
    pub(super) stderr: StreamReport,
    /// Use of the machine.
    pub(super) observed: Observed,
    /// Descendants that outlived the program and were killed.
    pub(super) killed_count: usize,
    /// Descendants that would not end. While there are any, outputs must not be opened.
    pub(super) survivors: Vec<i32>,
}

/// Use of the machine, seen from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Whether some process of the run had the GPU open; `None` where nobody looked.
    pub device_use: Option<DeviceUse>,
    /// Seconds from the start to the first look that found the GPU open.
    pub device_seconds: Option<f64>,
    /// The largest rise of device memory in use, in bytes; `None` where the driver could not be asked.
    pub device_memory_bytes: Option<u64>,
    /// User and system time, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Peak resident memory of the largest process, in bytes.
    pub peak_memory_bytes: Option<u64>,
}

/// Runs `launch` to the end of its last descendant.
pub(super) fn run(launch: &Launch<'_>, marks: (File, OwnedFd)) -> io::Result<Ended> {
    let marker = marker();
    let mut command = Command::new(launch.program);
    command.args(&launch.arguments).current_dir(launch.directory).env_clear();
    command.envs(launch.environment.iter().map(|(name, value)| (name, value))).env(MARKER, &marker);
    let memory = match launch.watch {
        Watch::Device => MemoryWatch::start().ok(),
        Watch::Nothing | Watch::Processes => None,
    };
    let start = Instant::now();
    let spawned = spawn::spawn(command, marks, launch.confinement)?;
    let family = Family {
        supervisor: spawned.supervisor.id().cast_signed(),
        marker: format!("{MARKER}={marker}").into_bytes(),
    };
    Running::new(launch, spawned, family, memory, start)?.finish()
}

/// Names one run among all on this machine.
fn marker() -> String {
    use std::sync::atomic::AtomicU64;
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let nanoseconds = std::time::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_nanos());
    format!("{}-{}-{nanoseconds}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

/// A child that runs.
struct Running<'a> {
    launch: &'a Launch<'a>,
    family: Family,
    supervisor: Child,
    ending: File,
    stdout: Sink,
    stderr: Sink,
    marks: MarkReader,
    memory: Option<MemoryWatch>,
    observed: Observed,
    start: Instant,
    next_look: Instant,
}

impl<'a> Running<'a> {
    fn new(
        launch: &'a Launch<'a>,
        spawned: Spawned,
        family: Family,
        memory: Option<MemoryWatch>,
        start: Instant,
    ) -> io::Result<Self> {
        let Spawned { supervisor, ending, stdout, stderr, marks } = spawned;
        // A file that can't be made must not leave the child running.
        let sinks = Sink::new(stdout, &launch.stdout, launch.stream_cap)
            .and_then(|stdout| Ok((stdout, Sink::new(stderr, &launch.stderr, launch.stream_cap)?)));
        let (stdout, stderr) = sinks.inspect_err(|_| {
            family.end();
        })?;
        let marks = MarkReader::new(marks);
        let observed = Observed::default();
        Ok(Self {
            launch,
            family,
            supervisor,
            ending,
            stdout,
            stderr,
            marks,
            memory,
            observed,
            start,
            next_look: start,
        })
    }

    fn finish(mut self) -> io::Result<Ended> {
        let ended = self.until_exit();
        let wall = self.start.elapsed();
        if matches!(ended, Ok(Exit::Status(_) | Exit::Signal(_))) {
            self.family.settle(GRACE);
        }
        let (killed_count, survivors) = self.family.end();
        self.dismiss_supervisor();
        let exit = ended?;
        if let Some(memory) = &self.memory {
            self.observed.device_memory_bytes = Some(memory.peak_rise_bytes());
        }
        // What a pipe can hold, and then some: everything the dead wrote is in there.
        let rest = 1 << 21;
        Ok(Ended {
            exit,
            wall,
            marks: self.marks.finish(wall)?,
            stdout: self.stdout.finish(rest)?,
            stderr: self.stderr.finish(rest)?,
            observed: self.observed,
            killed_count,
            survivors: survivors.into_iter().collect(),
        })
    }

    /// Reads and looks until the program ends, its time is up or the user wants to stop.
    fn until_exit(&mut self) -> io::Result<Exit> {
        loop {
            if let Some(exit) = self.take_ending()? {
                return Ok(exit);
            }
            if self.launch.interrupt.load(Ordering::Relaxed) {
                return Ok(Exit::Interrupted);
            }
            let left = self.launch.timeout.saturating_sub(self.start.elapsed());
            if left.is_zero() {
                return Ok(Exit::TimedOut);
            }
            self.look();
            self.wait(left)?;
            self.marks.take(self.start.elapsed())?;
            self.stdout.take()?;
            self.stderr.take()?;
        }
    }

    fn wait(&self, left: Duration) -> io::Result<()> {
        let until_look = match self.launch.watch {
            Watch::Nothing => TICK,
            Watch::Processes | Watch::Device => self.next_look.saturating_duration_since(Instant::now()),
        };
        let mut pipes = vec![&self.ending];
        pipes.extend((!self.stdout.ended).then(|| self.stdout.pipe()));
        pipes.extend((!self.stderr.ended).then(|| self.stderr.pipe()));
        pipes.extend((!self.marks.ended).then(|| self.marks.pipe()));
        wait_for_any(&pipes, left.min(TICK).min(until_look.max(Duration::from_millis(1))))
    }

    /// How the program ended, if it did.
    fn take_ending(&mut self) -> io::Result<Option<Exit>> {
        let mut bytes = [0; ENDING_BYTES];
        match self.ending.read(&mut bytes) {
            Ok(ENDING_BYTES) => {
                let ending = Ending::from_bytes(&bytes);
                self.observed.cpu_seconds = Some(ending.cpu_microseconds as f64 * 1e-6);
                self.observed.peak_memory_bytes = u64::try_from(ending.peak_kib).ok().map(|kib| kib * 1024);
                Ok(Some(exit_of(ending.wait_status)))
            }
            // The supervisor was killed, which only a process of the run itself would do.
            Ok(_) => Ok(Some(Exit::Signal(libc::SIGKILL))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Looks at the run's processes and at the device, if it is time to and asked for.
    fn look(&mut self) {
        if self.launch.watch == Watch::Nothing || Instant::now() < self.next_look {
            return;
        }
        self.next_look = Instant::now() + WATCH_INTERVAL;
        let seen = self.observed.device_use.unwrap_or_default();
        let now = if seen.is_complete() {
            seen
        } else {
            self.family.below().into_iter().map(device_use).fold(seen, DeviceUse::more)
        };
        if now.is_complete() && self.observed.device_seconds.is_none() {
            self.observed.device_seconds = Some(self.start.elapsed().as_secs_f64());
        }
        self.observed.device_use = Some(now);
        if let Some(memory) = &mut self.memory {
            memory.poll();
        }
    }

    /// Without anything below it the supervisor ends by itself; stopped or stuck, it is killed.
    fn dismiss_supervisor(&mut self) {
        let deadline = Instant::now() + TICK;
        while Instant::now() < deadline {
            if matches!(self.supervisor.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(self.family.supervisor, libc::SIGKILL);
        let _ = self.supervisor.wait();
    }
}

fn exit_of(wait_status: i32) -> Exit {
    if libc::WIFSIGNALED(wait_status) {
        Exit::Signal(libc::WTERMSIG(wait_status))
    } else {
        Exit::Status(libc::WEXITSTATUS(wait_status))
    }
}

#[cfg(test)]
mod tests;
