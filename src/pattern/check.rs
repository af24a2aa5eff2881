//! Which constructs a pattern may use, where its metavariables may stand, and how special it is.

use std::collections::BTreeMap;

use ruff_python_ast::{Comprehension, Expr, ExprCall, ExprContext, Identifier, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::errors::{PatternError, Problem};
use super::parse::{Role, Root, is_path, placeholder, rest_statement};
use super::placeholder::{Encoded, Placeholder};

type Checked = Result<(), PatternError>;

/// Walks a pattern's tree once.
pub(crate) struct Checker<'e> {
    encoded: &'e Encoded,
    pub(crate) variables: BTreeMap<String, Role>,
    pub(crate) depths: BTreeMap<String, usize>,
    pub(crate) weight: u32,
    depth: usize,
    in_replacement: bool,
}

impl<'e> Checker<'e> {
    pub(crate) fn new(encoded: &'e Encoded) -> Self {
        Self {
            encoded,
            variables: BTreeMap::new(),
            depths: BTreeMap::new(),
            weight: 0,
            depth: 0,
            in_replacement: false,
        }
    }

    pub(crate) fn root(&mut self, root: &Root) -> Checked {
        match root {
            Root::Expression(expression) => self.expression(expression),
            Root::Statements(statements) => {
                for edge in [statements.first(), statements.last()].into_iter().flatten() {
                    if rest_statement(edge).is_some() {
                        return self.error(Problem::RestAtEdge, edge.range());
                    }
                }
                self.statements(statements)
            }
        }
    }

    /// The same for a replacement, which may consist of a body and binds no `$_`.
    pub(crate) fn replacement(&mut self, root: &Root) -> Checked {
        self.in_replacement = true;
        match root {
            Root::Expression(expression) => match placeholder(expression) {
                Some(Placeholder::Rest(name)) => {
                    self.depths.insert(name.to_owned(), 0);
                    self.bind(name, Role::Statements, expression.range())
                }
                _ => self.expression(expression),
            },
            Root::Statements(statements) => self.statements(statements),
        }
    }

    fn error<T>(&self, problem: Problem, range: TextRange) -> Result<T, PatternError> {
        Err(PatternError::new(problem, self.encoded.original_range(range)))
    }

    fn bind(&mut self, name: &str, role: Role, range: TextRange) -> Checked {
        if name.is_empty() {
            return Ok(());
        }
        match self.variables.insert(name.to_owned(), role) {
            Some(before) if before != role => self.error(Problem::MixedUse(name.to_owned()), range),
            _ => Ok(()),
        }
    }

