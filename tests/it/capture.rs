//! The worker and the comparison together: real programs, run twice and compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gpuport::verify::compare::compare_captures;
use gpuport::verify::compare::tolerance::{Comparator, Named, UpTo};
use gpuport::verify::protocol::{CaptureDir, Comparison, End, Exit, Job, Mark, Mode, Outcome};
use gpuport::verify::protocol::{ChangedFile, Device, JOB_SCHEMA};
use gpuport::verify::{Arrays, Contract, Metric, Workload};
use sha2::{Digest, Sha256};

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

/// Compares two scripts.
fn compared(before: &str, after: &str) -> Comparison {
    let (a, b) = (run_script(before), run_script(after));
    assert!(a.status.success() == b.status.success(), "{}\n{}", a.stderr, b.stderr);
    compare_captures(&a.left, &b.left, None, &contract())
}

fn messages(comparison: &Comparison) -> String {
    let told = comparison.findings.iter().map(|finding| format!("{} {}\n", finding.code, finding.message));
    told.collect::<Vec<_>>().concat()
}

/// Two scripts agree.
#[track_caller]
fn agree(before: &str, after: &str) -> Comparison {
    let comparison = compared(before, after);
    assert_eq!(messages(&comparison), "");
    assert!(comparison.undecided.is_empty(), "{:?}", comparison.undecided);
    comparison
}

