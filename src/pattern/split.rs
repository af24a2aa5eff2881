//! Parentheses where a replacement would split what a metavariable stands for: the rendered text is parsed again, and
//! every capture must be one node of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Expr, NodeKind};
use ruff_python_parser::{parse_expression, parse_module};
use ruff_text_size::{Ranged, TextLen, TextRange, TextSize};

use super::render::{Out, Refused};

/// Decides which captures need parentheses.
pub(super) fn parenthesise(out: &mut [Out<'_>], text: &str, indent: &str) -> Result<(), Refused> {
    if !out.iter().any(|it| matches!(it, Out::Kept { check: Some(_), .. })) {
        return Ok(());
    }
    // Once as it is; once with what was split; once with all that could be split, since text that doesn't parse
    // doesn't tell what was.
    for last in [false, false, true] {
        let (rendered, places) = assemble(out, text, indent);
        let nodes = nodes_at(&rendered, places.iter().map(|(_, range)| *range).collect());
        let mut whole = true;
        for (i, range) in places {
            let Out::Kept { check: Some(expression), parentheses, .. } = &mut out[i] else { continue };
            let kind = AnyNodeRef::from(*expression).kind();
            if nodes.as_ref().is_none_or(|nodes| !nodes.contains(&(range.start(), range.end(), Kind(kind)))) {
                whole = false;
                *parentheses = true;
            }
        }
        if whole {
            return Ok(());
        }
        if last {
            break;
        }
    }
    Err(Refused::new("an argument can't be written into the replacement, not even in parentheses"))
}

/// The text as rendered so far, and where in it each capture that is to be checked stands.
fn assemble(out: &[Out<'_>], text: &str, indent: &str) -> (String, Vec<(usize, TextRange)>) {
    let mut rendered = String::new();
    let lines = out.iter().any(|it| matches!(it, Out::Text(text) if text.contains(['\n', '\r'])));
    if lines && !indent.is_empty() {
        // Lines after the first are indented as the match is, so they parse only in a block.
        let _ = write!(rendered, "if 1:\n{indent}");
    }
    let mut places = Vec::new();
    for (i, it) in out.iter().enumerate() {
        match it {
            Out::Text(new) => rendered.push_str(new),
            Out::Kept { range, check, parentheses } => {
                let outer = rendered.text_len();
                rendered.push_str(if *parentheses { "(" } else { "" });
                let inner = rendered.text_len();
                rendered.push_str(&text[*range]);
                let inner = TextRange::new(inner, rendered.text_len());
                rendered.push_str(if *parentheses { ")" } else { "" });
                if let Some(expression) = check {
                    let own_parentheses = matches!(expression, Expr::Tuple(_) | Expr::Generator(_));
                    let outer = TextRange::new(outer, rendered.text_len());
                    places.push((i, if own_parentheses { outer } else { inner }));
                }
            }
        }
    }
    (rendered, places)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(NodeKind);

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0 as u32).cmp(&(other.0 as u32))
    }
}

type Nodes = BTreeSet<(TextSize, TextSize, Kind)>;

/// The nodes of `rendered` at `wanted`; `None` where it doesn't parse.
fn nodes_at(rendered: &str, wanted: Vec<TextRange>) -> Option<Nodes> {
    let mut finder = Finder { wanted, nodes: BTreeSet::new() };
    if let Ok(parsed) = parse_expression(rendered) {
        finder.visit_expr(parsed.expr());
    } else {
        let parsed = parse_module(rendered).ok()?;
        finder.visit_body(parsed.suite());
    }
    Some(finder.nodes)
}

struct Finder {
    wanted: Vec<TextRange>,
    nodes: Nodes,
}

impl<'a> SourceOrderVisitor<'a> for Finder {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if self.wanted.contains(&node.range()) {
            self.nodes.insert((node.start(), node.end(), Kind(node.kind())));
        }
        TraversalSignal::Traverse
    }
}
