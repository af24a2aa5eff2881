//! Which processes belong to a run, and how to end them all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

/// How long killed processes may take to disappear.
const DEATH_LIMIT: Duration = Duration::from_secs(4);
/// Pause between two looks at processes that are ending.
const PAUSE: Duration = Duration::from_millis(2);

/// A process as `/proc/PID/stat` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: i32,
    /// It has ended and waits to be collected.
    dead: bool,
}

/// Finds the processes of one run: all below its supervisor, to which the kernel also gives those whose parent ended.
/// Should the supervisor itself be killed, they are still known by a variable in their environment.
#[derive(Debug)]
pub(super) struct Family {
    /// The run's supervisor, itself no member.
    pub(super) supervisor: i32,
    /// `GPUPORT_RUN=<id>`, as in a process's environment.
    pub(super) marker: Vec<u8>,
}

impl Family {
    /// Living processes below the supervisor.
    pub(super) fn below(&self) -> BTreeSet<i32> {
        below(self.supervisor, &processes())
    }

    /// Living processes of the run, wherever they went.
    pub(super) fn all(&self) -> BTreeSet<i32> {
        let processes = processes();
        let mut found = below(self.supervisor, &processes);
        let living = processes.iter().filter(|(_, stat)| !stat.dead).map(|(pid, _)| *pid);
        found.extend(living.filter(|pid| *pid != self.supervisor && self.is_marked(*pid)));
        found
    }

    fn is_marked(&self, pid: i32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == self.marker)
    }

    /// Kills everything that lives, again and again until nothing does. Yields how many were killed, and those that
    /// would not end.
    pub(super) fn end(&self) -> (usize, BTreeSet<i32>) {
        let deadline = Instant::now() + DEATH_LIMIT;
        let mut killed = BTreeSet::new();
        loop {
            let living = self.all();
            if living.is_empty() || Instant::now() > deadline {
                return (killed.len(), living);
            }
            for pid in living {
                kill(pid, libc::SIGKILL);
                killed.insert(pid);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until nothing lives any more, but no longer than `limit`.
    pub(super) fn settle(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && !self.below().is_empty() {
            std::thread::sleep(PAUSE * 5);
        }
    }
}

/// Sends `signal`; a process that is gone already is no failure.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
pub(super) fn kill(pid: i32, signal: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::kill(pid, signal) };
}

fn below(root: i32, processes: &BTreeMap<i32, Stat>) -> BTreeSet<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, stat) in processes {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for pid in children.get(&parent).into_iter().flatten() {
            open.push(*pid);
            if !processes[pid].dead {
                found.insert(*pid);
            }
        }
    }
    found
}

fn processes() -> BTreeMap<i32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read(entry.path().join("stat")).ok()?;
            Some((pid, parse_stat(&stat)?))
        })
        .collect()
}

/// Reads `PID (name) state parent …`; the name may itself hold spaces, parentheses and line feeds.
fn parse_stat(stat: &[u8]) -> Option<Stat> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    Some(Stat { parent: fields.next()?.parse().ok()?, dead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        let check = |stat: &str, expected: Option<(i32, bool)>| {
            assert_eq!(
                parse_stat(stat.as_bytes()),
                expected.map(|(parent, dead)| Stat { parent, dead }),
                "{stat}"
            );
        };
        check("12 (python) S 7 12 12 0", Some((7, false)));
        check("12 (a) Z 1 (b) R 9 12", Some((9, false)));
        check("12 (x) Z 7 12", Some((7, true)));
        check("12 (x", None);
        check("", None);
    }

    #[test]
    fn only_what_lives_below_the_root_is_found() {
        let stat = |parent, dead| Stat { parent, dead };
        let processes = BTreeMap::from([
            (1, stat(0, false)),
            (2, stat(1, false)),
            (3, stat(2, true)),
            (4, stat(3, false)),
            (5, stat(1, false)),
        ]);
        assert_eq!(below(2, &processes), BTreeSet::from([4]));
        assert_eq!(below(9, &processes), BTreeSet::new());
    }
}
