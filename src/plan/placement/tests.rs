//! Programs and what becomes of them.

use std::path::Path;

use super::*;
use crate::kinds::{Role, Source};
use crate::names::{Names, NoExports};
use crate::pass::Registry;
use crate::source::{Module, SourceFile};

fn planned(text: &str, role: Role, pinned: &Pinned) -> (Module, Plan) {
    let registry = Registry::shipped();
    let pass = registry.pass("numpy-to-cupy").unwrap();
    let host = pass.kinds.clone().unwrap();
    let file = SourceFile::from_bytes(Path::new("main.py"), text.as_bytes()).unwrap();
    let module = Module::parse(file).unwrap();
    let names = Names::build(&module, "main", false, &NoExports);
    let source = Source { module: &module, names: &names, dotted: "main".to_owned(), role };
    let plan = plan(&pass, vec![source], &[&host], pinned);
    (module, plan)
}

#[test]
fn try_a_file() {
    let Ok(path) = std::env::var("TRY") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let (module, plan) = planned(&text, Role::Script, &Pinned::new());
    let after = plan.edits.values().next().map_or(text.clone(), |edits| edits.apply(module.text()));
    if let Ok(out) = std::env::var("TRY_OUT") {
        std::fs::write(out, &after).unwrap();
    }
    let diff = similar::TextDiff::from_lines(&text, &after);
    eprintln!("{}", diff.unified_diff().context_radius(1));
    for change in &plan.changes {
        eprintln!("change {}", change.id.0);
    }
    for left in &plan.left {
        eprintln!("{} {} {}", left.place, left.code, left.message);
    }
}
