//! What the kernel keeps a run from, by Landlock: writing outside its copy, reading other runs, signalling the judge.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::settings::SETTINGS;

/// The oldest Landlock that can keep files from being truncated and lets them be renamed between folders.
const OLDEST_ABI: i64 = 3;
/// The oldest Landlock that can keep signals inside.
const SIGNALS_ABI: i64 = 6;
/// Rights of `linux/landlock.h`.
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
/// From `MAKE_CHAR` to `MAKE_SYM`.
const MAKE_ANY: u64 = 0b111_1111 << 6;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const WRITE: u64 = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_ANY | REFER | TRUNCATE;
/// What can be said of a file that is no folder.
const ON_FILES: u64 = WRITE_FILE | READ_FILE | TRUNCATE;
const SCOPE_SIGNAL: u64 = 1 << 1;
const CREATE_RULESET_VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;
/// Above this many siblings of the work folder and its parents, reads are not confined: each needs a rule.
const SIBLING_LIMIT: usize = 20_000;
/// Where every program may write to existing files: devices, and its own entries under `/proc`.
const SYSTEM: [&str; 2] = ["/dev", "/proc"];
/// Where every program may make files: shared memory.
const SHARED_MEMORY: &str = "/dev/shm";

/// A set of rules, put on a program before it starts and inherited by all it starts.
#[derive(Debug)]
pub(in crate::verify) struct Confinement {
    ruleset: OwnedFd,
}

/// `struct landlock_ruleset_attr`.
#[repr(C)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scoped: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: RawFd,
}

impl Confinement {
    /// Rules that let a program write below `writable`, and read everything but what is below `hidden`, of which only
    /// `writable` and `readable` are open. `None` where the kernel has no such rules.
    pub(in crate::verify) fn new(
        writable: &[&Path],
        readable: &[&Path],
        hidden: &Path,
    ) -> io::Result<Option<Self>> {
        let abi = abi();
        if abi < OLDEST_ABI {
            return Ok(None);
        }
        let siblings = siblings(hidden)?;
        let handled = if siblings.is_some() { WRITE | READ_FILE } else { WRITE };
        let confinement = Self { ruleset: create(handled, abi)? };
        for path in SYSTEM {
            confinement.allow(Path::new(path), handled & ON_FILES)?;
        }
        let temporary = std::env::temp_dir();
        let shared: Vec<PathBuf> = SETTINGS.writable.iter().map(|folder| temporary.join(folder)).collect();
        for path in writable
            .iter()
            .copied()
            .chain([Path::new(SHARED_MEMORY)])
            .chain(shared.iter().map(PathBuf::as_path))
        {
            confinement.allow(path, handled)?;
        }
        if let Some(siblings) = siblings {
            for path in readable.iter().copied().chain(siblings.iter().map(PathBuf::as_path)) {
                confinement.allow(path, READ_FILE)?;
            }
        }
        Ok(Some(confinement))
    }

    /// The descriptor that a process restricts itself with.
    pub(in crate::verify) fn ruleset(&self) -> RawFd {
        self.ruleset.as_raw_fd()
    }

    /// Allows `rights` below `path`; a path that is gone or is a link needs no rule.
    #[expect(unsafe_code, reason = "a system call without a safe wrapper")]
    fn allow(&self, path: &Path, rights: u64) -> io::Result<()> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_PATH | libc::O_NOFOLLOW);
        let Ok(file) = options.open(path) else { return Ok(()) };
        let Ok(metadata) = file.metadata() else { return Ok(()) };
        if metadata.is_symlink() {
            return Ok(());
        }
        let allowed = if metadata.is_dir() { rights } else { rights & ON_FILES };
        let rule = PathBeneath { allowed, parent: file.as_raw_fd() };
        // SAFETY: `rule` lives through the call and has the layout that the kernel expects.
        let added = unsafe {
            libc::syscall(libc::SYS_landlock_add_rule, self.ruleset(), RULE_PATH_BENEATH, &raw const rule, 0)
        };
        if added == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Which Landlock the kernel has; negative where it has none.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn abi() -> i64 {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: asked for the version, the kernel reads no memory.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, CREATE_RULESET_VERSION) }
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn create(files: u64, abi: i64) -> io::Result<OwnedFd> {
    let scoped = if abi >= SIGNALS_ABI { SCOPE_SIGNAL } else { 0 };
    let attributes = RulesetAttributes { files, network: 0, scoped };
    // Older kernels know only the beginning of the structure.
    let size = if abi >= SIGNALS_ABI { size_of::<RulesetAttributes>() } else { size_of::<u64>() };
    // SAFETY: `attributes` lives through the call and has the layout that the kernel expects.
    let created =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0u32) };
    let descriptor = RawFd::try_from(created).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and owned by nobody else; the kernel makes it close on `exec`.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Everything beside `hidden` and beside each folder around it: rules only ever allow, so what is to stay readable is
/// named. `None` where there is too much of it.
fn siblings(hidden: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let mut found = Vec::new();
    for folder in hidden.ancestors() {
        let Some(parent) = folder.parent() else { break };
        for entry in fs::read_dir(parent)? {
            let path = entry?.path();
            if path != folder {
                found.push(path);
            }
            if found.len() > SIBLING_LIMIT {
                return Ok(None);
            }
        }
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_beside_the_way_is_named_and_nothing_on_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("a/hidden")).unwrap();
        fs::write(root.join("a/beside"), "").unwrap();
        fs::create_dir(root.join("b")).unwrap();
        let found = siblings(&root.join("a/hidden")).unwrap().unwrap();
        assert!(found.contains(&root.join("a/beside")) && found.contains(&root.join("b")));
        assert!(
            !found.contains(&root.join("a"))
                && !found.contains(&root)
                && !found.contains(&PathBuf::from("/tmp"))
        );
        assert!(found.contains(&PathBuf::from("/usr")));
    }
}
