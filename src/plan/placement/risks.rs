//! Errors that host code relies on and the device does not raise: a handler would never run, or `errstate` never act.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtTry};
use ruff_text_size::{Ranged, TextSize};

use super::code::{self, Finding};
use crate::kinds::program::{Definition, Ref};
use crate::kinds::{Dtype, Kind, Kinds, Program, RegionId, SourceId};
use crate::pass::Pass;

/// Errors of which the device raises none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Risk {
    /// An index array that leads outside.
    index: bool,
    /// A matrix that can't be solved for.
    linear_algebra: bool,
    /// A floating-point error, as a warning or as an error.
    floating_point: bool,
}

impl Risk {
    const NONE: Self = Self { index: false, linear_algebra: false, floating_point: false };
    const ALL: Self = Self { index: true, linear_algebra: true, floating_point: true };

    fn any(self) -> bool {
        self != Self::NONE
    }

    fn or(self, other: Self) -> Self {
        Self {
            index: self.index || other.index,
            linear_algebra: self.linear_algebra || other.linear_algebra,
            floating_point: self.floating_point || other.floating_point,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            index: self.index && other.index,
            linear_algebra: self.linear_algebra && other.linear_algebra,
            floating_point: self.floating_point && other.floating_point,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self { index: true, .. } => "an index outside its array",
            Self { linear_algebra: true, .. } => "a singular matrix",
            _ => "a floating-point error",
        }
    }
}

/// What one region does and calls.
#[derive(Debug, Clone, Default)]
struct Facts {
    /// Where it runs into which risk, and what handlers around that place catch.
    runs: Vec<(TextSize, Risk, Risk)>,
    /// What it calls, and what handlers around the call catch.
    calls: Vec<(RegionId, Risk)>,
    /// Places that change how floating-point errors are told, and whether for good.
    modes: Vec<(TextSize, bool)>,
}

/// By region: why errors keep it on the host.
pub(super) fn findings(pass: &Pass, program: &Program<'_>, kinds: &Kinds) -> Vec<Vec<Finding>> {
    let facts: Vec<Facts> = program
        .region_ids()
        .map(|id| {
            let region = program.region(id);
            let facts = Facts::default();
            let mut walk = Walk { pass, program, kinds, source: region.source, caught: Risk::NONE, facts };
            region.body().iter().for_each(|stmt| walk.visit_stmt(stmt));
            walk.facts
        })
        .collect();
    let caught = caught_around(&facts);
    let strict = strict_modules(program, &facts);
    let mut out = vec![Vec::new(); facts.len()];
    for (at, facts) in facts.iter().enumerate() {
        for (place, risk, around) in &facts.runs {
            let relied_on = risk.and(around.or(caught[at]));
            if relied_on.any() {
                let message =
                    format!("{} is caught as an error, which the device does not raise", relied_on.name());
                out[at].push(Finding::new(*place, code::ERRORS, message));
            }
        }
        for (place, _) in &facts.modes {
            let message = "floating-point errors are asked for, which the device does not tell";
            out[at].push(Finding::new(*place, code::ERRORS, message));
        }
        let region = &program.regions[at];
        if facts.modes.is_empty()
            && strict[region.source.0 as usize]
            && facts.runs.iter().any(|it| it.1.floating_point)
        {
            let message = "the module asks for floating-point errors, which the device does not tell";
            out[at].push(Finding::new(region.start(), code::ERRORS, message));
        }
    }
    out
}

/// By region: what handlers around calls of it catch, however far out.
fn caught_around(facts: &[Facts]) -> Vec<Risk> {
    let mut caught = vec![Risk::NONE; facts.len()];
    loop {
        let mut stable = true;
        for (at, facts) in facts.iter().enumerate() {
            for (callee, around) in &facts.calls {
                let callee = callee.0 as usize;
                let joined = caught[callee].or(*around).or(caught[at]);
                stable &= joined == caught[callee];
                caught[callee] = joined;
            }
        }
        if stable {
            return caught;
        }
    }
}

/// By module: true where it asks for floating-point errors for good.
fn strict_modules(program: &Program<'_>, facts: &[Facts]) -> Vec<bool> {
    let mut strict = vec![false; program.sources.len()];
    for (region, facts) in program.regions.iter().zip(facts) {
        strict[region.source.0 as usize] |= facts.modes.iter().any(|(_, lasts)| *lasts);
    }
    strict
}

struct Walk<'w, 'a> {
    pass: &'w Pass,
    program: &'w Program<'a>,
    kinds: &'w Kinds,
    source: SourceId,
    caught: Risk,
    facts: Facts,
}

impl Walk<'_, '_> {
    fn runs(&mut self, at: TextSize, risk: Risk) {
        self.facts.runs.push((at, risk, self.caught));
    }

