//! The judge on real programs that need no GPU: each pair of original and candidate gets the verdict it deserves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gpuport::plan::{ChangeId, Pinned};
use gpuport::verify::protocol::Device;
use gpuport::verify::{
    Arrays, ChangedLines, Claim, Contract, CopyRules, Judge, JudgeError, JudgeOptions, Judgement, Metric,
    Role, Side, Tree, Verdict, Workload, judge, search,
};

/// The interpreter for tests: `GPUPORT_TEST_PYTHON`, the project's environment, or any Python; it must have NumPy.
pub(crate) fn python() -> PathBuf {
    static FOUND: LazyLock<PathBuf> = LazyLock::new(|| {
        let local = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python");
        let python = match std::env::var_os("GPUPORT_TEST_PYTHON") {
            Some(python) => python.into(),
            None if local.exists() => local,
            None => "python3".into(),
        };
        let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
        assert!(
            has_numpy.is_ok_and(|output| output.status.success()),
            "{} has no NumPy; name a Python that has it by GPUPORT_TEST_PYTHON",
            python.display()
        );
        python
    });
    FOUND.clone()
}

struct Case {
    folder: tempfile::TempDir,
    work: PathBuf,
    copy: CopyRules,
    contract: Contract,
    claim: Claim,
    interrupt: AtomicBool,
}

impl Case {
    /// A project with these files, of which `main.py` is the workload.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("project").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            work: folder.path().join("work"),
            copy: CopyRules::default(),
            folder,
            contract: Contract {
                workload: Workload::Script { path: "main.py".into(), arguments: Vec::new() },
                metric: Metric::Process,
                rtol: [1e-7, 1e-4, 1e-2],
                atol: None,
                min_speedup: 0.0,
                arrays: Arrays::Host,
                max_fallback: 0.1,
                runs: 7,
                timeout: Duration::from_mins(1),
                volatile: Vec::new(),
                tolerance: BTreeMap::new(),
            },
            claim: Claim {
                device: Device::Cpu,
                libraries: Vec::new(),
                requires: Vec::new(),
                changed: Vec::new(),
                diff_sha256: None,
            },
            interrupt: AtomicBool::new(false),
        }
    }

    fn script(text: &str) -> Self {
        Self::new(&[("main.py", text)])
    }

    fn function(module: &str) -> Self {
        let inputs = "import numpy\ndef make(seed, scale):\n    return (numpy.random.default_rng(seed).random(scale),), {}\n";
        let mut case = Self::new(&[("calc.py", module), ("inputs.py", inputs)]);
        case.contract.workload = Workload::Function {
            target: "calc:run".to_owned(),
            inputs: "inputs.py:make".to_owned(),
            scale: "1000".to_owned(),
            seed: 7,
        };
        case.contract.metric = Metric::Warm;
        case
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn side(&self, overlay: &[(&str, &str)]) -> Side {
        let overlay: BTreeMap<PathBuf, Vec<u8>> =
            overlay.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect();
        Side { tree: Tree { root: self.root(), overlay }, python: python() }
    }

    fn options(&self) -> JudgeOptions<'_> {
        JudgeOptions {
            work_dir: &self.work,
            copy: &self.copy,
            confine: true,
            interrupt: &self.interrupt,
            progress: &|_| (),
        }
    }

    fn try_judge(&self, overlay: &[(&str, &str)]) -> Result<Judgement, JudgeError> {
        judge(&self.side(&[]), &self.side(overlay), &self.claim, &self.contract, self.options())
    }

    fn judge(&self, overlay: &[(&str, &str)]) -> Judgement {
        let before = snapshot(&self.root());
        let judgement = self.try_judge(overlay).unwrap();
        assert_eq!(snapshot(&self.root()), before, "the user's tree was touched");
        judgement
    }

    /// Judges `after` in place of `main.py`.
    fn candidate(&self, after: &str) -> Judgement {
        self.judge(&[("main.py", after)])
    }
}

fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

