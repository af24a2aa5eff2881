//! Function workloads: inputs, calls, returned types.

use super::*;

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
