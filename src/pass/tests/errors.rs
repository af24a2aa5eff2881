//! What is wrong with a pass file, and where.

use std::path::Path;

use super::{HEADER, library};
use crate::pass::load;

/// The place and message of the first error in a pass with `rules`.
fn first_error(rules: &str) -> (usize, usize, String) {
    let text = format!("{HEADER}{rules}");
    let errors = load(&text, Path::new("p.yaml"), &library()).expect_err("the pass is wrong");
    let error = &errors.errors[0];
    let place = errors.place(error);
    let mut parts = place.split(':').skip(1).map(|it| it.parse().unwrap());
    let header_lines = HEADER.lines().count();
    (parts.next().unwrap_or(0) - header_lines, parts.next().unwrap_or(0), error.message.clone())
}

#[track_caller]
fn check(rules: &str, line: usize, column: usize, message: &str) {
    assert_eq!(first_error(rules), (line, column, message.to_owned()), "\n{rules}");
}

#[test]
fn every_mistake_is_shown_at_its_place() {
    check(
        "rulez: []\n",
        1,
        1,
        "unknown field `rulez`, expected one of schema, id, extends, summary, doc, layer, goal, source, target, imports, api, kinds, guards, rules, examples, disable",
    );
    check("api: nothing\n", 1, 6, "there is no table `nothing` in patterns/");
    check("guards: [nothing]\n", 1, 10, "there is no guard `nothing` in patterns/guards.yaml");
    check("disable: [x]\n", 1, 11, "there is nothing to disable");
}

#[test]
fn mistakes_in_patterns_are_shown_inside_them() {
    let rule = |rest: &str| format!("rules:\n  - id: r\n{rest}");
    check(
        &rule("    match: numpy.sum($X\n    advise: a\n"),
        3,
        24,
        "not a Python expression or statement: unexpected EOF while parsing",
    );
    check(
        &rule("    match: numpy.sum($x)\n    advise: a\n"),
        3,
        22,
        "metavariables are written in upper case: `$x`",
    );
    check(
        &rule("    match: \"numpy.f(\\\"a\\\", lambda: 1)\"\n    advise: a\n"),
        3,
        28,
        "a lambda can't be used in a pattern",
    );
    check(
        &rule("    match: |\n      $X = 1\n      import os\n    advise: a\n"),
        5,
        7,
        "an import can't be used in a pattern",
    );
    check(
        &rule("    match: numpy.sum($X)\n    rewrite: cupy.sum($X, $Y)\n"),
        4,
        27,
        "`$Y` is not bound by the pattern",
    );
    check(
        &rule("    match: numpy.sum($X)\n    where: {Y: {literal: true}}\n    advise: a\n"),
        4,
        13,
        "`$Y` is not bound by the pattern",
    );
    check(
        &rule("    match: numpy.f($X)\n    rewrite: $X = 1\n"),
        4,
        14,
        "an expression can't become a statement",
    );
    check(
        &rule("    match: numpy.f($X)\n    rewrite: g($X)\n"),
        4,
        14,
        "`g` is neither a builtin nor a dotted path of a module",
    );
    check(&rule("    match: $X\n    advise: a\n"), 3, 12, "the pattern matches everything");
    check(
        &rule("    match: numpy.f($X)\n    where: {X: {regex: '('}}\n    advise: a\n"),
        4,
        24,
        "not a regular expression: regex parse error:\n    (\n    ^\nerror: unclosed group",
    );
}

#[test]
fn rules_must_do_one_thing() {
    let rule = |rest: &str| format!("rules:\n  - id: r\n{rest}");
    check(
        &rule("    match: numpy.f\n"),
        2,
        9,
        "the rule does nothing: it needs `rewrite`, `rename`, `activate`, `advise`, `place` or a `reason`",
    );
    check(
        &rule("    match: numpy.f\n    rewrite: cupy.f\n    advise: a\n"),
        2,
        9,
        "a rule does one thing: `rewrite`, `rename`, `activate` or `advise`",
    );
    check(&rule("    rewrite: cupy.f\n"), 2, 9, "the rule has no `match`");
    check(&rule("    match: numpy.f\n    reason: GP999\n"), 4, 13, "`GP999` is not in patterns/reasons.yaml");
    check(
        &rule("    match: numpy.f\n    reason: GP204\n  - id: r\n    match: numpy.g\n    reason: GP204\n"),
        5,
        9,
        "a second rule `r`",
    );
}

#[test]
fn ties_are_errors() {
    let two = |first: &str, second: &str| {
        format!(
            "rules:\n  - {{id: a, match: {first}, advise: a}}\n  - {{id: b, match: {second}, advise: b}}\n"
        )
    };
    let message = "`a` and `b` can match the same code, and neither is more special";
    check(&two("numpy.$F($X)", "numpy.$G($Y)"), 3, 10, message);
    check(&two("'numpy.f($X, $$$W, axis=$Y)'", "'numpy.f($X, $$$Z, out=$O)'"), 3, 10, message);
    let fine = |first: &str, second: &str| {
        let text = format!("{HEADER}{}", two(first, second));
        load(&text, Path::new("p.yaml"), &library()).map_or_else(|errors| panic!("{errors}"), |_| ());
    };
    fine("numpy.f($X)", "numpy.g($X)");
    fine("numpy.f($X)", "numpy.$F($X)");
    fine("numpy.f($X)", "'numpy.f($X, $Y)'");
    fine("numpy.f(1)", "numpy.f(2)");
    fine("$X.f()", "numpy.f()");
    fine(
        "'numpy.$F, where: {F: {one_of: [a, b]}}'".trim_matches('\''),
        "'numpy.$F, where: {F: {one_of: [c]}}'".trim_matches('\''),
    );
}

#[test]
fn errors_show_the_file() {
    let text = format!("{HEADER}rules:\n  - id: r\n    match: numpy.sum($X)\n    rewrite: cupy.sum($Y)\n");
    let errors = load(&text, Path::new("p.yaml"), &library()).unwrap_err();
    assert_eq!(
        errors.render(false),
        "\
error: `$Y` is not bound by the pattern
  --> p.yaml:11:23
   |
11 |     rewrite: cupy.sum($Y)
   |                       ^^"
    );
}
