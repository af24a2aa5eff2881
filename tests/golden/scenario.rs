//! A scenario: one Markdown file with input files, options, the expected diff and the expected report.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What a scenario's `toml` block may say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// The unit's entry; `main.py` where nothing else is said.
    #[serde(default)]
    pub(crate) entry: Option<String>,
    /// The passes, in the order they run; the folder's name where nothing else is said.
    #[serde(default)]
    pub(crate) passes: Vec<String>,
    /// Changes to leave out.
    #[serde(default)]
    pub(crate) pinned: Vec<String>,
}

/// One input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// Relative to the project's root, with `/`.
    pub(crate) path: PathBuf,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// A parsed scenario.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// The Markdown file.
    pub(crate) file: PathBuf,
    /// Its text.
    pub(crate) markdown: String,
    /// The program.
    pub(crate) inputs: Vec<Input>,
    /// How it is planned.
    pub(crate) options: Options,
    /// Where the expected diff stands in the Markdown.
    pub(crate) diff: Option<Range<usize>>,
    /// Where the expected report stands in the Markdown.
    pub(crate) report: Option<Range<usize>>,
}

/// A fenced block: its info string and where its body stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    info: String,
    body: Range<usize>,
}

impl Scenario {
    /// Reads `markdown`, the text of `file`. The error names the line.
    pub(crate) fn parse(file: &Path, markdown: String) -> Result<Self, String> {
        let mut scenario = Self {
            file: file.to_owned(),
            inputs: Vec::new(),
            options: Options::default(),
            diff: None,
            report: None,
            markdown,
        };
        for block in blocks(&scenario.markdown)? {
            scenario.take(&block).map_err(|problem| {
                format!("line {}: {problem}", line_of(&scenario.markdown, block.body.start))
            })?;
        }
        if scenario.inputs.is_empty() {
            return Err("no input block".to_owned());
        }
        if scenario.options.passes.is_empty() {
            let folder =
                file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            scenario.options.passes.extend(folder);
        }
        Ok(scenario)
    }

    fn take(&mut self, block: &Block) -> Result<(), String> {
        let body = &self.markdown[block.body.clone()];
        let (language, attributes) = split_info(&block.info)?;
        match language {
            "diff" => once(&mut self.diff, block),
            "report" => once(&mut self.report, block),
            "toml" if attributes.is_empty() => {
                self.options = toml::from_str(body).map_err(|error| error.to_string())?;
                Ok(())
            }
            _ => {
                let input = input(language, &attributes, body)?;
                if self.inputs.iter().any(|other| other.path == input.path) {
                    return Err(format!("{} is given twice", input.path.display()));
                }
                self.inputs.push(input);
                Ok(())
            }
        }
    }

    /// The unit's entry.
    pub(crate) fn entry(&self) -> PathBuf {
        match &self.options.entry {
            Some(entry) => PathBuf::from(entry),
            None if self.inputs.len() == 1 => self.inputs[0].path.clone(),
            None => PathBuf::from("main.py"),
        }
    }

    /// The expected text of `block`, or nothing where the scenario has no such block.
    pub(crate) fn expected(&self, block: Option<&Range<usize>>) -> &str {
        block.map_or("", |range| &self.markdown[range.clone()])
    }

    /// The Markdown with its expectations replaced. A block that is missing is added at the end, unless it would be
    /// empty.
    pub(crate) fn blessed(&self, diff: &str, report: &str) -> String {
        let mut parts = [(self.diff.clone(), "diff", diff), (self.report.clone(), "report", report)];
        parts.sort_by_key(|(range, ..)| std::cmp::Reverse(range.as_ref().map_or(0, |range| range.start)));
        let mut out = self.markdown.clone();
        for (range, _, text) in &parts {
            if let Some(range) = range {
                out.replace_range(range.clone(), text);
            }
        }
        for (range, language, text) in [(&self.diff, "diff", diff), (&self.report, "report", report)] {
            if range.is_none() && !text.is_empty() {
                out.truncate(out.trim_end().len());
                let _ = write!(out, "\n\n```{language}\n{text}```\n");
            }
        }
        out
    }
}

fn once(slot: &mut Option<Range<usize>>, block: &Block) -> Result<(), String> {
    if slot.replace(block.body.clone()).is_some() {
        return Err(format!("a second {} block", block.info));
    }
    Ok(())
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count()
}

/// The fenced blocks of `markdown`, in order.
fn blocks(markdown: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, usize)> = None;
    let mut offset = 0;
    for line in markdown.split_inclusive('\n') {
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        let rest = line[ticks..].trim();
        match &open {
            None if ticks >= 3 => open = Some((ticks, rest.to_owned(), offset + line.len())),
            Some((wanted, info, start)) if ticks >= *wanted && rest.is_empty() => {
                blocks.push(Block { info: info.clone(), body: *start..offset });
                open = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    match open {
        Some((_, info, start)) => {
            Err(format!("line {}: the block `{info}` is not closed", line_of(markdown, start)))
        }
        None => Ok(blocks),
    }
}

/// `file=a.py` of an info string.
type Attribute<'i> = (&'i str, &'i str);

/// `python [file=a.py newline=crlf]` as language and attributes.
fn split_info(info: &str) -> Result<(&str, Vec<Attribute<'_>>), String> {
    let Some((language, rest)) = info.split_once('[') else {
        return Ok((info.trim(), Vec::new()));
    };
    let Some(inside) = rest.trim_end().strip_suffix(']') else {
        return Err(format!("`{info}`: a `]` is missing"));
    };
    let attributes =
        inside.split_whitespace().map(|item| item.split_once('=').unwrap_or((item, ""))).collect();
    Ok((language.trim(), attributes))
}

fn input(language: &str, attributes: &[Attribute<'_>], body: &str) -> Result<Input, String> {
    let mut path = (language == "python").then(|| "main.py".to_owned());
    let mut text = body.to_owned();
    let mut latin1 = false;
    for (key, value) in attributes {
        match (*key, *value) {
            ("file", name) => path = Some(name.to_owned()),
            ("newline", "crlf") => text = text.replace('\n', "\r\n"),
            ("newline", "cr") => text = text.replace('\n', "\r"),
            ("no-final-newline", "") => text.truncate(text.trim_end_matches(['\r', '\n']).len()),
            ("bom", "") => text.insert(0, '\u{feff}'),
            ("encoding", "latin-1") => latin1 = true,
            ("times", count) => text = repeated(&text, count)?,
            _ => return Err(format!("unknown attribute `{key}={value}`")),
        }
    }
    let path = path.ok_or_else(|| format!("a `{language}` block needs [file=…]"))?;
    let bytes = if latin1 { to_latin1(&text)? } else { text.into_bytes() };
    Ok(Input { path: PathBuf::from(path), bytes })
}

/// `text` with each `…` replaced by what it follows, so that this stands there `count` times.
fn repeated(text: &str, count: &str) -> Result<String, String> {
    let count: usize = count.parse().map_err(|_| format!("`{count}` is no number"))?;
    let mut out = String::new();
    for character in text.chars() {
        match (character, out.pop()) {
            ('…', Some(last)) => out.extend(std::iter::repeat_n(last, count)),
            (character, last) => out.extend(last.into_iter().chain([character])),
        }
    }
    Ok(out)
}

fn to_latin1(text: &str) -> Result<Vec<u8>, String> {
    text.chars().map(|c| u8::try_from(u32::from(c)).map_err(|_| format!("`{c}` is not in Latin-1"))).collect()
}