#[track_caller]
fn expect(judgement: &Judgement, verdict: Verdict, code: Option<&str>) {
    let codes: Vec<&str> = judgement.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(judgement.verdict, verdict, "{:#?}", judgement.findings);
    match code {
        Some(code) => assert!(codes.contains(&code), "{code} is not among {:#?}", judgement.findings),
        None => assert!(codes.is_empty(), "{:#?}", judgement.findings),
    }
}

const SUM: &str = "import numpy as np\nx = np.arange(1000.0)\ntotal = np.sum(x)\nprint('total', total)\n";

#[test]
fn an_equal_program_is_accepted() {
    let case = Case::script(SUM);
    let judgement = case.candidate(&SUM.replace("np.sum(x)", "x.sum()"));
    expect(&judgement, Verdict::Accepted, None);
    let evidence = &judgement.evidence;
    assert_eq!(evidence.files.len(), 1);
    assert!(evidence.runs.iter().all(|run| run.observed.wall_seconds > 0.0));
    let path = case.folder.path().join("evidence/run.json");
    evidence.write(&path).unwrap();
    let read: gpuport::verify::Evidence = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(
        (read.verdict, &read.files, read.runs.len()),
        (evidence.verdict, &evidence.files, evidence.runs.len())
    );
}

#[test]
fn a_sum_that_became_a_mean_is_rejected_with_place_and_values() {
    let judgement = Case::script(SUM).candidate(&SUM.replace("np.sum", "np.mean"));
    assert_eq!(judgement.verdict, Verdict::Rejected);
    let text = format!("{:?}", judgement.findings);
    assert!(text.contains("499500") && text.contains("499.5"), "{text}");
}

#[test]
fn a_slower_program_is_rejected_after_one_pair() {
    let mut case = Case::script(SUM);
    case.contract.min_speedup = 1.05;
    let judgement = case.candidate(&format!("import time; time.sleep(2)\n{SUM}"));
    expect(&judgement, Verdict::Rejected, Some("GP515"));
    assert_eq!(judgement.evidence.timing.unwrap().pairs.len(), 1);
}

#[test]
fn a_faster_program_is_accepted_by_its_interval() {
    let mut case = Case::script(&format!("import time; time.sleep(0.8)\n{SUM}"));
    case.contract.min_speedup = 1.05;
    let judgement = case.candidate(SUM);
    expect(&judgement, Verdict::Accepted, None);
    let timing = judgement.evidence.timing.unwrap();
    assert!(timing.speedup.low > 1.05 && timing.speedup.ratio > 1.5, "{timing:?}");
}

#[test]
fn several_judges_share_a_folder_and_leave_nothing_in_it() {
    let case = Case::script(SUM);
    let before = case.side(&[]);
    let mut judges = [(); 2].map(|()| Judge::new(&before, &case.contract, case.options()).unwrap());
    for _ in 0..2 {
        for judge in &mut judges {
            let judgement = judge.judge(&case.side(&[("main.py", SUM)]), &case.claim).unwrap();
            expect(&judgement, Verdict::Accepted, None);
        }
    }
    drop(judges);
    let left: Vec<_> = fs::read_dir(&case.work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "cache"), "{left:?}");
}

#[test]
fn an_equally_fast_program_is_not_accepted_where_speed_is_asked_for() {
    let mut case = Case::script(SUM);
    case.contract.min_speedup = 1.5;
    expect(&case.candidate(&SUM.replace("np.sum(x)", "x.sum()")), Verdict::Rejected, Some("GP515"));
}

#[test]
fn functions_are_judged_warm_on_fresh_inputs() {
    let mut case = Case::function(
        "import time\nimport numpy as np\ndef run(x):\n    time.sleep(0.05)\n    return np.sum(x)\n",
    );
    case.contract.min_speedup = 2.0;
    let after = "import numpy as np\ndef run(x):\n    return np.sum(x)\n";
    expect(&case.judge(&[("calc.py", after)]), Verdict::Accepted, None);
    let wrong = "import numpy as np\ndef run(x):\n    return np.mean(x)\n";
    assert_eq!(case.judge(&[("calc.py", wrong)]).verdict, Verdict::Rejected);
}

