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
    folders: Folders,
    /// Those folders that are known as targets.
    listed: FxHashSet<String>,
    /// What each dotted name means below each folder from which it leads to a module or a folder of modules.
    targets: FxHashMap<String, Vec<Target>>,
    /// Folders that hold top-level packages and modules, the project's root and `src` among them.
    roots: FxHashSet<FolderId>,
}

/// A folder of the project, by index; 0 is its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FolderId(u32);

/// What a dotted name means when it is looked for in one folder.
#[derive(Debug, Clone, Copy)]
struct Target {
    below: FolderId,
    /// `None` for a folder without `__init__.py`.
    module: Option<ModuleId>,
}

/// Where one module stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) dotted: String,
    pub(super) is_package: bool,
    /// Folders that an import in this module is looked for in before all others.
    pub(super) first_roots: Vec<FolderId>,
}

impl Layout {
    /// The layout of `paths` (relative to `root`), whose modules get their ids by position.
    pub(super) fn new<'p>(root: &Path, paths: impl Iterator<Item = &'p Path>) -> Self {
        let root_name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut layout = Self { root_name, ..Self::default() };
        layout.roots = [layout.folders.intern(""), layout.folders.intern("src")].into_iter().collect();
        let mut added: Vec<String> = Vec::new();
        for (at, path) in paths.enumerate() {
            added.extend(layout.add_file(path, ModuleId(at as u32)));
        }
        for path in added {
            layout.add_root_of(&path);
        }
        layout
    }

    /// Adds one more module; the packages around it must have been added before.
    pub(super) fn add(&mut self, path: &Path, id: ModuleId) {
        if let Some(path) = self.add_file(path, id) {
            self.add_root_of(&path);
        }
    }

    fn add_file(&mut self, path: &Path, id: ModuleId) -> Option<String> {
        let path = key(path)?;
        self.files.insert(path.clone(), id);
        if last(&path) == "__init__" {
            self.add_target(folder(&path), Some(id), true);
        } else {
            self.add_target(&path, Some(id), false);
        }
        let mut at = folder(&path);
        while !at.is_empty() && self.listed.insert(at.to_owned()) {
            self.add_target(at, None, false);
            at = folder(at);
        }
        Some(path)
    }

    /// Makes `path` known below each folder around it. A package stands before a module of the same name, and both
    /// before a mere folder.
    fn add_target(&mut self, path: &str, module: Option<ModuleId>, is_package: bool) {
        let starts = path.match_indices('/').map(|(at, _)| (at, at + 1));
        for (end, start) in [(0, 0)].into_iter().chain(starts) {
            let below = self.folders.intern(&path[..end]);
            let targets = self.targets.entry(path[start..].replace('/', ".")).or_default();
            match targets.iter_mut().find(|target| target.below == below) {
                None => targets.push(Target { below, module }),
                Some(known) if is_package || known.module.is_none() => known.module = module.or(known.module),
                Some(_) => {}
            }
        }
    }

    fn add_root_of(&mut self, path: &str) {
        if self.is_package(folder(path)) {
            let root = self.folders.intern(import_root(self, path));
            self.roots.insert(root);
        }
    }

    fn is_package(&self, folder: &str) -> bool {
        self.files.contains_key(&join(folder, "__init__"))
    }

    /// Name of the project's root folder, where that folder is itself a package.
    fn root_package(&self) -> Option<&str> {
        self.root_name.as_deref().filter(|_| self.files.contains_key("__init__"))
    }

    /// Where the module in `path` stands. A module in a folder without `__init__.py` is named from the nearest of the
    /// project's roots, as a namespace package would be.
    pub(super) fn standing(&self, path: &Path) -> Standing {
        let path = slashed(&path.with_extension(""));
        let own = folder(&path);
        let is_package = last(&path) == "__init__";
        let packaged = self.is_package(own);
        let base = if packaged { import_root(self, &path) } else { self.nearest_root(own) };
        let below = path.strip_prefix(base).unwrap_or(&path).trim_start_matches('/');
        let below = if is_package { folder(below) } else { below };
        let mut dotted = below.replace('/', ".");
        if let Some(package) = self.root_package().filter(|_| base.is_empty()) {
            dotted = if dotted.is_empty() { package.to_owned() } else { format!("{package}.{dotted}") };
        }
        // Python puts a script's own folder first.
        let first_roots = if packaged { [None, Some(base)] } else { [Some(own), Some(base)] };
        let first_roots =
            first_roots.into_iter().flatten().filter_map(|folder| self.folders.get(folder)).collect();
        Standing { dotted, is_package, first_roots }
    }

    fn nearest_root<'p>(&self, folder_path: &'p str) -> &'p str {
        let mut at = folder_path;
        while !at.is_empty() && !self.folders.get(at).is_some_and(|id| self.roots.contains(&id)) {
            at = folder(at);
        }
        at
    }

    /// The module that `dotted` means for an importer whose own roots are `first_roots`.
    pub(super) fn find(&self, first_roots: &[FolderId], dotted: &str) -> Option<ModuleId> {
        let modules = |target: &Target| target.module.map(|module| (target.below, module));
        if let Some(targets) = self.targets.get(dotted)
            && let Some(module) = self.best(first_roots, &targets.iter().filter_map(modules))
        {
            return Some(module);
        }
        match dotted.strip_prefix(self.root_package()?)? {
            "" => self.files.get("__init__").copied(),
            below => {
                let targets = self.targets.get(below.strip_prefix('.')?)?;
                targets.iter().find(|target| target.below == FolderId(0))?.module
            }
        }
    }

    /// Of several modules found in different folders, the one that the import would find first.
    fn best(
        &self,
        first_roots: &[FolderId],
        found: &(impl Iterator<Item = (FolderId, ModuleId)> + Clone),
    ) -> Option<ModuleId> {
        let first = first_roots.iter().find_map(|root| found.clone().find(|(below, _)| below == root));
        let other = || found.clone().filter(|(below, _)| self.roots.contains(below));
        let other = || other().min_by_key(|(below, _)| self.folders.name(*below));
        first.or_else(other).map(|(_, module)| module)
    }

    /// True where `dotted` is a module, or a folder with modules below it.
    pub(super) fn has(&self, first_roots: &[FolderId], dotted: &str) -> bool {
        let visible =
            |target: &Target| self.roots.contains(&target.below) || first_roots.contains(&target.below);
        self.targets.get(dotted).is_some_and(|targets| targets.iter().any(visible))
            || self.root_package() == Some(dotted)
    }

    /// The files in which `dotted` may live below `roots`, `src` or the project's root, in the order Python would try
    /// them.
    pub(super) fn candidates(&self, roots: &[FolderId], dotted: &str) -> Vec<PathBuf> {
        if dotted.is_empty() {
            return Vec::new();
        }
        let below = dotted.replace('.', "/");
        let roots = roots.iter().map(|root| self.folders.name(*root)).chain(["", "src"]);
        let files = |root: &str| {
            let path = join(root, &below);
            [PathBuf::from(format!("{path}/__init__.py")), PathBuf::from(format!("{path}.py"))]
        };
        roots.flat_map(files).collect()
    }
}

