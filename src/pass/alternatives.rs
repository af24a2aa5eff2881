//! A rule's patterns, each with its replacement and conditions, ordered by precedence.

use crate::kinds::KindName;
use crate::pattern::{Pairing, Pattern, Slot, Template, overlap};

use super::holds::Test;

/// One pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    /// The rule, as an index into the pass's rules.
    pub(super) rule_index: usize,
    /// Its pattern and replacement as written.
    pub(super) text: String,
    pub(super) rewrite: Option<String>,
    /// What it matches.
    pub(super) pattern: Pattern,
    /// What it becomes, for rewrites.
    pub(super) template: Option<Template>,
    /// Conditions on the match.
    pub(super) tests: Vec<Test>,
    /// How strong it is among alternatives that match the same node.
    pub(super) rank: Rank,
}

/// The order of precedence: the greater wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// How many passes extend the one the rule is from: a user's rule comes before the one shipped.
    pub(super) layer: u32,
    /// How many literal nodes the pattern has.
    pub(super) weight: u32,
    /// How many conditions the rule has.
    pub(super) conditions: u32,
}

/// True where neither of two alternatives of different rules has precedence on a node that both can match.
pub(super) fn is_tie(left: &Alternative, right: &Alternative) -> bool {
    left.rank == right.rank
        && left.rule_index != right.rule_index
        && overlap(&left.pattern, &right.pattern)
            .is_some_and(|pairings| !pairings.iter().any(|pairing| disjoint(left, right, pairing)))
        && !usages_differ(left, right)
}

/// True where the conditions on two slots that stand for the same can't both hold.
fn disjoint(left: &Alternative, right: &Alternative, (l, r): &Pairing) -> bool {
    let apart = match (choices(&left.tests, l), choices(&right.tests, r)) {
        (Some(l), Some(r)) => !l.iter().any(|it| r.contains(it)),
        _ => false,
    };
    let of_other_kinds = match (kinds(&left.tests, l), kinds(&right.tests, r)) {
        (Some(l), Some(r)) => !l.iter().any(|it| r.contains(it)),
        _ => false,
    };
    apart || of_other_kinds
}

fn choices(tests: &[Test], slot: &Slot) -> Option<Vec<String>> {
    match slot {
        Slot::Component(name) => Some(vec![format!("text {name}")]),
        Slot::Variable(name) => tests.iter().find_map(|test| test.choices(name)),
        Slot::Other => None,
    }
}

fn kinds<'t>(tests: &'t [Test], slot: &Slot) -> Option<&'t [KindName]> {
    match slot {
        Slot::Variable(name) => tests.iter().find_map(|test| test.kinds(name)),
        _ => None,
    }
}

fn usages_differ(left: &Alternative, right: &Alternative) -> bool {
    let usage = |tests: &[Test]| tests.iter().find_map(Test::usage);
    matches!((usage(&left.tests), usage(&right.tests)), (Some(l), Some(r)) if l != r)
}
