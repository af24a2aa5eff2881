//! Where modules live: from files to dotted names and back, as Python's import system would look for them.

use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::ModuleId;

/// The files of a project that can be imported.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Name of the project's root folder.
    root_name: Option<String>,
    /// Modules by path without extension, with `/`: `src/pkg/mod`, and `src/pkg/__init__`.
    files: FxHashMap<String, ModuleId>,
    /// Every folder with a module somewhere below it.
    folders: FxHashSet<String>,
    /// Folders that hold top-level packages and modules, `""` for the root itself; sorted.
    roots: Vec<String>,
}

/// Where one module stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) dotted: String,
    pub(super) is_package: bool,
    /// Folders that an import in this module is looked for in before all others.
    pub(super) first_roots: Vec<String>,
}

/// The path without its extension, with `/`; `None` for what can't be imported.
fn key(path: &Path) -> Option<String> {
    let extension = path.extension()?;
    (extension == "py" || extension == "pyw").then(|| slashed(&path.with_extension("")))
}

pub(super) fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn join(folder: &str, rest: &str) -> String {
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
}

impl Layout {
    /// The layout of `paths` (relative to `root`), whose modules get their ids by position.
    pub(super) fn new<'p>(root: &Path, paths: impl Iterator<Item = &'p Path>) -> Self {
        let mut layout = Self {
            root_name: root.file_name().map(|name| name.to_string_lossy().into_owned()),
            roots: vec![String::new(), "src".to_owned()],
            ..Self::default()
        };
        for (at, path) in paths.enumerate() {
            layout.add_file(path, ModuleId(at as u32));
        }
        let mut packaged: Vec<&String> =
            layout.files.keys().filter(|path| layout.is_package(folder(path))).collect();
        packaged.sort_unstable();
        let roots: Vec<String> = packaged.into_iter().map(|path| layout.import_root(path)).collect();
        for root in roots {
            layout.add_root(root);
        }
        layout
    }

    /// Adds one more module.
    pub(super) fn add(&mut self, path: &Path, id: ModuleId) {
        if let Some(path) = self.add_file(path, id)
            && self.is_package(folder(&path))
        {
            self.add_root(self.import_root(&path));
        }
    }

    fn add_file(&mut self, path: &Path, id: ModuleId) -> Option<String> {
        let path = key(path)?;
        self.files.insert(path.clone(), id);
        let mut at = folder(&path);
        while !at.is_empty() && self.folders.insert(at.to_owned()) {
            at = folder(at);
        }
        Some(path)
    }

    fn add_root(&mut self, root: String) {
        if let Err(at) = self.roots.binary_search(&root) {
            self.roots.insert(at, root);
        }
    }

    /// Name of the project's root folder, where that folder is itself a package.
    fn root_package(&self) -> Option<&str> {
        self.root_name.as_deref().filter(|_| self.is_package(""))
    }

    fn is_package(&self, folder: &str) -> bool {
        self.files.contains_key(&join(folder, "__init__"))
    }

    /// The folder in which the top-level package around the file `path` stands; its own folder for a plain module.
    fn import_root(&self, path: &str) -> String {
        let mut at = folder(path);
        while !at.is_empty() && self.is_package(at) {
            at = folder(at);
        }
        at.to_owned()
    }

    /// Where the module in `path` stands. A module in a folder without `__init__.py` is named from the nearest of the
    /// project's roots, as a namespace package would be.
    pub(super) fn standing(&self, path: &Path) -> Standing {
        let path = slashed(&path.with_extension(""));
        let own = folder(&path);
        let is_package = path.rsplit('/').next() == Some("__init__");
        let packaged = self.is_package(own);
        let base = if packaged { self.import_root(&path) } else { self.nearest_root(own) };
        let below = path.strip_prefix(base.as_str()).unwrap_or(&path).trim_start_matches('/');
        let below = if is_package { folder(below) } else { below };
        let mut dotted = below.replace('/', ".");
        if let Some(package) = self.root_package().filter(|_| base.is_empty()) {
            dotted = if dotted.is_empty() { package.to_owned() } else { format!("{package}.{dotted}") };
        }
        let mut first_roots = vec![base];
        if !packaged && first_roots[0] != own {
            // Python puts a script's folder first.
            first_roots.insert(0, own.to_owned());
        }
        Standing { dotted, is_package, first_roots }
    }

    fn nearest_root(&self, folder: &str) -> String {
        let holds =
            |root: &&String| root.is_empty() || folder == **root || folder.starts_with(&format!("{root}/"));
        self.roots.iter().filter(holds).max_by_key(|root| root.len()).cloned().unwrap_or_default()
    }

    /// The module that `dotted` means for an importer whose own roots are `first_roots`.
    pub(super) fn find(&self, first_roots: &[String], dotted: &str) -> Option<ModuleId> {
        if dotted.is_empty() || dotted.starts_with('.') {
            return None;
        }
        let below = dotted.replace('.', "/");
        let in_roots =
            first_roots.iter().chain(&self.roots).find_map(|root| self.module_at(&join(root, &below)));
        in_roots.or_else(|| {
            let below = below.strip_prefix(self.root_package()?)?;
            if below.is_empty() { self.module_at("") } else { self.module_at(below.strip_prefix('/')?) }
        })
    }

    /// True where `dotted` is a folder with modules below it.
    pub(super) fn has_folder(&self, first_roots: &[String], dotted: &str) -> bool {
        let below = dotted.replace('.', "/");
        self.root_package() == Some(dotted)
            || first_roots.iter().chain(&self.roots).any(|root| self.folders.contains(&join(root, &below)))
    }

    fn module_at(&self, path: &str) -> Option<ModuleId> {
        self.files.get(&join(path, "__init__")).or_else(|| self.files.get(path)).copied()
    }
}

