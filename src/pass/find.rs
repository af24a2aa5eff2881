//! Matching all rules of a pass against a module in one walk.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_body, walk_expr};
use ruff_python_ast::{AnyNodeRef, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::kinds::Facts;
use crate::names::{Names, Resolution};
use crate::pattern::{
    Captures, GoneCalls, Lookup, Reach, Refused, Rendered, Shape, Site, Sought, Template, render, signature,
};
use crate::reasons::Code;
use crate::source::Module;

use super::alternatives::Alternative;
use super::arguments::{self, Rest};
use super::condition::Usage;
use super::context;
use super::holds::Circumstances;
use super::layout;
use super::settle::{Found, settle};
use super::spelling::{Aliases, Speller};
use super::wording::Wording;
use super::{Match, NearMiss, Needs, Pass, Place};

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
    let reach = pass.index.reach(names);
    if pass.index.is_out_of_reach(&reach) {
        return (Vec::new(), Vec::new());
    }
    let own;
    let aliases = if let Some(aliases) = options.aliases {
        aliases
    } else {
        own = Aliases::choose(pass, [names]);
        &own
    };
    let mut finder = Finder {
        pass,
        module,
        names,
        facts,
        reach,
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
    finder.misses.sort_by_key(|it| (it.range.start(), std::cmp::Reverse(it.range.end())));
    (settle(pass, finder.found), finder.misses)
}

struct Finder<'f, 'a> {
    pass: &'f Pass,
    module: &'a Module,
    names: &'f Names,
    facts: &'f dyn Facts,
    reach: Reach,
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
        if expression.is_attribute_expr() && !matches!(self.stack.last(), Some(AnyNodeRef::ExprAttribute(_)))
        {
            self.pass.index.note(self.names, &mut self.reach, expression);
        }
        // From inside out: which calls inside a match go away decides whether its arguments may be moved.
        walk_expr(self, expression);
        self.at_expression(expression);
    }
}

impl<'a> Finder<'_, 'a> {
    fn candidates(&mut self, sought: Sought<'_>) -> Vec<usize> {
        self.sought.clear();
        self.pass.index.candidates(self.names, &self.reach, sought, &mut self.sought);
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
        if context::spans_cells(self.module, range) {
            return false;
        }
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
        let parent = self.stack.last().copied();
        let mut needs = Needs::default();
        let mut range = range;
        let rendered = if let Some(template) = &alternative.template {
            let is_statement = template.is_statements();
            if is_statement && let Some(AnyNodeRef::StmtExpr(around)) = parent {
                range = around.range();
            }
            self.rendered(alternative, template, &captures, nodes, range, &mut needs)?
        } else {
            if self.pass.rules[alternative.rule_index].place == Some(Place::Device) {
                self.check_rests(&captures)?;
            }
            Rendered { pieces: Vec::new(), shape: Shape::Atom }
        };
        let tokens = self.module.parsed().tokens();
        let Captures { bindings, paths, .. } = captures;
        let rule_index = alternative.rule_index;
        Ok(Found {
            matched: Match { rule_index, range, bindings, paths, pieces: rendered.pieces, needs },
            shape: rendered.shape,
            splits: parent.is_some_and(|it| context::splits(it, nodes[0].range(), rendered.shape)),
            parenthesised: parent.is_some_and(|it| context::is_parenthesised(nodes[0], it, tokens)),
        })
    }

    /// The replacement of the match at `range`, if it can be written there.
    fn rendered(
        &self,
        alternative: &Alternative,
        template: &Template,
        captures: &Captures<'a>,
        nodes: &[AnyNodeRef<'a>],
        range: TextRange,
        needs: &mut Needs,
    ) -> Result<Rendered, Refused> {
        let mut wording = Wording {
            pass: self.pass,
            speller: &self.speller,
            names: self.names,
            at: nodes[0].start(),
            scope: context::import_scope(self.names, nodes[0]),
            like: context::leading_name(nodes[0]),
            needs,
        };
        let statement = context::statement_start(&self.stack, nodes);
        let text = self.module.text();
        let site = Site {
            text,
            tokens: self.module.parsed().tokens(),
            nodes,
            gone: &self.gone,
            indent: layout::indent_at(text, statement),
            unit: self.unit,
            newline: self.newline,
        };
        let mut rendered = render(template, &alternative.pattern, captures, site, &mut wording)?;
        context::check_place(&self.stack, template, &rendered)?;
        context::check_layout(self.module, statement, &rendered, nodes)?;
        context::check_comments(self.module, range, &rendered.pieces)?;
        context::space_edges(text, range, &mut rendered.pieces);
        Ok(rendered)
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
}

impl Pass {
    /// True where a module with these imports may use what the pass moves away from: by an import of it, or by one of
    /// a module of the project that hands it on.
    pub fn concerns(&self, names: &Names) -> bool {
        let root = |path: &str| path.trim_start_matches('.').split('.').next().unwrap_or_default().to_owned();
        let roots: Vec<String> = self.source_modules.iter().map(|module| root(module)).collect();
        names.imports().iter().any(|import| {
            let means = match names.meaning_of(import) {
                Some(Resolution::Qualified(path)) => roots.contains(&root(path)),
                Some(Resolution::Ambiguous(paths)) => paths.iter().any(|path| roots.contains(&root(path))),
                _ => false,
            };
            means || import.is_star() || roots.contains(&root(&import.module)) || names.may_lead_on(import)
        })
    }
}
