//! Options and configuration joined into what a run works with; options win.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use super::args::ApplyArgs;
use super::config::{ArraysConfig, Config, MetricConfig, WorkloadConfig, parse_duration};
use super::passes;
use super::project;
use super::workload;
use crate::pass::Pass;
use crate::verify::compare::tolerance::{Comparator, Named};
use crate::verify::{Arrays, Contract, Metric, Workload};

/// Relative tolerance of float64, float32 and float16 where nothing else is asked for.
const RTOL: [f64; 3] = [1e-7, 1e-4, 1e-2];
/// The speed-up to beat where nothing else is asked for.
const MIN_SPEEDUP: f64 = 1.05;
/// The largest share of accelerator calls on the CPU where nothing else is asked for.
const MAX_FALLBACK: f64 = 0.1;
/// Timed runs of each side where nothing else is asked for.
const RUNS: u32 = 5;
/// The limit of one run where nothing else is asked for.
const TIMEOUT: Duration = Duration::from_mins(30);

/// What a run works with.
#[derive(Debug)]
pub(super) struct Settings {
    /// The project's root, absolute.
    pub root: PathBuf,
    /// Its configuration.
    pub config: Config,
    /// The passes, in the order they are tried.
    pub passes: Vec<Arc<Pass>>,
}

/// One thing to run, with what must hold.
#[derive(Debug, Clone)]
pub(super) struct Exercise {
    /// What people call it.
    pub name: String,
    /// What must hold. `min_speedup` is what passes with the goal speed must reach.
    pub contract: Contract,
}

impl Settings {
    /// The settings for `paths` with the passes asked for.
    pub(super) fn new(paths: &[PathBuf], asked: &[String]) -> Result<Self> {
        let root = project::root_of(paths)?;
        let config = Config::load(&root)?;
        let passes = passes::select(&root, &config, asked)?;
        Ok(Self { root, config, passes })
    }

    /// The workloads: the one of the command line, else those configured.
    pub(super) fn exercises(&self, args: &ApplyArgs) -> Result<Vec<Exercise>> {
        if let Some(text) = &args.workload {
            let entry = WorkloadConfig { inputs: args.inputs.clone(), ..WorkloadConfig::new(text) };
            return self.exercise(&entry, args, text);
        }
        if args.inputs.is_some() {
            bail!("--inputs needs --workload package.module:function");
        }
        let mut all = Vec::new();
        for entry in &self.config.workload {
            let name = entry.name.as_deref().unwrap_or(&entry.run);
            all.extend(
                self.exercise(entry, args, name)
                    .with_context(|| format!("workload `{name}` of the configuration"))?,
            );
        }
        Ok(all)
    }

    /// The script at `path`, relative to the root, as its own workload.
    pub(super) fn own_exercise(&self, path: &std::path::Path, args: &ApplyArgs) -> Result<Exercise> {
        let entry = WorkloadConfig::new("");
        let workload = Workload::Script { path: path.to_owned(), arguments: Vec::new() };
        Ok(Exercise { name: path.display().to_string(), contract: contract(&entry, args, workload)? })
    }

    fn exercise(&self, entry: &WorkloadConfig, args: &ApplyArgs, name: &str) -> Result<Vec<Exercise>> {
        let scales = if entry.scales.is_empty() { vec![1.0] } else { entry.scales.clone() };
        let is_function = entry.inputs.is_some();
        let mut exercises = Vec::new();
        for scale in scales.iter().take(if is_function { scales.len() } else { 1 }) {
            let workload = workload::parse(&entry.run, entry.inputs.as_deref(), entry.seed, *scale)?;
            let name = if scales.len() > 1 { format!("{name} at scale {scale}") } else { name.to_owned() };
            exercises.push(Exercise { name, contract: contract(entry, args, workload)? });
        }
        Ok(exercises)
    }
}

fn contract(entry: &WorkloadConfig, args: &ApplyArgs, workload: Workload) -> Result<Contract> {
    let mut rtol = RTOL;
    rtol[0] = args.rtol.unwrap_or(rtol[0]);
    let mut tolerance = entry.tolerance.clone();
    for (output, compared) in [("stdout", entry.compare.stdout), ("globals", entry.compare.globals)] {
        if compared == Some(false) {
            tolerance.insert(output.to_owned(), Comparator::Named(Named::Ignore));
        }
    }
    let timeout = args.timeout.as_ref().or(entry.timeout.as_ref());
    let timeout = timeout.map(|text| parse_duration(text)).transpose().map_err(|message| anyhow!(message))?;
    let default_metric = match workload {
        Workload::Script { .. } => MetricConfig::Process,
        Workload::Function { .. } => MetricConfig::Warm,
    };
    let (Some(runs), Some(min_speedup)) = (
        at_least(args.runs.or(entry.runs).unwrap_or(RUNS), 1),
        at_least(args.min_speedup.or(entry.min_speedup).unwrap_or(MIN_SPEEDUP), 0.0),
    ) else {
        bail!("--runs must be at least 1 and --min-speedup at least 0");
    };
    Ok(Contract {
        workload,
        metric: match entry.metric.unwrap_or(default_metric) {
            MetricConfig::Process => Metric::Process,
            MetricConfig::Warm => Metric::Warm,
        },
        rtol,
        atol: args.atol,
        tolerance,
        min_speedup,
        arrays: match entry.arrays {
            ArraysConfig::Host => Arrays::Host,
            ArraysConfig::Device => Arrays::Device,
        },
        max_fallback: entry.max_fallback.unwrap_or(MAX_FALLBACK),
        runs,
        timeout: timeout.unwrap_or(TIMEOUT),
        volatile: entry.compare.volatile.clone(),
    })
}

fn at_least<T: PartialOrd>(value: T, least: T) -> Option<T> {
    (value >= least).then_some(value)
}
