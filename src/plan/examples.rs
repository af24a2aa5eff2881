//! A pass's examples, planned as programs of their own: they are its tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{Pinned, Plan, plan_unit};
use crate::names::Project;
use crate::pass::{Example, Pass};
use crate::source::{Module, SourceFile};

/// The file that an example is planned as.
const FILE: &str = "example.py";

/// An example that is not what the pass does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFailure {
    /// The example's title, or its number.
    pub title: String,
    /// Where the example stands in the pass file, as bytes.
    pub bytes: std::ops::Range<usize>,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// What the program should become, and what it becomes, where they differ.
    pub texts: Option<(String, String)>,
}

/// Runs the examples of `pass`, each also a second time on its own result, which must not change any more. Tells what
/// fails.
pub fn check_examples(pass: &Pass) -> Vec<ExampleFailure> {
    let mut failures = Vec::new();
    for (index, example) in pass.examples.iter().enumerate() {
        let title = example.title.clone().unwrap_or_else(|| format!("example {}", index + 1));
        let failure = |message: String, texts| ExampleFailure {
            title: title.clone(),
            bytes: example.bytes.clone(),
            message,
            texts,
        };
        let (plan, result) = match run(pass, &example.before) {
            Ok(done) => done,
            Err(message) => {
                failures.push(failure(message, None));
                continue;
            }
        };
        let expected = example.after.as_ref().unwrap_or(&example.before);
        if result != *expected {
            let texts = Some((expected.clone(), result.clone()));
            failures.push(failure("the program becomes something else".to_owned(), texts));
        } else if let Some(message) = unsaid(pass, example, &plan) {
            failures.push(failure(message, None));
        } else {
            match run(pass, &result) {
                Ok((_, again)) if again == result => {}
                Ok((_, again)) => {
                    failures.push(failure("a second run changes it again".to_owned(), Some((result, again))));
                }
                Err(message) => failures.push(failure(format!("its result: {message}"), None)),
            }
        }
    }
    failures
}

/// What the example says should be told, and is not; or what is told unasked.
fn unsaid(pass: &Pass, example: &Example, plan: &Plan) -> Option<String> {
    let codes: BTreeSet<&str> = plan.left.iter().map(|refusal| refusal.code.as_str()).collect();
    if let Some(code) = &example.refused
        && !codes.contains(code.as_str())
    {
        return Some(format!("nothing is refused with {code}"));
    }
    if example.refused.is_none()
        && let Some(refusal) = plan.left.first()
    {
        return Some(format!("it is refused with {}: {}", refusal.code, refusal.message));
    }
    if let Some(rule) = &example.advises {
        let name = format!("{}/{rule}", pass.id);
        if !plan.advice.iter().any(|advice| advice.rule == name) {
            return Some(format!("`{rule}` says nothing about it"));
        }
    }
    None
}

fn run(pass: &Pass, text: &str) -> Result<(Plan, String), String> {
    let file = SourceFile::from_bytes(Path::new(FILE), text.as_bytes()).map_err(|error| error.to_string())?;
    let module = Module::parse(file).map_err(|error| format!("it does not parse: {error}"))?;
    let project = Project::load(Path::new("."), vec![Arc::new(module)]);
    let plan = plan_unit(&project, Path::new(FILE), pass, &Pinned::new());
    let result = match plan.edits.get(Path::new(FILE)) {
        Some(edits) => edits.apply(text),
        None => text.to_owned(),
    };
    Ok((plan, result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Registry;

    #[test]
    fn the_shipped_examples_hold() {
        let registry = Registry::shipped();
        let mut problems = Vec::new();
        for pass in registry.passes() {
            for failure in check_examples(pass) {
                let texts = failure
                    .texts
                    .map(|(e, g)| format!("\n--- expected\n{e}\n--- got\n{g}"))
                    .unwrap_or_default();
                problems.push(format!("{}: {}: {}{texts}", pass.id, failure.title, failure.message));
            }
        }
        assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
    }
}
