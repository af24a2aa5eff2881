//! The worker and the comparison together: real programs, run twice and compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gpuport::verify::compare::compare_captures;
use gpuport::verify::protocol::{CaptureDir, Comparison, End, Exit, Job, Mark, Mode, Outcome};
use gpuport::verify::protocol::{ChangedFile, Device, JOB_SCHEMA};
use gpuport::verify::{Arrays, Contract, Metric, Workload};
use sha2::{Digest, Sha256};

mod functions;
mod libraries;
mod values;
mod worker;

fn python() -> PathBuf {
    std::env::var_os("GPUPORT_TEST_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

/// Whether the interpreter of the tests has a module; where it hasn't, a test of it has nothing to do.
fn has(module: &str) -> bool {
    let status =
        Command::new(python()).arg("-c").arg(format!("import {module}")).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// One run: its folder and what it left behind.
struct Run {
    _dir: tempfile::TempDir,
    status: ExitStatus,
    marks: Vec<Mark>,
    outcome: Option<Outcome>,
    stderr: String,
    left: CaptureDir,
}

/// Runs a workload in a folder that holds `files`, as the judge would.
fn run(files: &[(&str, &str)], workload: Workload, change: impl FnOnce(&mut Job, &Path)) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, capture) = (base.join("project"), base.join("capture"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(&capture).unwrap();
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut job = Job {
        schema: JOB_SCHEMA.to_owned(),
        mode: Mode::Capture,
        workload,
        root: root.clone(),
        capture_dir: Some(capture.clone()),
        inputs_dir: None,
        input_sets: 1,
        outcome_path: base.join("outcome.json"),
        phase_fd: 0,
        changed_files: Vec::new(),
        device: Device::Cpu,
        libraries: Vec::new(),
        arrays: Arrays::Host,
        warmup: 0,
        runs: 1,
    };
    change(&mut job, &base);
    std::fs::write(base.join("job.json"), serde_json::to_vec(&job).unwrap()).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let stdout = base.join("stdout");
    let output = Command::new(python())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("python/gpuport/worker.py"))
        .arg(base.join("job.json"))
        .current_dir(&root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "Agg")
        // The marks' descriptor: a pipe in the place of standard input is inherited without further ado.
        .stdin(Stdio::from(writer))
        .stdout(File::create(&stdout).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    let mut marks = String::new();
    reader.read_to_string(&mut marks).unwrap();
    let outcome: Option<Outcome> =
        std::fs::read(&job.outcome_path).ok().map(|text| serde_json::from_slice(&text).unwrap());
    let left = CaptureDir {
        dir: capture,
        stdout_sha256: format!("{:x}", Sha256::digest(std::fs::read(&stdout).unwrap())),
        stdout,
        stdout_complete: true,
        written: written(&root, files),
        root,
        converted: None,
        removed: Vec::new(),
        exit: Exit::Status(output.status.code().unwrap_or(-1)),
        exception: outcome.as_ref().and_then(|o| o.exception.as_ref()).map(|raised| raised.type_name.clone()),
        not_compared: outcome.as_ref().map(|outcome| outcome.not_compared.clone()).unwrap_or_default(),
    };
    Run {
        _dir: dir,
        status: output.status,
        marks: marks.lines().map(|line| Mark::parse(line).unwrap()).collect(),
        outcome,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        left,
    }
}

/// The files of a run that were not there before.
fn written(root: &Path, known: &[(&str, &str)]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| PathBuf::from(entry.unwrap().file_name()))
        .filter(|name| root.join(name).is_file() && !known.iter().any(|(known, _)| Path::new(known) == name))
        .collect();
    found.sort();
    found
}

fn script(arguments: &[&str]) -> Workload {
    Workload::Script {
        path: "main.py".into(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    }
}

fn run_script(text: &str) -> Run {
    run(&[("main.py", text)], script(&[]), |_, _| {})
}

fn contract() -> Contract {
    Contract {
        workload: script(&[]),
        metric: Metric::Process,
        rtol: [1e-7, 1e-4, 1e-2],
        atol: None,
        min_speedup: 0.0,
        arrays: Arrays::Host,
        max_fallback: 0.0,
        runs: 1,
        timeout: Duration::from_mins(1),
        volatile: Vec::new(),
        tolerance: BTreeMap::new(),
    }
}

fn messages(comparison: &Comparison) -> String {
    let told = comparison.findings.iter().map(|finding| format!("{} {}\n", finding.code, finding.message));
    told.collect::<Vec<_>>().concat()
}
