//! Replacements: Python with metavariables, cut into text, captures and paths to be spelled.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{ArgOrKeyword, Arguments, Expr, ExprCall};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::check::Checker;
use super::effects::{GoneCalls, has_effects};
use super::errors::{PatternError, Problem};
use super::matching::{Bound, Captures};
use super::parse::{Pattern, Role, Root, is_path, parse_root, placeholder};
use super::placeholder::{Encoded, Placeholder};

/// A parsed replacement.
#[derive(Debug, Clone)]
pub struct Template {
    pub(crate) root: Root,
    pub(crate) parts: Vec<Part>,
}

/// A piece of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that is written as it stands.
    Text(String),
    /// What a metavariable stands for. `enclosed` where it is an argument of a call, so that nothing can split it.
    Variable { name: String, enclosed: bool },
    /// The name of an attribute.
    Component(String),
    /// A dotted path, spelled as the module would.
    Path(Vec<PathPart>),
    /// A list in which some items may be left out or may be several, with the path of what is called with it.
    Arguments { callee: Option<Vec<PathPart>>, items: Vec<Argument> },
}

/// A component of a path in a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathPart {
    /// A name.
    Literal(String),
    /// A metavariable.
    Variable(String),
}

/// An item of a list with droppable items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Always there.
    Plain(Vec<Part>),
    /// There if the metavariable stands for something.
    Optional { name: String, parts: Vec<Part> },
    /// A rest.
    Rest(String),
}

impl Template {
    /// Parses `text`, whose metavariables must all be bound by `pattern`. Errors carry the place inside `text`.
    pub fn parse(text: &str, pattern: &Pattern) -> Result<Self, PatternError> {
        let encoded = Encoded::new(text)?;
        let root = parse_root(&encoded)?;
        let mut checker = Checker::new(&encoded);
        checker.replacement(&root)?;
        let range_of = |name: &str| variable_range(text, name);
        for (name, role) in &checker.variables {
            let fits = match pattern.role(name) {
                None => return Err(PatternError::new(Problem::Unbound(name.clone()), range_of(name))),
                Some(bound) => bound == *role || matches!((bound, role), (Role::Component, Role::Expression)),
            };
            if !fits {
                return Err(PatternError::new(Problem::MixedUse(name.clone()), range_of(name)));
            }
        }
        for (name, depth) in &checker.depths {
            if pattern.depths.get(name) != Some(depth) {
                return Err(PatternError::new(Problem::BodyDepth(name.clone()), range_of(name)));
            }
        }
        let parts = cut(&encoded.text, &root);
        Ok(Self { root, parts })
    }

    /// True where it is statements, so that it can only replace statements.
    pub fn is_statements(&self) -> bool {
        matches!(self.root, Root::Statements(_))
    }

    /// The dotted paths in it, as far as their components are literal, and whether that is all of each.
    pub fn paths(&self) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        gather_paths(&self.parts, &mut found);
        found
    }

    /// True where it calls nothing itself.
    pub fn is_call_free(&self) -> bool {
        match &self.root {
            Root::Expression(root) => !has_effects(root, &GoneCalls::default()),
            Root::Statements(_) => false,
        }
    }

    /// The path that it is, where it is nothing but one, with its metavariables as bound.
    pub fn path_with(&self, captures: &Captures<'_>) -> Option<String> {
        let [Part::Path(path)] = self.parts.as_slice() else { return None };
        let names: Option<Vec<&str>> = path
            .iter()
            .map(|part| match part {
                PathPart::Literal(name) => Some(name.as_str()),
                PathPart::Variable(name) => match captures.get(name)? {
                    Bound::Component(text) => Some(text.as_str()),
                    _ => None,
                },
            })
            .collect();
        Some(names?.join("."))
    }

    /// True where it is nothing but one path: a name for a name.
    pub fn is_path(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Path(_)])
    }
}

fn gather_paths(parts: &[Part], found: &mut Vec<(String, bool)>) {
    for part in parts {
        match part {
            Part::Path(path) => {
                let literal: Vec<&str> = path
                    .iter()
                    .map_while(|it| match it {
                        PathPart::Literal(name) => Some(name.as_str()),
                        PathPart::Variable(_) => None,
                    })
                    .collect();
                found.push((literal.join("."), literal.len() == path.len()));
            }
            Part::Arguments { items, .. } => {
                for item in items {
                    if let Argument::Plain(parts) | Argument::Optional { parts, .. } = item {
                        gather_paths(parts, found);
                    }
                }
            }
            Part::Text(_) | Part::Variable { .. } | Part::Component(_) => {}
        }
    }
}

fn variable_range(text: &str, name: &str) -> TextRange {
    let at = text.find(&format!("${name}")).unwrap_or(0);
    TextRange::at(TextSize::new(at as u32), TextSize::new(name.len() as u32 + 1))
}

fn cut(text: &str, root: &Root) -> Vec<Part> {
    let mut collector = Collector { text, spots: Vec::new() };
    let range = match root {
        Root::Expression(expression) => {
            collector.visit_expr(expression);
            TextRange::up_to((text.trim_end().len() as u32).into())
        }
        Root::Statements(statements) => {
            collector.visit_body(statements);
            TextRange::up_to((text.trim_end().len() as u32).into())
        }
    };
    collector.finish(range)
}

struct Collector<'t> {
    text: &'t str,
    spots: Vec<(TextRange, Part)>,
}

