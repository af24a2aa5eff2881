//! The only place that prints: results to standard output, everything for people to standard error.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Colour;

/// Where output goes and whether it is coloured.
#[derive(Debug)]
pub struct Printer {
    colour_out: bool,
    colour_err: bool,
    bar: Option<ProgressBar>,
}

impl Printer {
    /// A printer for this process's streams.
    pub fn new(colour: Colour) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let decide = |terminal: bool| match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => terminal && !no_colour,
        };
        Self {
            colour_out: decide(io::stdout().is_terminal()),
            colour_err: decide(io::stderr().is_terminal()),
            bar: None,
        }
    }

    /// True where standard output may hold colour.
    pub fn colours_out(&self) -> bool {
        self.colour_out
    }

    /// True where standard error may hold colour.
    pub fn colours_err(&self) -> bool {
        self.colour_err
    }

    /// Writes data to standard output. A reader that went away ends the program quietly, as it does for `cat`.
    pub fn out(&self, data: &[u8]) {
        let mut stream = io::stdout().lock();
        let _ = stream.write_all(data).and_then(|()| stream.flush());
    }

    /// Writes a line for people to standard error.
    pub fn note(&self, line: &str) {
        let write = || {
            let _ = writeln!(io::stderr().lock(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Writes `error: …`, and after a blank line `hint: …`.
    pub fn error(&self, message: &str, hint: Option<&str>) {
        let (red, cyan, reset) = if self.colour_err { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
        self.note(&format!("{red}error{reset}: {message}"));
        if let Some(hint) = hint {
            self.note(&format!("\n{cyan}hint{reset}: {hint}"));
        }
    }

    /// Writes `warning: …`.
    pub fn warning(&self, message: &str) {
        let (yellow, reset) = if self.colour_err { ("\x1b[1;33m", "\x1b[0m") } else { ("", "") };
        self.note(&format!("{yellow}warning{reset}: {message}"));
    }

    /// Shows what long work is at, on a terminal; elsewhere nothing.
    pub fn progress(&mut self, message: &str) {
        if !io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(message.to_owned());
    }

    /// Takes the progress line away.
    pub fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
