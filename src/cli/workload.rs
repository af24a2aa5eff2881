//! What a user means by a workload: a command line or `package.module:function`, turned into the judge's form.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::verify::Workload;

/// Why a text is no workload.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum WorkloadError {
    /// Unbalanced quotes.
    #[error("workload `{0}`: a quote is not closed")]
    Quotes(String),
    /// Neither a command nor a function.
    #[error("workload `{0}` is neither `python SCRIPT …` nor `package.module:function`")]
    Unknown(String),
    /// Known, but this version can't run it.
    #[error(
        "workload `{text}`: {what} workloads can't be verified by this version; name a script or a function"
    )]
    Unsupported {
        /// The text.
        text: String,
        /// `module`, `pytest`, `notebook`.
        what: &'static str,
    },
    /// A function without inputs.
    #[error(
        "workload `{0}` is a function and needs inputs: add `--inputs FILE.py:make`, or `inputs` in the configuration"
    )]
    NoInputs(String),
    /// Inputs that aren't `FILE.py:FUNCTION`.
    #[error("inputs `{0}` must have the form FILE.py:FUNCTION")]
    BadInputs(String),
}

/// Reads `text`, e.g. `python main.py --n 1000` or `pkg.mod:func`. Paths are relative to the project's root.
pub(super) fn parse(
    text: &str,
    inputs: Option<&str>,
    seed: u64,
    scale: f64,
) -> Result<Workload, WorkloadError> {
    let words = shlex::split(text).ok_or_else(|| WorkloadError::Quotes(text.to_owned()))?;
    let unknown = || WorkloadError::Unknown(text.to_owned());
    let unsupported = |what| WorkloadError::Unsupported { text: text.to_owned(), what };
    let first = words.first().ok_or_else(unknown)?;
    let name = Path::new(first).file_name().and_then(|name| name.to_str()).unwrap_or(first);
    match (name, &words[1..]) {
        ("pytest" | "py.test", _) => Err(unsupported("pytest")),
        ("notebook", [_, ..]) => Err(unsupported("notebook")),
        (python, rest) if is_python(python) => match rest {
            [dash, ..] if dash == "-m" => Err(unsupported("module")),
            [script, arguments @ ..] if !script.starts_with('-') => {
                Ok(Workload::Script { path: PathBuf::from(script), arguments: arguments.to_vec() })
            }
            _ => Err(unknown()),
        },
        (_, []) if is_function(first) => {
            let inputs = inputs.ok_or_else(|| WorkloadError::NoInputs(text.to_owned()))?;
            match inputs.rsplit_once(':') {
                Some((file, function)) if is_python_file(file) && is_name(function) => {}
                _ => return Err(WorkloadError::BadInputs(inputs.to_owned())),
            }
            let (target, inputs) = (first.clone(), inputs.to_owned());
            Ok(Workload::Function { target, inputs, scale: scale.to_string(), seed })
        }
        (script, arguments) if is_python_file(script) => {
            Ok(Workload::Script { path: PathBuf::from(first), arguments: arguments.to_vec() })
        }
        _ => Err(unknown()),
    }
}

fn is_python(name: &str) -> bool {
    name.strip_prefix("python").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn is_python_file(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "py")
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_function(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(module, function)| module.split('.').all(is_name) && function.split('.').all(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_functions() {
        let script = |path: &str, arguments: &[&str]| Workload::Script {
            path: path.into(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert_eq!(parse("python main.py --n '1 0'", None, 0, 1.0), Ok(script("main.py", &["--n", "1 0"])));
        assert_eq!(parse("/usr/bin/python3.12 a/b.py", None, 0, 1.0), Ok(script("a/b.py", &[])));
        assert_eq!(parse("main.py 3", None, 0, 1.0), Ok(script("main.py", &["3"])));
        let function = parse("pkg.mod:run", Some("bench/inputs.py:make"), 7, 2.0);
        assert!(matches!(function, Ok(Workload::Function { seed: 7, ref scale, .. }) if scale == "2"));
    }

    #[test]
    fn what_is_no_workload() {
        assert!(matches!(parse("", None, 0, 1.0), Err(WorkloadError::Unknown(_))));
        assert!(matches!(parse("python 'x", None, 0, 1.0), Err(WorkloadError::Quotes(_))));
        assert!(matches!(parse("python -c 1", None, 0, 1.0), Err(WorkloadError::Unknown(_))));
        assert!(matches!(parse("make all", None, 0, 1.0), Err(WorkloadError::Unknown(_))));
        assert!(matches!(parse("pytest tests", None, 0, 1.0), Err(WorkloadError::Unsupported { .. })));
        assert!(matches!(parse("a.b:c", None, 0, 1.0), Err(WorkloadError::NoInputs(_))));
        assert!(matches!(parse("a.b:c", Some("make"), 0, 1.0), Err(WorkloadError::BadInputs(_))));
    }
}
