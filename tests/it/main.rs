//! Everything that needs more than one module: one binary, so that it links once.

mod judge;
