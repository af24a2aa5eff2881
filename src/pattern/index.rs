//! Which patterns can match at a node at all: patterns filed by what they begin with, so that a module is matched
//! against all of them in one walk.

use ruff_python_ast::{AnyNodeRef, Expr, ExprName, NodeKind, Stmt};
use ruff_text_size::TextSize;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::{ImportBinding, Names, Resolution, is_builtin};

use super::parse::{Pattern, Root, is_path, rest_statement};
use super::placeholder::Placeholder;

/// Where a pattern is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Head {
    /// A call of a path.
    Call(PathHead),
    /// A path that is not called by the pattern.
    Path(PathHead),
    /// A call of a method of this name.
    Method(String),
    /// A node of this kind.
    Kind(NodeKind),
}

/// A path, or the literal beginning of one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PathHead {
    text: String,
    exact: bool,
}

/// What is looked up in an [`Index`].
#[derive(Clone, Copy)]
pub enum Sought<'a> {
    /// Patterns of an expression.
    Expression(&'a Expr),
    /// Patterns of statements that begin with this one.
    Statement(&'a Stmt),
}

#[derive(Debug, Clone, Default)]
struct Paths {
    exact: FxHashMap<String, Vec<usize>>,
    /// `(beginning, pattern)`; the beginning ends before the dot of the first metavariable.
    open: Vec<(String, usize)>,
}

/// Patterns by what they begin with.
#[derive(Debug, Clone, Default)]
pub struct Index {
    calls: Paths,
    paths: Paths,
    methods: FxHashMap<String, Vec<usize>>,
    /// With each pattern, whether it begins with a path: `numpy.nbytes[$T]`.
    expressions: FxHashMap<NodeKind, Vec<(usize, bool)>>,
    statements: FxHashMap<NodeKind, Vec<usize>>,
    /// The first components of all paths: other names need not be resolved.
    roots: Vec<String>,
}

impl Index {
    /// Files `patterns`, which are known by their positions.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Self {
        let mut index = Self::default();
        for (i, pattern) in patterns.into_iter().enumerate() {
            match &pattern.root {
                Root::Expression(expression) => match head(expression) {
                    Head::Call(path) => {
                        index.root(&path.text);
                        index.calls.add(path, i);
                    }
                    Head::Path(path) => {
                        index.root(&path.text);
                        index.paths.add(path, i);
                    }
                    Head::Method(name) => index.methods.entry(name).or_default().push(i),
                    Head::Kind(kind) => {
                        let leading = leading(expression).filter(|it| Placeholder::decode(&it.id).is_none());
                        if let Some(name) = leading {
                            index.root(&name.id);
                        }
                        index.expressions.entry(kind).or_default().push((i, leading.is_some()));
                    }
                },
                Root::Statements(statements) => {
                    let first = statements.iter().find(|it| rest_statement(it).is_none());
                    if let Some(first) = first {
                        index.statements.entry(AnyNodeRef::from(first).kind()).or_default().push(i);
                    }
                }
            }
        }
        index
    }

    fn root(&mut self, path: &str) {
        let root = path.split('.').next().unwrap_or_default();
        if !self.roots.iter().any(|it| it == root) {
            self.roots.push(root.to_owned());
        }
    }

    /// The places of a module at which paths of the patterns may begin.
    pub fn reach(&self, names: &Names) -> Reach {
        let has_star = names.imports().iter().any(ImportBinding::is_star);
        if has_star || self.roots.iter().any(|root| is_builtin(root)) {
            return Reach::Everywhere;
        }
        let (mut surely, mut perhaps) = (FxHashSet::default(), FxHashSet::default());
        for import in names.imports() {
            let found = match names.meaning_of(import) {
                Some(Resolution::Qualified(path)) if self.is_root_of(path) => &mut surely,
                Some(_) if names.may_lead_on(import) => &mut perhaps,
                _ => continue,
            };
            found.extend(names.reads_of(import).iter().map(|range| range.start()));
        }
        Reach::At { surely, perhaps }
    }

    fn is_root_of(&self, path: &str) -> bool {
        let first = path.split('.').next().unwrap_or_default();
        self.roots.iter().any(|root| root == first)
    }

    /// Takes note of a whole chain of attributes: where it leads through the project to what the patterns look for, its
    /// parts may match too.
    pub fn note(&self, names: &Names, reach: &mut Reach, chain: &Expr) {
        let Reach::At { surely, perhaps } = reach else { return };
        if perhaps.is_empty() {
            return;
        }
        if let Some(name) = leading(chain)
            && perhaps.contains(&name.range.start())
            && let Resolution::Qualified(path) = names.resolve(chain)
            && self.is_root_of(&path)
        {
            surely.insert(name.range.start());
        }
    }

    /// True where no pattern can match in a module of this reach.
    pub fn is_out_of_reach(&self, reach: &Reach) -> bool {
        let only_paths = self.methods.is_empty()
            && self.statements.is_empty()
            && self.expressions.values().flatten().all(|(_, leading)| *leading);
        only_paths
            && matches!(reach, Reach::At { surely, perhaps } if surely.is_empty() && perhaps.is_empty())
    }

    /// True where some pattern is of statements.
    pub fn has_statements(&self) -> bool {
        !self.statements.is_empty()
    }

    /// Adds to `found` the patterns that may match at `sought`.
    pub fn candidates(&self, names: &Names, reach: &Reach, sought: Sought<'_>, found: &mut Vec<usize>) {
        let expression = match sought {
            Sought::Expression(expression) => expression,
            Sought::Statement(statement) => {
                if let Some(all) = self.statements.get(&AnyNodeRef::from(statement).kind()) {
                    found.extend(all);
                }
                return;
            }
        };
        let reached = reach.contains(expression);
        if !self.expressions.is_empty()
            && let Some(all) = self.expressions.get(&AnyNodeRef::from(expression).kind())
        {
            found.extend(all.iter().filter(|(_, leading)| reached || !leading).map(|(pattern, _)| *pattern));
        }
        match expression {
            Expr::Call(call) => {
                if let Expr::Attribute(attribute) = &*call.func
                    && !self.methods.is_empty()
                    && let Some(all) = self.methods.get(attribute.attr.as_str())
                {
                    found.extend(all);
                }
                if reached && !self.calls.is_empty() {
                    self.calls.find(names, &call.func, &self.roots, found);
                }
            }
            Expr::Name(_) | Expr::Attribute(_) if reached && !self.paths.is_empty() => {
                self.paths.find(names, expression, &self.roots, found);
            }
            _ => {}
        }
    }
}

