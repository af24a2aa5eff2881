//! Where the project begins, and which interpreter runs it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The project's root for `paths`: the nearest folder above the first path that holds `gpuport.toml`, a
/// `pyproject.toml` or `.git`; where there is none, the first path's own folder. All paths must lie below it.
pub(super) fn root_of(paths: &[PathBuf]) -> Result<PathBuf> {
    let first = paths.first().context("no path was given")?;
    let first = canonical(first)?;
    let start = if first.is_dir() { first.as_path() } else { first.parent().unwrap_or(Path::new("/")) };
    let marks = ["gpuport.toml", "pyproject.toml", ".git"];
    let root = start
        .ancestors()
        .find(|folder| marks.iter().any(|mark| folder.join(mark).exists()))
        .unwrap_or(start)
        .to_owned();
    for path in paths {
        let path = canonical(path)?;
        if !path.starts_with(&root) {
            bail!(
                "{} is outside the project {}; run gpuport once for each project",
                path.display(),
                root.display()
            );
        }
    }
    Ok(root)
}

/// `path` made absolute, links resolved.
pub(super) fn canonical(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("{}: no such file or folder", path.display()))
}

/// The interpreter: the one asked for, else `VIRTUAL_ENV`'s, else the project's `.venv`, else `python3` of `PATH`.
pub(super) fn python_of(asked: Option<&Path>, configured: Option<&Path>, root: &Path) -> Result<PathBuf> {
    if let Some(path) = asked {
        return executable(path).with_context(|| format!("--python {}: no such interpreter", path.display()));
    }
    if let Some(path) = configured {
        let path = root.join(path);
        return executable(&path).with_context(|| {
            format!("python = {} in the configuration: no such interpreter", path.display())
        });
    }
    let environment = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
    [environment, Some(root.join(".venv/bin/python"))]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
        .or_else(|| on_path("python3"))
        .or_else(|| on_path("python"))
        .context("no Python was found; name one by --python PATH")
}

fn executable(path: &Path) -> Option<PathBuf> {
    if path.components().count() == 1 && !path.exists() {
        return on_path(&path.to_string_lossy());
    }
    // Not canonicalised: an environment's interpreter is a link, and its own path is what makes it that environment's.
    path.is_file().then(|| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
