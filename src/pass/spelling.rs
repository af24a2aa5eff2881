//! How a module writes the names of a replacement: by its own imports where it has them, else by new ones.

use std::collections::BTreeMap;

use ruff_text_size::TextSize;

use crate::names::{ImportBinding, ImportTime, Names, Resolution, ScopeId, ScopeKind, is_builtin};
use crate::pattern::Refused;

use super::Pass;
use super::imports::Need;

/// The names under which new imports bind modules, the same in all modules of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aliases(BTreeMap<String, String>);

impl Aliases {
    /// Chooses a name for each module that `pass` may import, such that it is free in all of `modules`.
    pub fn choose<'n>(pass: &Pass, modules: impl IntoIterator<Item = &'n Names>) -> Self {
        let modules: Vec<&Names> = modules.into_iter().collect();
        let mut chosen = BTreeMap::new();
        for (module, alias) in pass.importable() {
            let name = candidates(module, alias)
                .find(|name| modules.iter().all(|names| is_free(names, name, module)))
                .unwrap_or_default();
            chosen.insert(module.to_owned(), name);
        }
        Self(chosen)
    }

    fn get(&self, module: &str) -> Option<&str> {
        self.0.get(module).map(String::as_str)
    }
}

/// Names for `module`, the preferred one first.
fn candidates<'m>(module: &'m str, alias: Option<&'m str>) -> impl Iterator<Item = String> + 'm {
    let preferred = alias.unwrap_or(module).to_owned();
    let last = module.rsplit('.').next().unwrap_or(module);
    let plain = (last != preferred && !module.contains('.')).then(|| last.to_owned());
    let numbered = (2..).map(move |n| format!("{last}_{n}"));
    [preferred].into_iter().chain(plain).chain([format!("{last}_gpu")]).chain(numbered)
}

/// True where a module-level import may bind `name` to `module`: nothing else uses the name.
fn is_free(names: &Names, name: &str, module: &str) -> bool {
    let first = name.split('.').next().unwrap_or(name);
    let means = if name.contains('.') { first } else { module };
    let imported = names.imports().iter().filter(|import| &*import.bound == first);
    let (same, others): (Vec<_>, Vec<_>) = imported.partition(|import| {
        import.top_level
            && matches!(names.meaning_of(import), Some(Resolution::Qualified(path)) if path == means)
    });
    if same.is_empty() { !names.mentions(first) } else { others.is_empty() }
}

/// Spells dotted paths in one module.
pub struct Speller<'s> {
    pass: &'s Pass,
    names: &'s Names,
    aliases: &'s Aliases,
}

impl<'s> Speller<'s> {
    /// A speller for the module whose names are `names`.
    pub fn new(pass: &'s Pass, names: &'s Names, aliases: &'s Aliases) -> Self {
        Self { pass, names, aliases }
    }

    /// How `path` is written at `offset`, and the import that this needs; `None` for builtins. `scope` is where a new
    /// import would go: the module, or a function that imports what it replaces itself.
    pub fn spell(
        &self,
        path: &str,
        offset: TextSize,
        scope: ScopeId,
    ) -> Result<(String, Option<Need>), Refused> {
        self.spell_like(path, offset, scope, None)
    }

    /// As [`spell`](Self::spell); of several imports that would do, the one bound to `like` is taken.
    pub fn spell_like(
        &self,
        path: &str,
        offset: TextSize,
        scope: ScopeId,
        like: Option<&str>,
    ) -> Result<(String, Option<Need>), Refused> {
        let Some((module, member)) = self.pass.split(path) else {
            return match self.names.meaning_at(path, offset) {
                Resolution::Builtin(_) => Ok((path.to_owned(), None)),
                _ => Err(Refused::new(format!("`{path}` does not mean the builtin here"))),
            };
        };
        if let Some(found) = self.by_import_of(module, member, offset, like) {
            return Ok(found);
        }
        if let Some(found) = self.by_name(module, member, offset, scope) {
            return Ok(found);
        }
        let bound = match self.aliases.get(module) {
            Some("") => return Err(Refused::new(format!("no free name for an import of `{module}`"))),
            Some(bound) => bound.to_owned(),
            None => module.to_owned(),
        };
        let first = bound.split('.').next().unwrap_or(&bound);
        if !self.may_bind(first, module, offset) {
            return Err(Refused::new(format!("`{first}` already means something else here")));
        }
        let text = joined(&bound, member);
        Ok((text, Some(Need::Module { module: module.to_owned(), bound, scope })))
    }

    fn may_bind(&self, first: &str, module: &str, offset: TextSize) -> bool {
        match self.names.meaning_at(first, offset) {
            Resolution::Unbound => true,
            Resolution::Qualified(path) => path == module || module.starts_with(&format!("{path}.")),
            _ => false,
        }
    }

