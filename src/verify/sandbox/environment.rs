//! The environment variables of a judged program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::settings::{SETTINGS, Settings};

/// Where the variables that name folders point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folders<'a> {
    /// The user's project: what points there points to the copy instead.
    pub(super) original: &'a Path,
    /// The copy.
    pub(super) project: &'a Path,
    /// For temporary files.
    pub(super) temporary: &'a Path,
    /// For compiled kernels.
    pub(super) cache: &'a Path,
}

/// The environment that `inherited` becomes.
pub(super) fn environment(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    folders: Folders<'_>,
) -> Vec<(OsString, OsString)> {
    let settings = &*SETTINGS;
    let mut variables: BTreeMap<OsString, OsString> =
        inherited.into_iter().filter(|(name, _)| !is_scrubbed(name, settings)).collect();
    for (name, value) in &settings.default {
        variables.entry(name.into()).or_insert_with(|| value.into());
    }
    for (name, value) in &settings.set {
        variables.insert(name.into(), value.into());
    }
    for (name, folder) in &settings.caches {
        variables.insert(name.into(), folders.cache.join(folder).into());
    }
    for name in ["TMPDIR", "TEMP", "TMP"] {
        variables.insert(name.into(), folders.temporary.into());
    }
    variables.insert("PWD".into(), folders.project.into());
    variables.remove(OsStr::new("OLDPWD"));
    if let Some(path) = variables.get_mut(OsStr::new("PYTHONPATH")) {
        *path = moved_path(path, folders);
    }
    variables.into_iter().collect()
}

fn is_scrubbed(name: &OsStr, settings: &Settings) -> bool {
    let Some(name) = name.to_str() else { return false };
    settings.scrub_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
        || settings.scrub.iter().any(|scrubbed| scrubbed == name)
}

/// A search path whose entries inside the project point to the copy.
fn moved_path(path: &OsStr, folders: Folders<'_>) -> OsString {
    let moved = std::env::split_paths(path).map(|entry| match entry.strip_prefix(folders.original) {
        Ok(inside) => folders.project.join(inside),
        Err(_) => entry,
    });
    let entries: Vec<PathBuf> = moved.collect();
    std::env::join_paths(entries).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(inherited: &[(&str, &str)]) -> BTreeMap<String, String> {
        let folders = Folders {
            original: Path::new("/home/me/project"),
            project: Path::new("/work/copy"),
            temporary: Path::new("/work/tmp"),
            cache: Path::new("/work/cache"),
        };
        let inherited = inherited.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let text = |text: OsString| text.into_string().unwrap();
        environment(inherited, folders).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    #[test]
    fn accelerator_switches_never_reach_a_program() {
        let check =
            |name: &str, kept: bool| assert_eq!(run(&[(name, "1")]).contains_key(name), kept, "{name}");
        check("CUML_ACCEL_ENABLED", false);
        check("NX_CUGRAPH_AUTOCONFIG", false);
        check("NETWORKX_BACKEND_PRIORITY", false);
        check("CUDF_PANDAS_FALLBACK_MODE", false);
        check("LOG_FAST_FALLBACK", false);
        check("CUDA_VISIBLE_DEVICES", true);
        check("OMP_NUM_THREADS", true);
        check("HOME", true);
    }

    #[test]
    fn fixed_values_win_and_defaults_yield() {
        let variables = run(&[("PYTHONHASHSEED", "7"), ("MPLBACKEND", "svg"), ("TMPDIR", "/tmp")]);
        assert_eq!(variables["PYTHONHASHSEED"], "0");
        assert_eq!(variables["MPLBACKEND"], "svg");
        assert_eq!(variables["TMPDIR"], "/work/tmp");
        assert_eq!(variables["CUPY_CACHE_DIR"], "/work/cache/cupy");
        assert_eq!(run(&[])["MPLBACKEND"], "Agg");
    }

    #[test]
    fn the_search_path_follows_the_copy() {
        let variables =
            run(&[("PYTHONPATH", "/home/me/project/src:/opt/lib:/home/me/project2"), ("OLDPWD", "/x")]);
        assert_eq!(variables["PYTHONPATH"], "/work/copy/src:/opt/lib:/home/me/project2");
        assert!(!variables.contains_key("OLDPWD"));
        assert_eq!(variables["PWD"], "/work/copy");
    }
}
