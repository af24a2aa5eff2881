//! A project's modules together: their dotted names, who imports whom, and what they re-export.

mod layout;
mod reach;
mod surface;
mod view;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use self::layout::{FolderId, Layout, Standing};
use self::surface::Surface;
use super::{ImportBinding, Names};
use crate::source::Module;

pub use reach::Reach;
pub use view::View;

/// One module of a [`Project`], by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// The modules of one project and how they import each other.
#[derive(Debug)]
pub struct Project {
    inner: Arc<Inner>,
    names: Vec<OnceLock<Names>>,
}

/// What views of the project share.
#[derive(Debug)]
struct Inner {
    modules: Vec<Member>,
    by_path: FxHashMap<PathBuf, ModuleId>,
    layout: Layout,
    /// For each module, the imports elsewhere that run it.
    edges: OnceLock<Vec<Vec<Edge>>>,
    /// For each module, what its star import binds, where that can be known.
    stars: Vec<OnceLock<Option<Vec<String>>>>,
}

/// An import that runs some module of the project.
#[derive(Debug, Clone, Copy)]
struct Edge {
    importer: ModuleId,
    /// Among the importer's imports.
    import_index: usize,
}

#[derive(Debug)]
struct Member {
    module: Arc<Module>,
    standing: Standing,
    surface: Surface,
}

impl Project {
    /// The project of all `modules`, whose paths are relative to `root`. Modules are numbered in the order of their
    /// paths, however they come.
    pub fn load(root: &Path, mut modules: Vec<Arc<Module>>) -> Self {
        modules.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        modules.dedup_by(|a, b| a.file.path == b.file.path);
        let layout = Layout::new(root, modules.iter().map(|module| module.file.path.as_path()));
        let by_path =
            (0u32..).zip(&modules).map(|(at, module)| (module.file.path.clone(), ModuleId(at))).collect();
        let members = modules.into_iter().map(|module| {
            let standing = layout.standing(&module.file.path);
            let surface = Surface::build(&module, &standing.dotted, standing.is_package);
            Member { module, standing, surface }
        });
        let modules: Vec<Member> = members.collect();
        let names = modules.iter().map(|_| OnceLock::new()).collect();
        let stars = modules.iter().map(|_| OnceLock::new()).collect();
        Self { inner: Arc::new(Inner { modules, by_path, layout, edges: OnceLock::new(), stars }), names }
    }

    /// The project of `entry` and the modules it reaches by imports of any kind. `load` reads and parses a file by its
    /// path relative to `root`; it answers `None` where there is none, or where it can't be parsed.
    pub fn for_entry(root: &Path, entry: Arc<Module>, load: &dyn Fn(&Path) -> Option<Arc<Module>>) -> Self {
        let mut tried: FxHashSet<PathBuf> = [entry.file.path.clone()].into_iter().collect();
        let mut layout = Layout::new(root, std::iter::empty());
        layout.add(&entry.file.path, ModuleId(0));
        let mut found = vec![entry];
        let mut next = 0;
        while let Some(module) = found.get(next).cloned() {
            next += 1;
            let mut load_all = |paths: Vec<PathBuf>, layout: &mut Layout, found: &mut Vec<Arc<Module>>| {
                for path in paths.into_iter().filter(|path| tried.insert(path.clone())) {
                    if let Some(module) = load(&path) {
                        layout.add(&path, ModuleId(found.len() as u32));
                        found.push(module);
                    }
                }
            };
            // The packages around a module give it its name.
            load_all(packages_around(&module.file.path), &mut layout, &mut found);
            let entry_roots = layout.standing(&found[0].file.path).first_roots;
            load_all(imported_files(&layout, &module, entry_roots), &mut layout, &mut found);
        }
        Self::load(root, found)
    }

