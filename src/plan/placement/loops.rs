//! Loops: which of them may run often, and which variables change in them.

use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use crate::kinds::{Program, SlotId, SourceId};

/// Loops with at most so many turns, known from the text, don't count as hot: a transfer in each is a few transfers.
const FEW_TURNS: i64 = 16;

/// A loop around the code that is looked at.
pub(super) struct Loop {
    /// Its extent.
    pub(super) range: TextRange,
    /// True where it may have many turns.
    pub(super) hot: bool,
    /// The variables that it assigns.
    pub(super) assigned: FxHashSet<SlotId>,
}

impl Loop {
    /// A `for` or `while` statement, or a comprehension, whose variables are assigned in `targets` and `body`.
    pub(super) fn new(
        program: &Program<'_>,
        source: SourceId,
        range: TextRange,
        iterated: Option<&Expr>,
        targets: &[&Expr],
        body: &[Stmt],
    ) -> Self {
        let mut assigned = Assigned { program, source, slots: FxHashSet::default() };
        targets.iter().for_each(|target| assigned.target(target));
        body.iter().for_each(|stmt| assigned.visit_stmt(stmt));
        let few = iterated.and_then(|it| turns(program, source, it)).is_some_and(|turns| turns <= FEW_TURNS);
        Self { range, hot: !few, assigned: assigned.slots }
    }
}

/// How many elements `iterated` has, where the text tells.
fn turns(program: &Program<'_>, source: SourceId, iterated: &Expr) -> Option<i64> {
    match iterated {
        Expr::List(it) => Some(it.elts.len() as i64),
        Expr::Tuple(it) => Some(it.elts.len() as i64),
        Expr::Call(call) => {
            let args = &call.arguments.args;
            match program.builtin(source, &call.func)? {
                "range" => match &args[..] {
                    [stop] => integer(program, source, stop),
                    [start, stop] => Some(integer(program, source, stop)? - integer(program, source, start)?),
                    _ => None,
                },
                "enumerate" | "reversed" | "list" | "sorted" => turns(program, source, args.first()?),
                "zip" => args.iter().filter_map(|it| turns(program, source, it)).min(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The integer that `expression` always is.
fn integer(program: &Program<'_>, source: SourceId, expression: &Expr) -> Option<i64> {
    match expression {
        Expr::NumberLiteral(number) => match &number.value {
            ruff_python_ast::Number::Int(int) => int.as_i64(),
            _ => None,
        },
        Expr::Name(_) => program.slot(program.slot_of(source, expression)?).literal,
        _ => None,
    }
}

/// True where a branch inside a loop runs in few of its turns: every n-th one, or the last.
pub(super) fn is_rare(test: &Expr, body: &[Stmt]) -> bool {
    let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Break(_) | Stmt::Return(_) | Stmt::Raise(_));
    body.last().is_some_and(leaves) || counts_turns(test)
}

/// `step % every == 0`, `step == last`, alone or with other conditions.
fn counts_turns(test: &Expr) -> bool {
    match test {
        Expr::BinOp(it) => it.op == Operator::Mod,
        Expr::UnaryOp(it) => counts_turns(&it.operand),
        Expr::Compare(it) => match &it.ops[..] {
            [CmpOp::Eq] => counts_turns(&it.left) || it.left.is_name_expr(),
            _ => false,
        },
        Expr::BoolOp(it) => it.values.iter().any(counts_turns),
        _ => false,
    }
}

struct Assigned<'p, 'a> {
    program: &'p Program<'a>,
    source: SourceId,
    slots: FxHashSet<SlotId>,
}

impl Assigned<'_, '_> {
    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(_) => self.slots.extend(self.program.slot_of(self.source, target)),
            Expr::Tuple(it) => it.elts.iter().for_each(|target| self.target(target)),
            Expr::List(it) => it.elts.iter().for_each(|target| self.target(target)),
            Expr::Starred(it) => self.target(&it.value),
            _ => {}
        }
    }
}

impl<'b> Visitor<'b> for Assigned<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::Assign(it) => it.targets.iter().for_each(|target| self.target(target)),
            Stmt::AugAssign(it) => self.target(&it.target),
            Stmt::AnnAssign(it) => self.target(&it.target),
            Stmt::For(it) => self.target(&it.target),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _expression: &'b Expr) {}
}

/// The whole of the loops in `loops`, outermost first.
pub(super) fn around(loops: &[Loop]) -> Option<TextRange> {
    loops.first().map(|it| it.range.range())
}
