//! Whether the conditions of a rule hold at a match.

use regex::Regex;
use ruff_python_ast::{Expr, Number};
use ruff_text_size::{Ranged, TextRange};

use crate::api::{Callable, Table};
use crate::kinds::{Dtype, Facts, KindName};
use crate::names::{Names, Resolution};
use crate::pattern::{Bound, Captures};

use super::condition::{
    Choices, DtypeEntry, InApi, KindEntry, LiteralEntry, Usage, Value, VariableEntry, Where,
};
use super::guard::NameLists;

/// One condition.
#[derive(Debug, Clone)]
pub(super) enum Test {
    /// How the match is used.
    Usage(Usage),
    /// Whether it stands in a loop.
    InsideLoop(bool),
    /// Not all of these hold.
    Not(Vec<Test>),
    /// All of one of these hold.
    Any(Vec<Vec<Test>>),
    /// Something about a metavariable.
    Variable(String, About),
}

/// A condition on what a metavariable stands for.
#[derive(Debug, Clone)]
pub(super) enum About {
    Is(Vec<String>),
    Literal(LiteralEntry),
    OneOf(Vec<Value>),
    Regex(String, Box<Regex>),
    Kind(Vec<KindName>),
    Rank(Vec<u8>),
    Dtype(Vec<DtypeEntry>),
    InApi(InApi),
    Ufunc(bool),
    Given(bool),
    Present(Vec<String>),
    Absent(Vec<String>),
    MaxPositional(usize),
    UsedLater(bool),
}

/// What conditions may ask about.
pub(super) struct Circumstances<'c, 'a> {
    pub(super) names: &'c Names,
    pub(super) facts: &'c dyn Facts,
    pub(super) table: Option<&'c Table>,
    pub(super) captures: &'c Captures<'a>,
    pub(super) range: TextRange,
    pub(super) usage: Usage,
    /// The innermost loop around the match, in its function.
    pub(super) loop_around: Option<TextRange>,
}

/// The conditions of `entry`. The error is a message and the bytes of the file it is about.
pub(super) fn compile(
    entry: &Where,
    lists: &NameLists,
) -> Result<Vec<Test>, (String, Option<std::ops::Range<usize>>)> {
    let mut tests = Vec::new();
    tests.extend(entry.usage.map(Test::Usage));
    tests.extend(entry.inside_loop.map(Test::InsideLoop));
    if let Some(not) = &entry.not {
        tests.push(Test::Not(compile(not, lists)?));
    }
    if !entry.any.is_empty() {
        let any: Result<Vec<_>, _> = entry.any.iter().map(|it| compile(it, lists)).collect();
        tests.push(Test::Any(any?));
    }
    for (name, entry) in &entry.variables {
        let about = about(entry, lists)?;
        tests.extend(about.into_iter().map(|about| Test::Variable(name.value.clone(), about)));
    }
    Ok(tests)
}

fn about(
    entry: &VariableEntry,
    lists: &NameLists,
) -> Result<Vec<About>, (String, Option<std::ops::Range<usize>>)> {
    let mut all = Vec::new();
    if let Some(is) = &entry.is {
        all.push(About::Is(is.all().into_iter().map(|it| it.value).collect()));
    }
    all.extend(entry.literal.map(About::Literal));
    if let Some(choices) = &entry.one_of {
        all.push(About::OneOf(match &choices.value {
            Choices::Values(values) => values.clone(),
            Choices::Names(list) => {
                let names = lists.get(list).ok_or_else(|| {
                    (format!("there is no name list `{list}` in patterns/"), Some(choices.bytes.clone()))
                })?;
                names.iter().cloned().map(Value::Text).collect()
            }
        }));
    }
    if let Some(regex) = &entry.regex {
        let compiled = Regex::new(&regex.value)
            .map_err(|error| (format!("not a regular expression: {error}"), Some(regex.bytes.clone())))?;
        all.push(About::Regex(regex.value.clone(), Box::new(compiled)));
    }
    if let Some(kind) = &entry.kind {
        all.push(About::Kind(kind.values().into_iter().map(kind_name).collect()));
    }
    all.extend(entry.rank.as_ref().map(|it| About::Rank(it.values())));
    all.extend(entry.dtype.as_ref().map(|it| About::Dtype(it.values())));
    all.extend(entry.in_api.clone().map(About::InApi));
    all.extend(entry.ufunc.map(About::Ufunc));
    all.extend(entry.given.map(About::Given));
    if !entry.present.is_empty() {
        all.push(About::Present(entry.present.clone()));
    }
    if !entry.absent.is_empty() {
        all.push(About::Absent(entry.absent.clone()));
    }
    all.extend(entry.max_positional.map(About::MaxPositional));
    all.extend(entry.used_later.map(About::UsedLater));
    Ok(all)
}

