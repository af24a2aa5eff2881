//! The worker runs programs as the interpreter would, and says how they ended.

use std::process::Command;

use super::*;

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
