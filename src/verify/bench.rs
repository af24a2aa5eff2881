//! Where runs happen: writes the job, makes the copy, starts the worker, and gathers what the run left behind.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::error::JudgeError;
use super::process::{Ended, Launch, Watch, mark_pipe};
use super::protocol::{ChangedFile, Device, Exit, JOB_SCHEMA, Job, Mode};
use super::run::{Role, Run, read_outcome};
use super::sandbox::{Confinement, CopyRules, Sandbox, WorkFolder, Written, remove};
use super::worker::WORKER_FILES;
use super::{Arrays, Side, Workload, process};

/// How much of each stream of a run is kept.
const STREAM_CAP: u64 = 64 << 20;
/// The limit for questions to the interpreter itself.
const QUESTION_LIMIT: Duration = Duration::from_mins(2);

/// One run to be made.
#[derive(Debug, Clone)]
pub(super) struct Order<'a> {
    /// Which program.
    pub(super) role: Role,
    /// Its files and interpreter.
    pub(super) side: &'a Side,
    /// What is run.
    pub(super) workload: &'a Workload,
    /// What for.
    pub(super) mode: Mode,
    /// Whether the worker captures.
    pub(super) capture: bool,
    /// The files that differ, with the lines to watch.
    pub(super) changed: Vec<ChangedFile>,
    /// Where this side is expected to run.
    pub(super) device: Device,
    /// Libraries this side uses for that.
    pub(super) libraries: Vec<String>,
    /// Whether its function takes device arrays.
    pub(super) arrays: Arrays,
    /// A function's calls: those before the clock counts, and those that count.
    pub(super) calls: (u32, u32),
    /// The limit from start to exit.
    pub(super) timeout: Duration,
}

/// The work folder, ready for runs.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    work: WorkFolder,
    rules: &'a CopyRules,
    confine: bool,
    interrupt: &'a AtomicBool,
    input_sets: u32,
    run_count: u32,
    prepared: BTreeSet<PathBuf>,
}

