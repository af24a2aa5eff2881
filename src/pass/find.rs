//! Matching all rules of a pass against a module in one walk.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_body, walk_expr};
use ruff_python_ast::{AnyNodeRef, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::kinds::Facts;
use crate::names::Names;
use crate::pattern::{
    Captures, Extent, GoneCalls, Lookup, Piece, Refused, Rendered, Shape, Site, Sought, Template, nest,
    render, signature,
};
use crate::reasons::Code;
use crate::source::Module;

use super::alternatives::Alternative;
use super::arguments::{self, Rest};
use super::condition::Usage;
use super::context;
use super::holds::Circumstances;
use super::layout;
use super::spelling::{Aliases, Speller};
use super::wording::Wording;
use super::{Action, Match, NearMiss, Needs, Pass, Place};

/// A replacement can't be written where its match stands.
const NOT_WRITABLE: Code = Code::new("GP110");

/// How to look for matches.
#[derive(Debug, Clone, Copy)]
pub struct FindOptions<'o> {
    /// Names for new imports, the same in the whole program; `None` where this module is all of it.
    pub aliases: Option<&'o Aliases>,
    /// Record every condition that failed, not only what the target library lacks.
    pub explain: bool,
}

/// All matches of `pass` in `module`, in source order; of two that match the same node, the one with precedence.
/// A match may lie inside a metavariable of another. Near misses are those that a report should name: the pass knows
/// the call, and the target library, or the place, does not allow it.
pub fn find<'a>(
    pass: &Pass,
    module: &'a Module,
    names: &Names,
    facts: &dyn Facts,
) -> (Vec<Match<'a>>, Vec<NearMiss>) {
    find_with(pass, module, names, facts, FindOptions { aliases: None, explain: false })
}

/// As [`find`], with options.
pub fn find_with<'a>(
    pass: &Pass,
    module: &'a Module,
    names: &Names,
    facts: &dyn Facts,
    options: FindOptions<'_>,
) -> (Vec<Match<'a>>, Vec<NearMiss>) {
    if pass.alternatives.is_empty() || !pass.concerns(names) {
        return (Vec::new(), Vec::new());
    }
    let own;
    let aliases = match options.aliases {
        Some(aliases) => aliases,
        None => {
            own = Aliases::choose(pass, [names]);
            &own
        }
    };
    let mut finder = Finder {
        pass,
        module,
        names,
        facts,
        speller: Speller::new(pass, names, aliases),
        explain: options.explain,
        unit: context::indent_unit(module),
        newline: layout::newline(module),
        stack: Vec::new(),
        sought: Vec::new(),
        found: Vec::new(),
        gone: GoneCalls::default(),
        misses: Vec::new(),
    };
    finder.visit_body(module.body());
    finder.finish()
}

/// A match before it is known which others are around it.
struct Found<'a> {
    matched: Match<'a>,
    shape: Shape,
    /// Parentheses around a compound replacement are needed where it stands.
    splits: bool,
    parenthesised: bool,
}

struct Finder<'f, 'a> {
    pass: &'f Pass,
    module: &'a Module,
    names: &'f Names,
    facts: &'f dyn Facts,
    speller: Speller<'f>,
    explain: bool,
    unit: &'a str,
    newline: &'static str,
    stack: Vec<AnyNodeRef<'a>>,
    sought: Vec<usize>,
    found: Vec<Found<'a>>,
    gone: GoneCalls,
    misses: Vec<NearMiss>,
}

impl<'a> SourceOrderVisitor<'a> for Finder<'_, 'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        self.stack.push(node);
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.stack.pop();
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        walk_body(self, body);
        if self.pass.index.has_statements() {
            for at in (0..body.len()).rev() {
                self.at_statements(&body[at..]);
            }
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        // From inside out: which calls inside a match go away decides whether its arguments may be moved.
        walk_expr(self, expression);
        self.at_expression(expression);
    }
}

