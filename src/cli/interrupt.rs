//! Ctrl-C: a flag that long work looks at, so that it ends in an untouched tree.

use std::sync::atomic::{AtomicBool, Ordering};

static FLAG: AtomicBool = AtomicBool::new(false);

/// Set once the user has asked to stop.
pub(super) fn flag() -> &'static AtomicBool {
    &FLAG
}

extern "C" fn note(_signal: libc::c_int) {
    FLAG.store(true, Ordering::Relaxed);
}

/// From now on, interrupt, termination and hang-up set the flag. A second interrupt ends the process at once.
#[expect(unsafe_code, reason = "installing a signal handler is a system call")]
pub(super) fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe. SA_RESETHAND gives the second
        // signal its default effect.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}
