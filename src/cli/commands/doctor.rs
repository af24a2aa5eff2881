//! `gpuport doctor`: driver, GPU, Python, libraries, and the command that installs what is missing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::super::args::{DoctorArgs, Format};
use super::super::environment::{Environment, Requirement};
use super::super::exit::Exit;
use super::super::printer::Printer;
use super::super::{passes, project};
use crate::gpu::{self, Absent, Probe};
use crate::pass::{Device, Pass};
use crate::report::{Role, Style};

const DISTRIBUTIONS: &str = include_str!("../../../patterns/distributions.yaml");

/// Packages by library and CUDA version, `patterns/distributions.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distributions {
    #[serde(rename = "schema")]
    _schema: String,
    libraries: BTreeMap<String, Packages>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packages {
    cuda12: String,
    cuda13: String,
}

/// What was found, as `--format json` prints it.
#[derive(Debug, Serialize)]
struct Diagnosis {
    schema: &'static str,
    gpu: Result<Probe, Absent>,
    python: Environment,
    passes: Vec<PassState>,
}

/// Whether one pass can be verified here.
#[derive(Debug, Serialize)]
struct PassState {
    pass: String,
    ready: bool,
    missing: Vec<Missing>,
}

/// One unsatisfied requirement.
#[derive(Debug, Serialize)]
struct Missing {
    requirement: String,
    found: Option<String>,
    install: Option<String>,
}

/// Prints what this machine has and lacks.
pub(crate) fn run(args: &DoctorArgs, printer: &Printer) -> Result<Exit> {
    let root = project::canonical(std::path::Path::new("."))?;
    let python = project::python_of(args.python.as_deref(), None, &root)?;
    let passes = passes::shipped()?;
    let environment = Environment::probe(&python, &modules(&passes))?;
    let gpu = gpu::probe();
    let states = passes.iter().map(|pass| state(pass, &environment, &gpu)).collect::<Result<Vec<_>>>()?;
    let diagnosis = Diagnosis { schema: "gpuport/doctor/1", gpu, python: environment, passes: states };
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&diagnosis)? + "\n",
        Format::Text | Format::Sarif => text(&diagnosis, printer.out_style()),
    };
    printer.out(text.as_bytes());
    Ok(if diagnosis.gpu.is_ok() { Exit::Done } else { Exit::CannotVerify })
}

/// The modules that the passes require, each once.
pub(crate) fn modules(passes: &[std::sync::Arc<Pass>]) -> Vec<&str> {
    let mut modules: Vec<&str> = passes
        .iter()
        .flat_map(|pass| &pass.target.requires)
        .map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or(text))
        .collect();
    modules.sort_unstable();
    modules.dedup();
    modules
}

/// The requirements of `pass` that `environment` doesn't satisfy, with what was found.
pub(crate) fn unsatisfied(
    pass: &Pass,
    environment: &Environment,
) -> Vec<(Requirement, String, Option<String>)> {
    let requirements = pass.target.requires.iter().filter_map(|text| Some((Requirement::parse(text)?, text)));
    requirements
        .filter_map(|(requirement, text)| {
            let found = environment.modules.get(&requirement.module).cloned().flatten();
            let satisfied = found.as_deref().is_some_and(|version| requirement.allows(version));
            (!satisfied).then(|| (requirement, text.clone(), found))
        })
        .collect()
}

fn state(pass: &Pass, environment: &Environment, gpu: &Result<Probe, Absent>) -> Result<PassState> {
    let distributions: Distributions = serde_saphyr::from_str(DISTRIBUTIONS)?;
    let cuda13 = gpu.as_ref().map_or(true, |probe| !probe.cuda.starts_with("12"));
    let missing: Vec<Missing> = unsatisfied(pass, environment)
        .into_iter()
        .map(|(requirement, text, found)| {
            let packages = distributions.libraries.get(&requirement.module);
            let package = packages.map(|packages| if cuda13 { &packages.cuda13 } else { &packages.cuda12 });
            let name = package.map_or(requirement.module.as_str(), String::as_str);
            let spec = text.replacen(&requirement.module, name, 1);
            let install = format!("{} -m pip install \"{spec}\"", environment.executable.display());
            Missing { requirement: text, found, install: Some(install) }
        })
        .collect();
    let gpu_there = gpu.is_ok() || pass.target.device == Device::Cpu;
    Ok(PassState { pass: pass.id.clone(), ready: missing.is_empty() && gpu_there, missing })
}

fn text(diagnosis: &Diagnosis, style: Style) -> String {
    let mut out = String::new();
    match &diagnosis.gpu {
        Ok(probe) => {
            let driver = probe.driver.as_deref().unwrap_or("of unknown version");
            let _ =
                writeln!(out, "{}  driver {driver}, CUDA {}", style.paint(Role::Good, "ok     "), probe.cuda);
            for device in &probe.devices {
                let (major, minor) = device.compute_capability;
                let gib = device.memory_bytes >> 30;
                let _ = writeln!(
                    out,
                    "{}  {}, {gib} GiB, compute capability {major}.{minor}",
                    style.paint(Role::Good, "ok     "),
                    device.name
                );
            }
        }
        Err(absent) => {
            let _ = writeln!(out, "{}  {absent}", style.paint(Role::Bad, "missing"));
            let _ = writeln!(out, "         GPU ports can be planned here, not verified or applied");
        }
    }
    let python = &diagnosis.python;
    let _ = writeln!(
        out,
        "{}  {} {} at {}",
        style.paint(Role::Good, "ok     "),
        python.implementation,
        python.version,
        python.executable.display()
    );
    for state in &diagnosis.passes {
        let (role, word) = if state.ready { (Role::Good, "ready  ") } else { (Role::Unsure, "not yet") };
        let _ = writeln!(out, "{}  {}", style.paint(role, word), state.pass);
        for missing in &state.missing {
            let found =
                missing.found.as_deref().map_or("not installed".to_owned(), |found| format!("found {found}"));
            let _ = writeln!(out, "         needs {}, {found}", missing.requirement);
            if let Some(install) = &missing.install {
                let _ = writeln!(out, "         {}", style.paint(Role::Code, install));
            }
        }
    }
    out
}
