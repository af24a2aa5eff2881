//! Python patterns with metavariables: parsed from a pass, matched against a tree, rendered into a replacement.

mod arguments;
mod check;
mod effects;
mod errors;
mod gaps;
mod index;
mod matching;
mod nest;
mod overlap;
mod parentheses;
mod parse;
mod placeholder;
mod render;
mod rests;
mod split;
mod statements;
mod template;

pub use arguments::signature;
pub use effects::GoneCalls;
pub use errors::{PatternError, Problem, RESERVED_PREFIX};
pub use gaps::piece_edits;
pub use index::{Index, Reach, Sought};
pub use matching::{Bound, Captures, Lookup};
pub use nest::{Dropped, Extent, nest};
pub use overlap::{Pairing, Slot, overlap};
pub use parse::{Pattern, Role};
pub use render::{Piece, Refused, Rendered, RestArgument, Shape, Site, Spelling, render};
pub use template::Template;
