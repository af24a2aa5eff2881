//! Which files are units, and which workloads exercise them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::super::args::ApplyArgs;
use super::super::project;
use super::super::settings::{Exercise, Settings};
use crate::source::{self, DiscoverOptions, Discovered};
use crate::verify::Workload;

/// A file with what exercises it.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// What people call it.
    pub name: String,
    /// Where it begins, relative to the root.
    pub entry: PathBuf,
    /// What exercises it; never empty.
    pub exercises: Vec<Exercise>,
}

/// What a run has to do.
#[derive(Debug)]
pub(crate) struct Work {
    /// Units that can be judged.
    pub units: Vec<Unit>,
    /// Files that no workload begins in.
    pub others: Vec<PathBuf>,
    /// What discovery found, problems included.
    pub found: Discovered,
}

/// The work for `paths`: scripts given by path are their own workloads, configured workloads exercise what they start,
/// and a workload of the command line exercises the one file given.
pub(crate) fn work_of(settings: &Settings, args: &ApplyArgs) -> Result<Work> {
    let found = discover(settings, &args.paths)?;
    let mut by_entry: BTreeMap<PathBuf, Vec<Exercise>> = BTreeMap::new();
    let asked = args.workload.is_some();
    let given = given_files(settings, args)?;
    for exercise in settings.exercises(args)? {
        let entry = match (&exercise.contract.workload, asked, &*given) {
            (Workload::Function { .. }, true, [file]) => Some(file.clone()),
            (workload, _, _) => entry_of(workload, &settings.root),
        };
        if let Some(entry) = entry.filter(|entry| asked || found.files.contains(entry)) {
            by_entry.entry(entry).or_default().push(exercise);
        }
    }
    if !asked {
        for file in &given {
            if !by_entry.contains_key(file) && file.extension().is_some_and(|extension| extension == "py") {
                by_entry.insert(file.clone(), vec![settings.own_exercise(file, args)?]);
            }
        }
    }
    let others = found.files.iter().filter(|file| !by_entry.contains_key(*file)).cloned().collect();
    let units = by_entry
        .into_iter()
        .map(|(entry, exercises)| Unit { name: entry.display().to_string(), entry, exercises })
        .collect();
    Ok(Work { units, others, found })
}

/// The Python files under `paths`, without those that the configuration leaves out.
pub(crate) fn discover(settings: &Settings, paths: &[PathBuf]) -> Result<Discovered> {
    let options = DiscoverOptions { exclude: settings.config.exclude.clone(), stubs: false };
    Ok(source::discover(&settings.root, paths, &options)?)
}

/// The files among the paths given, relative to the root.
fn given_files(settings: &Settings, args: &ApplyArgs) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in &args.paths {
        let path = project::canonical(path)?;
        if path.is_file() {
            files.push(path.strip_prefix(&settings.root).unwrap_or(&path).to_owned());
        }
    }
    Ok(files)
}

/// The file that `workload` starts in: the script, or the function's module.
fn entry_of(workload: &Workload, root: &Path) -> Option<PathBuf> {
    match workload {
        Workload::Script { path, .. } => Some(path.clone()),
        Workload::Function { target, .. } => {
            let module = target.split(':').next()?.replace('.', "/");
            let candidates =
                [format!("{module}.py"), format!("{module}/__init__.py"), format!("src/{module}.py")];
            candidates.into_iter().map(PathBuf::from).find(|path| root.join(path).is_file())
        }
    }
}
