//! Star imports: which names they may bind.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::builtins::is_builtin;
use super::{Exports, ImportBinding, Resolution};

/// One star import and the names it may bind.
#[derive(Debug)]
pub(super) struct Star {
    module: String,
    top_level: bool,
    names: StarNames,
}

#[derive(Debug)]
enum StarNames {
    /// A module of the project, which binds exactly these.
    Project(FxHashSet<String>),
    /// A module listed in `patterns/star-names.yaml`.
    Library(&'static Library),
    /// Anything.
    Unknown,
}

/// Whether a star import binds a name.
enum Binds {
    Never,
    /// To these meanings.
    Surely(Vec<String>),
    Perhaps,
}

impl Star {
    /// The star imports among `imports`, in source order.
    pub(super) fn all(imports: &[ImportBinding], exports: &dyn Exports) -> Vec<Self> {
        let stars = imports.iter().filter(|import| import.is_star());
        stars
            .map(|import| {
                let names = match exports.star(&import.module) {
                    Some(names) => StarNames::Project(names.into_iter().collect()),
                    None => library(&import.module).map_or(StarNames::Unknown, StarNames::Library),
                };
                Self { module: import.module.clone(), top_level: import.top_level, names }
            })
            .collect()
    }

    /// True where it is known to bind `name`, if only in some version of the library.
    pub(super) fn may_bind(&self, name: &str) -> bool {
        match &self.names {
            StarNames::Project(names) => names.contains(name),
            StarNames::Library(library) => library.names.contains_key(name),
            StarNames::Unknown => false,
        }
    }

    fn binds(&self, name: &str, exports: &dyn Exports) -> Binds {
        let own = || vec![format!("{}.{name}", self.module)];
        match &self.names {
            StarNames::Unknown => Binds::Perhaps,
            StarNames::Project(names) if names.contains(name) => {
                let meanings = exports.meanings(&self.module, name);
                Binds::Surely(if meanings.is_empty() { own() } else { meanings })
            }
            StarNames::Project(_) => Binds::Never,
            StarNames::Library(library) => match library.names.get(name) {
                None => Binds::Never,
                // In some versions only; then nothing else gives the name a meaning, unless it is a builtin.
                Some(_) => library_star(&self.module, name)
                    .map_or(Binds::Perhaps, |meaning| Binds::Surely(vec![meaning])),
            },
        }
    }
}

/// What stands around a module: its project, and what its star imports bring in.
pub(super) struct Around<'a> {
    pub(super) stars: Vec<Star>,
    pub(super) exports: &'a dyn Exports,
}

impl Around<'_> {
    /// What `name`, which the module itself binds nowhere, means.
    pub(super) fn meaning(&self, name: &str) -> Resolution {
        let mut meant: Vec<String> = Vec::new();
        let mut modules: Vec<String> = Vec::new();
        let mut perhaps = false;
        for star in &self.stars {
            match star.binds(name, self.exports) {
                Binds::Never => continue,
                Binds::Perhaps => perhaps = true,
                Binds::Surely(meanings) => {
                    // It overrides those before it that may bind the name too.
                    if star.top_level && perhaps {
                        perhaps = false;
                        modules.clear();
                    }
                    add(&mut meant, meanings);
                }
            }
            modules.push(star.module.clone());
        }
        if perhaps {
            return Resolution::MaybeStar(modules);
        }
        match meant.len() {
            0 if is_builtin(name) => Resolution::Builtin(name.to_owned()),
            0 => Resolution::Unbound,
            1 => Resolution::Qualified(meant.remove(0)),
            _ => Resolution::Ambiguous(meant),
        }
    }

    /// What else `name`, which the module imports itself, may mean because a star import rebinds it. One of an unknown
    /// module is taken not to.
    pub(super) fn add_rebindings(&self, name: &str, candidates: &mut Vec<String>) {
        for star in self.stars.iter().filter(|star| star.may_bind(name)) {
            if let Binds::Surely(meanings) = star.binds(name, self.exports) {
                add(candidates, meanings);
            }
        }
    }

    /// What an imported path means once re-exports of the project are followed.
    pub(super) fn follow(&self, qualified: &str) -> Vec<String> {
        match qualified.rsplit_once('.') {
            Some((module, name)) if !module.is_empty() => {
                let meanings = self.exports.meanings(module, name);
                if meanings.is_empty() { vec![qualified.to_owned()] } else { meanings }
            }
            _ => vec![qualified.to_owned()],
        }
    }
}

fn add(meant: &mut Vec<String>, meanings: Vec<String>) {
    for meaning in meanings {
        if !meant.contains(&meaning) {
            meant.push(meaning);
        }
    }
}

/// What one library module binds by its star.
#[derive(Debug)]
struct Library {
    names: FxHashMap<String, Listed>,
}

/// How a library module's star binds a name.
#[derive(Debug)]
enum Listed {
    Always,
    /// Always, and it is the very object of that name in this other library.
    From(String),
    /// In some versions of the library.
    Sometimes,
}

/// One entry of `patterns/star-names.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    module: String,
    /// The versions that were looked at; for people.
    #[serde(rename = "versions")]
    _versions: Vec<String>,
    names: Vec<String>,
    #[serde(default)]
    sometimes: Vec<String>,
    #[serde(default)]
    origins: BTreeMap<String, Vec<String>>,
}

/// What `name` means where it comes from the star import of a known library; `None` where that isn't sure to bind it.
pub(super) fn library_star(module: &str, name: &str) -> Option<String> {
    match library(module)?.names.get(name)? {
        Listed::From(origin) => Some(format!("{origin}.{name}")),
        Listed::Always => Some(format!("{module}.{name}")),
        Listed::Sometimes => (!is_builtin(name)).then(|| format!("{module}.{name}")),
    }
}

/// All names that the star import of a known library may bind.
pub(super) fn library_names(module: &str) -> Option<impl Iterator<Item = &'static str>> {
    Some(library(module)?.names.keys().map(String::as_str))
}

fn library(module: &str) -> Option<&'static Library> {
    static LIBRARIES: OnceLock<FxHashMap<String, Library>> = OnceLock::new();
    let text = include_str!("../../patterns/star-names.yaml");
    LIBRARIES.get_or_init(|| parse(text).expect("the shipped table is read by a test")).get(module)
}

fn parse(text: &str) -> Result<FxHashMap<String, Library>, serde_saphyr::Error> {
    let entries: Vec<Entry> = serde_saphyr::from_str(text)?;
    let library = |entry: Entry| {
        let mut names: FxHashMap<String, Listed> = FxHashMap::default();
        names.extend(entry.names.into_iter().map(|name| (name, Listed::Always)));
        names.extend(entry.sometimes.into_iter().map(|name| (name, Listed::Sometimes)));
        for (origin, from) in entry.origins {
            names.extend(from.into_iter().map(|name| (name, Listed::From(origin.clone()))));
        }
        (entry.module, Library { names })
    };
    Ok(entries.into_iter().map(library).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads_and_knows_numpy() {
        let libraries = parse(include_str!("../../patterns/star-names.yaml")).unwrap();
        let numpy = &libraries["numpy"].names;
        assert!(matches!(numpy["zeros"], Listed::Always));
        assert!(matches!(numpy["abs"], Listed::Sometimes));
        assert!(!numpy.contains_key("print") && !numpy.contains_key("np"));
        assert!(matches!(&libraries["pylab"].names["zeros"], Listed::From(origin) if origin == "numpy"));
    }
}
