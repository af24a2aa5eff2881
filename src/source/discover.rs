//! Finding the Python files to look at.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use thiserror::Error;

/// Folders that are never looked into: environments, caches, build output and gpuport's own.
const EXCLUDED_FOLDERS: &[&str] = &[
    ".git",
    ".gpuport",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
];

/// Bytes of a file without extension that are looked at for `#!…python`.
const SHEBANG_BYTES: u64 = 256;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct DiscoverOptions {
    /// Patterns in the syntax of `.gitignore`, from the root; what matches is left out unless it is named itself.
    pub exclude: Vec<String>,
    /// Whether stub files (`.pyi`) are wanted.
    pub stubs: bool,
}

/// The files found, and what was asked for but not taken.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Paths relative to the root, sorted, each once.
    pub files: Vec<PathBuf>,
    /// Paths that were named and can't be taken, or folders that could not be read, and why.
    pub problems: Vec<(PathBuf, String)>,
}

/// Why nothing can be looked for.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// The root is no folder that can be read.
    #[error("{path}: {error}", path = .path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A pattern of `exclude` is malformed.
    #[error("exclude pattern: {0}")]
    Exclude(ignore::Error),
}

/// The Python files and notebooks that `paths` name (absolute, or relative to the working directory) or contain. A file that is named is
/// always taken if it is Python; in folders, ignore files, hidden files, the excluded patterns and folders such as
/// environments count. Symbolic links inside folders are not followed, and one that is named must lead to somewhere
/// below `root`.
pub fn discover(
    root: &Path,
    paths: &[PathBuf],
    options: &DiscoverOptions,
) -> Result<Discovered, DiscoverError> {
    let real_root =
        root.canonicalize().map_err(|error| DiscoverError::Root { path: root.to_owned(), error })?;
    let mut globs = OverrideBuilder::new(&real_root);
    for pattern in &options.exclude {
        globs.add(&format!("!{pattern}")).map_err(DiscoverError::Exclude)?;
    }
    let mut search = Search {
        root: real_root,
        globs: globs.build().map_err(DiscoverError::Exclude)?,
        stubs: options.stubs,
        files: BTreeSet::new(),
        problems: Vec::new(),
    };
    for path in paths {
        search.named(path);
    }
    Ok(Discovered { files: search.files.into_iter().collect(), problems: search.problems })
}

struct Search {
    root: PathBuf,
    globs: Override,
    stubs: bool,
    files: BTreeSet<PathBuf>,
    problems: Vec<(PathBuf, String)>,
}

impl Search {
    fn named(&mut self, path: &Path) {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => return self.problem(path, &error),
        };
        let Ok(relative) = real.strip_prefix(&self.root) else {
            return self.problem(path, &"outside the project's root");
        };
        if real.is_dir() {
            self.walk(&real);
        } else if !real.is_file() {
            self.problem(path, &"no regular file");
        } else if is_python(&real, true) || has_python_shebang(&real) {
            self.files.insert(relative.to_owned());
        } else {
            self.problem(path, &"not a Python file or notebook");
        }
    }

    fn walk(&mut self, folder: &Path) {
        let excluded = |name: &std::ffi::OsStr| EXCLUDED_FOLDERS.iter().any(|it| name == *it);
        let start = folder.to_owned();
        let walk = WalkBuilder::new(folder)
            .follow_links(false)
            .require_git(false)
            .overrides(self.globs.clone())
            .filter_entry(move |entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                !is_folder || entry.path() == start || !excluded(entry.file_name())
            })
            .build();
        for entry in walk {
            match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    if is_file
                        && is_python(entry.path(), self.stubs)
                        && let Ok(relative) = entry.path().strip_prefix(&self.root)
                    {
                        self.files.insert(relative.to_owned());
                    }
                }
                Err(error) => self.problem(folder, &error),
            }
        }
    }

    fn problem(&mut self, path: &Path, problem: &dyn ToString) {
        self.problems.push((path.to_owned(), problem.to_string()));
    }
}

