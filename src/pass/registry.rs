//! Which passes there are: those embedded in the binary, and those of the user's folders and files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{env, fs, io};

use super::errors::{FileError, FileErrors};
use super::guard::{Guard, GuardsSpec, NameListSpec, NameLists};
use super::library::Library;
use super::load::load;
use super::schema::ReasonEntry;
use super::{Pass, order};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// The variable that names a folder whose `transforms/` and `patterns/` are used in place of the embedded ones.
pub const DATA_VARIABLE: &str = "GPUPORT_DATA";

/// Where passes are looked for, besides those embedded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// A folder with `transforms/` and `patterns/` that replace the embedded ones wholesale.
    pub data: Option<PathBuf>,
    /// Folders of pass files. A pass with the id of a shipped one takes its place.
    pub folders: Vec<PathBuf>,
    /// Single pass files.
    pub files: Vec<PathBuf>,
}

impl Sources {
    /// The embedded files, or those that the environment names.
    pub fn from_environment() -> Self {
        Self { data: env::var_os(DATA_VARIABLE).map(PathBuf::from), ..Self::default() }
    }
}

/// All passes, and what they draw on.
#[derive(Debug, Default)]
pub struct Registry {
    library: Library,
    /// Ids of the user's passes, in the order they were given.
    own: Vec<String>,
}

/// A file that may hold a pass.
struct PassText {
    origin: PathBuf,
    text: String,
    own: bool,
}

impl Registry {
    /// The embedded passes, loaded once.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Registry> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            Self::load(&Sources::default()).unwrap_or_else(|errors| {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                unreachable!("the embedded files are checked by tests: {}", texts.join("\n"))
            })
        })
    }

    /// Loads all passes. The errors are those of every file.
    pub fn load(sources: &Sources) -> Result<Self, Vec<FileErrors>> {
        let mut errors = Vec::new();
        let library = read_patterns(sources, &mut errors);
        let mut registry = Self { library, own: Vec::new() };
        let mut texts = read_passes(sources, &mut errors);
        order::sort_by_dependency(&mut texts, |text| (&text.text, &text.origin));
        for text in texts {
            match load(&text.text, &text.origin, &registry.library) {
                Ok(pass) => {
                    if text.own {
                        registry.own.push(pass.id.clone());
                    }
                    registry.library.passes.insert(pass.id.clone(), Arc::new(pass));
                }
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(registry) } else { Err(errors) }
    }

    /// The pass `id`.
    pub fn pass(&self, id: &str) -> Option<Arc<Pass>> {
        self.library.pass(id)
    }

    /// All passes, by id.
    pub fn passes(&self) -> impl Iterator<Item = &Arc<Pass>> {
        self.library.passes.values()
    }

    /// The passes that a run uses unless told otherwise: a pass that another extends is left to that one.
    pub fn default_passes(&self) -> Vec<Arc<Pass>> {
        let extended: BTreeSet<&str> = self.passes().filter_map(|pass| pass.extends.as_deref()).collect();
        let mut passes: Vec<Arc<Pass>> =
            self.passes().filter(|pass| !extended.contains(pass.id.as_str())).cloned().collect();
        passes.sort_by_key(|pass| (pass.layer, !self.own.contains(&pass.id), pass.id.clone()));
        passes
    }

    /// True where `id` is the user's and not shipped.
    pub fn is_own(&self, id: &str) -> bool {
        self.own.iter().any(|own| own == id)
    }

    /// What passes draw on.
    pub fn library(&self) -> &Library {
        &self.library
    }
}

fn read_passes(sources: &Sources, errors: &mut Vec<FileErrors>) -> Vec<PassText> {
    let mut texts: Vec<PassText> = match &sources.data {
        None => embedded::TRANSFORMS
            .iter()
            .map(|(stem, text)| PassText {
                origin: PathBuf::from(format!("transforms/{stem}.yaml")),
                text: (*text).to_owned(),
                own: false,
            })
            .collect(),
        Some(data) => read_folder(&data.join("transforms"), errors)
            .into_iter()
            .map(|(origin, text)| PassText { origin, text, own: false })
            .collect(),
    };
    for folder in &sources.folders {
        let found = read_folder(folder, errors).into_iter();
        texts.extend(found.map(|(origin, text)| PassText { origin, text, own: true }));
    }
    for file in &sources.files {
        match fs::read_to_string(file) {
            Ok(text) => texts.push(PassText { origin: file.clone(), text, own: true }),
            Err(error) => errors.push(unreadable(file, &error)),
        }
    }
    texts
}

/// The YAML files of a folder, by path.
fn read_folder(folder: &Path, errors: &mut Vec<FileErrors>) -> Vec<(PathBuf, String)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            errors.push(unreadable(folder, &error));
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "yaml" || it == "yml"));
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        match fs::read_to_string(&path) {
            Ok(text) => texts.push((path, text)),
            Err(error) => errors.push(unreadable(&path, &error)),
        }
    }
    texts
}

fn unreadable(path: &Path, error: &io::Error) -> FileErrors {
    FileErrors::one(path, "", FileError::whole(format!("can't be read: {error}")))
}

fn read_patterns(sources: &Sources, errors: &mut Vec<FileErrors>) -> Library {
    let texts: Vec<(PathBuf, String)> = match &sources.data {
        None => embedded::PATTERNS
            .iter()
            .map(|(stem, text)| (PathBuf::from(format!("patterns/{stem}.yaml")), (*text).to_owned()))
            .collect(),
        Some(data) => read_folder(&data.join("patterns"), errors),
    };
    let mut library = Library::default();
    let mut guards: Option<(PathBuf, String)> = None;
    for (path, text) in texts {
        let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        match stem.as_str() {
            "reasons" => library.reasons = parse(&path, &text, errors).map(reasons).unwrap_or_default(),
            "guards" => guards = Some((path, text)),
            _ if declares(&text, "gpuport/names/1") => {
                if let Some(list) = parse::<NameListSpec>(&path, &text, errors) {
                    library.lists.insert(stem, list.names);
                }
            }
            _ => {
                library.texts.insert(stem, text);
            }
        }
    }
    if let Some((path, text)) = guards {
        library.guards = read_guards(&path, &text, &library.lists, errors);
    }
    library
}

fn declares(text: &str, schema: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("schema:").is_some_and(|it| it.trim() == schema))
}

fn reasons(entries: Vec<ReasonEntry>) -> BTreeSet<String> {
    entries.into_iter().map(|entry| entry.code).collect()
}

fn read_guards(
    path: &Path,
    text: &str,
    lists: &NameLists,
    errors: &mut Vec<FileErrors>,
) -> BTreeMap<String, Arc<Guard>> {
    let Some(spec) = parse::<GuardsSpec>(path, text, errors) else { return BTreeMap::new() };
    let mut guards = BTreeMap::new();
    for spec in spec.guards {
        match Guard::new(spec, lists) {
            Ok(guard) => {
                guards.insert(guard.id.clone(), Arc::new(guard));
            }
            Err(error) => errors.push(FileErrors::one(path, text, FileError::whole(error.to_string()))),
        }
    }
    guards
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, text: &str, errors: &mut Vec<FileErrors>) -> Option<T> {
    match serde_saphyr::from_str(text) {
        Ok(value) => Some(value),
        Err(error) => {
            errors.push(FileErrors::one(path, text, FileError::from_yaml(&error, text)));
            None
        }
    }
}
