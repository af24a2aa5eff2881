//! Pipes that no other child inherits, and waiting on several of them.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::time::Duration;

/// A pipe whose read end does not block. Neither end survives an `exec`.
#[expect(unsafe_code, reason = "system calls without a safe wrapper")]
pub(super) fn nonblocking_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors into `ends`.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both are new and owned by nobody else.
    let (reader, writer) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: no memory is passed.
    if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((reader, writer))
}

/// Waits until one of `pipes` has something to read or was closed, at most `limit`.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
pub(super) fn wait_for_any(pipes: &[&File], limit: Duration) -> io::Result<()> {
    let mut polled: Vec<libc::pollfd> = pipes
        .iter()
        .map(|pipe| libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let milliseconds = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the array lives through the call, its length is its own.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
    let error = io::Error::last_os_error();
    if ready < 0 && error.kind() != io::ErrorKind::Interrupted {
        return Err(error);
    }
    Ok(())
}
