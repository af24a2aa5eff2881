//! Files as gpuport sees them: found, decoded, parsed, and changed only through disjoint edits.

mod edits;
mod file;
mod module;

pub use edits::{Edit, Edits, EditsBuilder, Overlap};
pub use file::{Encoding, SourceFile, SourceProblem, hex};
pub use module::Module;
