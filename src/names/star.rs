//! Star imports: which names they may bind.

use super::builtins::is_builtin;
use super::{Exports, ImportBinding, Resolution};

/// What `name`, which the module itself binds nowhere, means beside the module's star imports.
pub(super) fn meaning(name: &str, imports: &[ImportBinding], exports: &dyn Exports) -> Resolution {
    let mut meant: Vec<String> = Vec::new();
    let mut modules: Vec<String> = Vec::new();
    let mut unknown = false;
    for import in imports.iter().filter(|import| import.is_star()) {
        match exports.star(&import.module) {
            None => {
                unknown = true;
                modules.push(import.module.clone());
            }
            Some(names) if names.iter().any(|it| it == name) => {
                // A later star import overrides those before it that may bind the name too.
                if import.top_level && unknown {
                    unknown = false;
                    modules.clear();
                }
                modules.push(import.module.clone());
                add_meanings(name, &import.module, exports, &mut meant);
            }
            Some(_) => {}
        }
    }
    if unknown {
        return Resolution::MaybeStar(modules);
    }
    match meant.len() {
        0 if is_builtin(name) => Resolution::Builtin(name.to_owned()),
        0 => Resolution::Unbound,
        1 => Resolution::Qualified(meant.remove(0)),
        _ => Resolution::Ambiguous(meant),
    }
}

/// Adds to `candidates` what the module's star imports may rebind `name` to. A star import of an unknown module is
/// taken not to rebind a name that the module imports itself.
pub(super) fn add_rebindings(
    name: &str,
    imports: &[ImportBinding],
    exports: &dyn Exports,
    candidates: &mut Vec<String>,
) {
    for import in imports.iter().filter(|import| import.is_star()) {
        if exports.star(&import.module).is_some_and(|names| names.iter().any(|it| it == name)) {
            add_meanings(name, &import.module, exports, candidates);
        }
    }
}

fn add_meanings(name: &str, module: &str, exports: &dyn Exports, meant: &mut Vec<String>) {
    let mut meanings = exports.meanings(module, name);
    if meanings.is_empty() {
        meanings.push(format!("{module}.{name}"));
    }
    for meaning in meanings {
        if !meant.contains(&meaning) {
            meant.push(meaning);
        }
    }
}
