//! Passes written for one point each, and what they make of small programs.

mod errors;
mod imports;
mod matching;
mod properties;
mod registry;
mod rewriting;
mod shipped;

use std::path::Path;

use ruff_python_ast::Expr;

use super::{FindOptions, Library, Needs, Pass, edits_of, find_with, load, renamed_imports};
use crate::kinds::{Array, Dtype, Facts, KindName};
use crate::names::{Names, NoExports};
use crate::pass::Action;
use crate::source::{Module, SourceFile};

/// The header of a pass from NumPy to CuPy.
const HEADER: &str = "\
schema: gpuport/pass/1
id: test
summary: Test
layer: native
goal: speed
source: {module: numpy}
target: {module: cupy, alias: cp, device: cuda}
";

/// The header of a pass within NumPy.
const WITHIN: &str = "\
schema: gpuport/pass/1
id: test
summary: Test
layer: native
goal: compatibility
source: {module: numpy}
target: {module: numpy, alias: np, device: cpu}
";

const TABLE: &str = "\
schema: gpuport/api/1
source: {module: numpy, version: \"2\"}
target: {module: cupy, version: \"14\"}
callables:
  numpy.sum: {to: cupy.sum, from-signature: \"a, axis=None, dtype=None, out=None, keepdims=..., where=...\", to-signature: \"a, axis=None, dtype=None, out=None, keepdims=False\", returns: reduction}
  numpy.std: {to: cupy.std, from-signature: \"a, axis=None, ddof=0\", to-signature: \"a, axis=None, ddof=1\", returns: reduction}
  numpy.moved: {to: cupy.moved, from-signature: \"a, b, c=1\", to-signature: \"a, c=1, b=2\", returns: value}
  numpy.add: {to: cupy.add, ufunc: 2 1}
  numpy.sin: {to: cupy.sin, ufunc: 1 1}
  numpy.linalg.norm: {to: cupy.linalg.norm, from-signature: \"x, ord=None\", to-signature: \"x, ord=None\", returns: value}
  numpy.ndarray.sum: {to: cupy.ndarray.sum, from-signature: \"axis=None\", to-signature: \"axis=None\", returns: reduction}
";

fn library() -> Library {
    let mut library = Library::default();
    library.texts.insert("table".to_owned(), TABLE.to_owned());
    library.reasons.insert("GP204".to_owned());
    library
}

fn pass(text: &str) -> Pass {
    load(text, Path::new("test.yaml"), &library()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn parse(text: &str) -> (Module, Names) {
    let file = SourceFile::from_bytes(Path::new("m.py"), text.as_bytes()).unwrap();
    let Ok(module) = Module::parse(file) else { panic!("{text:?} does not parse") };
    let names = Names::build(&module, "m", false, &NoExports);
    (module, names)
}

/// Names that begin with `arr` are arrays: `arr2f` of two axes and floats.
struct ByName;

impl Facts for ByName {
    fn kind(&self, expression: &Expr) -> KindName {
        match expression {
            Expr::Name(name) if name.id.starts_with("arr") => KindName::Array,
            _ => KindName::Unknown,
        }
    }

    fn array(&self, expression: &Expr) -> Option<Array> {
        let description = expression.as_name_expr()?.id.strip_prefix("arr")?;
        let rank = description.chars().next().and_then(|digit| digit.to_digit(10)).map(|it| it as u8);
        let mut array = Array::of_rank(rank);
        if description.ends_with('f') {
            array.dtype = Dtype::Float;
        }
        Some(array)
    }
}

/// What `pass` makes of `text`.
fn apply(pass: &Pass, text: &str) -> String {
    let (module, names) = parse(text);
    let (matches, _) =
        find_with(pass, &module, &names, &ByName, FindOptions { aliases: None, explain: false });
    let rewrites: Vec<_> =
        matches.iter().filter(|it| pass.rules[it.rule_index].action == Action::Rewrite).collect();
    let mut needs = Needs::default();
    renamed_imports(pass, &module, &names, &matches).into_iter().for_each(|it| needs.add(it.need));
    let edits =
        edits_of(&module, &names, &rewrites, &needs).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let result = edits.apply(module.text());
    parse(&result);
    result
}

/// Codes and messages of what is left and why.
fn misses(pass: &Pass, text: &str, explain: bool) -> Vec<String> {
    let (module, names) = parse(text);
    let (_, misses) = find_with(pass, &module, &names, &ByName, FindOptions { aliases: None, explain });
    misses
        .iter()
        .map(|miss| {
            let code = miss.code.as_ref().map(|code| format!("{code} ")).unwrap_or_default();
            format!("{code}{}", miss.message)
        })
        .collect()
}

/// A pass from NumPy to CuPy with one rule that rewrites.
fn rule(pattern: &str, rewrite: &str) -> String {
    format!("{HEADER}rules:\n  - id: r\n    match: {}\n    rewrite: {}\n", quoted(pattern), quoted(rewrite))
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

#[track_caller]
fn check(pass_text: &str, before: &str, after: &str) {
    let pass = pass(pass_text);
    assert_eq!(apply(&pass, before), after, "\n{before}");
}
