//! The project's configuration: `[tool.gpuport]` in `pyproject.toml`, or `gpuport.toml`. Unknown keys are errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::verify::compare::tolerance::Comparator;

/// What a project says about itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Config {
    /// Ids of the passes to use; all shipped ones and those in `pass-dirs` where absent.
    pub passes: Option<Vec<String>>,
    /// Folders with more passes, relative to the root.
    pub pass_dirs: Vec<PathBuf>,
    /// Globs of files that are never planned, relative to the root.
    pub exclude: Vec<String>,
    /// Patterns, as in `.gitignore`, of files that no workload reads: they stay out of the copies it runs in. One that
    /// begins with `!` takes along what would be left out.
    pub sandbox_exclude: Vec<String>,
    /// The form ported code takes.
    pub style: Style,
    /// The interpreter that has the libraries, relative to the root.
    pub python: Option<PathBuf>,
    /// What exercises the project.
    pub workload: Vec<WorkloadConfig>,
}

/// The form ported code takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Style {
    /// Calls the target library by its name.
    #[default]
    Cupy,
}

/// One `[[tool.gpuport.workload]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WorkloadConfig {
    /// Its name, for reports.
    pub name: Option<String>,
    /// A command or `package.module:function`.
    pub run: String,
    /// `file.py:function` that makes inputs; function workloads only.
    pub inputs: Option<String>,
    /// The scale given to the inputs' function, as JSON text.
    #[serde(default)]
    pub scales: Vec<f64>,
    /// The seed given to the inputs' function.
    #[serde(default)]
    pub seed: u64,
    /// Whose arrays callers see: `host` or `device`.
    #[serde(default)]
    pub arrays: ArraysConfig,
    /// What is compared.
    #[serde(default)]
    pub compare: CompareConfig,
    /// Tolerances by dtype (`float64`) or by output (`out/labels.npy`, `globals.scores`).
    #[serde(default)]
    pub tolerance: BTreeMap<String, Comparator>,
    /// `process` or `warm`.
    pub metric: Option<MetricConfig>,
    /// The speed-up that the interval's lower end must beat.
    pub min_speedup: Option<f64>,
    /// The largest share of accelerator calls that may run on the CPU.
    pub max_fallback: Option<f64>,
    /// Limit of one run: `90s`, `10m`, `2h`.
    pub timeout: Option<String>,
    /// Timed runs of each side, at most.
    pub runs: Option<u32>,
}

impl WorkloadConfig {
    /// A workload of which only the command is given.
    pub(super) fn new(run: &str) -> Self {
        Self {
            name: None,
            run: run.to_owned(),
            inputs: None,
            scales: Vec::new(),
            seed: 0,
            arrays: ArraysConfig::Host,
            compare: CompareConfig::default(),
            tolerance: BTreeMap::new(),
            metric: None,
            min_speedup: None,
            max_fallback: None,
            timeout: None,
            runs: None,
        }
    }
}

/// Whose arrays callers see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ArraysConfig {
    /// NumPy's.
    #[default]
    Host,
    /// Device arrays are as good.
    Device,
}

/// The gate's metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MetricConfig {
    /// Whole process.
    Process,
    /// One warm call.
    Warm,
}

/// What is compared.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct CompareConfig {
    /// Standard output; true where absent.
    pub stdout: Option<bool>,
    /// Globals of the main module at the end; true where absent.
    pub globals: Option<bool>,
    /// Regular expressions of text that may differ.
    pub volatile: Vec<String>,
}

/// Why a configuration can't be used.
#[derive(Debug, Error)]
pub(super) enum ConfigError {
    /// It can't be read.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It isn't TOML, or has an unknown or mistyped key; the message has line and column.
    #[error("{path}:{line}:{column}: {message}", path = .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Both files configure gpuport.
    #[error(
        "{root}: both gpuport.toml and [tool.gpuport] in pyproject.toml configure gpuport; keep one of them",
        root = .root.display()
    )]
    Twice {
        /// The project's root.
        root: PathBuf,
    },
}

#[derive(Deserialize)]
struct PyProject {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    gpuport: Option<Config>,
}

impl Config {
    /// The configuration of the project at `root`; the default one where it has none.
    pub(super) fn load(root: &Path) -> Result<Self, ConfigError> {
        let own = read(&root.join("gpuport.toml"))?;
        let shared = read(&root.join("pyproject.toml"))?;
        let shared = shared
            .map(|(path, text)| parse::<PyProject>(&path, &text))
            .transpose()?
            .and_then(|project| project.tool?.gpuport);
        match (own, shared) {
            (Some(_), Some(_)) => Err(ConfigError::Twice { root: root.to_owned() }),
            (Some((path, text)), None) => parse(&path, &text),
            (None, shared) => Ok(shared.unwrap_or_default()),
        }
    }
}

fn read(path: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ConfigError::Io { path: path.to_owned(), error }),
    }
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start).min(text.len());
        let before = &text[..offset];
        ConfigError::Syntax {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            message: error.message().to_owned(),
        }
    })
}

/// Reads `90s`, `10m`, `2h` or a number of seconds.
pub(super) fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is no duration; write it as 90s, 10m or 2h")),
    };
    match number.trim().parse::<f64>() {
        Ok(count) if count > 0.0 && count.is_finite() => {
            Ok(std::time::Duration::from_secs_f64(count * factor))
        }
        _ => Err(format!("`{text}` is no duration; write it as 90s, 10m or 2h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_errors_with_a_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gpuport.toml"), "style = \"cupy\"\npases = []\n").unwrap();
        let message = Config::load(folder.path()).unwrap_err().to_string();
        assert!(message.contains("gpuport.toml:2:1") && message.contains("pases"), "{message}");
    }

    #[test]
    fn pyproject_may_hold_other_tools() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 3\n[[tool.gpuport.workload]]\nrun = \"python main.py\"\n";
        std::fs::write(folder.path().join("pyproject.toml"), text).unwrap();
        assert_eq!(Config::load(folder.path()).unwrap().workload[0].run, "python main.py");
    }

    #[test]
    fn two_configurations_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gpuport.toml"), "").unwrap();
        std::fs::write(folder.path().join("pyproject.toml"), "[tool.gpuport]\n").unwrap();
        assert!(matches!(Config::load(folder.path()), Err(ConfigError::Twice { .. })));
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("1.5m").unwrap().as_secs(), 90);
        for bad in ["", "fast", "3d", "-1s", "0"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
