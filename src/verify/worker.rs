//! The worker's Python files, embedded, so that the binary is all that has to be installed.

/// Embeds files of `python/gpuport/`.
macro_rules! worker_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../python/gpuport/", $name)))),*]
    };
}

/// Name and text of each file; they stand side by side when they run.
pub(super) const WORKER_FILES: &[(&str, &str)] = worker_files![
    "__init__.py",
    "activity.py",
    "calls.py",
    "capture.py",
    "capture_arrays.py",
    "capture_containers.py",
    "capture_frames.py",
    "capture_models.py",
    "capture_objects.py",
    "convert.py",
    "coverage.py",
    "cupti.py",
    "environment.py",
    "inputs.py",
    "installed.py",
    "marks.py",
    "nodes.py",
    "outcome.py",
    "program.py",
    "run.py",
    "worker.py",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_python_file_is_embedded() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("python/gpuport");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        there.sort();
        let embedded: Vec<&str> = WORKER_FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(embedded, there);
    }
}
