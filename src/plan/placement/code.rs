//! The reason codes that placement gives, and a finding of one.

use ruff_text_size::TextSize;

use crate::reasons::Code;

/// The target has no such function, method or attribute.
pub(super) const NO_COUNTERPART: Code = Code::new("GP201");
/// The target has it, but not with these arguments.
pub(super) const ARGUMENT: Code = Code::new("GP202");
/// A value whose kind is unknown meets device arrays.
pub(super) const UNKNOWN: Code = Code::new("GP205");
/// An array would cross in every turn of a loop.
pub(super) const LOOP_TRANSFER: Code = Code::new("GP206");
/// A change in place would not reach everyone who sees it now.
pub(super) const CHANGE_UNSEEN: Code = Code::new("GP207");
/// A loop works on single elements.
pub(super) const ELEMENT_LOOP: Code = Code::new("GP208");
/// No device has this dtype.
pub(super) const DTYPE: Code = Code::new("GP209");
/// Iterating over an array.
pub(super) const ITERATION: Code = Code::new("GP211");
/// Generators, coroutines and closures over arrays.
pub(super) const DEFERRED: Code = Code::new("GP212");
/// Errors that the device does not raise.
pub(super) const ERRORS: Code = Code::new("GP213");
/// Code that chooses its array library itself.
pub(super) const AGNOSTIC: Code = Code::new("GP214");
/// Code that asks for the array's type.
pub(super) const TYPE_CHECK: Code = Code::new("GP215");
/// Methods.
pub(super) const METHOD: Code = Code::new("GP216");
/// `f"{x=}"`.
pub(super) const DEBUG_TEXT: Code = Code::new("GP217");
/// Decorated functions, functions used as values, functions bound twice.
pub(super) const HIDDEN_CALLS: Code = Code::new("GP218");

/// Something that keeps code on the host, or that people should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// Where, in the region's module.
    pub(super) at: TextSize,
    /// Why, as a code.
    pub(super) code: Code,
    /// Why, as a sentence about this place without a full stop.
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(at: TextSize, code: Code, message: impl Into<String>) -> Self {
        Self { at, code, message: message.into() }
    }
}
