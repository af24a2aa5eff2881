//! Which passes a run uses: shipped ones, the project's own, and files named on the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use thiserror::Error;

use super::config::Config;
use crate::pass::{FileErrors, Goal, Pass, Registry, Sources};

/// Pass or pattern files that can't be used.
#[derive(Debug, Error)]
#[error("{}", .0.iter().map(|errors| errors.render(false).trim_end().to_owned()).collect::<Vec<_>>().join("\n"))]
pub(super) struct BadFiles(pub Vec<FileErrors>);

/// The passes that gpuport ships, or those of the folder that `GPUPORT_DATA` names, in the order they are tried.
pub(super) fn shipped() -> Result<Vec<Arc<Pass>>> {
    let registry = Registry::load(&Sources::from_environment()).map_err(BadFiles)?;
    Ok(in_order(registry.default_passes()))
}

/// The passes for a project: those asked for on the command line (ids or files), else those configured, else all.
pub(super) fn select(root: &Path, config: &Config, asked: &[String]) -> Result<Vec<Arc<Pass>>> {
    let registry = registry(root, config, asked)?;
    let wanted: Vec<String> = match (asked, &config.passes) {
        ([], None) => return Ok(in_order(registry.default_passes())),
        ([], Some(ids)) => ids.clone(),
        (asked, _) => asked.iter().map(|text| id_of(text)).collect(),
    };
    let mut passes = Vec::new();
    for id in wanted {
        match registry.pass(&id) {
            Some(pass) => passes.push(pass),
            None => {
                bail!("there is no pass `{id}`; `gpuport passes list` shows all{}", nearest(&registry, &id))
            }
        }
    }
    Ok(in_order(passes))
}

/// All passes that a project can name.
pub(super) fn registry(root: &Path, config: &Config, asked: &[String]) -> Result<Registry> {
    let mut sources = Sources::from_environment();
    sources.folders.extend(config.pass_dirs.iter().map(|folder| root.join(folder)));
    for text in asked.iter().filter(|text| is_file(text)) {
        let path = PathBuf::from(text);
        if !path.is_file() {
            bail!("--pass {text}: no such file");
        }
        sources.files.push(path);
    }
    Ok(Registry::load(&sources).map_err(BadFiles)?)
}

/// True where `text` names a file rather than an id.
pub(super) fn is_file(text: &str) -> bool {
    text.contains('/')
        || Path::new(text).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The id of a pass given by id or file: a file's stem.
pub(super) fn id_of(text: &str) -> String {
    let stem = Path::new(text).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if is_file(text) { stem.unwrap_or_default() } else { text.to_owned() }
}

/// Compatibility first, then from the smallest layer to the deepest.
fn in_order(mut passes: Vec<Arc<Pass>>) -> Vec<Arc<Pass>> {
    passes.sort_by_key(|pass| (pass.goal == Goal::Speed, pass.layer));
    passes
}

fn nearest(registry: &Registry, id: &str) -> String {
    let close = registry
        .passes()
        .map(|pass| pass.id.as_str())
        .find(|known| known.contains(id) || id.contains(*known));
    close.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default()
}
