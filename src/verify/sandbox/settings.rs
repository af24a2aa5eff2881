//! The facts in `patterns/environment.yaml`: which variables and folders take part in a judged run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;

/// The file's content.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Settings {
    /// Beginnings of names of variables that are removed.
    pub(super) scrub_prefixes: Vec<String>,
    /// Variables that are removed.
    pub(super) scrub: Vec<String>,
    /// Variables that are set.
    pub(super) set: BTreeMap<String, String>,
    /// Variables that are set where they aren't.
    pub(super) default: BTreeMap<String, String>,
    /// Variables that name a folder of the judge's cache.
    pub(super) caches: BTreeMap<String, String>,
    /// Folders of the system's folder for temporary files that programs may write to.
    pub(super) writable: Vec<PathBuf>,
    /// Names of files that libraries write for themselves: no outputs.
    pub(super) library_logs: Vec<String>,
    /// Extensions of files that the worker can turn into the capture form.
    pub(super) converted: Vec<String>,
    /// Names of folders that are no part of a copy.
    pub(super) left_out: Vec<String>,
    /// Names of entries that make the folder they are in no part of a copy.
    pub(super) markers: Vec<String>,
}

/// The file as shipped.
pub(super) static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let text = include_str!("../../../patterns/environment.yaml");
    serde_saphyr::from_str(text).expect("the shipped file is checked by a test")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_can_be_read() {
        assert!(SETTINGS.left_out.contains(&".git".to_owned()));
        assert_eq!(SETTINGS.set["PYTHONHASHSEED"], "0");
    }

    #[test]
    fn every_reader_of_the_worker_is_asked() {
        let worker = include_str!("../../../python/gpuport/convert.py");
        let readers = worker.split("READERS = {").nth(1).and_then(|text| text.split("\n}").next()).unwrap();
        let mut named: Vec<&str> = readers.split('"').skip(1).step_by(2).collect();
        named.sort_unstable();
        assert_eq!(SETTINGS.converted, named);
    }
}
