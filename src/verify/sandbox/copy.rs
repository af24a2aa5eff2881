//! Makes the copy: shared blocks where the filesystem can, bytes where not; permissions and times as they were.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scan::{Entry, Plan};
use crate::verify::error::JudgeError;

/// Bytes copied between two looks at the user's wish to stop: well below a second on any disk.
const PIECE: u64 = 64 << 20;

/// Copies what `plan` has into the new folder `to`, until `interrupt` is set.
pub(super) fn copy(plan: &Plan, to: &Path, interrupt: &AtomicBool) -> Result<(), JudgeError> {
    fs::create_dir(to).map_err(|error| JudgeError::io(to, error))?;
    check_room(plan, to)?;
    for (at, entry) in &plan.entries {
        let target = to.join(at);
        let copied = match entry {
            Entry::Folder => fs::create_dir(&target),
            Entry::File(from) => copy_file(from, &target, interrupt),
            Entry::Link(leads_to) => symlink(leads_to, &target),
        };
        copied.map_err(|error| JudgeError::io(&target, error))?;
        if interrupt.load(Ordering::Relaxed) {
            return Err(JudgeError::Interrupted);
        }
    }
    Ok(())
}

/// Without this, a full disk shows only as a file that can't be written, half-way.
fn check_room(plan: &Plan, folder: &Path) -> Result<(), JudgeError> {
    match free_bytes(folder) {
        Some(free_bytes) if free_bytes < plan.bytes => {
            Err(JudgeError::DiskFull { folder: folder.to_owned(), needed_bytes: plan.bytes, free_bytes })
        }
        _ => Ok(()),
    }
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn free_bytes(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: an all-zero `statvfs` is a valid value, and the kernel fills it.
    let (answered, stat) = unsafe {
        let mut stat: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut stat) == 0, stat)
    };
    #[allow(clippy::useless_conversion, reason = "the fields' width depends on the platform")]
    answered.then(|| u64::from(stat.f_bavail).saturating_mul(u64::from(stat.f_frsize)))
}

fn copy_file(from: &Path, to: &Path, interrupt: &AtomicBool) -> io::Result<()> {
    let source = File::open(from)?;
    let metadata = source.metadata()?;
    let target = File::create_new(to)?;
    if !share_blocks(&source, &target) {
        // In pieces, so that a wish to stop is seen in time; what is left incomplete is removed.
        while io::copy(&mut (&source).take(PIECE), &mut &target)? == PIECE {
            if interrupt.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
    // The owner may always write: a run must be able to clear up after itself.
    let mode = metadata.permissions().mode() & 0o777 | 0o200;
    target.set_permissions(fs::Permissions::from_mode(mode))?;
    let times = FileTimes::new().set_accessed(metadata.accessed()?).set_modified(metadata.modified()?);
    target.set_times(times)
}

/// Makes `target` share all blocks of `source` (a reflink). False where the filesystem can't.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn share_blocks(source: &File, target: &File) -> bool {
    // SAFETY: both descriptors are open; no memory is passed.
    unsafe { libc::ioctl(target.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) == 0 }
}
