//! Colours, or none: every text reads the same without them.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Text alone.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// What a piece of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Went as it should: green.
    Good,
    /// Went wrong: red.
    Bad,
    /// Needs a look: yellow.
    Unsure,
    /// A reason code or a command: cyan.
    Code,
    /// A heading: bold.
    Strong,
    /// Less important: faint.
    Faint,
}

impl Style {
    /// The style for text that goes to `stream`: colours only on a terminal, and not where `NO_COLOR` is set to
    /// anything (<https://no-color.org>) or `TERM` is `dumb`.
    pub fn for_stream(stream: &impl IsTerminal) -> Self {
        let variable = |name| std::env::var_os(name);
        if stream.is_terminal() {
            Self::on_terminal(variable("NO_COLOR").as_deref(), variable("TERM").as_deref())
        } else {
            Self::Plain
        }
    }

    fn on_terminal(no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let is_unwanted =
            no_color.is_some_and(|value| !value.is_empty()) || term.is_some_and(|term| term == "dumb");
        if is_unwanted { Self::Plain } else { Self::Ansi }
    }

    /// `text` in the colour of `role`.
    pub fn paint(self, role: Role, text: &str) -> String {
        let (before, after) = if text.is_empty() { ("", "") } else { self.around(role) };
        format!("{before}{text}{after}")
    }

    /// What stands before and after text in the colour of `role`.
    pub(super) fn around(self, role: Role) -> (&'static str, &'static str) {
        if self == Self::Plain {
            return ("", "");
        }
        let before = match role {
            Role::Good => "\x1b[32m",
            Role::Bad => "\x1b[31m",
            Role::Unsure => "\x1b[33m",
            Role::Code => "\x1b[36m",
            Role::Strong => "\x1b[1m",
            Role::Faint => "\x1b[2m",
        };
        (before, "\x1b[0m")
    }
}

/// `text` without characters that would move a terminal's cursor, change its colours or reorder what it shows: file
/// names and program output hold anything.
pub(super) fn printable(text: &str) -> String {
    let is_hostile =
        |it: char| it.is_control() || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().fold(String::with_capacity(text.len()), |mut out, it| {
        if is_hostile(it) {
            out.extend(it.escape_default());
        } else {
            out.push(it);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_where_they_are_wanted() {
        let check = |no_color: Option<&str>, term: Option<&str>, expected| {
            assert_eq!(Style::on_terminal(no_color.map(OsStr::new), term.map(OsStr::new)), expected);
        };
        check(None, Some("xterm"), Style::Ansi);
        check(None, None, Style::Ansi);
        check(Some(""), Some("xterm"), Style::Ansi);
        check(Some("1"), Some("xterm"), Style::Plain);
        check(None, Some("dumb"), Style::Plain);
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Style::for_stream(&file), Style::Plain);
    }

    #[test]
    fn paint_leaves_plain_text_alone() {
        assert_eq!(Style::Plain.paint(Role::Bad, "x"), "x");
        assert_eq!(Style::Ansi.paint(Role::Bad, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Style::Ansi.paint(Role::Bad, ""), "");
    }

    #[test]
    fn hostile_characters_are_shown_not_sent() {
        assert_eq!(printable("ü.py"), "ü.py");
        assert_eq!(printable("a\x1b[2J\n\u{202e}b"), "a\\u{1b}[2J\\n\\u{202e}b");
    }
}
