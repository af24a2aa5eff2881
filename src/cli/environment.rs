//! What an interpreter has: its version and its libraries, and whether they satisfy what passes require.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

const PROBE: &str = include_str!("../../python/gpuport/environment.py");

/// An interpreter and its libraries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Environment {
    /// `CPython`, `PyPy`, ….
    pub implementation: String,
    /// The interpreter's version.
    pub version: String,
    /// Its own path.
    pub executable: PathBuf,
    /// Versions by module; `None` where it is not installed, `unknown` where it has no metadata.
    pub modules: BTreeMap<String, Option<String>>,
}

impl Environment {
    /// Asks `python` for the versions of `modules`. Nothing of the user's project is imported.
    pub(super) fn probe(python: &Path, modules: &[&str]) -> Result<Self> {
        let output = Command::new(python)
            .args(["-I", "-c", PROBE])
            .args(modules)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{}: can't be started", python.display()))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr);
            let last = reason.lines().last().unwrap_or("it printed nothing").to_owned();
            bail!("{} is no usable Python (3.10 or newer is needed): {last}", python.display());
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{}: unexpected answer to a version query", python.display()))
    }
}

/// One requirement such as `cupy>=13`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The module, `cupy`.
    pub module: String,
    /// Comparisons: operator and version.
    pub bounds: Vec<(Operator, Vec<u64>)>,
}

/// A comparison of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `==`
    Exactly,
    /// `!=`
    Not,
    /// `>`
    Above,
    /// `<=`
    AtMost,
}

impl Requirement {
    /// Reads `module>=1,<2`; `None` where it isn't of that form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == '-'));
        let (module, rest) = text.split_at(end.unwrap_or(text.len()));
        if module.is_empty() {
            return None;
        }
        let bounds = rest.split(',').map(str::trim).filter(|bound| !bound.is_empty()).map(parse_bound);
        Some(Self { module: module.replace('-', "_"), bounds: bounds.collect::<Option<_>>()? })
    }

    /// True where `version` satisfies it. A version without metadata does.
    pub(super) fn allows(&self, version: &str) -> bool {
        let Some(version) = release(version) else { return true };
        self.bounds.iter().all(|(operator, bound)| {
            let order = compare(&version, bound);
            match operator {
                Operator::AtLeast => order.is_ge(),
                Operator::Below => order.is_lt(),
                Operator::Exactly => order.is_eq(),
                Operator::Not => order.is_ne(),
                Operator::Above => order.is_gt(),
                Operator::AtMost => order.is_le(),
            }
        })
    }
}

fn parse_bound(text: &str) -> Option<(Operator, Vec<u64>)> {
    const OPERATORS: [(&str, Operator); 6] = [
        (">=", Operator::AtLeast),
        ("<=", Operator::AtMost),
        ("==", Operator::Exactly),
        ("!=", Operator::Not),
        ("<", Operator::Below),
        (">", Operator::Above),
    ];
    let (operator, rest) =
        OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)))?;
    Some((operator, release(rest.trim())?))
}

/// The release numbers of a version (PEP 440's `N(.N)*`); what follows them is ignored.
fn release(version: &str) -> Option<Vec<u64>> {
    let end = version.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(version.len());
    version[..end].trim_end_matches('.').split('.').map(|part| part.parse().ok()).collect()
}

fn compare(left: &[u64], right: &[u64]) -> std::cmp::Ordering {
    let length = left.len().max(right.len());
    let padded = |numbers: &[u64]| -> Vec<u64> {
        numbers.iter().copied().chain(std::iter::repeat(0)).take(length).collect()
    };
    padded(left).cmp(&padded(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_compare_by_release() {
        let check = |text: &str, version: &str| Requirement::parse(text).unwrap().allows(version);
        assert!(check("cupy>=13", "14.2.0"));
        assert!(check("cupy>=13", "13"));
        assert!(!check("cupy>=13,<14", "14.0.0rc1"));
        assert!(check("nx-cugraph", "unknown"));
        assert!(!check("numpy!=2.4", "2.4.0"));
        assert_eq!(Requirement::parse(">=3"), None);
        assert_eq!(Requirement::parse("x~3"), None);
    }
}