fn is_python(path: &Path, stubs: bool) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("py" | "pyw" | "ipynb") => true,
        Some("pyi") => stubs,
        _ => false,
    }
}

/// True for a file without extension whose first line starts a Python interpreter.
fn has_python_shebang(path: &Path) -> bool {
    let first_line = || -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        BufReader::new(std::fs::File::open(path)?.take(SHEBANG_BYTES)).read_until(b'\n', &mut line)?;
        Ok(line)
    };
    path.extension().is_none()
        && first_line()
            .is_ok_and(|line| line.starts_with(b"#!") && line.windows(6).any(|part| part == b"python"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn found(root: &Path, paths: &[&str], options: &DiscoverOptions) -> (Vec<String>, Vec<String>) {
        let paths: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
        let discovered = discover(root, &paths, options).unwrap();
        let files = discovered.files.iter().map(|path| path.display().to_string()).collect();
        (files, discovered.problems.into_iter().map(|(_, problem)| problem).collect())
    }

    #[test]
    fn folders_give_their_python_files() {
        let tree = tree(&[
            ("b.py", ""),
            ("a.pyw", ""),
            ("n.ipynb", "{}"),
            ("stub.pyi", ""),
            ("data.txt", ""),
            ("pkg/m.py", ""),
            ("vendor/x.py", ""),
            (".hidden/h.py", ""),
            ("venv/lib/v.py", ""),
            ("build/b.py", ""),
            ("__pycache__/c.py", ""),
            (".gitignore", "gen_*.py\n"),
            ("gen_1.py", ""),
            ("run", "#!/usr/bin/env python3\n"),
        ]);
        let options = DiscoverOptions::default();
        let all = ["a.pyw", "b.py", "n.ipynb", "pkg/m.py", "vendor/x.py"];
        assert_eq!(found(tree.path(), &[""], &options).0, all);
        assert_eq!(found(tree.path(), &["pkg", "", "pkg/m.py"], &options).0, all);
        let options = DiscoverOptions { exclude: vec!["vendor/**".to_owned()], stubs: true };
        assert_eq!(
            found(tree.path(), &[""], &options).0,
            ["a.pyw", "b.py", "n.ipynb", "pkg/m.py", "stub.pyi"]
        );
    }

    #[test]
    fn named_files_are_taken() {
        let tree = tree(&[
            ("gen.py", ""),
            (".gitignore", "gen.py\n"),
            ("venv/v.py", ""),
            ("run", "#!/usr/bin/env python3\n"),
            ("sh", "#!/bin/sh\n"),
            ("a.txt", ""),
            ("s.pyi", ""),
        ]);
        let options = DiscoverOptions { exclude: vec!["gen.py".to_owned()], stubs: false };
        let named = ["gen.py", "venv/v.py", "run", "s.pyi", "sh", "a.txt", "missing.py"];
        let (files, problems) = found(tree.path(), &named, &options);
        assert_eq!(files, ["gen.py", "run", "s.pyi", "venv/v.py"]);
        assert_eq!(problems.len(), 3);
        assert_eq!(found(tree.path(), &["venv"], &options).0, ["venv/v.py"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        let outside = tree(&[("o.py", ""), ("pkg/p.py", "")]);
        let tree = tree(&[("a.py", ""), ("sub/b.py", "")]);
        let link =
            |target: &Path, name: &str| std::os::unix::fs::symlink(target, tree.path().join(name)).unwrap();
        link(&outside.path().join("o.py"), "o.py");
        link(&outside.path().join("pkg"), "pkg");
        link(&tree.path().join("sub/b.py"), "c.py");
        link(tree.path(), "sub/loop");
        let options = DiscoverOptions::default();
        assert_eq!(found(tree.path(), &[""], &options).0, ["a.py", "sub/b.py"]);
        let (files, problems) = found(tree.path(), &["o.py", "pkg", "pkg/p.py", "c.py"], &options);
        assert_eq!(files, ["sub/b.py"]);
        assert_eq!(problems, vec!["outside the project's root"; 3]);
    }
}
