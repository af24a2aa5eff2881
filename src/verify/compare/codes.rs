//! The reason codes of comparing; their texts are in `patterns/reasons.yaml`.

use crate::reasons::Code;

/// A number or another value differs beyond the tolerance.
pub const VALUE: Code = Code::new("GP500");
/// A type or dtype differs.
pub const TYPE: Code = Code::new("GP501");
/// A shape, a length or an order differs.
pub const SHAPE: Code = Code::new("GP502");
/// An output is missing.
pub const MISSING: Code = Code::new("GP503");
/// There is an output that the original does not have.
pub const SURPLUS: Code = Code::new("GP504");
/// Text differs.
pub const TEXT: Code = Code::new("GP505");
/// An output can't be read.
pub const UNREADABLE: Code = Code::new("GP506");
/// Two runs of the original differ by more than the tolerance may grow to.
pub const IRREPRODUCIBLE: Code = Code::new("GP507");
/// Callers get a device array where they got a host array.
pub const DEVICE_ARRAY: Code = Code::new("GP508");
/// The candidate ended otherwise than the original.
pub const ENDED: Code = Code::new("GP510");
