//! Whether the unit switches the library on already, and in time.

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_text_size::{Ranged, TextRange};

use super::reach::Reach;
use crate::names::{ImportTime, Names, Resolution};
use crate::pass::Activation;
use crate::plan::unit::{Part, Unit};

/// The switch in the unit as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Present {
    /// It is not there.
    No,
    /// It is there, before the entry loads the library, or where the order can't be told.
    InTime,
    /// It is there, at this place in the entry, below an import that loads the library.
    Late(TextRange),
}

/// Looks for the switch in all modules of the unit.
pub(super) fn find(unit: &Unit<'_>, activation: &Activation, reach: &Reach<'_>) -> Present {
    let entry = unit.entry();
    if let Some(range) = call(entry, activation) {
        let late = entry.names.imports().iter().any(|import| {
            let before = import.statement.end() <= range.start();
            before && import.when == ImportTime::Top && reach.loads(import)
        });
        return if late { Present::Late(range) } else { Present::InTime };
    }
    let elsewhere = unit.parts().iter().any(|part| call(part, activation).is_some());
    if elsewhere { Present::InTime } else { Present::No }
}

/// The first call of the switch in `part`.
fn call(part: &Part<'_>, activation: &Activation) -> Option<TextRange> {
    let mut calls = Calls { names: part.names, wanted: activation.call(), found: None };
    calls.visit_body(part.module.body());
    calls.found
}

struct Calls<'a> {
    names: &'a Names,
    wanted: &'a str,
    found: Option<TextRange>,
}

impl<'a> Visitor<'a> for Calls<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.found.is_some() {
            return;
        }
        if let Expr::Call(call) = expr
            && matches!(self.names.resolve(&call.func), Resolution::Qualified(path) if path == self.wanted)
        {
            self.found = Some(call.range());
            return;
        }
        visitor::walk_expr(self, expr);
    }
}
