//! The pass's matches, by the expression or statement they match.

use ruff_python_ast::ExprCall;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use crate::api::Callable;
use crate::kinds::{Kinds, ModuleFacts, Program, SourceId};
use crate::pass::{Action, Aliases, FindOptions, Match, NearMiss, Pass, Place, find_with};

/// The matches of all modules.
pub(super) struct Matches<'a> {
    by_source: Vec<InModule<'a>>,
}

struct InModule<'a> {
    found: Vec<Match<'a>>,
    at: FxHashMap<TextRange, usize>,
    misses: FxHashMap<TextRange, NearMiss>,
}

/// A match, by its number in its module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MatchId(pub(super) usize);

/// What a pass makes of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It has a counterpart on the device, and is rewritten to it there.
    Device(MatchId),
    /// A rule keeps it on the host.
    Host(MatchId),
    /// No rule speaks of it.
    Silent,
}

impl<'a> Matches<'a> {
    /// Finds the matches of `pass` in every module of `program` that concerns it.
    pub(super) fn find(pass: &Pass, program: &Program<'a>, kinds: &Kinds, aliases: &Aliases) -> Self {
        let by_source = (0u32..).zip(&program.sources).map(|(id, source)| {
            let facts = ModuleFacts::new(program, kinds, SourceId(id));
            let options = FindOptions { aliases: Some(aliases), explain: false };
            let (found, misses) = find_with(pass, source.module, source.names, &facts, options);
            let at = found
                .iter()
                .enumerate()
                .filter(|(_, it)| pass.rules[it.rule_index].action != Action::Advise)
                .map(|(at, it)| (it.range, at))
                .collect();
            let misses = misses.into_iter().map(|miss| (miss.range, miss)).collect();
            InModule { found, at, misses }
        });
        Self { by_source: by_source.collect() }
    }

    /// What `pass` makes of the node at `range`.
    pub(super) fn verdict(&self, pass: &Pass, source: SourceId, node: impl Ranged) -> Verdict {
        let module = &self.by_source[source.0 as usize];
        let Some(&at) = module.at.get(&node.range()) else { return Verdict::Silent };
        let rule = &pass.rules[module.found[at].rule_index];
        match (rule.action, rule.place) {
            (Action::Rewrite, Some(Place::Device) | None) | (Action::Keep, Some(Place::Device)) => {
                Verdict::Device(MatchId(at))
            }
            _ => Verdict::Host(MatchId(at)),
        }
    }

    /// A match.
    pub(super) fn get(&self, source: SourceId, id: MatchId) -> &Match<'a> {
        &self.by_source[source.0 as usize].found[id.0]
    }

    /// Why the call at `node` has no counterpart, where the pass knows the name but not these arguments.
    pub(super) fn miss(&self, source: SourceId, node: impl Ranged) -> Option<&NearMiss> {
        self.by_source[source.0 as usize].misses.get(&node.range())
    }
}

/// True where the target's method takes the arguments of `call` as the source's does.
pub(super) fn method_fits(entry: &Callable, call: &ExprCall) -> bool {
    let starred = call.arguments.args.iter().any(ruff_python_ast::Expr::is_starred_expr);
    let unpacked = call.arguments.keywords.iter().any(|it| it.arg.is_none());
    let keywords: Vec<&str> = call
        .arguments
        .keywords
        .iter()
        .filter_map(|it| it.arg.as_ref().map(ruff_python_ast::Identifier::as_str))
        .collect();
    !starred && !unpacked && entry.accepts(call.arguments.args.len(), &keywords).is_ok()
}