impl Collector<'_> {
    fn finish(mut self, range: TextRange) -> Vec<Part> {
        self.spots.sort_by_key(|(range, _)| range.start());
        let mut parts = Vec::new();
        let mut at = range.start();
        for (spot, part) in self.spots {
            if spot.start() > at {
                parts.push(Part::Text(self.text[TextRange::new(at, spot.start())].to_owned()));
            }
            parts.push(part);
            at = spot.end();
        }
        if at < range.end() {
            parts.push(Part::Text(self.text[TextRange::new(at, range.end())].to_owned()));
        }
        parts
    }

    fn parts_of(&self, expression: &Expr, range: TextRange) -> Vec<Part> {
        let mut inner = Collector { text: self.text, spots: Vec::new() };
        inner.argument(expression);
        inner.finish(range)
    }

    fn argument(&mut self, expression: &Expr) {
        match placeholder(expression).and_then(Placeholder::name) {
            Some(name) => {
                self.spots
                    .push((expression.range(), Part::Variable { name: name.to_owned(), enclosed: true }));
            }
            None => self.visit_expr(expression),
        }
    }

    fn call(&mut self, call: &ExprCall) {
        self.visit_expr(&call.func);
        if !has_droppable(&call.arguments) {
            call.arguments.args.iter().for_each(|argument| self.argument(argument));
            call.arguments.keywords.iter().for_each(|keyword| self.argument(&keyword.value));
            return;
        }
        let items: Vec<(TextRange, Argument)> = call
            .arguments
            .iter_source_order()
            .map(|argument| match argument {
                ArgOrKeyword::Arg(value) => (value.range(), self.item(value, value.range())),
                ArgOrKeyword::Keyword(keyword) => (keyword.range, self.item(&keyword.value, keyword.range)),
            })
            .collect();
        let callee = is_path(&call.func).then(|| path_parts(&call.func));
        self.list(callee, items);
    }

    fn display(&mut self, elements: &[Expr]) {
        let items =
            elements.iter().map(|element| (element.range(), self.item(element, element.range()))).collect();
        self.list(None, items);
    }

    fn list(&mut self, callee: Option<Vec<PathPart>>, items: Vec<(TextRange, Argument)>) {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        let range = TextRange::new(first.0.start(), last.0.end());
        let items = items.into_iter().map(|(_, item)| item).collect();
        self.spots.push((range, Part::Arguments { callee, items }));
    }

    fn item(&self, value: &Expr, range: TextRange) -> Argument {
        match placeholder(value) {
            Some(Placeholder::Rest(name)) => Argument::Rest(name.to_owned()),
            Some(Placeholder::Optional(name)) => {
                Argument::Optional { name: name.to_owned(), parts: self.parts_of(value, range) }
            }
            _ => Argument::Plain(self.parts_of(value, range)),
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Collector<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Some(name) = placeholder(expression).and_then(Placeholder::name) {
            self.spots.push((expression.range(), Part::Variable { name: name.to_owned(), enclosed: false }));
            return;
        }
        if is_path(expression) {
            self.spots.push((expression.range(), Part::Path(path_parts(expression))));
            return;
        }
        match expression {
            Expr::Attribute(attribute) => {
                self.visit_expr(&attribute.value);
                if let Some(name) = Placeholder::decode(&attribute.attr.id).and_then(Placeholder::name) {
                    self.spots.push((attribute.attr.range, Part::Component(name.to_owned())));
                }
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) if has_rest(&list.elts) => self.display(&list.elts),
            Expr::Tuple(tuple) if has_rest(&tuple.elts) => self.display(&tuple.elts),
            Expr::Set(set) if has_rest(&set.elts) => self.display(&set.elts),
            _ => walk_expr(self, expression),
        }
    }
}

fn has_rest(items: &[Expr]) -> bool {
    items.iter().any(|item| matches!(placeholder(item), Some(Placeholder::Rest(_))))
}

fn has_droppable(arguments: &Arguments) -> bool {
    let droppable =
        |value: &Expr| matches!(placeholder(value), Some(Placeholder::Rest(_) | Placeholder::Optional(_)));
    arguments.args.iter().any(droppable) || arguments.keywords.iter().any(|keyword| droppable(&keyword.value))
}

fn path_parts(expression: &Expr) -> Vec<PathPart> {
    let mut parts = Vec::new();
    let mut at = expression;
    loop {
        let name = match at {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => break,
        };
        parts.push(match Placeholder::decode(name).and_then(Placeholder::name) {
            Some(name) => PathPart::Variable(name.to_owned()),
            None => PathPart::Literal(name.to_owned()),
        });
        match at {
            Expr::Attribute(attribute) => at = &attribute.value,
            _ => break,
        }
    }
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(pattern: &str, replacement: &str) -> Result<Template, PatternError> {
        Template::parse(replacement, &Pattern::parse(pattern).unwrap())
    }

    #[test]
    fn what_is_not_bound_is_an_error_at_its_place() {
        let error = template("numpy.sum($X)", "cupy.sum($X, $Y)").unwrap_err();
        assert_eq!(error.problem, Problem::Unbound("Y".into()));
        assert_eq!(error.range, TextRange::at(13.into(), 2.into()));
    }

    #[test]
    fn a_rest_is_no_expression() {
        let error = template("numpy.sum($$$ARGS)", "cupy.sum($ARGS)").unwrap_err();
        assert_eq!(error.problem, Problem::MixedUse("ARGS".into()));
    }

    #[test]
    fn a_replacement_is_cut_at_captures_and_paths() {
        let template = template("numpy.$F($$$ARGS)", "cupy.$F($$$ARGS).item()").unwrap();
        let path = vec![PathPart::Literal("cupy".into()), PathPart::Variable("F".into())];
        assert_eq!(
            template.parts,
            vec![
                Part::Path(path.clone()),
                Part::Text("(".into()),
                Part::Arguments { callee: Some(path), items: vec![Argument::Rest("ARGS".into())] },
                Part::Text(").item()".into()),
            ]
        );
    }
}
