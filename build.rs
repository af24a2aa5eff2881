//! Embeds every file of `transforms/` and `patterns/` in the binary, so that a pass is registered by being there.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let mut code = String::new();
    for folder in ["transforms", "patterns"] {
        let path = Path::new(&root).join(folder);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files: Vec<_> = fs::read_dir(&path)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.retain(|file: &std::path::PathBuf| file.extension().is_some_and(|it| it == "yaml"));
        files.sort();
        let name = folder.to_uppercase();
        let _ = writeln!(code, "/// `(stem, text)` of each file of `{folder}/`, sorted.");
        let _ = writeln!(code, "pub(super) const {name}: &[(&str, &str)] = &[");
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            let stem = file.file_stem().expect("a file").to_string_lossy().into_owned();
            let _ = writeln!(code, "    ({stem:?}, include_str!({:?})),", file.display().to_string());
        }
        code.push_str("];\n");
    }
    fs::write(Path::new(&out).join("embedded.rs"), code).expect("OUT_DIR can be written");
}
