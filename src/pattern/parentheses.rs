//! What of a match stands in parentheses of its own: they stay with it.

use ruff_python_ast::token::parenthesized_range;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_expr};
use ruff_python_ast::{AnyNodeRef, Expr, ExprRef};
use ruff_text_size::{Ranged, TextRange};

use super::render::Site;

/// The range of `expression` with the parentheses around it, if there are any.
pub(super) fn outer_range(site: Site<'_, '_>, expression: &Expr) -> TextRange {
    let target = ExprRef::from(expression);
    let mut finder = ParentFinder { target: target.into(), stack: Vec::new(), parent: None };
    for node in site.nodes {
        node.visit_source_order_from(&mut finder);
    }
    finder
        .parent
        .and_then(|parent| parenthesized_range(target, parent, site.tokens))
        .unwrap_or_else(|| expression.range())
}

/// The argument at `range` with the parentheses around it, if there are any.
pub(super) fn outer_range_at(site: Site<'_, '_>, range: TextRange) -> TextRange {
    struct Finder<'a> {
        range: TextRange,
        found: Option<&'a Expr>,
    }
    impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
        fn visit_expr(&mut self, expression: &'a Expr) {
            if expression.range() == self.range {
                self.found.get_or_insert(expression);
            } else if expression.range().contains_range(self.range) {
                walk_expr(self, expression);
            }
        }
    }
    let mut finder = Finder { range, found: None };
    for node in site.nodes {
        node.visit_source_order_from(&mut finder);
    }
    finder.found.map_or(range, |expression| outer_range(site, expression))
}

struct ParentFinder<'a> {
    target: AnyNodeRef<'a>,
    stack: Vec<AnyNodeRef<'a>>,
    parent: Option<AnyNodeRef<'a>>,
}

impl<'a> SourceOrderVisitor<'a> for ParentFinder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if node.ptr_eq(self.target) {
            self.parent = self.stack.last().copied();
        }
        self.stack.push(node);
        if self.parent.is_none() && node.range().contains_range(self.target.range()) {
            TraversalSignal::Traverse
        } else {
            TraversalSignal::Skip
        }
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.stack.pop();
    }
}

/// Visits a node and everything below it.
trait VisitFrom<'a> {
    fn visit_source_order_from<V: SourceOrderVisitor<'a>>(self, visitor: &mut V);
}

impl<'a> VisitFrom<'a> for AnyNodeRef<'a> {
    fn visit_source_order_from<V: SourceOrderVisitor<'a>>(self, visitor: &mut V) {
        if visitor.enter_node(self).is_traverse() {
            self.visit_source_order(visitor);
        }
        visitor.leave_node(self);
    }
}