/// Where in a module paths of the patterns may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// At any name.
    Everywhere,
    /// At some names, by their positions.
    At {
        /// Those imported from the libraries that the patterns name.
        surely: FxHashSet<TextSize>,
        /// Those from the project, some of whose attributes may lead there.
        perhaps: FxHashSet<TextSize>,
    },
}

impl Reach {
    /// True where a path may begin at the leftmost name of `expression`.
    fn contains(&self, expression: &Expr) -> bool {
        match self {
            Self::Everywhere => true,
            Self::At { surely, .. } => {
                leading(expression).is_some_and(|name| surely.contains(&name.range.start()))
            }
        }
    }
}

/// The leftmost name of a chain of attributes, calls and subscripts.
fn leading(expression: &Expr) -> Option<&ExprName> {
    match expression {
        Expr::Name(name) => Some(name),
        Expr::Attribute(attribute) => leading(&attribute.value),
        Expr::Call(call) => leading(&call.func),
        Expr::Subscript(subscript) => leading(&subscript.value),
        _ => None,
    }
}

impl Paths {
    fn add(&mut self, path: PathHead, pattern: usize) {
        if path.exact {
            self.exact.entry(path.text).or_default().push(pattern);
        } else {
            self.open.push((path.text, pattern));
        }
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.open.is_empty()
    }

    fn find(&self, names: &Names, expression: &Expr, roots: &[String], found: &mut Vec<usize>) {
        let (Resolution::Qualified(path) | Resolution::Builtin(path)) = names.resolve(expression) else {
            return;
        };
        let root = path.split('.').next().unwrap_or_default();
        if !roots.iter().any(|it| it == root) {
            return;
        }
        if let Some(all) = self.exact.get(&path) {
            found.extend(all);
        }
        for (beginning, pattern) in &self.open {
            if path.strip_prefix(beginning.as_str()).is_some_and(|rest| rest.starts_with('.')) {
                found.push(*pattern);
            }
        }
    }
}

fn head(expression: &Expr) -> Head {
    match expression {
        Expr::Call(call) if is_path(&call.func) => Head::Call(path_head(&call.func)),
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(attribute) if Placeholder::decode(&attribute.attr.id).is_none() => {
                Head::Method(attribute.attr.to_string())
            }
            _ => Head::Kind(NodeKind::ExprCall),
        },
        _ if is_path(expression) => Head::Path(path_head(expression)),
        _ => Head::Kind(AnyNodeRef::from(expression).kind()),
    }
}

fn path_head(expression: &Expr) -> PathHead {
    match expression {
        Expr::Name(name) => PathHead { text: name.id.to_string(), exact: true },
        Expr::Attribute(attribute) => {
            let mut head = path_head(&attribute.value);
            if Placeholder::decode(&attribute.attr.id).is_some() {
                head.exact = false;
            } else if head.exact {
                head.text.push('.');
                head.text.push_str(&attribute.attr);
            }
            head
        }
        _ => PathHead { text: String::new(), exact: false },
    }
}
