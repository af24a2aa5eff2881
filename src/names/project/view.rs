//! What the project's modules export, as one of them sees it.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Inner, ModuleId};
use crate::names::star::{library_names, library_star};
use crate::names::{Exports, ImportBinding};

/// How many re-exports a name may pass through; more means that modules import each other in a circle.
const MAX_STEPS: usize = 32;

/// The project as one of its modules sees it: `import util` may mean another file for each folder of scripts.
#[derive(Debug, Clone)]
pub struct View {
    inner: Arc<Inner>,
    importer: ModuleId,
}

impl View {
    pub(super) fn new(inner: Arc<Inner>, importer: ModuleId) -> Self {
        Self { inner, importer }
    }
}

impl Exports for View {
    fn lookup(&self, module: &str, name: &str) -> Option<String> {
        let mut meanings = self.meanings(module, name);
        (meanings.len() == 1).then(|| meanings.remove(0))
    }

    fn star(&self, module: &str) -> Option<Vec<String>> {
        let id = self.inner.find(self.importer, module)?;
        self.inner.star(id).map(<[String]>::to_vec)
    }

    fn meanings(&self, module: &str, name: &str) -> Vec<String> {
        let Some(id) = self.inner.find(self.importer, module) else { return Vec::new() };
        self.inner.meanings(id, name, MAX_STEPS)
    }

    fn shared(&self) -> Option<Arc<dyn Exports + Send + Sync>> {
        Some(Arc::new(self.clone()))
    }

    fn has(&self, module: &str) -> bool {
        self.inner.layout.has(&self.inner.member(self.importer).standing.first_roots, module)
    }
}

impl Inner {
    /// Every meaning that `name` of module `id` may have outside; none where the module defines it itself, or doesn't
    /// have it.
    fn meanings(&self, id: ModuleId, name: &str, steps: usize) -> Vec<String> {
        let member = self.member(id);
        let mut meanings: Vec<String> = Vec::new();
        if steps == 0 {
            return meanings;
        }
        let own = || format!("{}.{name}", member.standing.dotted);
        for binding in member.surface.imports_of(name) {
            add(&mut meanings, self.follow(id, &binding.qualified, steps - 1));
        }
        if member.surface.binds(name) {
            if member.surface.defines(name) && !meanings.is_empty() {
                add(&mut meanings, vec![own()]);
            }
            return meanings;
        }
        for star in member.surface.stars() {
            add(&mut meanings, self.through_star(id, star, name, steps - 1));
        }
        meanings
    }

    /// What a path that module `id` imports means, once re-exports are followed.
    fn follow(&self, id: ModuleId, qualified: &str, steps: usize) -> Vec<String> {
        if let Some(module) = self.find(id, qualified) {
            return vec![self.member(module).standing.dotted.clone()];
        }
        let Some((path, name)) = qualified.rsplit_once('.') else { return vec![qualified.to_owned()] };
        let Some(module) = self.find(id, path) else { return vec![qualified.to_owned()] };
        let meanings = self.meanings(module, name, steps);
        if !meanings.is_empty() {
            return meanings;
        }
        vec![format!("{}.{name}", self.member(module).standing.dotted)]
    }

    /// What `name` means where module `id` has it from a star import; none where that doesn't bind it.
    fn through_star(&self, id: ModuleId, star: &ImportBinding, name: &str, steps: usize) -> Vec<String> {
        let Some(module) = self.find(id, &star.module) else {
            return library_star(&star.module, name).into_iter().collect();
        };
        if self.star(module).is_none_or(|names| names.binary_search_by(|it| it.as_str().cmp(name)).is_err()) {
            return Vec::new();
        }
        self.follow(id, &format!("{}.{name}", star.module), steps)
    }

    /// The names that `from module import *` binds, sorted; `None` where that can't be known.
    fn star(&self, id: ModuleId) -> Option<&[String]> {
        self.stars[id.0 as usize].get_or_init(|| self.list_star(id)).as_deref()
    }

    /// Collects the public names of `id` and of every module that it star-imports in turn.
    fn list_star(&self, id: ModuleId) -> Option<Vec<String>> {
        let mut names: FxHashSet<String> = FxHashSet::default();
        let mut seen: FxHashSet<ModuleId> = [id].into_iter().collect();
        let mut left = vec![id];
        while let Some(at) = left.pop() {
            let surface = &self.member(at).surface;
            if let Some(all) = surface.all() {
                names.extend(all.iter().cloned());
                continue;
            }
            if surface.binds("__all__") {
                return None;
            }
            names.extend(surface.public_names().map(str::to_owned));
            for star in surface.stars() {
                match self.find(at, &star.module) {
                    Some(module) if seen.insert(module) => left.push(module),
                    Some(_) => {}
                    None => names.extend(library_names(&star.module)?.map(str::to_owned)),
                }
            }
        }
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        Some(names)
    }
}

fn add(meanings: &mut Vec<String>, more: Vec<String>) {
    for meaning in more {
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }
}
