//! How the switch is written into a file: on which line, with which line ending, between which blank lines.
//!
//! The switch is whole lines, except where statements share a line: there it joins them.

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::source::Module;

/// Where the switch goes, by the index of a statement of the module body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Spot {
    /// Directly above this statement and the comments that belong to it.
    Above(usize),
    /// Below this statement, the last one of the imports and settings at the top.
    Below(usize),
}

/// The insertion that puts `line`, a magic of notebooks, at the start of the cell that `spot` is in. A magic of that cell
/// itself (`%%capture`) must stay its first line: then the nearest cell above that has none takes the switch, and where
/// there is none, it goes below the magic.
pub(super) fn cell_insertion(module: &Module, spot: Spot, line: &str) -> (TextSize, String) {
    let (Spot::Above(index) | Spot::Below(index)) = spot;
    let anchor = module.body()[index].start();
    let text = module.text();
    let above: Vec<TextRange> =
        module.file.cells().map(|cell| cell.range).take_while(|cell| cell.start() <= anchor).collect();
    let has_magic = |cell: &TextRange| text[*cell].trim_start().starts_with("%%");
    let at = match (above.iter().rev().find(|cell| !has_magic(cell)), above.last()) {
        (Some(cell), _) => cell.start(),
        (None, Some(cell)) => offset(line_end(text, cell.start().to_usize())),
        (None, None) => anchor,
    };
    (at, format!("{line}\n\n"))
}

/// The insertion that puts `statement` (lines of Python, without indentation) at `spot`.
pub(super) fn insertion(module: &Module, spot: Spot, statement: &str) -> (TextSize, String) {
    let body = module.body();
    match spot {
        Spot::Above(index) => above(module, body, index, statement),
        Spot::Below(index) => match body.get(index + 1) {
            Some(next) if !starts_own_line(module.text(), next.start().to_usize()) => joined(next, statement),
            _ => below(module.text(), &body[index], statement),
        },
    }
}

fn above(module: &Module, body: &[Stmt], index: usize, statement: &str) -> (TextSize, String) {
    let text = module.text();
    let anchor = &body[index];
    let start = anchor.start().to_usize();
    if !starts_own_line(text, start) {
        return joined(anchor, statement);
    }
    let floor = index.checked_sub(1).map_or(0, |before| line_end(text, body[before].end().to_usize()));
    let at = comments_above(text, line_start(text, start), floor);
    let newline = newline_of(text);
    let blank_lines = if matches!(anchor, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) { 2 } else { 1 };
    let mut out = String::new();
    if at > 0 && !is_blank(line_before(text, at)) {
        out.push_str(newline);
    }
    push_lines(&mut out, statement, newline);
    out.push_str(&newline.repeat(blank_lines));
    (offset(at), out)
}

fn below(text: &str, anchor: &Stmt, statement: &str) -> (TextSize, String) {
    let newline = newline_of(text);
    let at = line_end(text, anchor.end().to_usize());
    let mut out = String::new();
    if !text[..at].ends_with(['\n', '\r']) {
        out.push_str(newline);
    }
    out.push_str(newline);
    push_lines(&mut out, statement, newline);
    let next_line = &text[at..line_end(text, at)];
    if !is_blank(next_line) {
        out.push_str(newline);
    }
    (offset(at), out)
}

/// `a; switch; b`: the switch goes before `anchor`, which shares its line with what comes before it.
fn joined(anchor: &Stmt, statement: &str) -> (TextSize, String) {
    let mut out = String::new();
    for line in statement.lines() {
        out.push_str(line);
        out.push_str("; ");
    }
    (anchor.start(), out)
}

fn push_lines(out: &mut String, statement: &str, newline: &str) {
    for line in statement.lines() {
        out.push_str(line);
        out.push_str(newline);
    }
}

/// The first of the comment lines that stand directly above the line at `start`, not above `floor`. Comments at the
/// top of the file (shebang, encoding, licence) and a cell's marker belong to the file and the cell, not to the line.
fn comments_above(text: &str, start: usize, floor: usize) -> usize {
    let mut at = start;
    while at > floor {
        let line = line_before(text, at);
        let content = line.trim();
        if !content.starts_with('#') || content.starts_with("# %%") || content.starts_with("#%%") {
            return at;
        }
        at -= line.len();
    }
    if at == 0 { start } else { at }
}

/// True where nothing but white space stands before `start` on its line, and the line does not continue another.
fn starts_own_line(text: &str, start: usize) -> bool {
    let line = line_start(text, start);
    let continued = line > 0 && line_before(text, line).trim_end_matches(['\r', '\n']).ends_with('\\');
    is_blank(&text[line..start]) && !continued
}

/// The line that ends at `at`, which begins a line; with its line ending.
fn line_before(text: &str, at: usize) -> &str {
    let end = text[..at].strip_suffix('\n').unwrap_or(&text[..at]);
    let end = end.strip_suffix('\r').unwrap_or(end);
    &text[line_start(text, end.len())..at]
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |newline| newline + 1)
}

