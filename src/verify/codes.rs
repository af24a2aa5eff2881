//! The judge's own reason codes; their texts are in `patterns/reasons.yaml`. Those below are of comparing.

use crate::reasons::Code;

/// The candidate ended otherwise than the original: an exception, a status, a signal.
pub const CANDIDATE_FAILED: Code = Code::new("GP510");
/// The candidate did not end in time.
pub const CANDIDATE_TIMED_OUT: Code = Code::new("GP511");
/// A process ended without handing over what it was asked for.
pub const NO_OUTCOME: Code = Code::new("GP512");
/// A changed module was loaded from elsewhere than the copy.
pub const LOADED_ELSEWHERE: Code = Code::new("GP513");
/// Changed lines never ran.
pub const NEVER_RAN: Code = Code::new("GP514");
/// Not faster by the threshold.
pub const NOT_FASTER: Code = Code::new("GP515");
/// Nothing ran on the GPU.
pub const NO_GPU_ACTIVITY: Code = Code::new("GP516");
/// Too many accelerator calls fell back to the CPU.
pub const FALLBACK: Code = Code::new("GP517");
/// The original fails: there is nothing to compare with.
pub const BASELINE_FAILED: Code = Code::new("GP518");
/// The original did not end in time.
pub const BASELINE_TIMED_OUT: Code = Code::new("GP519");
/// This machine has no GPU that can be used.
pub const NO_GPU: Code = Code::new("GP521");
/// The interpreter lacks a library.
pub const LIBRARY_MISSING: Code = Code::new("GP522");
/// The user stopped the judge.
pub const INTERRUPTED: Code = Code::new("GP523");
/// Nothing of what the program makes could be compared.
pub const NOTHING_COMPARED: Code = Code::new("GP524");
/// Processes of a run would not end.
pub const SURVIVORS: Code = Code::new("GP525");
/// What the child marked and what the judge saw do not fit together.
pub const MARKS_DISAGREE: Code = Code::new("GP526");
/// There was more output than is kept, and it differs.
pub const TOO_MUCH_OUTPUT: Code = Code::new("GP527");
/// A function's inputs could not be made.
pub const NO_INPUTS: Code = Code::new("GP528");
/// Links, pipes or devices were made by one side only.
pub const SPECIAL_FILES: Code = Code::new("GP529");
/// Limiting factor: too little work.
pub const TOO_SMALL: Code = Code::new("GP530");
/// Limiting factor: transfers.
pub const TRANSFER_BOUND: Code = Code::new("GP531");
/// Limiting factor: kernels too many and too short.
pub const LAUNCH_BOUND: Code = Code::new("GP532");
/// Limiting factor: calls that fell back to the CPU.
pub const FALLBACK_BOUND: Code = Code::new("GP533");
/// Limiting factor: memory.
pub const MEMORY_BOUND: Code = Code::new("GP534");
/// Limiting factor: the host.
pub const HOST_BOUND: Code = Code::new("GP535");
/// Limiting factor: the device computes, and is no faster.
pub const COMPUTE_BOUND: Code = Code::new("GP536");
/// A timed run of the candidate made other outputs than its judged run.
pub const UNSTEADY: Code = Code::new("GP541");
