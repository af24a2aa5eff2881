//! Rust sources seen as lines: what is no test, where functions begin and end, which modules are used. Exact enough on
//! what rustfmt has laid out.

use std::collections::BTreeSet;

use crate::files::File;

/// A source file without its tests.
pub(crate) struct Source<'f> {
    /// Relative to the repository's root.
    pub(crate) path: &'f str,
    /// The lines before its test module, numbered from 1.
    pub(crate) lines: Vec<(usize, &'f str)>,
}

/// The sources under `src/` that are no tests.
pub(crate) fn sources(files: &[File]) -> Vec<Source<'_>> {
    let rust: Vec<&File> = files.iter().filter(|it| it.is_in("src") && it.has_extension(&["rs"])).collect();
    let test_files: BTreeSet<String> = rust.iter().flat_map(|file| test_modules(file)).collect();
    rust.into_iter()
        .filter(|file| !test_files.contains(&file.path))
        .filter(|file| !file.path.split('/').any(|part| part == "tests" || part == "tests.rs"))
        .map(|file| Source { path: &file.path, lines: lines_before_tests(file) })
        .collect()
}

/// The files that `file` declares as test modules.
fn test_modules(file: &File) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| **line == "#[cfg(test)]") {
        let path = lines.get(index + 1).and_then(|it| it.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
        let declaration = lines.get(index + if path.is_some() { 2 } else { 1 }).copied().unwrap_or_default();
        let name =
            declaration.trim_start_matches("pub ").strip_prefix("mod ").and_then(|it| it.strip_suffix(';'));
        found.extend(path.map(|path| format!("{folder}/{path}")));
        found.extend(
            name.into_iter().flat_map(|it| [format!("{folder}/{it}.rs"), format!("{folder}/{it}/mod.rs")]),
        );
    }
    found
}

fn lines_before_tests(file: &File) -> Vec<(usize, &str)> {
    let lines: Vec<(usize, &str)> = file.numbered_lines().collect();
    let opens_tests = |pair: &[(usize, &str)]| {
        pair[0].1 == "#[cfg(test)]" && pair[1].1.starts_with("mod ") && pair[1].1.ends_with('{')
    };
    let end = lines.windows(2).position(opens_tests).unwrap_or(lines.len());
    lines[..end].to_vec()
}

/// A function.
pub(crate) struct Function<'f> {
    /// Its name.
    pub(crate) name: &'f str,
    /// Its first line's number.
    pub(crate) line_number: usize,
    /// Its lines, signature and closing brace included.
    pub(crate) length: usize,
}

impl<'f> Source<'f> {
    /// Its lines that are no comments.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &'f str)> {
        self.lines.iter().copied().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// Its functions, nested ones too.
    pub(crate) fn functions(&self) -> Vec<Function<'f>> {
        let mut found = Vec::new();
        for (index, &(line_number, line)) in self.lines.iter().enumerate() {
            let Some(name) = function_name(line) else { continue };
            let indent = &line[..line.len() - line.trim_start().len()];
            let ends = |text: &str| {
                text.strip_prefix(indent)
                    .is_some_and(|rest| !rest.starts_with(' ') && rest.ends_with(['}', ';']))
            };
            let rest = &self.lines[index..];
            let length = rest.iter().position(|(_, text)| ends(text)).map_or(rest.len(), |at| at + 1);
            found.push(Function { name, line_number, length });
        }
        found
    }

    /// The top-level modules that its code names through `crate::`, each with a line's number.
    pub(crate) fn modules_used(&self) -> BTreeSet<(usize, String)> {
        let mut found = BTreeSet::new();
        for (index, &(line_number, line)) in self.lines.iter().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for (at, _) in line.match_indices("crate::") {
                let rest = &line[at + "crate::".len()..];
                if let Some(group) = rest.strip_prefix('{') {
                    let following = self.lines[index + 1..].iter().map(|(_, text)| *text);
                    let text: String = std::iter::once(group).chain(following).collect::<Vec<_>>().join(" ");
                    found.extend(group_heads(&text).into_iter().map(|name| (line_number, name)));
                } else {
                    found.insert((line_number, identifier(rest).to_owned()));
                }
            }
        }
        found
    }
}

/// The first names of a `{a, b::{c, d}, e}` of which the opening brace is already gone.
fn group_heads(text: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let mut depth = 0;
    let mut part = String::new();
    for character in text.chars() {
        match character {
            '}' if depth == 0 => break,
            ',' if depth == 0 => heads.push(std::mem::take(&mut part)),
            _ => part.push(character),
        }
        depth += i32::from(character == '{') - i32::from(character == '}');
    }
    heads.push(part);
    heads.iter().map(|it| identifier(it.trim_start()).to_owned()).filter(|it| !it.is_empty()).collect()
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("fn ") {
            return Some(identifier(after)).filter(|name| !name.is_empty());
        }
        let (word, after) = rest.split_once(' ')?;
        let is_qualifier = matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\"");
        if !is_qualifier && !word.starts_with("pub(") {
            return None;
        }
        rest = if word.starts_with("pub(") { rest.split_once(") ")?.1 } else { after };
    }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

#[test]
fn sources_are_read_as_meant() {
    let text = "//! x\nuse crate::a::B;\nuse crate::{\n    c::{D, e},\n    f,\n};\n\npub(in crate::g) fn h(\n    x: u8,\n) \
                -> u8 {\n    fn inner() {}\n    x\n}\n\n#[cfg(test)]\nmod props;\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
    let file = |path: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = [file("src/z/mod.rs"), file("src/z/props.rs"), file("src/z/tests.rs"), file("tests/x.rs")];
    let sources = sources(&files);
    assert_eq!(sources.iter().map(|it| it.path).collect::<Vec<_>>(), ["src/z/mod.rs"]);
    let used: Vec<String> = sources[0].modules_used().into_iter().map(|(_, name)| name).collect();
    assert_eq!(used, ["a", "c", "f", "g"]);
    let functions: Vec<(&str, usize, usize)> =
        sources[0].functions().iter().map(|it| (it.name, it.line_number, it.length)).collect();
    assert_eq!(functions, [("h", 8, 6), ("inner", 11, 1)]);
}
