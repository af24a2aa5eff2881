//! What matches, and why something doesn't.

use super::{HEADER, apply, misses, parse, pass, rule};
use crate::kinds::NoFacts;
use crate::pass::find;

/// The text of each match of `pattern` in `text`.
fn matched(rules: &str, text: &str) -> Vec<String> {
    let pass = pass(&format!("{HEADER}api: table\nrules:\n{rules}"));
    let (module, names) = parse(text);
    let (matches, _) = find(&pass, &module, &names, &super::ByName);
    matches.iter().map(|it| format!("{}: {}", pass.rules[it.rule_index].id, module.slice(it.range))).collect()
}

fn one(pattern: &str, text: &str) -> Vec<String> {
    let rules = format!("- {{id: r, match: {pattern:?}, advise: seen}}\n");
    matched(&rules, &format!("import numpy as np\n{text}\n"))
        .into_iter()
        .map(|it| it.trim_start_matches("r: ").to_owned())
        .collect()
}

#[track_caller]
fn check(pattern: &str, text: &str, expected: &[&str]) {
    assert_eq!(one(pattern, text), expected, "{pattern} in {text}");
}

#[test]
fn paths_match_by_what_they_mean() {
    let names = |text: &str| matched("- {id: r, match: numpy.linalg.norm, advise: seen}\n", text).len();
    assert_eq!(names("import numpy as np\nnp.linalg.norm\n"), 1);
    assert_eq!(names("from numpy import linalg as la\nla.norm(x)\n"), 1);
    assert_eq!(names("from numpy.linalg import norm\nnorm(x) + norm\n"), 2);
    assert_eq!(names("import numpy.linalg\nnumpy.linalg.norm(x)\n"), 1);
    assert_eq!(names("import numpy as np\ndef f(np):\n    np.linalg.norm\n"), 0);
    assert_eq!(
        names("try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\nnp.linalg.norm\n"),
        0
    );
    assert_eq!(names("import other as np\nnp.linalg.norm\n"), 0);
    assert_eq!(names("import numpy as np\nnp.linalg.norm.x\n'np.linalg.norm'\n"), 1);
}

#[test]
fn arguments_match_by_position_name_and_signature() {
    check("numpy.sum($X)", "np.sum(a); np.sum(); np.sum(a, 0); np.sum(*a)", &["np.sum(a)"]);
    check(
        "numpy.sum($X, axis=0)",
        "np.sum(a, axis=0); np.sum(axis=0, a=b); np.sum(c, 0); np.sum(d, 1)",
        &["np.sum(a, axis=0)", "np.sum(axis=0, a=b)", "np.sum(c, 0)"],
    );
    check(
        "numpy.sum($X, axis=$A?)",
        "np.sum(a); np.sum(a, axis=1); np.sum(a, **k); np.sum(a, out=o)",
        &["np.sum(a)", "np.sum(a, axis=1)"],
    );
    check(
        "numpy.sum($$$ARGS, out=$O)",
        "np.sum(a, out=o); np.sum(a); np.sum(*a, out=o, **k)",
        &["np.sum(a, out=o)", "np.sum(*a, out=o, **k)"],
    );
    check("numpy.other($X, axis=0)", "np.other(a, axis=0); np.other(a, 0)", &["np.other(a, axis=0)"]);
    check("numpy.f([$X, $$$Y])", "np.f([1, 2, 3]); np.f([1]); np.f([])", &["np.f([1, 2, 3])", "np.f([1])"]);
}

#[test]
fn literals_match_by_value_and_repeats_must_be_equal() {
    check("numpy.f(16)", "np.f(0x10); np.f(16.0); np.f(1_6)", &["np.f(0x10)", "np.f(1_6)"]);
    check("numpy.f('ab')", "np.f('a' \"b\"); np.f(b'ab')", &["np.f('a' \"b\")"]);
    check("numpy.f($X, $X)", "np.f(a.b, a . b); np.f(a, b)", &["np.f(a.b, a . b)"]);
    check("$X[$I] - $X[$I]", "a[0] - a[0]; a[0] - a[1]", &["a[0] - a[0]"]);
}

#[test]
fn methods_are_no_functions_of_modules() {
    check("$X.sum($$$)", "a.sum(); np.sum(a); b.c.sum(0); np.linalg.sum()", &["a.sum()", "b.c.sum(0)"]);
    check("$X.$M()", "a.f(); np.f()", &["a.f()"]);
}

#[test]
fn of_two_that_match_the_more_special_wins() {
    let rules = "- {id: any, match: numpy.$F($$$A), advise: seen}
- {id: sum, match: numpy.sum($$$A), advise: seen}
- {id: sum-axis, match: 'numpy.sum($$$A, axis=0)', advise: seen}
- {id: array, match: numpy.sum($X), where: {X: {kind: array}}, advise: seen}
";
    assert_eq!(
        matched(rules, "import numpy as np\nnp.f(); np.sum(a); np.sum(a, axis=0); np.sum(arr)\n"),
        ["any: np.f()", "sum: np.sum(a)", "sum-axis: np.sum(a, axis=0)", "array: np.sum(arr)"]
    );
}

#[test]
fn an_inner_match_is_kept_only_in_what_the_outer_keeps() {
    let rules = "- {id: norm, match: numpy.linalg.norm($X), rewrite: cupy.linalg.norm($X)}
- {id: path, match: numpy.linalg.$F, rewrite: cupy.linalg.$F}
";
    assert_eq!(
        matched(rules, "import numpy as np\nnp.linalg.norm(np.linalg.det)\n"),
        ["norm: np.linalg.norm(np.linalg.det)", "path: np.linalg.det"]
    );
}

