//! What a match becomes, byte for byte.

use super::{HEADER, WITHIN, apply, check, misses, pass, rule};

const SUPPORTED: &str = "\
api: table
rules:
  - id: supported
    match: numpy.$F($$$ARGS)
    where: {F: {in_api: true}}
    rewrite: cupy.$F($$$ARGS)
";

fn supported() -> String {
    format!("{HEADER}{SUPPORTED}")
}

#[test]
fn a_call_is_renamed_and_nothing_else_changes() {
    let check = |before: &str, after: &str| {
        let head = "import numpy as np\nkeep = np\n";
        super::check(
            &supported(),
            &format!("{head}{before}"),
            &format!("import numpy as np\nimport cupy as cp\nkeep = np\n{after}"),
        );
    };
    check("x = np.sum(a)\n", "x = cp.sum(a)\n");
    check("x = np . sum( a , axis = 0 )\n", "x = cp . sum( a , axis = 0 )\n");
    check("x = np.sum(\n    a,  # all\n    axis=0,\n)\n", "x = cp.sum(\n    a,  # all\n    axis=0,\n)\n");
    check("x = np.sum(np.sin(a), axis=0)\n", "x = cp.sum(cp.sin(a), axis=0)\n");
}

#[test]
fn arguments_follow_the_signatures() {
    let check = |before: &str, after: &str| {
        let result = apply(&pass(&supported()), &format!("import numpy as np\n{before}\n"));
        assert_eq!(result, format!("import cupy as cp\n{after}\n"));
    };
    check("x = np.std(a)", "x = cp.std(a, ddof=0)");
    check("x = np.std(a, 0)", "x = cp.std(a, 0, ddof=0)");
    check("x = np.std(a, ddof=2)", "x = cp.std(a, ddof=2)");
    check("x = np.std(a, 0, 2)", "x = cp.std(a, 0, 2)");
    check("x = np.moved(a, 3)", "x = cp.moved(a, b=3)");
    check("x = np.moved(a, 3, 4)", "x = cp.moved(a, b=3, c=4)");
    check("x = np.sin(*args)", "x = cp.sin(*args)");
}

#[test]
fn what_the_target_lacks_is_told() {
    let check = |before: &str, expected: &[&str]| {
        assert_eq!(misses(&pass(&supported()), &format!("import numpy as np\n{before}\n"), false), expected);
    };
    check("np.sum(a)", &[]);
    check("np.sum(a, where=m)", &["GP202 `cupy.sum` takes no `where` as `numpy.sum` does"]);
    check("np.std(*a)", &["GP202 `cupy.std` takes no unpacked arguments as `numpy.std` does"]);
    check("np.nothing(a)", &[]);
    let open = supported().replace("    where: {F: {in_api: true}}\n", "");
    assert_eq!(
        misses(&pass(&open), "import numpy as np\nnp.nothing(a)\n", false),
        ["GP201 `numpy.nothing` has no counterpart in `cupy`"]
    );
}

#[test]
fn an_expression_that_is_a_statement_can_become_one() {
    let text = format!(
        "{HEADER}api: table
rules:
  - id: where-out
    match: numpy.$F($$$ARGS, out=$OUT, where=$MASK)
    where: {{F: {{ufunc: true}}, as: statement}}
    rewrite: \"$OUT[...] = cupy.where($MASK, cupy.$F($$$ARGS), $OUT)\"
"
    );
    check(
        &text,
        "import numpy as np\ndef f():\n    np.add(a, b, where=m > 0, out=o)\n    return np.add(a, b, where=m, out=o)\n",
        "import numpy as np\nimport cupy as cp\ndef f():\n    o[...] = cp.where(m > 0, cp.add(a, b), o)\n    return np.add(a, b, where=m, out=o)\n",
    );
    check(
        &text,
        "import numpy as np\nnp.add(np.sin(a), b, where=m, out=o)\n",
        "import numpy as np\nimport cupy as cp\no[...] = cp.where(m, cp.add(np.sin(a), b), o)\n",
    );
}

#[test]
fn parentheses_keep_what_was_one_expression_together() {
    let check = |pattern: &str, rewrite: &str, before: &str, after: &str| {
        let text = rule(pattern, rewrite).replace(HEADER, WITHIN);
        let result = apply(&pass(&text), &format!("import numpy as np\nuse(np)\n{before}\n"));
        assert_eq!(result, format!("import numpy as np\nuse(np)\n{after}\n"));
    };
    check("numpy.power($X, 2)", "$X ** 2", "y = np.power(a, 2)", "y = a ** 2");
    check("numpy.power($X, 2)", "$X ** 2", "y = np.power(a + b, 2)", "y = (a + b) ** 2");
    check("numpy.power($X, 2)", "$X ** 2", "y = np.power(-a, 2)", "y = (-a) ** 2");
    check("numpy.power($X, 2)", "$X ** 2", "y = -np.power(a, 2)", "y = -(a ** 2)");
    check("numpy.power($X, 2)", "$X ** 2", "y = (np.power(a, 2)).b", "y = (a ** 2).b");
    check("numpy.power($X, 2)", "$X ** 2", "y = np.power((a + b), 2)", "y = (a + b) ** 2");
    check("numpy.power($X, 2)", "$X ** 2", "y = np.power(a\n  + b, 2)", "y = (a\n  + b) ** 2");
    check("numpy.first($X)", "$X.item()", "y = np.first(a if b else c)", "y = (a if b else c).item()");
    check("numpy.both($X, $Y)", "[$X, $Y]", "y = np.both(a, *b)", "y = np.both(a, *b)");
    check("numpy.one($X)", "numpy.two($X, 1)", "y = np.one(i for i in a)", "y = np.two((i for i in a), 1)");
    check("numpy.zero", "0", "y = np.zero.real + np.zero", "y = (0).real + 0");
    check("numpy.any($X)", "$X", "y = 1if np.any(x)else 2", "y = 1if x else 2");
    check("numpy.neg($X)", "-$X", "y = [np.neg(a), np.neg(a) * 2]", "y = [-a, (-a) * 2]");
    check("numpy.neg($X)", "-$X", "y = np.neg(np.neg(a))", "y = -(-a)");
}