impl<'a> Finder<'_, 'a> {
    fn candidates(&mut self, sought: Sought<'_>) -> Vec<usize> {
        self.sought.clear();
        self.pass.index.candidates(self.names, sought, &mut self.sought);
        if self.sought.is_empty() {
            return Vec::new();
        }
        let mut candidates = std::mem::take(&mut self.sought);
        candidates.sort_by_key(|at| std::cmp::Reverse(self.pass.alternatives[*at].rank));
        candidates
    }

    fn at_expression(&mut self, expression: &'a Expr) {
        let candidates = self.candidates(Sought::Expression(expression));
        for at in candidates {
            let pass = self.pass;
            let alternative = &pass.alternatives[at];
            let lookup = self.lookup();
            let Some(captures) = alternative.pattern.match_expression(lookup, expression) else {
                self.misfit(alternative, expression.range());
                continue;
            };
            let nodes = [AnyNodeRef::from(expression)];
            if self.accept(alternative, captures, &nodes, expression.range()) {
                return;
            }
        }
    }

    fn at_statements(&mut self, body: &'a [Stmt]) {
        let Some(first) = body.first() else { return };
        let candidates = self.candidates(Sought::Statement(first));
        for at in candidates {
            let pass = self.pass;
            let alternative = &pass.alternatives[at];
            let lookup = self.lookup();
            let Some((captures, taken)) = alternative.pattern.match_statements(lookup, body) else {
                continue;
            };
            let nodes: Vec<AnyNodeRef<'a>> = body[..taken].iter().map(AnyNodeRef::from).collect();
            let range = TextRange::new(first.start(), body[taken - 1].end());
            if self.accept(alternative, captures, &nodes, range) {
                return;
            }
        }
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup { names: self.names, table: self.pass.api.as_deref(), sources: &self.pass.source_modules }
    }

    fn misfit(&mut self, alternative: &Alternative, range: TextRange) {
        if self.explain {
            let message = "its arguments don't fit the pattern".to_owned();
            self.misses.push(NearMiss { rule_index: alternative.rule_index, range, message, code: None });
        }
    }

    /// Takes the match if the rule's conditions hold and its replacement can be written.
    fn accept(
        &mut self,
        alternative: &Alternative,
        captures: Captures<'a>,
        nodes: &[AnyNodeRef<'a>],
        range: TextRange,
    ) -> bool {
        let rule_index = alternative.rule_index;
        let is_statement =
            matches!(self.stack.last(), Some(AnyNodeRef::StmtExpr(_))) || nodes[0].is_statement();
        let at = Circumstances {
            names: self.names,
            facts: self.facts,
            table: self.pass.api.as_deref(),
            captures: &captures,
            range,
            usage: if is_statement { Usage::Statement } else { Usage::Expression },
            loop_around: context::loop_around(&self.stack, range),
        };
        if let Some(failed) = alternative.tests.iter().find(|test| !test.holds(&at)) {
            if self.explain {
                let message = format!("it would match if {failed}");
                self.misses.push(NearMiss { rule_index, range, message, code: None });
            }
            return false;
        }
        match self.build(alternative, captures, nodes, range) {
            Ok(found) => {
                let call_free = alternative.template.as_ref().is_some_and(Template::is_call_free);
                if call_free && nodes[0].is_expr_call() {
                    self.gone.insert(range);
                }
                self.found.push(found);
                true
            }
            Err(refused) => {
                let code = Some(refused.code.unwrap_or(NOT_WRITABLE));
                self.misses.push(NearMiss { rule_index, range, message: refused.message, code });
                false
            }
        }
    }

    fn build(
        &self,
        alternative: &Alternative,
        captures: Captures<'a>,
        nodes: &[AnyNodeRef<'a>],
        range: TextRange,
    ) -> Result<Found<'a>, Refused> {
        let rule = &self.pass.rules[alternative.rule_index];
        let parent = self.stack.last().copied();
        let tokens = self.module.parsed().tokens();
        let mut needs = Needs::default();
        let (mut range, mut rendered) = (range, Rendered { pieces: Vec::new(), shape: Shape::Atom });
        if let Some(template) = &alternative.template {
            let mut wording = Wording {
                pass: self.pass,
                speller: &self.speller,
                names: self.names,
                at: range.start(),
                scope: context::import_scope(self.names, nodes[0]),
                needs: &mut needs,
            };
            let statement = context::statement_start(&self.stack, nodes);
            let site = Site {
                text: self.module.text(),
                tokens,
                nodes,
                gone: &self.gone,
                indent: layout::indent_at(self.module.text(), statement),
                unit: self.unit,
                newline: self.newline,
            };
            rendered = render(template, &alternative.pattern, &captures, site, &mut wording)?;
            if rendered.shape == Shape::Statements
                && let Some(AnyNodeRef::StmtExpr(around)) = parent
                && !nodes[0].is_statement()
            {
                range = around.range();
            }
            context::check_layout(self.module, statement, &rendered, nodes)?;
            context::check_comments(self.module, range, &rendered.pieces)?;
            context::space_edges(self.module.text(), range, &mut rendered.pieces);
        } else if rule.place == Some(Place::Device) {
            self.check_rests(&captures)?;
        }
        let parenthesised = parent.is_some_and(|parent| context::is_parenthesised(nodes[0], parent, tokens));
        let Captures { bindings, paths, .. } = captures;
        Ok(Found {
            matched: Match {
                rule_index: alternative.rule_index,
                range,
                bindings,
                paths,
                pieces: rendered.pieces,
                needs,
            },
            shape: rendered.shape,
            splits: parent.is_some_and(|parent| context::splits(parent, nodes[0].range(), rendered.shape)),
            parenthesised,
        })
    }

    /// A call that is to run on the target as it stands must have a counterpart there that takes its arguments.
    fn check_rests(&self, captures: &Captures<'a>) -> Result<(), Refused> {
        let lookup = self.lookup();
        for (_, call) in &captures.calls {
            if let Some(callable) = signature(&lookup, call) {
                let positional: Vec<&Expr> = call.arguments.args.iter().collect();
                let keywords: Vec<_> = call.arguments.keywords.iter().collect();
                let rest = Rest { call, positional: &positional, keywords: &keywords };
                arguments::for_target(&rest, callable, self.module.slice(&*call.func))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> (Vec<Match<'a>>, Vec<NearMiss>) {
        // Outer ones first; of two at one range, the outer one was found later.
        self.found.reverse();
        self.found.sort_by_key(|it| (it.matched.range.start(), std::cmp::Reverse(it.matched.range.end())));
        self.misses.sort_by_key(|it| (it.range.start(), std::cmp::Reverse(it.range.end())));
        let extents: Vec<Extent> = self
            .found
            .iter()
            .map(|found| Extent {
                range: found.matched.range,
                open: (self.pass.rules[found.matched.rule_index].action != Action::Advise)
                    .then(|| open_parts(&self.pass.rules[found.matched.rule_index].action, &found.matched)),
            })
            .collect();
        let nested = nest(&extents);
        let direct: Vec<bool> = nested
            .iter()
            .zip(&self.found)
            .map(|(nested, found)| {
                nested
                    .is_ok_and(|parent| parent.is_some_and(|outer| is_capture_of(&self.found[outer], found)))
            })
            .collect();
        let mut matches = Vec::new();
        for ((mut found, nested), direct) in self.found.into_iter().zip(nested).zip(direct) {
            if nested.is_err() {
                continue;
            }
            let compound = matches!(found.shape, Shape::Compound | Shape::Loose);
            if (found.splits || (direct && compound))
                && !found.parenthesised
                && !found.matched.pieces.is_empty()
            {
                found.matched.pieces.insert(0, Piece::Text("(".to_owned()));
                found.matched.pieces.push(Piece::Text(")".to_owned()));
                merge_texts(&mut found.matched.pieces);
            }
            matches.push(found.matched);
        }
        matches.sort_by_key(|it| (it.range.start(), std::cmp::Reverse(it.range.end())));
        (matches, self.misses)
    }
}

/// Where in a match others may lie.
fn open_parts(action: &Action, matched: &Match<'_>) -> Vec<TextRange> {
    if *action == Action::Rewrite {
        let kept = matched.pieces.iter().filter_map(|piece| match piece {
            Piece::Kept(range) => Some(*range),
            Piece::Text(_) => None,
        });
        return kept.collect();
    }
    matched.bindings.iter().flat_map(|(_, bound)| bound.ranges()).collect()
}

/// True where what `inner` replaces is all that a metavariable of `outer` stands for.
fn is_capture_of(outer: &Found<'_>, inner: &Found<'_>) -> bool {
    outer
        .matched
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Kept(range) if *range == inner.matched.range))
}

fn merge_texts(pieces: &mut Vec<Piece>) {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.drain(..) {
        match (merged.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(more)) => last.push_str(&more),
            (_, piece) => merged.push(piece),
        }
    }
    *pieces = merged;
}

impl Pass {
    /// True where a module with these imports may use what the pass moves away from.
    pub fn concerns(&self, names: &Names) -> bool {
        let root = |path: &str| path.trim_start_matches('.').split('.').next().unwrap_or_default().to_owned();
        let roots: Vec<String> = self.source_modules.iter().map(|module| root(module)).collect();
        names.imports().iter().any(|import| {
            import.is_star()
                || roots.contains(&root(&import.qualified))
                || roots.contains(&root(&import.module))
        })
    }
}