#[test]
fn a_function_that_remembers_its_last_result_is_found_out() {
    let case = Case::function("import numpy as np\ndef run(x):\n    return np.sum(x)\n");
    let after =
        "import numpy as np\nlast = []\ndef run(x):\n    last.append(np.sum(x))\n    return last[0]\n";
    assert_eq!(case.judge(&[("calc.py", after)]).verdict, Verdict::Rejected);
}

#[test]
fn inputs_that_can_not_be_made_decide_nothing() {
    let mut case = Case::function("def run(x):\n    return x\n");
    if let Workload::Function { inputs, .. } = &mut case.contract.workload {
        "inputs.py:nothing".clone_into(inputs);
    }
    expect(&case.judge(&[]), Verdict::Inconclusive, Some("GP528"));
}

#[test]
fn a_candidate_that_raises_is_rejected_with_the_line() {
    let judgement = Case::script(SUM).candidate(&SUM.replace("np.sum(x)", "np.no_such_thing(x)"));
    expect(&judgement, Verdict::Rejected, Some("GP510"));
    let place = judgement.findings[0].place.clone().unwrap();
    assert_eq!((place.path, place.line_number), (PathBuf::from("main.py"), 3));
    assert!(judgement.findings[0].message.contains("AttributeError"), "{:?}", judgement.findings);
}

#[test]
fn an_original_that_fails_decides_nothing() {
    let case = Case::script("raise ValueError('no data')\n");
    expect(&case.candidate(SUM), Verdict::Inconclusive, Some("GP518"));
    let case = Case::script("import sys; sys.exit(2)\n");
    expect(&case.candidate(SUM), Verdict::Inconclusive, Some("GP518"));
}

#[test]
fn an_original_that_hangs_gives_a_lower_bound() {
    let mut case = Case::script("import time; time.sleep(100)\n");
    case.contract.timeout = Duration::from_secs(4);
    let judgement = case.candidate(SUM);
    expect(&judgement, Verdict::Inconclusive, Some("GP519"));
    assert!(judgement.findings[0].message.contains("times less"), "{:?}", judgement.findings);
}

#[test]
fn a_candidate_that_hangs_is_rejected_at_its_limit() {
    let mut case = Case::script(SUM);
    case.contract.timeout = Duration::from_secs(4);
    let start = Instant::now();
    expect(&case.candidate("import time; time.sleep(100)\n"), Verdict::Rejected, Some("GP511"));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn ends_without_a_word_are_rejected() {
    let case = Case::script(SUM);
    let check = |after: &str, code: &str| expect(&case.candidate(after), Verdict::Rejected, Some(code));
    check(&format!("{SUM}import os, sys; sys.stdout.flush(); os._exit(0)\n"), "GP512");
    check(&format!("{SUM}import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"), "GP512");
    check(&format!("{SUM}import ctypes; ctypes.string_at(0)\n"), "GP512");
    check(&format!("{SUM}import sys; sys.exit(3)\n"), "GP510");
    // Where the kernel keeps signals inside, this one raises; where not, the supervisor's death ends the run.
    let parricide = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(9)\n";
    assert_eq!(case.candidate(&format!("{SUM}{parricide}")).verdict, Verdict::Rejected);
}

#[test]
fn a_flood_on_standard_output_ends_in_a_verdict() {
    let case = Case::script(SUM);
    let flood = format!("{SUM}line = 'x' * 1023\nfor _ in range(200_000):\n    print(line)\n");
    assert_eq!(case.candidate(&flood).verdict, Verdict::Rejected);
    let same = Case::script(&flood);
    assert!(matches!(same.candidate(&flood).verdict, Verdict::Accepted | Verdict::Inconclusive));
}

#[test]
fn a_daemon_does_not_outlive_its_run() {
    let case = Case::script(SUM);
    let daemon = format!(
        "{SUM}import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(300)\n    os._exit(0)\n"
    );
    let judgement = case.candidate(&daemon);
    expect(&judgement, Verdict::Accepted, None);
    let run = judgement.evidence.runs.last().unwrap();
    assert!(run.observed.killed_descendants >= 1, "{run:?}");
    assert_eq!(processes_in(case.folder.path()), 0);
}

/// Living processes whose working directory is, or was, below `folder`.
fn processes_in(folder: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read_link(process.path().join("cwd")).ok())
        .filter(|cwd| cwd.starts_with(folder))
        .count()
}