    /// All modules, in the order of their paths.
    pub fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.inner.modules.len() as u32).map(ModuleId)
    }

    /// The module in the file `path`, relative to the root.
    pub fn by_path(&self, path: &Path) -> Option<ModuleId> {
        self.inner.by_path.get(path).copied()
    }

    /// The parsed module.
    pub fn module(&self, id: ModuleId) -> &Arc<Module> {
        &self.inner.member(id).module
    }

    /// The module's dotted name: `pkg.mod`.
    pub fn dotted(&self, id: ModuleId) -> &str {
        &self.inner.member(id).standing.dotted
    }

    /// True where the module is an `__init__.py`.
    pub fn is_package(&self, id: ModuleId) -> bool {
        self.inner.member(id).standing.is_package
    }

    /// The names of the module, resolved when first asked for, with re-exports of the project followed.
    pub fn names(&self, id: ModuleId) -> &Names {
        self.names[id.0 as usize].get_or_init(|| {
            Names::build(self.module(id), self.dotted(id), self.is_package(id), &self.view(id))
        })
    }

    /// The project as the module `importer` sees it.
    pub fn view(&self, importer: ModuleId) -> View {
        View::new(self.inner.clone(), importer)
    }

    /// The module of the project that `dotted` means when `importer` imports it.
    pub fn find(&self, importer: ModuleId, dotted: &str) -> Option<ModuleId> {
        self.inner.find(importer, dotted)
    }

    /// The module of the project that a qualified name leads into, and what is left of the name there:
    /// `pkg.mod.Class.method` is `Class.method` of `pkg/mod.py`.
    pub fn locate<'n>(&self, importer: ModuleId, qualified: &'n str) -> Option<(ModuleId, &'n str)> {
        let dots = qualified.match_indices('.').map(|(at, _)| at);
        let ends: Vec<usize> = dots.chain([qualified.len()]).collect();
        ends.into_iter().rev().find_map(|end| {
            let id = self.inner.find(importer, &qualified[..end])?;
            Some((id, qualified[end..].trim_start_matches('.')))
        })
    }

    /// The project modules that an import of `importer` runs, outermost package first; none where it leads to a library.
    pub fn loaded_by(&self, importer: ModuleId, import: &ImportBinding) -> Vec<ModuleId> {
        self.inner.loads(importer, import)
    }

    /// The modules of the project that import the module `id` or something from it, in order.
    pub fn importers(&self, id: ModuleId) -> Vec<ModuleId> {
        let mut importers: Vec<ModuleId> = self.inner.edges_to(id).iter().map(|edge| edge.importer).collect();
        importers.dedup();
        importers
    }

    /// True where another module of the project may use `name` of the module `id`: imports it, or imports the module
    /// itself and mentions an attribute of that name, or imports all its names.
    pub fn is_used_outside(&self, id: ModuleId, name: &str) -> bool {
        let attribute = format!(".{name}");
        self.inner.edges_to(id).iter().any(|edge| {
            let importer = self.inner.member(edge.importer);
            let binding = &importer.surface.imports[edge.import_index].binding;
            let from_it = self.inner.find(edge.importer, &binding.module) == Some(id);
            if binding.is_star() {
                from_it
            } else if from_it && binding.qualified.len() > binding.module.len() {
                binding.qualified.rsplit('.').next() == Some(name)
            } else {
                importer.module.text().contains(&attribute)
            }
        })
    }
}

impl Inner {
    fn member(&self, id: ModuleId) -> &Member {
        &self.modules[id.0 as usize]
    }

    fn find(&self, importer: ModuleId, dotted: &str) -> Option<ModuleId> {
        self.layout.find(&self.member(importer).standing.first_roots, dotted)
    }

    fn edges_to(&self, id: ModuleId) -> &[Edge] {
        let edges = self.edges.get_or_init(|| {
            let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); self.modules.len()];
            for (at, member) in (0u32..).zip(&self.modules) {
                let importer = ModuleId(at);
                for (import_index, import) in member.surface.imports.iter().enumerate() {
                    for target in
                        self.loads(importer, &import.binding).into_iter().filter(|it| *it != importer)
                    {
                        edges[target.0 as usize].push(Edge { importer, import_index });
                    }
                }
            }
            edges
        });
        &edges[id.0 as usize]
    }

    /// The project modules that an import runs, outermost package first: `import a.b.c` runs `a`, `a.b` and `a.b.c`.
    fn loads(&self, importer: ModuleId, binding: &ImportBinding) -> Vec<ModuleId> {
        let path = loaded_path(binding);
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| self.find(importer, &path[..end])).collect()
    }
}

/// The `__init__.py` files of the folders around `path`, outermost first.
fn packages_around(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = path.ancestors().skip(1).map(|folder| folder.join("__init__.py")).collect();
    files.reverse();
    files
}

/// The files that the imports of `module` may lead to.
fn imported_files(layout: &Layout, module: &Module, entry_roots: Vec<FolderId>) -> Vec<PathBuf> {
    let standing = layout.standing(&module.file.path);
    let surface = Surface::build(module, &standing.dotted, standing.is_package);
    let mut roots = standing.first_roots;
    roots.extend(entry_roots);
    let mut paths = Vec::new();
    for import in &surface.imports {
        let path = loaded_path(&import.binding);
        for end in path.match_indices('.').map(|(at, _)| at).chain([path.len()]) {
            paths.extend(layout.candidates(&roots, &path[..end]));
        }
    }
    paths
}

/// The longest path that an import may load: `from a import b` runs `a.b` too where that is a module. Empty for a
/// relative import that leaves the known packages.
fn loaded_path(binding: &ImportBinding) -> &str {
    let path =
        if binding.qualified.len() > binding.module.len() { &binding.qualified } else { &binding.module };
    if path.starts_with('.') { "" } else { path }
}