fn kind_name(entry: KindEntry) -> KindName {
    match entry {
        KindEntry::Array => KindName::Array,
        KindEntry::Scalar => KindName::Scalar,
        KindEntry::Sequence => KindName::Sequence,
        KindEntry::Frame => KindName::Frame,
        KindEntry::Estimator => KindName::Estimator,
        KindEntry::Graph => KindName::Graph,
        KindEntry::Module => KindName::Module,
        KindEntry::Function => KindName::Function,
        KindEntry::Class => KindName::Class,
        KindEntry::Unknown => KindName::Unknown,
    }
}

impl Test {
    /// How many conditions it is.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Not(tests) => tests.iter().map(Self::count).sum(),
            Self::Any(all) => all.iter().flatten().map(Self::count).max().unwrap_or(0),
            _ => 1,
        }
    }

    /// The usage it asks for.
    pub(super) fn usage(&self) -> Option<Usage> {
        match self {
            Self::Usage(usage) => Some(*usage),
            _ => None,
        }
    }

    /// What `name` must be one of, as texts that are equal where the values are.
    pub(super) fn choices(&self, name: &str) -> Option<Vec<String>> {
        match self {
            Self::Variable(variable, About::OneOf(values)) if variable == name => {
                Some(values.iter().map(Value::key).collect())
            }
            Self::Variable(variable, About::Is(names)) if variable == name => {
                Some(names.iter().map(|it| format!("name {it}")).collect())
            }
            _ => None,
        }
    }

    /// The kinds that `name` may have.
    pub(super) fn kinds(&self, name: &str) -> Option<&[KindName]> {
        match self {
            Self::Variable(variable, About::Kind(kinds)) if variable == name => Some(kinds),
            _ => None,
        }
    }

    /// Whether it holds.
    pub(super) fn holds(&self, at: &Circumstances<'_, '_>) -> bool {
        match self {
            Self::Usage(usage) => at.usage == *usage,
            Self::InsideLoop(inside) => at.loop_around.is_some() == *inside,
            Self::Not(tests) => !tests.iter().all(|test| test.holds(at)),
            Self::Any(all) => all.iter().any(|tests| tests.iter().all(|test| test.holds(at))),
            Self::Variable(name, about) => about.holds(name, at),
        }
    }
}

impl About {
    fn holds(&self, name: &str, at: &Circumstances<'_, '_>) -> bool {
        let bound = at.captures.get(name);
        let expression = match bound {
            Some(Bound::Expression(expression)) => Some(*expression),
            _ => None,
        };
        match self {
            Self::Is(names) => resolved(name, expression, at).is_some_and(|path| names.contains(&path)),
            Self::Literal(literal) => literal.holds(expression),
            Self::OneOf(values) => match bound {
                Some(Bound::Component(text)) => {
                    values.iter().any(|it| matches!(it, Value::Text(t) if t == text))
                }
                _ => expression.is_some_and(|it| values.iter().any(|value| value.equals(it))),
            },
            Self::Regex(_, regex) => text_of(bound).is_some_and(|text| matches_whole(regex, text)),
            Self::Kind(kinds) => expression.is_some_and(|it| kinds.contains(&at.facts.kind(it))),
            Self::Rank(ranks) => {
                let array = expression.and_then(|it| at.facts.array(it));
                array.and_then(|it| it.rank).is_some_and(|rank| ranks.contains(&rank))
            }
            Self::Dtype(dtypes) => expression
                .and_then(|it| at.facts.array(it))
                .is_some_and(|array| dtypes.iter().any(|it| it.covers(array.dtype))),
            Self::InApi(InApi::Path(wanted)) => entry(name, expression, at).is_some() == *wanted,
            Self::InApi(InApi::Under(prefix)) => {
                text_of(bound).is_some_and(|text| has(at.table, &format!("{prefix}.{text}")))
            }
            Self::Ufunc(wanted) => entry(name, expression, at).is_some_and(|it| it.ufunc) == *wanted,
            Self::Given(given) => !matches!(bound, Some(Bound::Absent) | None) == *given,
            Self::Present(wanted) => wanted.iter().all(|keyword| has_keyword(name, keyword, at)),
            Self::Absent(unwanted) => !unwanted.iter().any(|keyword| has_keyword(name, keyword, at)),
            Self::MaxPositional(most) => {
                matches!(bound, Some(Bound::Arguments { positional, .. }) if positional.len() <= *most)
            }
            Self::UsedLater(later) => used_later(expression, at) == Some(*later),
        }
    }
}

fn has(table: Option<&Table>, path: &str) -> bool {
    table.is_some_and(|table| {
        table.callables.contains_key(path) || table.attributes.get(path).is_some_and(|it| it.supported)
    })
}