#[test]
fn captures_may_move_with_what_changes_inside_them() {
    let text = format!(
        "{WITHIN}rules:
  - id: swap
    match: numpy.swap($X, $Y)
    rewrite: numpy.paws($Y, $X)
  - id: name
    rename: {{numpy.old: numpy.new}}
"
    );
    check(
        &text,
        "import numpy as np\ny = np.swap(np.old, np.swap(b, np.old))\n",
        "import numpy as np\ny = np.paws(np.paws(np.new, b), np.new)\n",
    );
}

#[test]
fn evaluation_is_not_doubled_dropped_or_reordered() {
    let check = |pattern: &str, rewrite: &str, before: &str, expected: &str| {
        let before = format!("import numpy as np\n{before}\n");
        assert_eq!(
            misses(&pass(&rule(pattern, rewrite)), &before, false),
            [format!("GP110 {expected}")],
            "{before}"
        );
    };
    check(
        "numpy.f($X, $Y)",
        "numpy.g($Y, $X)",
        "np.f(a(), b())",
        "the replacement would change the order in which calls are evaluated",
    );
    check(
        "numpy.f($X)",
        "numpy.g($X, $X)",
        "np.f(a())",
        "the replacement would evaluate a call more than once",
    );
    check(
        "numpy.f($X, $Y)",
        "numpy.g($X)",
        "np.f(a, b())",
        "the replacement would drop an argument that calls a function",
    );
    check("numpy.f($X, $Y)", "numpy.g($X)", "np.f(a,  # why\n b)", "the replacement would drop a comment");
    check(
        "numpy.f($X, $Y)",
        "numpy.g($Y, $X)",
        "np.f(a,  # why\n b)",
        "the replacement would drop a comment",
    );
}

#[test]
fn statements_are_replaced_in_their_own_indentation() {
    let text = format!(
        "{HEADER}rules:
  - id: loop
    match: |
      for $I in range($N):
          $A[$I] = $B[$I] + $C[$I]
    rewrite: |
      $A[:$N] = $B[:$N] + $C[:$N]
  - id: fill
    match: |
      $A = numpy.empty($N)
      $A.fill($V)
    rewrite: |
      $A = numpy.empty($N)
      if $N:
          $A[...] = $V
"
    );
    check(
        &text,
        "import numpy as np\r\ndef f():\r\n\tfor i in range(n):\r\n\t\tx[i] = y[i] + z[i]\r\n\treturn x\r\n",
        "import numpy as np\r\ndef f():\r\n\tx[:n] = y[:n] + z[:n]\r\n\treturn x\r\n",
    );
    assert_eq!(
        misses(&pass(&text), "import numpy as np\nif t:\n  w = np.empty(3)\n  w.fill(0)\n  w += 1\n", true),
        Vec::<String>::new()
    );
    check(
        &text,
        "import numpy as np\nif t:\n  w = np.empty(3)\n  w.fill(0)\n  w += 1\n",
        "import numpy as np\nif t:\n  w = np.empty(3)\n  if 3:\n    w[...] = 0\n  w += 1\n",
    );
    check(
        &text,
        "import numpy as np\nw = np.empty(3); w.fill(0); u()\n",
        "import numpy as np\nw = np.empty(3); w.fill(0); u()\n",
    );
}

#[test]
fn a_second_run_changes_nothing() {
    for before in [
        "import numpy as np\nx = np.sum(np.sin(a), 0)\n",
        "from numpy import sum, sin\nx = sum(sin(a))\n",
        "import numpy\nx = numpy.std(a)\n",
    ] {
        let pass = pass(&supported());
        let once = apply(&pass, before);
        assert_ne!(once, before);
        assert_eq!(apply(&pass, &once), once);
    }
}

#[test]
fn places_that_take_only_part_of_the_language_are_left_alone() {
    let text = format!(
        "{WITHIN}rules:
  - {{id: name, rename: {{numpy.Inf: numpy.inf, numpy.NINF: -numpy.inf}}}}
  - {{id: text, match: numpy.f($X), rewrite: 'numpy.g($X, \"a\")'}}
"
    );
    let check = |before: &str, after: &str| {
        super::check(
            &text,
            &format!("import numpy as np\nnp\n{before}"),
            &format!("import numpy as np\nnp\n{after}"),
        );
    };
    check(
        "match x:\n    case np.Inf: pass\n    case np.NINF: pass\n",
        "match x:\n    case np.inf: pass\n    case np.NINF: pass\n",
    );
    check(
        "f\"{np.Inf} {np.Inf=} {np.f(1)} {np.NINF:>{np.Inf}}\"\n",
        "f\"{np.inf} {np.Inf=} {np.f(1)} {(-np.inf):>{np.inf}}\"\n",
    );
    check("x = {np.NINF: np.NINF, **np.NINF}\n", "x = {-np.inf: -np.inf, **(-np.inf)}\n");
    check("def f(x=np.NINF): del np.Inf\n", "def f(x=-np.inf): del np.Inf\n");
    check(
        "x: np.Inf = np.NINF if np.NINF else (np.NINF)\n",
        "x: np.inf = (-np.inf) if (-np.inf) else (-np.inf)\n",
    );
}
