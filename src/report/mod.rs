//! What people and machines read: text, JSON, SARIF and the pages of reason codes. Renders to strings, prints nothing.

mod figures;
mod json;
mod listing;
mod model;
mod pages;
mod patch;
mod reasons;
mod sarif;
mod style;
mod summary;

#[cfg(test)]
mod samples;

pub use json::{json, json_schema};
pub use listing::{advice, by_code, refusals};
pub use model::{
    Baseline, ChangeReport, Fallback, GpuUse, LimitingFactor, RunReport, Timing, TreeOutcome, UnitReport,
};
pub use pages::{explain, pages};
pub use patch::patch;
pub use reasons::{Reason, Reasons, ReasonsError};
pub use sarif::sarif;
pub use style::{Role, Style};
pub use summary::summary;
