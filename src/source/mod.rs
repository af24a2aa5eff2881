//! Files as gpuport sees them: found, decoded, parsed, and changed only through disjoint edits.

mod discover;
mod edits;
mod encoding;
mod file;
mod module;
mod nesting;
mod notebook;
mod problem;

pub use discover::{DiscoverError, DiscoverOptions, Discovered, discover};
pub use edits::{Edit, Edits, EditsBuilder, Overlap};
pub use encoding::Encoding;
pub use file::{Cell, SourceFile, hex};
pub use module::{Module, RESERVED_PREFIX};
pub use problem::{ProblemKind, SourceProblem};