    fn attempt<'b>(&mut self, stmt: &'b StmtTry)
    where
        Self: Visitor<'b>,
    {
        let outer = self.caught;
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.caught = self.caught.or(handler.type_.as_ref().map_or(Risk::ALL, |it| self.catches(it)));
        }
        stmt.body.iter().for_each(|it| self.visit_stmt(it));
        self.caught = outer;
        for handler in &stmt.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            handler.body.iter().for_each(|it| self.visit_stmt(it));
        }
        stmt.orelse.iter().chain(&stmt.finalbody).for_each(|it| self.visit_stmt(it));
    }

    /// What a handler for `errors` catches of what the device does not raise.
    fn catches(&self, errors: &Expr) -> Risk {
        if let Expr::Tuple(several) = errors {
            return several.elts.iter().fold(Risk::NONE, |sum, it| sum.or(self.catches(it)));
        }
        let name = match self.program.reference(self.source, errors) {
            Ref::Builtin(path) | Ref::Path(path) => self.program.path(path).name.as_str(),
            Ref::Slot(slot) if matches!(self.program.slot(slot).definition, Some(Definition::Class(_))) => {
                return Risk::NONE;
            }
            _ => return Risk::ALL,
        };
        let index = Risk { index: true, ..Risk::NONE };
        let linear_algebra = Risk { linear_algebra: true, ..Risk::NONE };
        let floating_point = Risk { floating_point: true, ..Risk::NONE };
        match name.rsplit('.').next().unwrap_or(name) {
            "Exception" | "BaseException" | "StandardError" => index.or(linear_algebra),
            "IndexError" | "LookupError" => index,
            "LinAlgError" | "ValueError" => linear_algebra,
            "FloatingPointError" | "ArithmeticError" | "RuntimeWarning" | "Warning" => floating_point,
            _ => Risk::NONE,
        }
    }

    /// True where all that a call of `errstate` or `seterr` says is that nothing shall happen.
    fn only_silences(&self, call: &ruff_python_ast::ExprCall) -> bool {
        let quiet = |it: &Expr| matches!(it, Expr::StringLiteral(text) if matches!(text.value.to_str(), "ignore" | "warn" | "print"));
        call.arguments.args.iter().all(quiet)
            && call.arguments.keywords.iter().all(|it| it.arg.is_some() && quiet(&it.value))
            && !(call.arguments.args.is_empty() && call.arguments.keywords.is_empty())
    }

    fn call(&mut self, call: &ruff_python_ast::ExprCall) {
        if let Some(Definition::Function(function)) = self.program.definition(self.source, &call.func) {
            self.facts.calls.push((function, self.caught));
        } else if let Kind::Function(function) = self.kinds.of(self.source, &call.func) {
            self.facts.calls.push((*function, self.caught));
        }
        let Some(path) = self.program.outside(self.source, &call.func) else { return };
        let is_source = |module: &String| path.name.starts_with(&format!("{module}."));
        if !self.pass.source_modules.iter().any(is_source) {
            return;
        }
        let sets_mode = path.host.and_then(|it| it.reason.as_ref()).is_some_and(|it| *it == code::ERRORS);
        if sets_mode && !self.only_silences(call) && !path.name.contains(".get") {
            let lasts = !path.name.ends_with("errstate");
            self.facts.modes.push((call.start(), lasts));
        } else if path.name.contains(".linalg.") {
            self.runs(call.start(), Risk { linear_algebra: true, ..Risk::NONE });
        } else if path.name.ends_with(".take") {
            self.runs(call.start(), Risk { index: true, ..Risk::NONE });
        }
    }

    /// True where `slice` holds an index array whose entries may lead outside.
    fn picks(&self, slice: &Expr) -> bool {
        let picks = |it: &Expr| match self.kinds.of(self.source, it) {
            Kind::Array(array) => array.dtype != Dtype::Bool,
            Kind::List(_) => true,
            _ => false,
        };
        match slice {
            Expr::Tuple(tuple) => tuple.elts.iter().any(picks),
            _ => picks(slice),
        }
    }
}

impl<'b> Visitor<'b> for Walk<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::FunctionDef(_) => {}
            Stmt::Try(it) => self.attempt(it),
            Stmt::With(it) => {
                let (outer, modes) = (self.caught, self.facts.modes.len());
                it.items.iter().for_each(|item| self.visit_with_item(item));
                self.caught.floating_point |= self.facts.modes.len() > modes;
                it.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                self.caught = outer;
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expression: &'b Expr) {
        match expression {
            Expr::Call(it) => self.call(it),
            Expr::Subscript(it) => {
                let base = self.kinds.of(self.source, &it.value);
                if base.is_array() && self.picks(&it.slice) {
                    self.runs(it.start(), Risk { index: true, ..Risk::NONE });
                }
            }
            Expr::BinOp(_) if self.kinds.of(self.source, expression).is_array() => {
                self.runs(expression.start(), Risk { floating_point: true, ..Risk::NONE });
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}
