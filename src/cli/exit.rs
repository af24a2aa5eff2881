//! Exit statuses. With several units the worst counts: interrupted, then bad usage, then can't verify, then rejected, then done.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Applied, printed, or nothing to port.
    Done,
    /// Some changes were rejected, inconclusive or unverified.
    Rejected,
    /// This machine can't verify; nothing was written.
    CannotVerify,
    /// Bad usage, configuration or pass file.
    Usage,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The number the shell sees.
    pub fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Rejected => 1,
            Self::Usage => 2,
            Self::CannotVerify => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_worst_counts() {
        let exits = [Exit::Rejected, Exit::CannotVerify, Exit::Done];
        assert_eq!(exits.into_iter().max().map(Exit::status), Some(3));
    }
}
