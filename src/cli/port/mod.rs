//! From files to a patch: plans units pass by pass and, where asked, judges each candidate.

mod candidate;
mod judged;
mod planned;
mod said;
mod units;

pub(super) use candidate::{Candidate, changes_between};
pub(super) use judged::{Judging, port_unit};
pub(super) use planned::{FilePlan, Planned, plan_files};
pub(super) use units::{Unit, Work, discover, work_of};
