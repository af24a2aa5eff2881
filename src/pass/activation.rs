//! `activate`: how a library is switched on, and what it acts on.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::parse_module;
use schemars::JsonSchema;
use serde::Deserialize;

/// `activate` as a pass file has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ActivateSpec {
    /// The switch: an import, and a call that the import makes possible, one a line.
    pub statement: String,
    /// What starts a program with the library switched on, between `python` and the script: `-m cudf.pandas`.
    #[serde(default)]
    pub launcher: Option<String>,
    /// The line that switches it on in a notebook.
    #[serde(default)]
    pub notebook: Option<String>,
    /// The option that switches it on for pytest.
    #[serde(default)]
    pub pytest: Option<String>,
    /// The libraries that it replaces. A unit that imports none of them is left alone.
    pub reaches: Vec<String>,
    /// Name lists in `patterns/`: packages whose import loads none of `reaches`. The switch may stand below them.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Passes whose switch comes before this one, where a program has both.
    #[serde(default)]
    pub after: Vec<String>,
}

/// A checked `activate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// The switch: Python lines.
    pub statement: String,
    /// What starts a program with the library switched on: `-m cudf.pandas`.
    pub launcher: Option<String>,
    /// The line that switches it on in a notebook.
    pub notebook: Option<String>,
    /// The option that switches it on for pytest.
    pub pytest: Option<String>,
    /// The libraries that it replaces.
    pub reaches: Vec<String>,
    /// Packages whose import loads none of them.
    pub quiet: BTreeSet<String>,
    /// Modules of the switches that come before this one.
    pub behind: Vec<String>,
    module: String,
    call: String,
}

impl Activation {
    /// Checks `spec`. `quiet` are the names of its lists, `behind` the modules of the switches of its `after`. The error
    /// says what is wrong with `statement`.
    pub fn new(spec: &ActivateSpec, quiet: BTreeSet<String>, behind: Vec<String>) -> Result<Self, String> {
        let (module, call) = switch(&spec.statement)?;
        Ok(Self {
            statement: spec.statement.trim_end().to_owned(),
            launcher: spec.launcher.clone(),
            notebook: spec.notebook.clone(),
            pytest: spec.pytest.clone(),
            reaches: spec.reaches.clone(),
            quiet,
            behind,
            module,
            call,
        })
    }

    /// The module that the switch imports: `cudf.pandas`.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// The function that the switch calls: `cudf.pandas.install`.
    pub fn call(&self) -> &str {
        &self.call
    }
}

/// The module that `statement` imports and the function that it calls.
pub(super) fn switch(statement: &str) -> Result<(String, String), String> {
    let parsed = parse_module(statement).map_err(|error| error.to_string())?;
    let [Stmt::Import(import), Stmt::Expr(expression)] = &*parsed.syntax().body else {
        return Err("an `import` and a call are expected".to_owned());
    };
    let (Expr::Call(call), [alias]) = (&*expression.value, &*import.names) else {
        return Err("an `import` of one module and a call are expected".to_owned());
    };
    let module = alias.name.to_string();
    let path = dotted(&call.func).ok_or("the call must be one of a dotted name")?;
    if alias.asname.is_some() || !path.starts_with(&format!("{module}.")) {
        return Err(format!("the call must be one of `{module}`"));
    }
    Ok((module, path))
}

fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::switch;

    #[test]
    fn a_switch_is_an_import_and_a_call_of_it() {
        let expected = Ok(("a.b".to_owned(), "a.b.on".to_owned()));
        assert_eq!(switch("import a.b\na.b.on()\n"), expected);
        assert_eq!(switch("import a.b\na.b.on(level=1)"), expected);
        for wrong in [
            "import a",
            "a.on()",
            "import a\nb.on()",
            "import a as b\nb.on()",
            "import a\na.on",
            "import a\na()(",
        ] {
            assert!(switch(wrong).is_err(), "{wrong}");
        }
    }
}
