//! Whether the unit switches the library on already, and in time.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::reach::Reach;
use crate::names::{ImportBinding, ImportTime, Names, Resolution};
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
    if let Some(range) = switch(unit.entry(), activation) {
        let before = |import: &&ImportBinding| {
            import.when == ImportTime::Top && import.statement.end() <= range.start()
        };
        let late = reach.loading().iter().any(before);
        return if late { Present::Late(range) } else { Present::InTime };
    }
    let elsewhere = unit.parts().iter().any(|part| switch(part, activation).is_some());
    if elsewhere { Present::InTime } else { Present::No }
}

/// The first place in `part` that sets the switch.
fn switch(part: &Part<'_>, activation: &Activation) -> Option<TextRange> {
    let mut calls = Calls { names: part.names, activation, found: None };
    calls.visit_body(part.module.body());
    calls.found
}

struct Calls<'a> {
    names: &'a Names,
    activation: &'a Activation,
    found: Option<TextRange>,
}

impl<'a> Visitor<'a> for Calls<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::IpyEscapeCommand(command) = stmt
            && self.found.is_none()
            && self.activation.notebook.as_deref() == Some(format!("%{}", command.value.trim()).as_str())
        {
            self.found = Some(command.range);
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.found.is_some() {
            return;
        }
        if let Expr::Call(call) = expr
            && matches!(self.names.resolve(&call.func), Resolution::Qualified(path) if path == self.activation.call())
        {
            self.found = Some(call.range());
            return;
        }
        visitor::walk_expr(self, expr);
    }
}