#[test]
fn a_program_that_spoils_its_surroundings_ends_in_a_verdict() {
    let case = Case::script(SUM);
    let check = |what: &str, verdicts: &[Verdict]| {
        let judgement = case.candidate(&format!("{SUM}{what}\n"));
        assert!(verdicts.contains(&judgement.verdict), "{what}: {:#?}", judgement.findings);
    };
    check("import os; os.closerange(3, 256)", &[Verdict::Accepted, Verdict::Rejected]);
    check("import sys; sys.stdout.flush(); sys.stdout.close()", &[Verdict::Accepted, Verdict::Rejected]);
    check("import os; os.chdir('/')", &[Verdict::Accepted, Verdict::Rejected]);
    check("import shutil, os; shutil.rmtree(os.getcwd())", &[Verdict::Rejected]);
    check("import time; time.perf_counter = lambda: 0.0", &[Verdict::Accepted, Verdict::Rejected]);
    check(
        "import os, signal\nfor s in (1, 2, 13, 15): signal.signal(s, signal.SIG_IGN)\ndel s",
        &[Verdict::Accepted],
    );
    check(
        "import threading, os; threading.Thread(target=lambda: os._exit(0)).start()\nimport time; time.sleep(9)",
        &[Verdict::Rejected],
    );
    check("for i in range(20_000): open(f'f{i}', 'w').close()", &[Verdict::Rejected]);
    check("x = bytearray(1 << 46)", &[Verdict::Rejected]);
}

#[test]
fn a_candidate_that_forges_its_marks_gains_nothing() {
    let forge = "import os, stat\nfor fd in range(3, 64):\n    try:\n        if stat.S_ISFIFO(os.fstat(fd).st_mode):\n            os.write(fd, b'program-end\\n')\n    except OSError:\n        pass\n";
    let mut case = Case::script(&format!("import time; time.sleep(1.0)\n{SUM}"));
    case.contract.min_speedup = 1.05;
    let judgement =
        case.candidate(&format!("import time\nfd = 0\n{forge}del fd, stat, os\ntime.sleep(1.2)\n{SUM}"));
    assert!(!matches!(judgement.verdict, Verdict::Accepted), "{:#?}", judgement.evidence.timing);
}

#[test]
fn a_largest_set_of_changes_is_found_by_judging() {
    let text = |pinned: &Pinned| {
        let line = |name: &str, before: &'static str, after: &'static str| {
            if pinned.contains(&ChangeId(name.to_owned())) { before } else { after }
        };
        [
            "import numpy as np\nx = np.arange(10.0)\n",
            line("one", "print(np.sum(x))\n", "print(x.sum())\n"),
            line("two", "print(np.prod(x))\n", "print(x.max())\n"),
            line("three", "print(np.max(x))\n", "print(x.max())\n"),
        ]
        .concat()
    };
    let changes = ["one", "two", "three"].map(|name| ChangeId(name.to_owned()));
    let case = Case::script(&text(&changes.iter().cloned().collect()));
    let options = case.options();
    let before = case.side(&[]);
    let mut judge = Judge::new(&before, &case.contract, options).unwrap();
    let found = search(&changes, 20, |pinned| {
        let judgement = judge.judge(&case.side(&[("main.py", &text(pinned))]), &case.claim)?;
        Ok::<_, JudgeError>(judgement.verdict == Verdict::Accepted)
    })
    .unwrap();
    assert_eq!(found.kept, [changes[0].clone(), changes[2].clone()]);
    // The original ran twice in all, however many candidates were judged.
    let last = judge.judge(&case.side(&[("main.py", &text(&found.pinned))]), &case.claim).unwrap();
    assert_eq!(last.evidence.runs.iter().filter(|run| run.role == Role::Before).count(), 2);
}