fn resolved(name: &str, expression: Option<&Expr>, at: &Circumstances<'_, '_>) -> Option<String> {
    match expression {
        Some(expression) => match at.names.resolve(expression) {
            Resolution::Qualified(path) | Resolution::Builtin(path) => Some(path),
            _ => None,
        },
        None => at.captures.path(name).map(str::to_owned),
    }
}

fn entry<'t>(name: &str, expression: Option<&Expr>, at: &Circumstances<'t, '_>) -> Option<&'t Callable> {
    at.table?.callables.get(&resolved(name, expression, at)?)
}

impl DtypeEntry {
    fn covers(self, dtype: Dtype) -> bool {
        matches!(
            (self, dtype),
            (Self::Boolean, Dtype::Bool)
                | (Self::Integer, Dtype::Integer)
                | (Self::Float, Dtype::Float)
                | (Self::Complex, Dtype::Complex)
        )
    }
}

impl LiteralEntry {
    fn holds(self, expression: Option<&Expr>) -> bool {
        let number = expression.map(|it| match it {
            Expr::UnaryOp(unary) => &*unary.operand,
            other => other,
        });
        match self {
            Self::Any(wanted) => {
                let literal = expression.is_some_and(Expr::is_literal_expr);
                (literal || number.is_some_and(Expr::is_number_literal_expr)) == wanted
            }
            Self::Integer => matches!(number, Some(Expr::NumberLiteral(it)) if it.value.is_int()),
            Self::Float => matches!(number, Some(Expr::NumberLiteral(it)) if it.value.is_float()),
            Self::String => expression.is_some_and(Expr::is_string_literal_expr),
            Self::Boolean => expression.is_some_and(Expr::is_boolean_literal_expr),
        }
    }
}

fn text_of<'b>(bound: Option<&'b Bound<'_>>) -> Option<&'b str> {
    match bound? {
        Bound::Component(text) => Some(text),
        Bound::Expression(Expr::StringLiteral(literal)) => Some(literal.value.to_str()),
        _ => None,
    }
}

fn matches_whole(regex: &Regex, text: &str) -> bool {
    regex.find_iter(text).any(|found| found.range() == (0..text.len()))
}

/// Whether the call whose arguments the rest holds gives the parameter `keyword`, by name or, where its signature is
/// known, by position.
fn has_keyword(rest: &str, keyword: &str, at: &Circumstances<'_, '_>) -> bool {
    let Some(call) = at.captures.call(rest) else { return false };
    let by_name =
        call.arguments.keywords.iter().any(|it| it.arg.as_ref().is_none_or(|it| it.as_str() == keyword));
    if by_name {
        return true;
    }
    let signature = match at.names.resolve(&call.func) {
        Resolution::Qualified(path) => at.table.and_then(|table| table.callables.get(&path)),
        _ => None,
    };
    signature
        .and_then(|it| it.source_parameters.iter().position(|parameter| parameter.name == keyword))
        .is_some_and(|position| position < call.arguments.args.len())
}

/// Whether the variable that `expression` names is read after the match; `None` where that isn't known.
fn used_later(expression: Option<&Expr>, at: &Circumstances<'_, '_>) -> Option<bool> {
    let variable = at.names.variable(expression?.as_name_expr()?)?;
    if at.names.is_captured(&variable) {
        return Some(true);
    }
    let again = |read: &TextRange| at.loop_around.is_some_and(|around| around.contains_range(*read));
    let later =
        |read: &TextRange| !at.range.contains_range(*read) && (read.start() >= at.range.end() || again(read));
    Some(at.names.uses(&variable).iter().any(later))
}

impl Value {
    fn key(&self) -> String {
        match self {
            Self::Text(text) => format!("text {text}"),
            other => format!("{other:?}"),
        }
    }

    /// Whether `expression` is this literal.
    fn equals(&self, expression: &Expr) -> bool {
        match (self, expression) {
            (Self::None, Expr::NoneLiteral(_)) => true,
            (Self::Boolean(value), Expr::BooleanLiteral(literal)) => literal.value == *value,
            (Self::Text(value), Expr::StringLiteral(literal)) => literal.value.to_str() == value,
            (Self::Integer(value), Expr::NumberLiteral(literal)) => {
                matches!(&literal.value, Number::Int(int) if int.as_i64() == Some(*value))
            }
            (Self::Float(value), Expr::NumberLiteral(literal)) => {
                matches!(&literal.value, Number::Float(float) if float.to_bits() == value.to_bits())
            }
            (Self::Integer(value), Expr::UnaryOp(unary)) => {
                unary.op.is_u_sub()
                    && value.checked_neg().is_some_and(|value| Self::Integer(value).equals(&unary.operand))
            }
            (Self::Float(value), Expr::UnaryOp(unary)) => {
                unary.op.is_u_sub() && Self::Float(-value).equals(&unary.operand)
            }
            _ => false,
        }
    }
}