    /// By an import of the module itself: `import cupy`, `import cupy as cp`, `from scipy import fft`.
    fn by_import_of(
        &self,
        module: &str,
        member: &str,
        offset: TextSize,
        like: Option<&str>,
    ) -> Option<(String, Option<Need>)> {
        let fits = |import: &&ImportBinding| {
            let Some(path) = self.meaning(import) else { return false };
            let root = import.module == module && is_prefix(path, module) && path != module;
            (path == module || root) && self.visible(import, offset)
        };
        let imports = self.names.imports();
        let preferred = imports.iter().find(|import| like == Some(&*import.bound) && fits(import));
        let found = preferred.or_else(|| imports.iter().find(fits))?;
        let below = module.strip_prefix(self.meaning(found)?).unwrap_or_default();
        let text = joined(&format!("{}{below}", found.bound), member);
        Some((text, Some(Need::Existing { clause: found.clause })))
    }

    fn meaning(&self, import: &ImportBinding) -> Option<&str> {
        match self.names.meaning_of(import) {
            Some(Resolution::Qualified(path)) if !import.is_star() => Some(path),
            _ => None,
        }
    }

    /// By a name imported from the module, where the module has such imports: `from numpy import float64`.
    fn by_name(
        &self,
        module: &str,
        member: &str,
        offset: TextSize,
        scope: ScopeId,
    ) -> Option<(String, Option<Need>)> {
        let (first, below) =
            member.split_once('.').map_or((member, None), |(first, below)| (first, Some(below)));
        let full = joined(module, first);
        let text = |bound: &str| below.map_or_else(|| bound.to_owned(), |below| format!("{bound}.{below}"));
        let means = |it: &&ImportBinding| self.meaning(it) == Some(full.as_str());
        let existing = self.names.imports().iter().find(|it| means(it) && self.visible(it, offset));
        if let Some(existing) = existing {
            return Some((text(&existing.bound), Some(Need::Existing { clause: existing.clause })));
        }
        let is_source = self.pass.source_modules.iter().any(|source| source == module);
        let has_from = self.names.imports().iter().any(|import| {
            import.scope == scope
                && import.module == module
                && !import.is_star()
                && import.qualified != module
                && is_prefix(module, &import.qualified)
        });
        // A builtin's name would be shadowed for whoever star-imports this module.
        if !is_source || !has_from || first.is_empty() || is_builtin(first) || self.names.mentions(first) {
            return None;
        }
        let (module, name, bound) = (module.to_owned(), first.to_owned(), first.to_owned());
        let need = Need::Name { module, name, bound, scope };
        Some((text(first), Some(need)))
    }

    /// True where the name that `import` binds means it at `offset`, and is bound by then.
    fn visible(&self, import: &ImportBinding, offset: TextSize) -> bool {
        let Some(path) = self.meaning(import) else { return false };
        let bound = match import.when {
            ImportTime::Top | ImportTime::Deferred => true,
            // What the code uses already is bound, or the code fails as it did.
            ImportTime::Conditional => self.pass.source_modules.iter().any(|source| is_prefix(source, path)),
            ImportTime::MainGuard | ImportTime::TypeChecking => false,
        };
        let means =
            matches!(self.names.meaning_at(&import.bound, offset), Resolution::Qualified(it) if it == path);
        bound && means && self.reachable(import, offset)
    }

    fn reachable(&self, import: &ImportBinding, offset: TextSize) -> bool {
        let mut scope = Some(self.names.scope_at(offset));
        let mut deferred = false;
        while let Some(id) = scope {
            if id == import.scope {
                return deferred || import.statement.end() <= offset;
            }
            deferred |= matches!(self.names.kind_of(id), ScopeKind::Function | ScopeKind::Lambda);
            scope = self.names.parent(id);
        }
        false
    }
}

fn joined(module: &str, member: &str) -> String {
    if member.is_empty() { module.to_owned() } else { format!("{module}.{member}") }
}

/// True where `path` is `prefix` or lies below it.
fn is_prefix(prefix: &str, path: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Pass {
    /// The modules that replacements may import, each with its preferred alias.
    fn importable(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let target = (self.target.module.as_str(), self.target.alias.as_deref());
        let declared = self.imports.iter().map(|(module, alias)| (module.as_str(), alias.as_deref()));
        let sources = self.source_modules.iter().map(|module| (module.as_str(), None));
        let named = declared.chain(sources).filter(move |(module, _)| *module != target.0);
        [target].into_iter().filter(|(module, _)| !module.is_empty()).chain(named)
    }

    /// The module that a path belongs to, and what it names there; `None` for a builtin.
    pub(super) fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let known = self
            .importable()
            .map(|(module, _)| module)
            .filter(|module| is_prefix(module, path))
            .max_by_key(|module| module.len());
        match known {
            Some(module) => Some((&path[..module.len()], path[module.len()..].trim_start_matches('.'))),
            None => path.rsplit_once('.'),
        }
    }
}