    fn expressions<'x>(&mut self, all: impl IntoIterator<Item = &'x Expr>) -> Checked {
        all.into_iter().try_for_each(|expression| self.expression(expression))
    }

    fn expression(&mut self, expression: &Expr) -> Checked {
        match placeholder(expression) {
            Some(Placeholder::Any) if self.in_replacement => {
                return self.error(Problem::AnonymousInReplacement, expression.range());
            }
            Some(Placeholder::Any) => return Ok(()),
            Some(Placeholder::One(name)) => return self.bind(name, Role::Expression, expression.range()),
            Some(Placeholder::Optional(_)) => {
                return self.error(Problem::MisplacedOptional, expression.range());
            }
            Some(Placeholder::Rest(_)) => return self.error(Problem::MisplacedRest, expression.range()),
            None => self.weight += 1,
        }
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => {
                self.error(Problem::PlainTarget(name.id.to_string()), name.range)
            }
            Expr::Name(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_) => Ok(()),
            Expr::Attribute(attribute) => {
                self.component(&attribute.attr)?;
                if is_path(&attribute.value) {
                    return self.path(&attribute.value);
                }
                if let Some(Placeholder::Rest(_)) = Placeholder::decode(&attribute.attr.id) {
                    return self.error(Problem::MisplacedRest, attribute.attr.range);
                }
                self.expression(&attribute.value)
            }
            Expr::Call(call) => self.call(call),
            Expr::Tuple(_) | Expr::List(_) | Expr::Set(_) | Expr::Dict(_) => self.display(expression),
            Expr::ListComp(it) => self.comprehension([&*it.elt], &it.generators),
            Expr::SetComp(it) => self.comprehension([&*it.elt], &it.generators),
            Expr::Generator(it) => self.comprehension([&*it.elt], &it.generators),
            Expr::DictComp(it) => {
                self.comprehension(it.key.as_deref().into_iter().chain([&*it.value]), &it.generators)
            }
            _ => self.operator(expression),
        }
    }

    fn operator(&mut self, expression: &Expr) -> Checked {
        match expression {
            Expr::BoolOp(it) => self.expressions(&it.values),
            Expr::Named(it) => self.expressions([&*it.target, &*it.value]),
            Expr::BinOp(it) => self.expressions([&*it.left, &*it.right]),
            Expr::UnaryOp(it) => self.expression(&it.operand),
            Expr::If(it) => self.expressions([&*it.test, &*it.body, &*it.orelse]),
            Expr::Await(it) => self.expression(&it.value),
            Expr::Compare(it) => {
                self.expression(&it.left)?;
                self.expressions(&it.comparators)
            }
            Expr::Subscript(it) => self.expressions([&*it.value, &*it.slice]),
            Expr::Starred(it) => self.expression(&it.value),
            Expr::Slice(it) => {
                self.expressions([&it.lower, &it.upper, &it.step].into_iter().flatten().map(|bound| &**bound))
            }
            Expr::Lambda(it) => self.error(Problem::Unsupported("a lambda"), it.range),
            Expr::FString(it) => self.error(Problem::Unsupported("an f-string"), it.range),
            Expr::TString(it) => self.error(Problem::Unsupported("a template string"), it.range),
            Expr::Yield(it) => self.error(Problem::Unsupported("`yield`"), it.range),
            Expr::YieldFrom(it) => self.error(Problem::Unsupported("`yield from`"), it.range),
            other => self.error(Problem::Unsupported("this expression"), other.range()),
        }
    }

    fn display(&mut self, expression: &Expr) -> Checked {
        match expression {
            Expr::Tuple(it) => self.items(&it.elts),
            Expr::List(it) => self.items(&it.elts),
            Expr::Set(it) => self.items(&it.elts),
            Expr::Dict(it) => it.items.iter().try_for_each(|item| {
                self.expressions(item.key.as_ref())?;
                self.expression(&item.value)
            }),
            _ => Ok(()),
        }
    }

    /// The items of a display or the positional arguments of a call: one rest may stand among them.
    fn items(&mut self, items: &[Expr]) -> Checked {
        let mut seen_rest = false;
        for item in items {
            match placeholder(item) {
                Some(Placeholder::Rest(_)) if seen_rest => {
                    return self.error(Problem::SecondRest, item.range());
                }
                Some(Placeholder::Rest(name)) => {
                    seen_rest = true;
                    self.bind(name, Role::Arguments, item.range())?;
                }
                _ if seen_rest => return self.error(Problem::ArgumentAfterRest, item.range()),
                _ => self.expression(item)?,
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &ExprCall) -> Checked {
        self.expression(&call.func)?;
        let mut seen_optional = false;
        let mut required = Vec::new();
        for argument in &call.arguments.args {
            match placeholder(argument) {
                Some(Placeholder::Optional(name)) => {
                    seen_optional = true;
                    self.bind(name, Role::Optional, argument.range())?;
                }
                Some(Placeholder::Rest(_)) => required.push(argument.clone()),
                _ if seen_optional => return self.error(Problem::RequiredAfterOptional, argument.range()),
                _ => required.push(argument.clone()),
            }
        }
        self.items(&required)?;
        for keyword in &call.arguments.keywords {
            self.weight += 1;
            if keyword.arg.is_none() {
                return self.error(Problem::Unsupported("`**`"), keyword.range);
            }
            match placeholder(&keyword.value) {
                Some(Placeholder::Optional(name)) => {
                    self.weight -= 1;
                    self.bind(name, Role::Optional, keyword.range)?;
                }
                _ => self.expression(&keyword.value)?,
            }
        }
        Ok(())
    }

    fn comprehension<'x>(
        &mut self,
        parts: impl IntoIterator<Item = &'x Expr>,
        generators: &[Comprehension],
    ) -> Checked {
        self.expressions(parts)?;
        for generator in generators {
            self.expressions([&generator.target, &generator.iter])?;
            self.expressions(&generator.ifs)?;
        }
        Ok(())
    }

    fn component(&mut self, attribute: &Identifier) -> Checked {
        match Placeholder::decode(&attribute.id) {
            None => self.weight += 1,
            Some(Placeholder::Any) => {}
            Some(Placeholder::Optional(_)) => return self.error(Problem::MisplacedOptional, attribute.range),
            Some(Placeholder::One(name) | Placeholder::Rest(name)) => {
                self.bind(name, Role::Component, attribute.range)?;
            }
        }
        Ok(())
    }

    /// The inner part of a dotted path. Its outermost node has been counted.
    fn path(&mut self, expression: &Expr) -> Checked {
        self.weight += 1;
        match expression {
            Expr::Attribute(attribute) => {
                if let Some(Placeholder::Rest(_)) = Placeholder::decode(&attribute.attr.id) {
                    return self.error(Problem::MisplacedRest, attribute.attr.range);
                }
                self.weight -= 1;
                self.component(&attribute.attr)?;
                self.path(&attribute.value)
            }
            _ => Ok(()),
        }
    }

    fn body(&mut self, statements: &[Stmt]) -> Checked {
        self.depth += 1;
        let checked = self.statements(statements);
        self.depth -= 1;
        checked
    }

    fn statements(&mut self, statements: &[Stmt]) -> Checked {
        for statement in statements {
            if let Some(name) = rest_statement(statement) {
                self.bind(name, Role::Statements, statement.range())?;
                self.depths.insert(name.to_owned(), self.depth);
            } else {
                self.weight += 1;
                self.statement(statement)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt) -> Checked {
        match statement {
            Stmt::Expr(it) => self.expression(&it.value),
            Stmt::Assign(it) => {
                self.expressions(&it.targets)?;
                self.expression(&it.value)
            }
            Stmt::AugAssign(it) => self.expressions([&*it.target, &*it.value]),
            Stmt::AnnAssign(it) => {
                self.expressions([&*it.target, &*it.annotation])?;
                self.expressions(it.value.as_deref())
            }
            Stmt::Return(it) => self.expressions(it.value.as_deref()),
            Stmt::Delete(it) => self.expressions(&it.targets),
            Stmt::Assert(it) => {
                self.expression(&it.test)?;
                self.expressions(it.msg.as_deref())
            }
            Stmt::Raise(it) => self.expressions(it.exc.as_deref().into_iter().chain(it.cause.as_deref())),
            Stmt::Pass(_) | Stmt::Break(_) | Stmt::Continue(_) => Ok(()),
            _ => self.compound(statement),
        }
    }

    fn compound(&mut self, statement: &Stmt) -> Checked {
        match statement {
            Stmt::For(it) => {
                self.expressions([&*it.target, &*it.iter])?;
                self.body(&it.body)?;
                self.body(&it.orelse)
            }
            Stmt::While(it) => {
                self.expression(&it.test)?;
                self.body(&it.body)?;
                self.body(&it.orelse)
            }
            Stmt::If(it) => {
                self.expression(&it.test)?;
                self.body(&it.body)?;
                it.elif_else_clauses.iter().try_for_each(|clause| {
                    self.expressions(clause.test.as_ref())?;
                    self.body(&clause.body)
                })
            }
            Stmt::With(it) => {
                for item in &it.items {
                    self.expression(&item.context_expr)?;
                    self.expressions(item.optional_vars.as_deref())?;
                }
                self.body(&it.body)
            }
            other => self.error(Problem::Unsupported(statement_name(other)), other.range()),
        }
    }
}

fn statement_name(statement: &Stmt) -> &'static str {
    match statement {
        Stmt::FunctionDef(_) => "a function definition",
        Stmt::ClassDef(_) => "a class definition",
        Stmt::Try(_) => "`try`",
        Stmt::Match(_) => "`match`",
        Stmt::Import(_) | Stmt::ImportFrom(_) => "an import",
        Stmt::Global(_) | Stmt::Nonlocal(_) => "`global` or `nonlocal`",
        Stmt::TypeAlias(_) => "a type alias",
        _ => "this statement",
    }
}
