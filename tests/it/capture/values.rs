//! Comparing what programs leave: values, output, files; and captures that were tampered with.

use gpuport::verify::compare::tolerance::{Comparator, Named, UpTo};

use super::*;

/// Compares two scripts.
fn compared(before: &str, after: &str) -> Comparison {
    let (a, b) = (run_script(before), run_script(after));
    assert!(a.status.success() == b.status.success(), "{}\n{}", a.stderr, b.stderr);
    compare_captures(&a.left, &b.left, None, &contract())
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

#[test]
fn tables_are_compared_by_what_a_clean_process_reads() {
    if !has("pandas") || !has("pyarrow") {
        return;
    }
    let write = |values: &str, options: &str| {
        format!(
            "import pandas as pd\npd.DataFrame({{'a': {values}, 's': ['x', None]}}).to_parquet('t.parquet'{options})"
        )
    };
    let converted = |text: &str| {
        let mut run = run_script(text);
        assert!(run.status.success(), "{}", run.stderr);
        let folder = run.left.root.with_file_name("converted");
        std::fs::create_dir_all(folder.join("t.parquet")).unwrap();
        let status = Command::new(python())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("python/gpuport/worker.py"))
            .args(["convert".into(), run.left.root.join("t.parquet"), folder.join("t.parquet")])
            .status();
        assert!(status.unwrap().success());
        run.left.converted = Some(folder);
        run
    };
    let before = converted(&write("[1.0, 2.0]", ""));
    let check = |after: &str, expected: &str| {
        let told = messages(&compare_captures(&before.left, &converted(after).left, None, &contract()));
        assert!(if expected.is_empty() { told.is_empty() } else { told.contains(expected) }, "{told}");
    };
    check(&write("[1.0, 2.0]", ", compression='gzip'"), "");
    check(&write("[1.0, 2.0 + 1e-12]", ""), "");
    check(&write("[1.0, 2.5]", ""), "files/t.parquet['a'][1]: 2.0 became 2.5");
    check(&write("[1, 2]", ""), "GP501 files/t.parquet['a']");
}
