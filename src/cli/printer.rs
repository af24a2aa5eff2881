//! The only place that prints: results to standard output, everything for people to standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::Colour;
use crate::report::{Role, Style};

/// Where output goes and whether it is coloured.
#[derive(Debug)]
pub(super) struct Printer {
    out_style: Style,
    err_style: Style,
    bar: Mutex<Option<ProgressBar>>,
}

impl Printer {
    /// A printer for this process's streams.
    pub(super) fn new(colour: Colour) -> Self {
        let (out_style, err_style) = match colour {
            Colour::Always => (Style::Ansi, Style::Ansi),
            Colour::Never => (Style::Plain, Style::Plain),
            Colour::Auto => (Style::for_stream(&io::stdout()), Style::for_stream(&io::stderr())),
        };
        Self { out_style, err_style, bar: Mutex::new(None) }
    }

    /// The style of standard output.
    pub(super) fn out_style(&self) -> Style {
        self.out_style
    }

    /// The style of standard error.
    pub(super) fn err_style(&self) -> Style {
        self.err_style
    }

    /// Writes data to standard output. A reader that went away ends the writing quietly, as it does for `cat`.
    pub(super) fn out(&self, data: &[u8]) {
        let mut stream = io::stdout().lock();
        let _ = stream.write_all(data).and_then(|()| stream.flush());
    }

    /// Writes text for people to standard error, with a line end where it has none.
    pub(super) fn note(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let write = || {
            let _ = write!(io::stderr().lock(), "{text}{end}");
        };
        match self.bar.lock() {
            Ok(bar) if bar.is_some() => bar.iter().for_each(|bar| bar.suspend(write)),
            _ => write(),
        }
    }

    /// Writes `error: …`, and after a blank line `hint: …`.
    pub(super) fn error(&self, message: &str, hint: Option<&str>) {
        self.note(&format!("{}: {message}", self.err_style.paint(Role::Bad, "error")));
        if let Some(hint) = hint {
            self.note(&format!("\n{}: {hint}", self.err_style.paint(Role::Code, "hint")));
        }
    }

    /// Writes `warning: …`.
    pub(super) fn warning(&self, message: &str) {
        self.note(&format!("{}: {message}", self.err_style.paint(Role::Unsure, "warning")));
    }

    /// Shows what long work is at, on a terminal; elsewhere nothing.
    pub(super) fn progress(&self, message: &str) {
        if !io::stderr().is_terminal() {
            return;
        }
        let Ok(mut bar) = self.bar.lock() else { return };
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(message.to_owned());
    }

    /// Takes the progress line away.
    pub(super) fn done(&self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}