#[test]
fn writing_outside_the_copy_is_kept_from_happening() {
    let case = Case::script(SUM);
    let target = case.root().join("planted.txt");
    let after = format!("{SUM}open({target:?}, 'w').write('x')\n");
    let judgement = case.candidate(&after);
    if judgement.evidence.runs.iter().all(|run| run.observed.confined) {
        expect(&judgement, Verdict::Rejected, Some("GP510"));
        assert!(judgement.findings[0].message.contains("PermissionError"), "{:?}", judgement.findings);
    }
}

#[test]
fn results_of_other_runs_can_not_be_read() {
    let case = Case::script(SUM);
    let after = format!(
        "import glob\nfor path in glob.glob({:?} + '/*/finished/*/capture/*'):\n    open(path).read()\n{SUM}",
        case.work
    );
    let judgement = case.candidate(&after);
    if judgement.evidence.runs.iter().all(|run| run.observed.confined) {
        expect(&judgement, Verdict::Rejected, Some("GP510"));
    }
}

#[test]
fn files_are_compared_and_links_are_never_followed() {
    let write = "import numpy as np\nnp.savetxt('out.txt', np.arange(3.0))\n";
    let case = Case::script(write);
    expect(
        &case.candidate(&write.replace("np.arange(3.0)", "np.array([0.0, 1, 2])")),
        Verdict::Accepted,
        None,
    );
    assert_eq!(case.candidate(&write.replace("3.0", "4.0")).verdict, Verdict::Rejected);
    assert_eq!(case.candidate("import numpy as np\n").verdict, Verdict::Rejected);
    let link = "import os\nopen('real.txt', 'w').write('')\nos.symlink('/etc/passwd', 'out.txt')\n";
    assert_eq!(case.candidate(link).verdict, Verdict::Rejected);
}

#[test]
fn a_module_loaded_from_elsewhere_decides_nothing() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("helper.py"), "def total(x):\n    return sum(x)\n").unwrap();
    let main = format!(
        "import sys\nsys.path.insert(0, {:?})\nimport helper\nprint(helper.total([1, 2]))\n",
        elsewhere.path()
    );
    let mut case = Case::new(&[("main.py", &main), ("helper.py", "def total(x):\n    return sum(x)\n")]);
    case.claim.changed = vec![ChangedLines { change: None, path: "helper.py".into(), lines: vec![(2, 2)] }];
    let after = "def total(x):\n    return x[0] + x[1]\n";
    expect(&case.judge(&[("helper.py", after)]), Verdict::Inconclusive, Some("GP513"));
}

#[test]
fn a_change_that_never_runs_is_named_and_not_verified() {
    let main = "import sys\ndef used():\n    return 1 + 1\ndef unused():\n    return 2 + 2\nprint(used())\n";
    let mut case = Case::script(main);
    let change = |name: &str, line| ChangedLines {
        change: Some(ChangeId(name.to_owned())),
        path: "main.py".into(),
        lines: vec![(line, line)],
    };
    case.claim.changed = vec![change("used", 3), change("unused", 5)];
    let after = main.replace("1 + 1", "2").replace("2 + 2", "4");
    let judgement = case.candidate(&after);
    expect(&judgement, Verdict::Unverified, Some("GP514"));
    assert_eq!(judgement.uncovered, [ChangeId("unused".to_owned())]);
    case.claim.changed.pop();
    expect(&case.candidate(&main.replace("1 + 1", "2")), Verdict::Accepted, None);
}