/// Two scripts differ, and the report says all of `expected`.
#[track_caller]
fn differ(before: &str, after: &str, expected: &[&str]) {
    let told = messages(&compared(before, after));
    assert!(!told.is_empty(), "no difference was found");
    for part in expected {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn a_script_runs_as_under_the_interpreter() {
    let text = r"
import sys, os, __main__
from __future__ import annotations
";
    let failed = run_script(text);
    assert_eq!(failed.outcome.unwrap().exception.unwrap().type_name, "builtins.SyntaxError");
    let program = r#"
import sys, os
names = sorted(name for name in globals() if name.startswith("__"))
print(__name__, sys.argv, os.path.basename(__file__), os.path.isabs(__file__), sys.path[0] == os.path.dirname(__file__))
print(names, type(__builtins__).__name__, __spec__, __package__, __doc__)
print(sys.modules["__main__"].__dict__ is globals(), [m for m in sys.modules if m.startswith("gpuport")])
import inner
print(inner.__file__ == os.path.join(os.path.dirname(__file__), "inner.py"))
"#;
    let files = [("main.py", program), ("inner.py", "x = 1\n")];
    let ours = run(&files, script(&["a", "-b"]), |_, _| {});
    let output = Command::new(python())
        .args(["main.py", "a", "-b"])
        .current_dir(&ours.left.root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert_eq!(std::fs::read_to_string(&ours.left.stdout).unwrap(), String::from_utf8_lossy(&output.stdout));
    assert_eq!(ours.marks, [Mark::ProgramBegin, Mark::ProgramEnd, Mark::Captured]);
}

#[test]
fn ends_are_those_of_the_interpreter() {
    let check = |text: &str, end: End| {
        let ours = run_script(text);
        let theirs = Command::new(python()).arg("main.py").current_dir(&ours.left.root).output().unwrap();
        assert_eq!(ours.status.code(), theirs.status.code(), "{text}");
        assert_eq!(ours.stderr, String::from_utf8_lossy(&theirs.stderr), "{text}");
        assert_eq!(ours.outcome.unwrap().end, end, "{text}");
    };
    check("x = 1", End::Returned);
    check("import sys\nsys.exit(3)", End::Exited);
    check("raise SystemExit('no data')", End::Exited);
    check("import sys\nsys.exit()", End::Exited);
    check("def f():\n    raise ValueError('x')\nf()", End::Raised);
    check("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('y') from e", End::Raised);
    check("x = (", End::Raised);
    check("import sys\nsys.excepthook = lambda *a: sys.stderr.write('hook')\n1 / 0", End::Raised);
    check("import atexit\natexit.register(print, 'bye')\nraise SystemExit(2)", End::Exited);
    check("import threading, time\nthreading.Thread(target=lambda: time.sleep(0.1)).start()", End::Returned);
}

#[test]
fn a_process_that_leaves_by_itself_has_no_outcome() {
    let left = run_script("import os\nprint('x', flush=True)\nos._exit(5)");
    assert_eq!(left.status.code(), Some(5));
    assert!(left.outcome.is_none());
    assert_eq!(left.marks, [Mark::ProgramBegin]);
}

#[test]
fn forked_children_do_not_speak_for_their_parent() {
    let text = "import os\npid = os.fork()\nif pid == 0:\n    x = 1\nelse:\n    os.waitpid(pid, 0)\n    x = 2\ndel pid\n";
    let run = run_script(text);
    assert_eq!(run.marks, [Mark::ProgramBegin, Mark::ProgramEnd, Mark::Captured]);
    let comparison = compare_captures(&run.left, &run_script("x = 2").left, None, &contract());
    assert_eq!(messages(&comparison), "");
}

#[test]
fn plain_values_are_compared_by_type() {
    let values =
        "a = 1\nb = 'text'\nc = [1, 2.5, None, True]\nd = {'k': (1, 2), 3: {4}}\ne = b'x'\nf = 1 + 2j\n";
    agree(values, values);
    agree("d = {'a': 1, 'b': 2}", "d = {'b': 2, 'a': 1}");
    agree("x = [1]\nx.append(x)", "x = [1]\nx.append(x)");
    differ("x = 1", "x = 2", &["GP500", "globals.x", "1 became 2"]);
    differ("x = 1", "x = 1.0", &["GP501", "globals.x"]);
    differ("x = [1, 2]", "x = (1, 2)", &["GP501", "list became tuple"]);
    differ("x = [1, 2]", "x = [1, 2, 3]", &["GP502", "2 elements became 3"]);
    differ("x = {'a': 1}", "x = {}", &["GP503", "globals.x[\"a\"]"]);
    differ("x = 1", "x = 1\ny = 2", &["GP504", "globals.y"]);
    differ("x = 1\ny = 2", "x = 1", &["GP503", "globals.y"]);
    differ("x = 10**30", "x = 10**30 + 1", &["GP500"]);
    differ("x = float('nan')", "x = 0.0", &["GP500", "NaN became 0.0"]);
    differ("x = [0.5] * 100", "x = [0.5] * 99 + [0.75]", &["globals.x[99]", "1 of 100"]);
    differ("x = None", "x = 0", &["GP501"]);
}

#[test]
fn output_is_compared_number_by_number() {
    agree("print('mean', 0.1 + 0.2)", "print('mean', 0.3)");
    differ(
        "print('mean', 0.31)",
        "print('mean', 0.32)",
        &["GP505", "stdout:1, number 1", "0.31 became 0.32"],
    );
    differ("print('a')", "print('a')\nprint('b')", &["GP502", "stdout", "1 lines became 2"]);
    differ("raise SystemExit(1)", "raise SystemExit(2)", &["GP510", "status 1 became status 2"]);
    differ("raise ValueError", "raise KeyError", &["GP510", "ValueError became builtins.KeyError"]);
}

#[test]
fn what_differs_between_two_runs_of_the_original_is_volatile() {
    let text = "import random\nstart = random.random()\nx = 1.5\nprint('took', start, 'sum', x)\n";
    let (a, b, c) = (run_script(text), run_script(text), run_script(text));
    let comparison = compare_captures(&a.left, &c.left, Some(&b.left), &contract());
    assert_eq!(messages(&comparison), "");
    assert!(comparison.volatile.contains(&"globals.start".to_owned()), "{:?}", comparison.volatile);
    assert!(comparison.volatile.contains(&"stdout:1".to_owned()), "{:?}", comparison.volatile);
    let wrong = run_script(&text.replace("x = 1.5", "x = 1.75"));
    let comparison = compare_captures(&a.left, &wrong.left, Some(&b.left), &contract());
    let told = messages(&comparison);
    assert!(told.contains("globals.x") && told.contains("stdout:1, number 2"), "{told}");
}

#[test]
fn files_are_compared_by_format() {
    let write =
        |text: &str| format!("open('out.txt', 'w').write({text:?})\nopen('raw.bin', 'wb').write(b'\\0')");
    agree(&write("1.50000000001"), &write("1.50000000002"));
    differ(&write("1.5"), &write("1.6"), &["GP505", "files/out.txt:1"]);
    differ(
        "open('a.bin', 'wb').write(b'\\0\\1')",
        "open('a.bin', 'wb').write(b'\\0\\2')",
        &["GP500", "files/a.bin"],
    );
    differ("open('a', 'w')", "open('b', 'w')", &["GP503", "files/a", "GP504", "files/b"]);
}

#[test]
fn contracts_name_comparators() {
    if !has("numpy") {
        return;
    }
    let (a, b) = (
        run_script("import numpy as np\nlabels = np.array([0, 0, 1])\nx = 1.0\nt = 5"),
        run_script("import numpy as np\nlabels = np.array([1, 1, 0])\nx = 1.001\nt = 6"),
    );
    let told = |tolerance: &[(&str, Comparator)]| {
        let tolerance = tolerance.iter().map(|(path, said)| ((*path).to_owned(), said.clone())).collect();
        messages(&compare_captures(&a.left, &b.left, None, &Contract { tolerance, ..contract() }))
    };
    let all = told(&[]);
    assert!(["labels", "globals.x", "globals.t"].iter().all(|name| all.contains(name)), "{all}");
    let none = told(&[
        ("globals.labels", Comparator::UpTo { up_to: UpTo::Permutation }),
        ("globals.x", Comparator::Tolerance { rtol: Some(0.01), atol: None }),
        ("globals.t", Comparator::Named(Named::Ignore)),
    ]);
    assert_eq!(none, "");
}

/// Many expressions in one pair of scripts: before, after, and what is told of the global that holds it; nothing: they
/// agree.
fn check_expressions(modules: &[&str], prelude: &str, cases: &[(&str, &str, &str)]) {
    if !modules.iter().all(|module| has(module)) {
        return;
    }
    let program = |pick: fn(&(&str, &str, &str)) -> String| {
        let lines = cases.iter().enumerate().map(|(index, case)| format!("x{index}_ = {}\n", pick(case)));
        format!("{prelude}\n{}", lines.collect::<String>())
    };
    let (before, after) = (program(|case| case.0.to_owned()), program(|case| case.1.to_owned()));
    let (a, b) = (run_script(&before), run_script(&after));
    assert!(a.status.success() && b.status.success(), "{}\n{}", a.stderr, b.stderr);
    let comparison = compare_captures(&a.left, &b.left, None, &contract());
    let told = messages(&comparison);
    for (index, (before, after, expected)) in cases.iter().enumerate() {
        let here: Vec<&str> =
            told.lines().filter(|line| line.contains(&format!("globals.x{index}_"))).collect();
        let fits = match *expected {
            "" => here.is_empty(),
            expected => {
                here.iter().any(|line| line.replace(&format!("globals.x{index}_"), "x").contains(expected))
            }
        };
        assert!(fits, "{before}\n{after}\nexpected {expected:?}, told {here:#?}");
    }
    assert!(comparison.not_compared.is_empty(), "{:?}", comparison.not_compared);
}

#[test]
fn arrays_are_compared_elementwise() {
    let prelude = r#"
import numpy as np
_record = [("a", "i4"), ("b", "f8")]
def _at(shape, place, value):
    u = np.zeros(shape)
    u[place] = value
    return u
"#;
    let cases = [
        (
            "np.linspace(0, 1, 1000).reshape(10, 100)",
            "np.linspace(0, 1, 1000).reshape(10, 100) * (1 + 1e-12)",
            "",
        ),
        ("np.arange(6).reshape(2, 3).T", "np.ascontiguousarray(np.arange(6).reshape(2, 3).T)", ""),
        ("np.float64(1.5)", "1.5", ""),
        ("np.int64(3)", "3", ""),
        ("[np.float64(i) for i in range(40)]", "[float(i) for i in range(40)]", ""),
        (
            "[np.float64(i) for i in range(40)]",
            "[float(i) for i in range(39)] + [0.5]",
            "x[39]: 39.0 became 0.5",
        ),
        ("np.ma.array([1.0, 2.0], mask=[0, 1])", "np.ma.array([1.0, 3.0], mask=[0, 1])", ""),
        ("np.ma.array([1.0, 2.0], mask=[0, 1])", "np.ma.array([1.0, 2.0], mask=[0, 0])", "x.mask[1]"),
        ("np.zeros((4, 50))", "_at((4, 50), (3, 17), 1.0)", "x[3, 17]: 0.0 became 1.0"),
        ("np.zeros((40, 50))", "_at((40, 50), (3, 17), 1.0)", "1 of 2000 elements differ"),
        ("np.zeros(3)", "np.zeros(3, 'f4')", "GP501 x: dtype <f8 became <f4"),
        ("np.zeros(3)", "np.zeros((3, 1))", "GP502 x: shape [3] became [3, 1]"),
        ("np.array([1.0, np.nan])", "np.array([1.0, 2.0])", "x[1]: NaN became 2.0"),
        ("np.array([1.0, np.inf])", "np.array([1.0, np.inf])", ""),
        ("np.arange(3)", "np.arange(3) + 1", "3 of 3"),
        ("np.array([True, False])", "np.array([True, True])", "x[1]: False became True"),
        ("np.array([1 + 2j])", "np.array([1 + 2.5j])", "x[0]: 1.0+2.0j became 1.0+2.5j"),
        ("np.array([(1, 2.0)], _record)", "np.array([(1, 3.0)], _record)", "x['b'][0]: 2.0 became 3.0"),
        ("np.array(['2020-01-01'], 'M8[s]')", "np.array(['2020-01-02'], 'M8[s]')", "x[0]"),
        (
            "np.array(['2020-01-01'], 'M8[s]')",
            "np.array(['2020-01-01'], 'M8[D]')",
            "dtype <M8[s] became <M8[D]",
        ),
        ("np.array(['ab', 'c'])", "np.array(['ab', 'd'])", "x[1]: \"c\" became \"d\""),
        ("np.array([b'ab'])", "np.array([b'ab'])", ""),
        ("np.array([1, 'a'], object)", "np.array([1, 'b'], object)", "x[1]"),
        ("np.array([[1.0]]).view(np.matrix)", "np.array([[1.0]])", "numpy.matrix became numpy.ndarray"),
        ("np.float32(1)", "1.0", "GP501"),
        ("np.zeros(3)", "[0.0, 0.0, 0.0]", "GP501"),
        ("np.float16([1, 2])", "np.float16([1, 2.01])", ""),
        ("np.longdouble(1)", "np.longdouble(2)", "1.0 became 2.0"),
        ("np.arange(3, dtype='>f8')", "(np.arange(3) + 1).astype('>f8')", "x[0]: 0.0 became 1.0"),
        ("{'u': [np.zeros(2)]}", "{'u': [np.ones(2)]}", "x[\"u\"][0][0]"),
    ];
    check_expressions(&["numpy"], prelude, &cases);
}

#[test]
fn array_files_are_compared_elementwise() {
    if !has("numpy") {
        return;
    }
    let save = |text: &str| format!("import numpy as np\n{text}");
    let before = "np.save('u.npy', np.eye(3))\nnp.savez('a.npz', a=np.zeros(3), b=1)\nnp.savez_compressed('c.npz', a=np.zeros(3))\nnp.save('s.npy', np.zeros(2, 'i4,f8'))\n";
    let after = before
        .replace("np.eye(3)", "np.asfortranarray(np.eye(3)) + 1e-13")
        .replace("np.savez(", "np.savez (");
    agree(&save(before), &save(&after));
    let told = messages(&compared(
        &save(before),
        &save(
            "np.save('u.npy', np.eye(3) * 2)\nnp.savez('a.npz', a=np.ones(3), c=1)\nnp.savez_compressed('c.npz', a=np.zeros(4))\nnp.save('s.npy', np.ones(2, 'i4,f8'))",
        ),
    ));
    for expected in [
        "files/u.npy[0, 0]: 1.0 became 2.0",
        "files/a.npz[\"a\"][0]: 0.0 became 1.0",
        "GP503 files/a.npz[\"b\"]",
        "GP504 files/a.npz[\"c\"]",
        "GP502 files/c.npz[\"a\"]: shape [3] became [4]",
        "files/s.npy: its bytes differ",
    ] {
        assert!(told.contains(expected), "{expected}:\n{told}");
    }
}

#[test]
fn frames_are_compared_column_by_column() {
    let prelude = r#"
import pandas as pd
def _frame(**columns):
    return pd.DataFrame({"a": [1, 2, 3], "s": ["x", None, "z"], "c": pd.Categorical(["p", "q", "p"]), **columns})
def _texts(last):
    return pd.Series([f"row {i}" for i in range(2000)] + [last])
_day = pd.Timestamp("2020-01-01", tz="Europe/Berlin")
"#;
    let cases = [
        ("_frame()", "_frame()", ""),
        ("_frame()", "_frame(a=[1, 7, 3])", "x['a'][1]: 2 became 7"),
        ("_frame()", "_frame(a=[1.0, 2.0, 3.0])", "x['a']: dtype <i8 became <f8"),
        ("_frame()", "_frame(s=['x', 'y', 'z'])", "x['s'][1]: missing became \"y\""),
        ("_frame()", "_frame(c=pd.Categorical(['q', 'q', 'p']))", "x['c'].codes[0]"),
        ("_frame()", "_frame(c=['p', 'q', 'p'])", "GP501 x['c']"),
        ("_frame()", "_frame()[['s', 'a', 'c']]", "x.columns[0]: \"a\" became \"s\""),
        ("_frame()", "_frame().set_index(pd.Index([5, 6, 7]))", "x.index[0]: 0 became 5"),
        ("_frame()", "_frame().set_index(pd.Index([0, 1, 2]))", ""),
        ("_frame()", "_frame().iloc[:2]", "GP502"),
        ("_frame()", "_frame(extra=[1, 2, 3])", "GP504 x['extra']"),
        ("_frame()['a']", "_frame()['a'].rename('b')", "its name 'a' became 'b'"),
        (
            "_frame(b=pd.array([1, None, 3], 'Int64'))",
            "_frame(b=pd.array([1, 2, 3], 'Int64'))",
            "x['b'].missing[1]",
        ),
        ("_frame(t=[_day] * 3)", "_frame(t=[_day + pd.Timedelta('1h')] * 3)", "x['t'][0]"),
        (
            "_frame().groupby('c', observed=True)['a'].sum()",
            "_frame().groupby('c', observed=True)['a'].mean()",
            "GP501",
        ),
        (
            "_frame().set_index(['a', 's'])",
            "_frame(s=['x', None, 'w']).set_index(['a', 's'])",
            "x.index.level[1][2]",
        ),
        ("pd.period_range('2020', periods=3)", "pd.period_range('2021', periods=3)", "x[0]"),
        ("pd.Timestamp('2020')", "pd.Timestamp('2021')", "GP500"),
        ("_texts('end')", "_texts('end')", ""),
        ("_texts('end')", "_texts('END')", "x[2000]: \"end\" became \"END\"; 1 of 2001"),
        ("_texts('end')", "_texts(None)", "x[2000]: \"end\" became missing"),
        ("pd.Series([1, 'a', 2.5])", "pd.Series([1, 'b', 2.5])", "x[1]"),
    ];
    check_expressions(&["pandas"], prelude, &cases);
}

#[test]
fn models_graphs_and_sparse_matrices_are_compared_by_their_parts() {
    let prelude = r"
from sklearn.linear_model import Ridge as _Ridge
from sklearn.ensemble import RandomForestClassifier as _Forest
from sklearn.pipeline import make_pipeline as _pipeline
from sklearn.preprocessing import StandardScaler as _Scaler
import networkx as nx, scipy.sparse as sp
_x = [[0.0], [1.0], [2.0], [3.0]]
def _graph(*edges, **more):
    g = nx.Graph(**more)
    g.add_weighted_edges_from(edges)
    return g
_m = sp.csr_matrix([[0, 1.0], [2.0, 0]])
";
    let cases = [
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge().fit(_x, [0, 1, 2, 3])", ""),
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge().fit(_x, [0, 1, 2, 4])", "x.coef_[0]"),
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge()", "GP503 x.coef_"),
        (
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "",
        ),
        (
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "_Forest(2, random_state=1).fit(_x, [0, 1, 0, 1])",
            "x.estimators_[0].tree_",
        ),
        (
            "_pipeline(_Scaler(), _Ridge()).fit(_x, [0, 1, 2, 3])",
            "_pipeline(_Scaler(), _Ridge()).fit(_x, [0, 1, 2, 4])",
            "coef_[0]",
        ),
        ("_graph(('a', 'b', 1.0))", "_graph(('b', 'a', 1.0))", ""),
        ("_graph(('a', 'b', 1.0))", "_graph(('a', 'b', 2.0))", "x.edges['weight'][0]: 1.0 became 2.0"),
        ("_graph(('a', 'b', 1.0))", "_graph(('a', 'b', 1.0), ('b', 'c', 1.0))", "GP502 x.nodes"),
        (
            "_graph(('a', 'b', 1.0))",
            "_graph(('a', 'b', 1.0)).to_directed()",
            "its directed False became True",
        ),
        ("_m", "_m[[1, 0]][[1, 0]]", ""),
        ("_m", "_m * 2", "x.data[0]: 1.0 became 2.0"),
        ("_m", "_m.tocsc()", "GP501"),
        ("_m.tocoo()", "_m.T.tocoo().T", ""),
    ];
    check_expressions(&["sklearn", "networkx", "scipy"], prelude, &cases);
}

#[test]
fn what_cannot_be_captured_is_listed() {
    let comparison = agree(
        "x = 1\ng = (i for i in [1])\nf = open('f.txt', 'w')",
        "x = 1\ng = (i for i in [1])\nf = open('f.txt', 'w')",
    );
    let listed: Vec<&str> = comparison.not_compared.iter().map(|entry| entry.what.as_str()).collect();
    assert_eq!(listed, ["globals.g", "globals.f"]);
    differ("x = [1]", "x = iter([1])", &["GP501", "can't be captured"]);
    agree(
        "class A:\n    def __init__(self): self.x = 1\na = A()",
        "class A:\n    def __init__(self): self.x, self._cache = 1, 2\na = A()",
    );
    differ("class A:\n    pass\na = A()\na.x = 1", "class A:\n    pass\na = A()\na.x = 2", &["globals.a.x"]);
}

/// A function workload in two steps, as the judge does it: inputs, then calls.
fn run_function(files: &[(&str, &str)], change: impl FnOnce(&mut Job)) -> Run {
    let workload = Workload::Function {
        target: "pkg.mod:work".to_owned(),
        inputs: "inputs.py:make".to_owned(),
        scale: "3".to_owned(),
        seed: 7,
    };
    let inputs = tempfile::tempdir().unwrap();
    let folder = inputs.path().to_owned();
    let made = run(files, workload.clone(), |job, _| {
        job.mode = Mode::Inputs;
        job.capture_dir = None;
        job.inputs_dir = Some(folder.clone());
        job.input_sets = 2;
    });
    assert!(made.status.success(), "{}", made.stderr);
    run(files, workload, |job, _| {
        job.inputs_dir = Some(folder);
        job.input_sets = 2;
        change(job);
    })
}

const INPUTS: (&str, &str) = (
    "inputs.py",
    "def make(seed, scale):\n    data = [float(seed)] * scale\n    return (data,), {'again': data}\n",
);

#[test]
fn functions_are_called_with_fresh_inputs() {
    let work = "def work(data, again):\n    assert data is again and len(data) == 3\n    data.append(1.0)\n    return sum(data)\n";
    let files = [("pkg/__init__.py", ""), ("pkg/mod.py", work), INPUTS];
    let timed = run_function(&files, |job| {
        job.mode = Mode::Time;
        (job.warmup, job.runs) = (1, 3);
    });
    assert!(timed.status.success(), "{}", timed.stderr);
    let calls = (0..3).flat_map(|call| [Mark::CallBegin(call), Mark::CallEnd(call)]);
    let expected: Vec<Mark> =
        [Mark::ProgramBegin].into_iter().chain(calls).chain([Mark::ProgramEnd, Mark::Captured]).collect();
    assert_eq!(timed.marks, expected);
    let captured = run_function(&files, |job| job.runs = 2);
    assert_eq!(messages(&compare_captures(&captured.left, &timed.left, None, &contract())), "");
    let wrong = [files[0], ("pkg/mod.py", &work.replace("1.0", "1.5")), INPUTS];
    let wrong = run_function(&wrong, |job| job.runs = 2);
    let told = messages(&compare_captures(&captured.left, &wrong.left, None, &contract()));
    assert!(told.contains("call 1: return") && told.contains("arguments[0][3]"), "{told}");
    let fewer = run_function(&files, |job| job.runs = 1);
    let told = messages(&compare_captures(&captured.left, &fewer.left, None, &contract()));
    assert!(told.contains("GP503"), "{told}");
}

#[test]
fn what_can_not_be_run_says_why() {
    let check = |work: &str, target: &str, end: End, expected: &str| {
        let workload = Workload::Function {
            target: target.to_owned(),
            inputs: "inputs.py:make".to_owned(),
            scale: "1".to_owned(),
            seed: 0,
        };
        let files = [("mod.py", work), INPUTS];
        let run = run(&files, workload, |job, base| job.inputs_dir = Some(base.join("nothing")));
        let outcome = run.outcome.unwrap();
        assert_eq!(outcome.end, end, "{target}");
        let message = outcome.exception.unwrap().message;
        assert!(message.contains(expected), "{target}: {message}");
    };
    check("", "mod:absent", End::NotRun, "absent");
    check("", "mod", End::NotRun, "package.module:function");
    check("x = 1", "mod:x", End::NotRun, "not callable");
    check("def f(): pass", "mod:f", End::NotRun, "inputs");
    check("import nothing_like_this", "mod:f", End::Raised, "nothing_like_this");
}

#[test]
fn returned_types_are_part_of_the_result() {
    if !has("numpy") {
        return;
    }
    let run = |work: &str| {
        let text = format!("import numpy as np\ndef work(data, again):\n    return {work}\n");
        run_function(&[("pkg/__init__.py", ""), ("pkg/mod.py", &text), INPUTS], |_| {})
    };
    let check = |before: &str, after: &str, expected: &str| {
        let told = messages(&compare_captures(&run(before).left, &run(after).left, None, &contract()));
        assert!(
            if expected.is_empty() { told.is_empty() } else { told.contains(expected) },
            "{after}: {told}"
        );
    };
    check("np.float64(1)", "np.float64(1)", "");
    check("np.float64(1)", "1.0", "GP501");
    check("np.float64(1)", "np.array(1.0)", "GP501");
    check("np.zeros(3)", "[0.0] * 3", "GP501");
    check("(x for x in [1, 2])", "(x for x in [1, 3])", "return[1]");
}

#[test]
fn changed_lines_and_modules_are_told() {
    let text = "import sys\ndef f(x):\n    if x:\n        return 1\n    return 2\nf(0)\n";
    let run = run(&[("main.py", text)], script(&[]), |job, _| {
        job.mode = Mode::Coverage;
        job.changed_files = vec![
            ChangedFile { path: "main.py".into(), lines: vec![(3, 5)] },
            ChangedFile { path: "absent.py".into(), lines: vec![(1, 1)] },
        ];
    });
    let outcome = run.outcome.unwrap();
    assert_eq!(outcome.modules.len(), 1);
    assert_eq!(
        (outcome.modules[0].name.as_str(), &outcome.modules[0].file),
        ("__main__", &run.left.root.join("main.py"))
    );
    assert_eq!(outcome.covered[0].executable, [3, 4, 5]);
    assert_eq!(outcome.covered[0].executed, [3, 5]);
    assert!(outcome.covered[1].executable.is_empty());
}

#[test]
fn an_activity_run_works_without_a_device() {
    let run =
        run(&[("main.py", "import json\nprint('x')\n")], script(&[]), |job, _| job.mode = Mode::Activity);
    let outcome = run.outcome.unwrap();
    assert_eq!(outcome.end, End::Returned);
    assert!(outcome.activity.is_some());
    assert_eq!(std::fs::read_to_string(run.left.stdout).unwrap(), "x\n");
}

#[test]
fn a_candidate_that_tampers_with_its_capture_is_found_out() {
    let text = "import os\nx = [1.5] * 1000\n";
    let check = |tamper: &dyn Fn(&Path), expected: &str| {
        let (a, b) = (run_script(text), run_script(text));
        tamper(&b.left.dir);
        let told = messages(&compare_captures(&a.left, &b.left, None, &contract()));
        assert!(told.contains(expected), "{told}");
    };
    check(&|dir| std::fs::remove_file(dir.join("manifest.json")).unwrap(), "GP503");
    check(&|dir| std::fs::write(dir.join("manifest.json"), "{").unwrap(), "GP506");
    check(&|dir| std::fs::remove_file(dir.join("000001.npy")).unwrap(), "GP506");
    check(&|dir| std::fs::write(dir.join("000001.npy"), "x").unwrap(), "GP506");
    let linked = |dir: &Path| {
        let other = dir.with_file_name("other.npy");
        std::fs::rename(dir.join("000001.npy"), &other).unwrap();
        std::os::unix::fs::symlink(&other, dir.join("000001.npy")).unwrap();
    };
    check(&linked, "GP506");
    let renamed = |dir: &Path| {
        let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
        std::fs::write(dir.join("manifest.json"), manifest.replace("000001.npy", "../stdout")).unwrap();
    };
    check(&renamed, "GP506");
}
