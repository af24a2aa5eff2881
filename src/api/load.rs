//! Reads a table from its YAML file, with the place of every mistake.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::{
    Attribute, Callable, Elements, HostCallable, Library, Parameter, Returns, Table, Transfer, Transfers,
    signature,
};
use crate::reasons::Code;

/// The schema this version reads.
const SCHEMA: &str = "gpuport/api/1";

/// Why a table can't be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file is no YAML of the schema's shape.
    #[error("patterns/{name}.yaml: {message}")]
    Shape {
        /// The table.
        name: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// The file is of another schema.
    #[error("patterns/{name}.yaml: schema {found:?}, expected {SCHEMA:?}")]
    Schema {
        /// The table.
        name: String,
        /// What it says.
        found: String,
    },
    /// An entry's text can't be read.
    #[error("patterns/{name}.yaml: {entry}: {text:?} is no {what}")]
    Entry {
        /// The table.
        name: String,
        /// The entry's key.
        entry: String,
        /// The offending text.
        text: String,
        /// What it should be.
        what: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    schema: String,
    #[serde(default)]
    source: Option<LibraryEntry>,
    #[serde(default)]
    target: Option<LibraryEntry>,
    #[serde(default)]
    transfer: Option<TransferEntry>,
    #[serde(default)]
    callables: BTreeMap<String, Entry>,
    #[serde(default)]
    attributes: BTreeMap<String, Entry>,
    #[serde(default)]
    host: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryEntry {
    module: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TransferEntry {
    to_device: String,
    to_host: String,
    scalar_to_host: String,
    number_to_host: String,
}

impl LibraryEntry {
    fn into_library(entry: Option<Self>) -> Library {
        entry.map_or_else(Library::default, |it| Library { module: it.module, version: it.version })
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Entry {
    to: Option<String>,
    from_signature: Option<String>,
    to_signature: Option<String>,
    arrays: Vec<String>,
    sequences: Vec<String>,
    returns: Option<String>,
    view: bool,
    ufunc: Option<String>,
    dtype: Option<String>,
    changes: Option<String>,
    reason: Option<String>,
}

impl Table {
    /// Reads the table called `name` from the text of its file.
    pub fn parse(name: &str, text: &str) -> Result<Self, TableError> {
        let file: File = serde_saphyr::from_str(text)
            .map_err(|error| TableError::Shape { name: name.to_owned(), message: error.to_string() })?;
        if file.schema != SCHEMA {
            return Err(TableError::Schema { name: name.to_owned(), found: file.schema });
        }
        let mut table = Self {
            name: name.to_owned(),
            source: LibraryEntry::into_library(file.source),
            target: LibraryEntry::into_library(file.target),
            transfers: file
                .transfer
                .map(transfers)
                .transpose()
                .map_err(|problem| problem.at(name, "transfer"))?,
            ..Self::default()
        };
        for (key, entry) in file.callables {
            let callable = callable(&entry).map_err(|problem| problem.at(name, &key))?;
            table.callables.insert(key, callable);
        }
        for (key, entry) in file.attributes {
            let returns = result(&entry).map_err(|problem| problem.at(name, &key))?;
            let attribute = Attribute { supported: entry.to.is_some(), returns, view: entry.view };
            table.attributes.insert(key, attribute);
        }
        for (key, entry) in file.host {
            let host = host(&entry).map_err(|problem| problem.at(name, &key))?;
            table.host.insert(key, host);
        }
        Ok(table)
    }
}

/// An entry's mistake, before it is known where it stands.
struct Problem {
    text: String,
    what: &'static str,
}

impl Problem {
    fn at(self, name: &str, entry: &str) -> TableError {
        TableError::Entry { name: name.to_owned(), entry: entry.to_owned(), text: self.text, what: self.what }
    }
}

fn parameters(text: Option<&str>) -> Result<Vec<Parameter>, Problem> {
    signature::parameters(text.unwrap_or_default()).map_err(|text| Problem { text, what: "parameter" })
}

fn result(entry: &Entry) -> Result<Returns, Problem> {
    let text = entry.returns.as_deref().unwrap_or("other");
    signature::returns(text).map_err(|text| Problem { text, what: "result class" })
}

fn callable(entry: &Entry) -> Result<Callable, Problem> {
    let target = entry.to.clone().ok_or(Problem { text: String::new(), what: "target name (key `to`)" })?;
    if let Some(counts) = &entry.ufunc {
        return ufunc(target, counts, elements(entry)?);
    }
    Ok(Callable {
        target,
        source_parameters: parameters(entry.from_signature.as_deref())?,
        target_parameters: parameters(entry.to_signature.as_deref())?,
        arrays: entry.arrays.clone(),
        sequences: entry.sequences.clone(),
        ufunc: false,
        returns: result(entry)?,
        elements: elements(entry)?,
        view: entry.view,
        changes: entry.changes.clone(),
    })
}

fn elements(entry: &Entry) -> Result<Option<Elements>, Problem> {
    match entry.dtype.as_deref() {
        None => Ok(None),
        Some("bool") => Ok(Some(Elements::Bool)),
        Some("integer") => Ok(Some(Elements::Integer)),
        Some("number") => Ok(Some(Elements::Number)),
        Some(other) => Err(Problem { text: other.to_owned(), what: "element class" }),
    }
}

fn ufunc(target: String, counts: &str, elements: Option<Elements>) -> Result<Callable, Problem> {
    let numbers: Vec<usize> = counts.split(' ').filter_map(|it| it.parse().ok()).collect();
    let [inputs, outputs] = numbers[..] else {
        return Err(Problem { text: counts.to_owned(), what: "pair of counts" });
    };
    let (source_parameters, target_parameters) = signature::ufunc(inputs, outputs);
    let arrays = source_parameters.iter().map(|p| p.name.clone());
    let arrays = arrays.filter(|name| name.starts_with('x') || name.starts_with("out")).collect();
    let returns = match outputs {
        1 => Returns::Elementwise,
        _ => Returns::Tuple(vec![Returns::Elementwise; outputs]),
    };
    Ok(Callable {
        target,
        source_parameters,
        target_parameters,
        arrays,
        ufunc: true,
        elements,
        returns,
        ..Callable::default()
    })
}

fn transfers(entry: TransferEntry) -> Result<Transfers, Problem> {
    Ok(Transfers {
        to_device: transfer(entry.to_device)?,
        to_host: transfer(entry.to_host)?,
        scalar_to_host: transfer(entry.scalar_to_host)?,
        number_to_host: transfer(entry.number_to_host)?,
    })
}

/// A call of a dotted name with `$X` as its argument, and perhaps something after it.
fn transfer(text: String) -> Result<Transfer, Problem> {
    let found = text.split_once("($X)").filter(|(path, _)| path.contains('.'));
    match found {
        Some((path, after)) => Ok(Transfer { path: path.to_owned(), after: after.to_owned() }),
        None => Err(Problem { text, what: "call of a dotted name with `$X`" }),
    }
}

fn host(entry: &Entry) -> Result<HostCallable, Problem> {
    Ok(HostCallable {
        reason: entry.reason.as_deref().map(Code::from_text),
        parameters: entry.from_signature.as_deref().map(|text| parameters(Some(text))).transpose()?,
        returns: result(entry)?,
        elements: elements(entry)?,
        changes: entry.changes.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Unsupported;
    use super::*;

    fn table() -> Table {
        Table::parse("numpy-on-cupy", include_str!("../../patterns/numpy-on-cupy.yaml")).unwrap()
    }

    #[test]
    fn the_shipped_table_loads() {
        let table = table();
        assert_eq!(table.callables["numpy.linalg.norm"].returns, Returns::Reduction);
        assert!(table.callables["numpy.sin"].ufunc);
        assert!(table.attributes["numpy.ndarray.T"].view);
        assert!(!table.attributes["numpy.ndarray.flat"].supported);
        assert_eq!(table.host["numpy.random.normal"].returns, Returns::Draw);
    }

    #[test]
    fn arguments_are_checked_against_both_sides() {
        let table = table();
        let accepts =
            |name: &str, positional, keywords: &[&str]| table.callables[name].accepts(positional, keywords);
        assert_eq!(accepts("numpy.sum", 2, &["keepdims"]), Ok(()));
        assert_eq!(accepts("numpy.sum", 1, &["where"]), Err(Unsupported::Keyword("where".to_owned())));
        assert_eq!(accepts("numpy.argmax", 3, &[]), Err(Unsupported::Position(2)));
        assert_eq!(accepts("numpy.argmax", 1, &["out"]), Ok(()));
        assert_eq!(accepts("numpy.flip", 2, &[]), Ok(()));
        assert_eq!(accepts("numpy.sin", 1, &["where"]), Err(Unsupported::Keyword("where".to_owned())));
        assert_eq!(accepts("numpy.meshgrid", 3, &["indexing"]), Ok(()));
    }

    #[test]
    fn mistakes_name_their_entry() {
        let check = |text: &str, expected: &str| {
            let error = Table::parse("t", text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("schema: other\n", "expected \"gpuport/api/1\"");
        check("schema: gpuport/api/1\nhosts: {}\n", "hosts");
        check("schema: gpuport/api/1\nhost:\n  a.b: {returns: thing}\n", "a.b: \"thing\" is no result class");
        check("schema: gpuport/api/1\ncallables:\n  a.b: {returns: like}\n", "target name");
    }
}
