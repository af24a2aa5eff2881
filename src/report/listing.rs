//! Refusals and advice as lists of places, one line each, by file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::plan::Advice;
use crate::reasons::{Code, Place, Refusal};

use super::figures::count;
use super::reasons::Reasons;
use super::style::{Role, Style, printable};

/// `path:line:column: CODE message [pass]`, sorted by place, a blank line between files.
pub fn refusals(refusals: &[Refusal], style: Style) -> String {
    let line = |it: &Refusal| Line {
        place: it.place.clone(),
        text: format!("{} {}", style.paint(Role::Code, it.code.as_str()), printable(&it.message)),
        source: it.pass.clone(),
    };
    listing(refusals.iter().map(line).collect(), style)
}

/// `path:line:column: [CODE] message [pass/rule]`, sorted by place, a blank line between files.
pub fn advice(advice: &[Advice], style: Style) -> String {
    let line = |it: &Advice| {
        let code = it.code.as_ref().map_or_else(String::new, |it| style.paint(Role::Code, it.as_str()) + " ");
        Line {
            place: it.place.clone(),
            text: format!("{code}{}", printable(&it.message)),
            source: Some(it.rule.clone()),
        }
    };
    listing(advice.iter().map(line).collect(), style)
}

/// How often each code is among `refusals`, the most frequent first: `12  GP670  A file changed since it was read`.
pub fn by_code(refusals: &[Refusal], reasons: &Reasons, style: Style) -> String {
    let mut counts: BTreeMap<&Code, usize> = BTreeMap::new();
    for refusal in refusals {
        *counts.entry(&refusal.code).or_default() += 1;
    }
    let mut counts: Vec<(&Code, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(code, number)| (std::cmp::Reverse(number), code));
    let width = counts.first().map_or(0, |(_, number)| number.to_string().len());
    counts.iter().fold(String::new(), |mut out, (code, number)| {
        let title = reasons.get(code).map_or("", |reason| reason.title.as_str());
        let _ = writeln!(out, "{number:>width$}  {}  {title}", style.paint(Role::Code, code.as_str()));
        out
    })
}

/// How many places there are in how many files: `3 places in 1 file`.
pub(super) fn tally<'p>(paths: impl Iterator<Item = &'p Path>) -> String {
    let mut paths: Vec<&Path> = paths.collect();
    let places = count(paths.len(), "place");
    paths.sort_unstable();
    paths.dedup();
    format!("{places} in {}", count(paths.len(), "file"))
}

/// One line of a list.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    place: Place,
    text: String,
    source: Option<String>,
}

fn listing(mut lines: Vec<Line>, style: Style) -> String {
    lines.sort();
    lines.dedup();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 && lines[index - 1].place.path != line.place.path {
            out.push('\n');
        }
        let place = style.paint(Role::Strong, &printable(&line.place.to_string()));
        let source = line.source.as_ref().map_or_else(String::new, |it| {
            format!(" {}", style.paint(Role::Faint, &format!("[{}]", printable(it))))
        });
        let _ = writeln!(out, "{place}: {}{source}", line.text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str, line_number: u32, code: &'static str, message: &str) -> Refusal {
        let place = Place { path: path.into(), line_number, column_number: 5 };
        Refusal {
            place,
            code: Code::new(code),
            message: message.to_owned(),
            pass: Some("numpy-to-cupy".to_owned()),
        }
    }

    fn three() -> [Refusal; 4] {
        [
            refusal("b.py", 1, "GP670", "it changed"),
            refusal("a.py", 12, "GP673", "it is \x1bread-only"),
            refusal("a.py", 3, "GP673", "it is read-only"),
            refusal("a.py", 3, "GP673", "it is read-only"),
        ]
    }

    #[test]
    fn refusals_stand_by_file_and_place_each_once() {
        let expected = "\
a.py:3:5: GP673 it is read-only [numpy-to-cupy]
a.py:12:5: GP673 it is \\u{1b}read-only [numpy-to-cupy]

b.py:1:5: GP670 it changed [numpy-to-cupy]
";
        assert_eq!(refusals(&three(), Style::Plain), expected);
        assert_eq!(refusals(&[], Style::Plain), "");
        assert!(refusals(&three(), Style::Ansi).contains("\x1b[36mGP670\x1b[0m it changed"));
    }

    #[test]
    fn codes_are_counted_with_their_titles() {
        let expected = "3  GP673  A file is read-only\n1  GP670  A file changed since it was read\n";
        assert_eq!(by_code(&three(), Reasons::shipped(), Style::Plain), expected);
        let unknown = [refusal("a.py", 1, "GP999", "")];
        assert_eq!(by_code(&unknown, Reasons::shipped(), Style::Plain), "1  GP999  \n");
        assert_eq!(tally(three().iter().map(|it| it.place.path.as_path())), "4 places in 2 files");
    }

    #[test]
    fn advice_names_its_rule_and_its_code_if_any() {
        let place = Place { path: "a.py".into(), line_number: 1, column_number: 1 };
        let with = |code| Advice {
            place: place.clone(),
            code,
            message: "batch the copies".to_owned(),
            rule: "torch/host-copy".to_owned(),
        };
        let expected = "a.py:1:1: GP670 batch the copies [torch/host-copy]\n";
        assert_eq!(advice(&[with(Some(Code::new("GP670")))], Style::Plain), expected);
        assert_eq!(advice(&[with(None)], Style::Plain), "a.py:1:1: batch the copies [torch/host-copy]\n");
    }
}