/// The start of the line after the one that `at` is in, or the end of the text.
fn line_end(text: &str, at: usize) -> usize {
    let Some(newline) = text[at..].find(['\n', '\r']) else { return text.len() };
    let newline = at + newline;
    if text[newline..].starts_with("\r\n") { newline + 2 } else { newline + 1 }
}

/// The ending of the first line; `\n` where the text has one line only.
fn newline_of(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => "\r\n",
        Some(at) if text[at..].starts_with('\r') => "\r",
        _ => "\n",
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn offset(at: usize) -> TextSize {
    TextSize::try_from(at).expect("sources beyond 4 GiB are refused when read")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::source::SourceFile;

    fn check(text: &str, spot: Spot, expected: &str) {
        let file = SourceFile::from_bytes(Path::new("main.py"), text.as_bytes()).unwrap();
        let module = Module::parse(file).unwrap();
        let (at, insert) = insertion(&module, spot, "import x\nx.on()");
        let mut out = text.to_owned();
        out.insert_str(at.to_usize(), &insert);
        assert_eq!(out, expected, "{spot:?} in {text:?}");
    }

    #[test]
    fn stands_on_lines_of_its_own() {
        for (text, spot, expected) in [
            ("import a\n", Spot::Above(0), "import x\nx.on()\n\nimport a\n"),
            ("import a", Spot::Above(0), "import x\nx.on()\n\nimport a"),
            ("import b\nimport a\n", Spot::Above(1), "import b\n\nimport x\nx.on()\n\nimport a\n"),
            ("import b\n\nimport a\n", Spot::Above(1), "import b\n\nimport x\nx.on()\n\nimport a\n"),
            ("'''d'''\nimport a\n", Spot::Above(1), "'''d'''\n\nimport x\nx.on()\n\nimport a\n"),
            ("def f(): pass\n", Spot::Above(0), "import x\nx.on()\n\n\ndef f(): pass\n"),
            (
                "import b\n\n\ndef f(): pass\n",
                Spot::Below(0),
                "import b\n\nimport x\nx.on()\n\n\ndef f(): pass\n",
            ),
            ("import b  # why\ny = 1\n", Spot::Below(0), "import b  # why\n\nimport x\nx.on()\n\ny = 1\n"),
            ("import b", Spot::Below(0), "import b\n\nimport x\nx.on()\n"),
        ] {
            check(text, spot, expected);
        }
    }

    #[test]
    fn keeps_comments_with_their_statement() {
        for (text, index, expected) in [
            ("import b\n\n# why a\nimport a\n", 1, "import b\n\nimport x\nx.on()\n\n# why a\nimport a\n"),
            ("import b\n# 1\n# 2\nimport a\n", 1, "import b\n\nimport x\nx.on()\n\n# 1\n# 2\nimport a\n"),
            ("#!/bin/py\n# c\nimport a\n", 0, "#!/bin/py\n# c\n\nimport x\nx.on()\n\nimport a\n"),
            ("# c\n\n# why a\nimport a\n", 0, "# c\n\nimport x\nx.on()\n\n# why a\nimport a\n"),
            ("import b\n# %%\nimport a\n", 1, "import b\n# %%\n\nimport x\nx.on()\n\nimport a\n"),
            (
                "'''d\n# no comment'''\nimport a\n",
                1,
                "'''d\n# no comment'''\n\nimport x\nx.on()\n\nimport a\n",
            ),
        ] {
            check(text, Spot::Above(index), expected);
        }
    }

    #[test]
    fn joins_statements_that_share_a_line() {
        for (text, spot, expected) in [
            ("import b; import a\n", Spot::Above(1), "import b; import x; x.on(); import a\n"),
            ("import b; y = 1\n", Spot::Below(0), "import b; import x; x.on(); y = 1\n"),
            ("import b; \\\nimport a\n", Spot::Above(1), "import b; \\\nimport x; x.on(); import a\n"),
        ] {
            check(text, spot, expected);
        }
    }

    #[test]
    fn takes_the_files_line_ending() {
        for (text, spot, expected) in [
            (
                "import b\r\nimport a\r\n",
                Spot::Above(1),
                "import b\r\n\r\nimport x\r\nx.on()\r\n\r\nimport a\r\n",
            ),
            ("import b\rimport a\r", Spot::Above(1), "import b\r\rimport x\rx.on()\r\rimport a\r"),
            (
                "import b\r\n\r\nimport a\r\n",
                Spot::Above(1),
                "import b\r\n\r\nimport x\r\nx.on()\r\n\r\nimport a\r\n",
            ),
            ("\x0cimport a\n", Spot::Above(0), "import x\nx.on()\n\n\x0cimport a\n"),
        ] {
            check(text, spot, expected);
        }
    }
}
