//! Placement: which array values live on the device, where they cross, and which functions can be ported at all.
//!
//! A region (a function, or a script's own statements) is either ported whole or left on the host. Every array variable
//! of a ported region has one home, host or device, and so has what the region returns. Each expression has a natural
//! home that follows from its parts; where its place in the program wants another, a transfer is put around it. Homes
//! and regions only ever move from the device to the host, so the search for a plan ends: a first guess moves
//! everything, each walk over the regions takes back what has no device work, what host code holds on to, and what
//! would not be right.
//!
//! Nothing here knows a library: names, signatures and the spelling of transfers come from the pass and its table.

mod bars;
mod builtins;
mod code;
mod effects;
mod home;
mod loops;
mod matches;
mod origins;
mod parts;
mod render;
mod risks;
mod solve;
mod state;
#[cfg(test)]
mod tests;
mod walk;

use crate::api::Table;
use crate::kinds::{Program, Source, infer};
use crate::pass::{Aliases, Pass};

use super::{Pinned, Plan};

/// Plans `pass` for the modules in `sources`, of which functions of one may call those of another. The changes in
/// `pinned` are left out. `host_tables` describe code that stays on the host.
pub fn plan(pass: &Pass, sources: Vec<Source<'_>>, host_tables: &[&Table], pinned: &Pinned) -> Plan {
    let Some(table) = pass.api.as_deref() else { return Plan::default() };
    let concerned = sources.iter().map(|it| it.names).filter(|names| pass.concerns(names));
    let aliases = Aliases::choose(pass, concerned);
    let program = Program::build(sources, table, host_tables.to_vec());
    let kinds = infer(&program);
    let matches = matches::Matches::find(pass, &program, &kinds, &aliases);
    let bars = bars::bars(pass, &program, &kinds, pinned);
    let effects = effects::effects(pass, &program, &kinds, &matches);
    let ground =
        home::Ground { pass, program: &program, kinds: &kinds, matches: &matches, effects: &effects };
    let solution = solve::solve(&ground, bars);
    render::plan(&ground, &aliases, &solution)
}