impl<'a> Bench<'a> {
    /// A bench with a folder of its own in `root`.
    pub(super) fn new(
        root: &Path,
        rules: &'a CopyRules,
        confine: bool,
        input_sets: u32,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, JudgeError> {
        let work = WorkFolder::new(root)?;
        for (name, text) in WORKER_FILES {
            let path = work.worker().join(name);
            fs::write(&path, text).map_err(|error| JudgeError::io(&path, error))?;
        }
        Ok(Self { work, rules, confine, interrupt, input_sets, run_count: 0, prepared: BTreeSet::new() })
    }

    /// Makes one run, to the end of its last descendant.
    pub(super) fn run(&mut self, order: &Order<'_>) -> Result<Run, JudgeError> {
        self.prepare(&order.side.python)?;
        self.run_count += 1;
        let mode = serde_json::to_value(order.mode).ok().and_then(|mode| mode.as_str().map(str::to_owned));
        let name = format!("{:03}-{}-{}", self.run_count, mode.unwrap_or_default(), order.role.key());
        let sandbox = Sandbox::create(&order.side.tree, &self.work, self.rules, self.interrupt)?;
        let ran_at = sandbox.project();
        let (stdout, stderr) = (self.log(&name, "stdout"), self.log(&name, "stderr"));
        let (ended, confined) = self.start(order, &sandbox, &stdout, &stderr)?;
        let (outcome, written) = if ended.survivors.is_empty() {
            (read_outcome(&sandbox.outcome()), sandbox.written()?)
        } else {
            (Err("processes of the run still live".to_owned()), Written::default())
        };
        let sandbox = sandbox.set_aside(&self.work, &name)?;
        Ok(Run {
            role: order.role,
            mode: order.mode,
            ended,
            outcome,
            written,
            ran_at,
            confined,
            captured: order.capture,
            converted: self.work.converted(&name),
            stdout,
            stderr,
            sandbox,
            name,
        })
    }

    fn start(
        &self,
        order: &Order<'_>,
        sandbox: &Sandbox,
        stdout: &Path,
        stderr: &Path,
    ) -> Result<(Ended, bool), JudgeError> {
        let failed = |error| JudgeError::io(self.work.hidden(), error);
        let marks = mark_pipe().map_err(failed)?;
        let job_path = self.work.worker().join("job.json");
        self.write_job(&job_path, order, sandbox, marks.1.as_raw_fd())?;
        let cache = self.work.cache(order.role.key());
        fs::create_dir_all(&cache).map_err(|error| JudgeError::io(&cache, error))?;
        let confinement = self.confinement(order.mode, sandbox, &cache)?;
        let project = sandbox.project();
        let launch = Launch {
            program: &order.side.python,
            arguments: vec![self.work.worker().join("worker.py").into(), job_path.into()],
            directory: &project,
            environment: sandbox.environment(&order.side.tree.root, &cache),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            stream_cap: STREAM_CAP,
            timeout: order.timeout,
            interrupt: self.interrupt,
            watch: watch(order),
            confinement: confinement.as_ref(),
        };
        let ended = process::run(&launch, marks).map_err(|error| python_failed(&order.side.python, error))?;
        Ok((ended, confinement.is_some()))
    }

    fn confinement(
        &self,
        mode: Mode,
        sandbox: &Sandbox,
        cache: &Path,
    ) -> Result<Option<Confinement>, JudgeError> {
        if !self.confine {
            return Ok(None);
        }
        let (inputs, worker) = (self.work.inputs(), self.work.worker());
        let mut writable = vec![sandbox.root(), cache];
        if mode == Mode::Inputs {
            writable.push(&inputs);
        }
        Confinement::new(&writable, &[&inputs, &worker], self.work.hidden())
            .map_err(|error| JudgeError::io(self.work.hidden(), error))
    }

    fn write_job(
        &self,
        path: &Path,
        order: &Order<'_>,
        sandbox: &Sandbox,
        phase_fd: i32,
    ) -> Result<(), JudgeError> {
        let capture_dir = order.capture.then(|| sandbox.capture());
        if let Some(dir) = &capture_dir {
            fs::create_dir(dir).map_err(|error| JudgeError::io(dir, error))?;
        }
        let is_function = matches!(order.workload, Workload::Function { .. });
        let job = Job {
            schema: JOB_SCHEMA.to_owned(),
            mode: order.mode,
            workload: order.workload.clone(),
            root: sandbox.project(),
            capture_dir,
            inputs_dir: is_function.then(|| self.work.inputs()),
            input_sets: self.input_sets,
            outcome_path: sandbox.outcome(),
            phase_fd,
            changed_files: order.changed.clone(),
            device: order.device,
            libraries: order.libraries.clone(),
            arrays: order.arrays,
            warmup: order.calls.0,
            runs: order.calls.1,
        };
        let text = serde_json::to_vec(&job).map_err(|error| JudgeError::io(path, error.into()))?;
        fs::write(path, text).map_err(|error| JudgeError::io(path, error))
    }

    /// Compiles the worker for `python`, so that no timed run does; this also shows whether it starts at all.
    fn prepare(&mut self, python: &Path) -> Result<(), JudgeError> {
        if self.prepared.contains(python) {
            return Ok(());
        }
        let worker = self.work.worker();
        let arguments =
            ["-m", "compileall", "-q"].map(OsString::from).into_iter().chain([worker.into()]).collect();
        let (ended, _) = self.ask(python, arguments)?;
        if !matches!(ended.exit, Exit::Status(0) | Exit::Interrupted) {
            let said = fs::read_to_string(self.log("question", "stderr")).unwrap_or_default();
            let said = said.lines().last().unwrap_or("it does not run").to_owned();
            return Err(python_failed(python, io::Error::other(said)));
        }
        self.prepared.insert(python.to_owned());
        Ok(())
    }

    /// Runs `python` with `arguments` in the worker's folder, outside any copy. Yields what it printed.
    pub(super) fn ask(&self, python: &Path, arguments: Vec<OsString>) -> Result<(Ended, String), JudgeError> {
        self.ask_confined(python, arguments, None)
    }

    fn ask_confined(
        &self,
        python: &Path,
        arguments: Vec<OsString>,
        confinement: Option<&Confinement>,
    ) -> Result<(Ended, String), JudgeError> {
        let worker = self.work.worker();
        let launch = Launch {
            program: python,
            arguments,
            directory: &worker,
            environment: std::env::vars_os().collect(),
            stdout: self.log("question", "stdout"),
            stderr: self.log("question", "stderr"),
            stream_cap: STREAM_CAP,
            timeout: QUESTION_LIMIT,
            interrupt: self.interrupt,
            watch: Watch::Nothing,
            confinement,
        };
        let ended = mark_pipe()
            .and_then(|marks| process::run(&launch, marks))
            .map_err(|error| python_failed(python, error))?;
        Ok((ended, fs::read_to_string(&launch.stdout).unwrap_or_default()))
    }

    /// Turns the file `path` that `run` wrote into the capture form, in a process of its own that may write nothing
    /// else. Where that can't be done, says why; the file is then compared byte by byte.
    pub(super) fn convert(
        &self,
        python: &Path,
        run: &Run,
        path: &Path,
    ) -> Result<Option<String>, JudgeError> {
        let target = run.converted.join(path);
        if target.exists() {
            return Ok(None);
        }
        fs::create_dir_all(&target).map_err(|error| JudgeError::io(&target, error))?;
        let worker = self.work.worker();
        let confinement = if self.confine {
            Confinement::new(&[&target], &[&worker, run.sandbox.root()], self.work.hidden())
                .map_err(|error| JudgeError::io(self.work.hidden(), error))?
        } else {
            None
        };
        let file = run.sandbox.project().join(path);
        let arguments =
            vec![worker.join("worker.py").into(), "convert".into(), file.into(), target.clone().into()];
        let (ended, _) = self.ask_confined(python, arguments, confinement.as_ref())?;
        if ended.exit == Exit::Status(0) {
            return Ok(None);
        }
        remove(&target)?;
        let said = fs::read_to_string(self.log("question", "stderr")).unwrap_or_default();
        Ok(Some(format!(
            "{} was compared by its bytes: {}",
            path.display(),
            said.lines().last().unwrap_or_default()
        )))
    }

    /// The worker's file `name`.
    pub(super) fn worker_file(&self, name: &str) -> PathBuf {
        self.work.worker().join(name)
    }

    fn log(&self, name: &str, stream: &str) -> PathBuf {
        self.work.logs().join(format!("{name}.{stream}"))
    }
}

/// The judge looks on wherever the clock doesn't run.
fn watch(order: &Order<'_>) -> Watch {
    match (order.mode, order.role, order.device) {
        (Mode::Time, _, _) => Watch::Nothing,
        (Mode::Capture | Mode::Activity, Role::After, Device::Cuda) => Watch::Device,
        _ => Watch::Processes,
    }
}

fn python_failed(python: &Path, error: io::Error) -> JudgeError {
    JudgeError::Python { python: python.to_owned(), error }
}
