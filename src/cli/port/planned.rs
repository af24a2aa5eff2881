//! Planning without judging: every pass over every file, each file a unit of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;

use super::super::sources::{self, Sources};
use crate::names::Project;
use crate::pass::Pass;
use crate::plan::{Advice, Change, Pinned, Plan, Planner};
use crate::reasons::Refusal;
use crate::source::Module;

/// What planning came to.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    /// By file: the changes, what was left, and advice. Files with none of these are absent.
    pub files: BTreeMap<PathBuf, FilePlan>,
    /// New bytes by file.
    pub overlay: BTreeMap<PathBuf, Vec<u8>>,
    /// Files that can't be read or parsed.
    pub skipped: Vec<Refusal>,
}

/// What planning came to for one file.
#[derive(Debug, Default)]
pub(crate) struct FilePlan {
    /// The changes.
    pub changes: Vec<Change>,
    /// What was left as it was.
    pub left: Vec<Refusal>,
    /// What people should know.
    pub advice: Vec<Advice>,
}

/// Plans `passes` one after the other over all `files` of `sources`.
pub(crate) fn plan_files(sources: &Sources, files: &[PathBuf], passes: &[Arc<Pass>]) -> Result<Planned> {
    let parsed: Vec<_> = files.par_iter().map(|path| sources.module(path)).collect();
    let mut planned = Planned::default();
    let mut modules: Vec<Arc<Module>> = Vec::with_capacity(parsed.len());
    for module in parsed {
        match module {
            Ok(module) => modules.push(module),
            Err(refusal) => planned.skipped.push(refusal),
        }
    }
    let mut project = Project::load(&sources.root, modules);
    for pass in passes {
        let entries: Vec<PathBuf> = project
            .ids()
            .map(|id| project.module(id))
            .filter(|module| mentions(module, pass))
            .map(|module| module.file.path.clone())
            .collect();
        let planner = Planner::new(&project);
        let plans: Vec<(PathBuf, Plan)> = entries
            .into_par_iter()
            .map(|entry| {
                let plan = planner.file(&entry, pass, &Pinned::new());
                (entry, plan)
            })
            .collect();
        let rewritten = take(&mut planned, plans, &project)?;
        if !rewritten.is_empty() {
            project = replaced(project, sources, &rewritten);
        }
    }
    planned.skipped.sort();
    Ok(planned)
}

/// False where nothing of `pass` can concern `module`: a cheap look at the text. A script may reach the library of a
/// switch through other modules, and never name it.
fn mentions(module: &Module, pass: &Pass) -> bool {
    pass.rules.iter().any(|rule| rule.activation.is_some())
        || pass.source_modules.iter().any(|name| module.text().contains(name.as_str()))
}

/// Files what `plans` say under their files, and returns the files they change with their new modules.
fn take(
    planned: &mut Planned,
    plans: Vec<(PathBuf, Plan)>,
    project: &Project,
) -> Result<BTreeMap<PathBuf, Arc<Module>>> {
    let mut rewritten = BTreeMap::new();
    for (entry, plan) in plans {
        if plan.changes.is_empty() && plan.left.is_empty() && plan.advice.is_empty() {
            continue;
        }
        for (path, edits) in &plan.edits {
            let Some(id) = project.by_path(path) else { continue };
            let bytes = project.module(id).file.rewritten(edits)?;
            let module = sources::parse(path, &bytes).map_err(|refusal| {
                anyhow::anyhow!(
                    "gpuport made {} unreadable: {}. This is a bug in a pass or in gpuport; nothing was written",
                    refusal.place,
                    refusal.message
                )
            })?;
            rewritten.insert(path.clone(), module);
            planned.overlay.insert(path.clone(), bytes);
        }
        let file = planned.files.entry(entry).or_default();
        file.changes.extend(plan.changes);
        file.left.extend(plan.left);
        file.advice.extend(plan.advice);
    }
    Ok(rewritten)
}

/// `project` with some modules replaced.
fn replaced(project: Project, sources: &Sources, rewritten: &BTreeMap<PathBuf, Arc<Module>>) -> Project {
    let modules = project
        .ids()
        .map(|id| {
            let module = project.module(id);
            rewritten.get(&module.file.path).unwrap_or(module).clone()
        })
        .collect();
    Project::load(&sources.root, modules)
}