/// The files in which `dotted` may live for an importer with these roots, in the order Python would try them.
pub(super) fn candidates(roots: &[String], dotted: &str) -> Vec<PathBuf> {
    if dotted.is_empty() {
        return Vec::new();
    }
    let below = dotted.replace('.', "/");
    let in_root = |root: &String| {
        let path = join(root, &below);
        [PathBuf::from(format!("{path}/__init__.py")), PathBuf::from(format!("{path}.py"))]
    };
    roots.iter().flat_map(in_root).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(paths: &[&str]) -> Layout {
        Layout::new(Path::new("/home/me/proj"), paths.iter().map(Path::new))
    }

    #[test]
    fn files_have_dotted_names() {
        for (paths, path, dotted, is_package) in [
            (&["a.py"][..], "a.py", "a", false),
            (&["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/m.py"], "pkg/sub/m.py", "pkg.sub.m", false),
            (&["pkg/__init__.py", "pkg/sub/__init__.py"], "pkg/sub/__init__.py", "pkg.sub", true),
            (&["src/pkg/__init__.py", "src/pkg/m.py"], "src/pkg/m.py", "pkg.m", false),
            (&["python/pkg/__init__.py", "python/pkg/m.py"], "python/pkg/m.py", "pkg.m", false),
            (&["src/ns/m.py"], "src/ns/m.py", "ns.m", false),
            (&["scripts/run.py"], "scripts/run.py", "scripts.run", false),
            (&["__init__.py", "m.py"], "m.py", "proj.m", false),
            (&["__init__.py", "m.py"], "__init__.py", "proj", true),
            (&["nb/a.ipynb"], "nb/a.ipynb", "nb.a", false),
        ] {
            let standing = layout(paths).standing(Path::new(path));
            assert_eq!((&*standing.dotted, standing.is_package), (dotted, is_package), "{path} in {paths:?}");
        }
    }

    #[test]
    fn dotted_names_have_files() {
        let paths = [
            "a/run.py",
            "a/util.py",
            "b/run.py",
            "b/util.py",
            "src/pkg/__init__.py",
            "src/pkg/m.py",
            "top.py",
        ];
        let layout = layout(&paths);
        for (importer, dotted, found) in [
            ("a/run.py", "util", Some("a/util.py")),
            ("b/run.py", "util", Some("b/util.py")),
            ("b/run.py", "a.util", Some("a/util.py")),
            ("top.py", "util", None),
            ("a/run.py", "pkg", Some("src/pkg/__init__.py")),
            ("a/run.py", "pkg.m", Some("src/pkg/m.py")),
            ("src/pkg/m.py", "top", Some("top.py")),
            ("top.py", "numpy", None),
            ("top.py", "", None),
            ("top.py", ".top", None),
        ] {
            let standing = layout.standing(Path::new(importer));
            let id = layout.find(&standing.first_roots, dotted);
            assert_eq!(id.map(|id| paths[id.0 as usize]), found, "{dotted} in {importer}");
        }
    }
}