#[test]
fn conditions_decide() {
    let check = |condition: &str, pattern: &str, text: &str, expected: usize| {
        let rules = format!("- {{id: r, match: {pattern:?}, where: {condition}, advise: seen}}\n");
        let found = matched(&rules, &format!("import numpy as np\n{text}\n"));
        assert_eq!(found.len(), expected, "{condition}: {found:?}");
    };
    check("{as: statement}", "numpy.f($X)", "np.f(a)\nb = np.f(a)\nnp.f(np.f(a))", 2);
    check("{as: expression}", "numpy.f($X)", "np.f(a)\nb = np.f(a)\nnp.f(np.f(a))", 2);
    check(
        "{inside_loop: true}",
        "numpy.f($X)",
        "np.f(a)\nfor i in np.f(a):\n    np.f(a)\n    def g(): np.f(a)",
        1,
    );
    check("{X: {is: numpy.inf}}", "numpy.f($X)", "np.f(np.inf); np.f(inf)", 1);
    check("{X: {is: [float, numpy.inf]}}", "numpy.f($X)", "np.f(np.inf); np.f(float)", 2);
    check("{X: {literal: true}}", "numpy.f($X)", "np.f(1); np.f(-1); np.f('a'); np.f(a)", 3);
    check(
        "{X: {one_of: [1, -2, a, null, 0.5]}}",
        "numpy.f($X)",
        "np.f(1); np.f(-2); np.f('a'); np.f(None); np.f(.5); np.f(2); np.f(a)",
        5,
    );
    check("{F: {one_of: [sum, prod]}}", "numpy.$F", "np.sum; np.prod; np.max", 2);
    check("{F: {regex: 'sum|nan.*'}}", "numpy.$F", "np.sum; np.nansum; np.cumsum", 2);
    check("{X: {kind: array}}", "$X.sum()", "arr.sum(); b.sum()", 1);
    check("{X: {rank: 2}}", "$X.sum()", "arr2.sum(); arr1f.sum(); arr.sum()", 1);
    check("{X: {rank: [1, 2], dtype: float}}", "$X.sum()", "arr2.sum(); arr1f.sum(); arr.sum()", 1);
    check("{X: {dtype: [integer, complex]}}", "$X.sum()", "arr2.sum(); arr1f.sum(); b.sum()", 0);
    check("{F: {in_api: true}}", "numpy.$F", "np.sum; np.what", 1);
    check("{F: {in_api: false}}", "numpy.$F", "np.sum; np.what", 1);
    check("{M: {in_api: numpy.ndarray}}", "$X.$M()", "a.sum(); a.what()", 1);
    check("{F: {ufunc: true}}", "numpy.$F($$$)", "np.sin(a); np.sum(a)", 1);
    check(
        "{A: {present: [axis]}}",
        "numpy.sum($$$A)",
        "np.sum(a, axis=0); np.sum(a, 0); np.sum(a); np.sum(a, **k)",
        3,
    );
    check(
        "{A: {absent: [axis]}}",
        "numpy.sum($$$A)",
        "np.sum(a, axis=0); np.sum(a, 0); np.sum(a); np.sum(a, **k)",
        1,
    );
    check("{A: {max_positional: 1}}", "numpy.sum($$$A)", "np.sum(a, axis=0); np.sum(a, 0)", 1);
    check("{A: {given: true}}", "numpy.sum($X, axis=$A?)", "np.sum(a, axis=0); np.sum(a)", 1);
    check("{not: {X: {literal: true}}}", "numpy.f($X)", "np.f(1); np.f(a)", 1);
    check(
        "{any: [{X: {literal: true}}, {X: {kind: array}}]}",
        "numpy.f($X)",
        "np.f(1); np.f(arr); np.f(a)",
        2,
    );
}

#[test]
fn later_uses_are_found_in_loops_and_closures() {
    let check = |text: &str, expected: usize| {
        let rules = "- {id: r, match: numpy.f($X), where: {X: {used_later: true}}, advise: seen}\n";
        assert_eq!(matched(rules, &format!("import numpy as np\n{text}\n")).len(), expected, "{text}");
    };
    check("def g(a):\n    np.f(a)", 0);
    check("def g(a):\n    np.f(a)\n    return a", 1);
    check("def g(a):\n    h(a)\n    np.f(a)", 0);
    check("def g(a):\n    while 1:\n        h(a)\n        np.f(a)", 1);
    check("def g(a):\n    np.f(a)\n    def h(): return a", 1);
}

#[test]
fn statement_sequences_match_with_a_rest_between() {
    let rules = "- id: r
  match: |
    $A = numpy.zeros($N)
    $$$BETWEEN
    $A += $B
  advise: seen
";
    let text = "import numpy as np\nx = np.zeros(3)\ny = 1\nx += y\nz = np.zeros(2)\nw += 1\n";
    assert_eq!(matched(rules, text), ["r: x = np.zeros(3)\ny = 1\nx += y"]);
}

#[test]
fn why_not_is_told_only_on_request() {
    let text = format!("{}    where: {{X: {{kind: array}}}}\n", rule("numpy.f($X)", "cupy.f($X)"));
    let pass = pass(&text);
    let program = "import numpy as np\nnp.f(a)\nnp.f(a, b)\n";
    assert_eq!(misses(&pass, program, false), Vec::<String>::new());
    assert_eq!(
        misses(&pass, program, true),
        ["it would match if `$X` is known to be of kind array", "its arguments don't fit the pattern"]
    );
    assert_eq!(apply(&pass, program), program);
}

#[test]
fn a_module_that_does_not_mention_the_library_is_not_looked_at() {
    let pass = pass(&rule("$X.sum()", "$X.total()"));
    let (module, names) = parse("a.sum()\n");
    assert!(find(&pass, &module, &names, &NoFacts).0.is_empty());
}