/// Folders by number.
#[derive(Debug, Default)]
struct Folders {
    names: Vec<String>,
    ids: FxHashMap<String, FolderId>,
}

impl Folders {
    fn get(&self, name: &str) -> Option<FolderId> {
        self.ids.get(name).copied()
    }

    fn name(&self, id: FolderId) -> &str {
        &self.names[id.0 as usize]
    }

    fn intern(&mut self, name: &str) -> FolderId {
        if let Some(id) = self.get(name) {
            return id;
        }
        let id = FolderId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }
}

/// The folder in which the top-level package around the file `path` stands; its own folder for a plain module.
fn import_root<'p>(layout: &Layout, path: &'p str) -> &'p str {
    let mut at = folder(path);
    while !at.is_empty() && layout.is_package(at) {
        at = folder(at);
    }
    at
}

/// The path without its extension, with `/`; `None` for what can't be imported.
fn key(path: &Path) -> Option<String> {
    let extension = path.extension()?;
    (extension == "py" || extension == "pyw").then(|| slashed(&path.with_extension("")))
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

fn join(folder: &str, rest: &str) -> String {
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
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
    #[test]
    fn folders_are_namespaces() {
        let layout = layout(&["src/ns/deep/m.py", "scripts/run.py"]);
        let roots = layout.standing(Path::new("scripts/run.py")).first_roots;
        assert!(layout.has(&roots, "ns") && layout.has(&roots, "ns.deep") && layout.has(&roots, "run"));
        assert!(!layout.has(&roots, "deep") && !layout.has(&roots, "numpy"));
        assert_eq!(layout.find(&roots, "ns"), None);
    }
}