#[test]
fn a_changed_module_that_is_never_imported_is_not_verified() {
    let mut case = Case::new(&[("main.py", SUM), ("other.py", "x = 1\n")]);
    case.claim.changed = vec![ChangedLines { change: None, path: "other.py".into(), lines: vec![(1, 1)] }];
    expect(&case.judge(&[("other.py", "x = 2\n")]), Verdict::Unverified, Some("GP514"));
}

#[test]
fn pictures_are_compared_by_their_pixels() {
    let has_pillow = Command::new(python()).args(["-c", "import PIL"]).output().unwrap().status.success();
    if !has_pillow {
        return;
    }
    let write = |level: u32, value: u32| {
        format!(
            "import numpy, PIL.Image\na = numpy.full((64, 64), {value}, dtype='uint8')\n\
             PIL.Image.fromarray(a).save('out.png', compress_level={level})\ndel a\n"
        )
    };
    let case = Case::script(&write(9, 7));
    // Other bytes, the same pixels.
    expect(&case.candidate(&write(0, 7)), Verdict::Accepted, None);
    assert_eq!(case.candidate(&write(9, 8)).verdict, Verdict::Rejected);
}

#[test]
fn a_port_to_the_gpu_needs_one() {
    let mut case = Case::script(SUM);
    case.claim.device = Device::Cuda;
    let judgement = case.candidate(&SUM.replace("np.sum(x)", "x.sum()"));
    // With a device, this candidate is one that never touches it.
    if gpuport::gpu::probe().is_ok() {
        expect(&judgement, Verdict::Rejected, Some("GP516"));
    } else {
        expect(&judgement, Verdict::Unverified, Some("GP521"));
        assert!(judgement.cannot_verify);
        assert!(judgement.evidence.runs.is_empty());
    }
}

/// Needs an environment with NumPy 1.x, named by `GPUPORT_TEST_OLD_PYTHON`.
#[test]
fn the_original_may_need_an_older_interpreter() {
    let Some(old) = std::env::var_os("GPUPORT_TEST_OLD_PYTHON") else { return };
    let module = "import numpy as np\ndef run(x):\n    return np.product(x[:5]), np.float_(x[0])\n";
    let case = Case::function(module);
    let before = Side { python: old.into(), ..case.side(&[]) };
    let text = module.replace("np.product", "np.prod").replace("np.float_", "np.float64");
    let after = case.side(&[("calc.py", &text)]);
    let judgement = judge(&before, &after, &case.claim, &case.contract, case.options()).unwrap();
    expect(&judgement, Verdict::Accepted, None);
}

#[test]
fn a_missing_or_old_library_is_named_before_anything_runs() {
    let mut case = Case::script(SUM);
    case.claim.requires = vec!["numpy>=1.0".to_owned(), "no_such_library>=3".to_owned()];
    let judgement = case.candidate(SUM);
    expect(&judgement, Verdict::Unverified, Some("GP522"));
    assert!(judgement.cannot_verify && judgement.evidence.runs.is_empty());
    case.claim.requires = vec!["numpy>=99".to_owned()];
    expect(&case.candidate(SUM), Verdict::Unverified, Some("GP522"));
    case.claim.requires = vec!["numpy>=1.0".to_owned()];
    expect(&case.candidate(SUM), Verdict::Accepted, None);
}

#[test]
fn an_interrupt_ends_it_soon_and_decides_nothing() {
    let case = Case::script("import time; time.sleep(60)\n");
    let start = Instant::now();
    let judgement = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            case.interrupt.store(true, Ordering::Relaxed);
        });
        case.candidate(SUM)
    });
    expect(&judgement, Verdict::Inconclusive, Some("GP523"));
    assert!(judgement.interrupted);
    assert!(start.elapsed() < Duration::from_secs(6));
}

#[test]
fn a_python_that_does_not_start_is_an_error_with_a_remedy() {
    let case = Case::script(SUM);
    let side = Side { python: "/nowhere/python".into(), ..case.side(&[]) };
    let error = judge(&side, &side, &case.claim, &case.contract, case.options()).unwrap_err();
    assert!(error.to_string().contains("--python"), "{error}");
}
