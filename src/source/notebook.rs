//! Notebooks: the Python cells of a Jupyter file as one text, and edits of that text as edits of the JSON.
//!
//! Nothing is written by a serialiser. The JSON stays as it is, and only the lines of a cell's source that an edit
//! touches get new text.

use std::fmt::Write as _;
use std::ops::Range;

use ruff_text_size::{TextRange, TextSize};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::file::Cell;
use super::{Edit, Edits, ProblemKind};

/// A notebook's JSON and where its code is in it.
#[derive(Debug)]
pub(super) struct Notebook {
    json: String,
    cells: Vec<CodeCell>,
}

/// A Python cell.
#[derive(Debug)]
struct CodeCell {
    cell_number: usize,
    /// Its text in the joined text, with the newline that was added.
    range: TextRange,
    source: Source,
}

/// A cell's source in the JSON.
#[derive(Debug)]
enum Source {
    /// One string: its place, quotes included.
    Text(Range<usize>),
    /// An array of strings, each usually one line: the places of the array and its strings.
    Lines(Range<usize>, Vec<Range<usize>>),
}

#[derive(Deserialize)]
struct RawNotebook<'j> {
    #[serde(borrow)]
    cells: Vec<RawCell<'j>>,
}

#[derive(Deserialize)]
struct RawCell<'j> {
    #[serde(borrow)]
    source: &'j RawValue,
}

impl Notebook {
    /// The notebook in `bytes`, and its joined text.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, String), ProblemKind> {
        let problem = |error: &dyn ToString| ProblemKind::Notebook(error.to_string());
        let json = std::str::from_utf8(bytes)
            .map_err(|error| ProblemKind::Undecodable { encoding: "utf-8", offset: error.valid_up_to() })?;
        let known = ruff_notebook::Notebook::from_source_code(json).map_err(|error| problem(&error))?;
        if !known.is_python_notebook() {
            return Err(problem(&"its language is another one"));
        }
        let raw: RawNotebook<'_> = serde_json::from_str(json).map_err(|error| problem(&error))?;
        let numbers = known.index().iter().map(|start| start.cell_index());
        let mut cells = Vec::new();
        for (number, range) in numbers.zip(known.cell_offsets().ranges()) {
            let cell =
                raw.cells.get(number.to_zero_indexed()).ok_or_else(|| problem(&"cells are missing"))?;
            let source = Source::locate(json, cell.source).map_err(|error| problem(&error))?;
            cells.push(CodeCell { cell_number: number.get(), range, source });
        }
        let text = known.source_code().to_owned();
        Ok((Self { json: json.to_owned(), cells }, text))
    }

    /// The JSON as read.
    pub(super) fn json(&self) -> &str {
        &self.json
    }

    /// The Python cells, in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.cells
            .iter()
            .map(|cell| Cell { cell_number: cell.cell_number, range: cell.range.sub_end(TextSize::of('\n')) })
    }

    /// The JSON with `edits` of the joined `text` made in the cells they fall into.
    pub(super) fn rewritten(&self, text: &str, edits: &Edits) -> Result<Vec<u8>, ProblemKind> {
        let edits: Vec<&Edit> = edits.iter().collect();
        let mut out = String::with_capacity(self.json.len() + 256);
        let mut written = 0;
        let mut left = edits.as_slice();
        for (at, cell) in self.cells.iter().enumerate() {
            // An insertion between two cells belongs to the later one.
            let is_last = at + 1 == self.cells.len();
            let mine = left.partition_point(|edit| edit.range.start() < cell.range.end() || is_last);
            let (edits, rest) = left.split_at(mine);
            left = rest;
            if edits.is_empty() {
                continue;
            }
            if edits.iter().any(|edit| edit.range.end() > cell.range.end()) {
                return Err(ProblemKind::AcrossCells);
            }
            let place = cell.source.place();
            out.push_str(&self.json[written..place.start]);
            out.push_str(&self.new_source(text, cell, edits)?);
            written = place.end;
        }
        out.push_str(&self.json[written..]);
        if left.is_empty() { Ok(out.into_bytes()) } else { Err(ProblemKind::AcrossCells) }
    }

    fn new_source(&self, text: &str, cell: &CodeCell, edits: &[&Edit]) -> Result<String, ProblemKind> {
        let spelling = Spelling { ascii: self.json.is_ascii() };
        match &cell.source {
            Source::Text(place) => {
                let old = &text[cell.range.sub_end(TextSize::of('\n'))];
                if spelling.string(old) != self.json[place.clone()] {
                    return Err(ProblemKind::Spelling);
                }
                Ok(spelling.string(&without_added_newline(apply(text, cell.range, edits))))
            }
            Source::Lines(place, strings) => {
                let lines = decode(&self.json, strings)?;
                let groups = Groups { text, cell: cell.range, edits, lines: &lines };
                Ok(render(&self.json, place, strings, groups.resolve(), &spelling))
            }
        }
    }
}

impl Source {
    fn locate(json: &str, source: &RawValue) -> Result<Self, serde_json::Error> {
        let place_of = |raw: &RawValue| {
            let start = raw.get().as_ptr() as usize - json.as_ptr() as usize;
            start..start + raw.get().len()
        };
        let place = place_of(source);
        if source.get().starts_with('"') {
            return Ok(Self::Text(place));
        }
        let strings: Vec<&RawValue> = serde_json::from_str(source.get())?;
        Ok(Self::Lines(place, strings.into_iter().map(place_of).collect()))
    }

    fn place(&self) -> &Range<usize> {
        match self {
            Self::Text(place) | Self::Lines(place, _) => place,
        }
    }
}

/// The strings at `places`.
fn decode(json: &str, places: &[Range<usize>]) -> Result<Vec<String>, ProblemKind> {
    let string = |place: &Range<usize>| serde_json::from_str(&json[place.clone()]);
    let strings: Result<Vec<String>, serde_json::Error> = places.iter().map(string).collect();
    strings.map_err(|error| ProblemKind::Notebook(error.to_string()))
}

/// `range` of `text` with `edits`, all of them inside, made.
fn apply(text: &str, range: TextRange, edits: &[&Edit]) -> String {
    let mut out = String::new();
    let mut at = range.start();
    for edit in edits {
        out.push_str(&text[TextRange::new(at, edit.range.start())]);
        out.push_str(&edit.text);
        at = edit.range.end();
    }
    out.push_str(&text[TextRange::new(at, range.end())]);
    out
}

/// A string of the new array.
enum Item {
    /// The string that was there at this index.
    Kept(usize),
    /// New text.
    New(String),
}

/// Finds which strings of an array the edits touch.
struct Groups<'g> {
    text: &'g str,
    cell: TextRange,
    edits: &'g [&'g Edit],
    lines: &'g [String],
}

impl Groups<'_> {
    /// The new strings: those that no edit touches are kept; the others become one string a line.
    fn resolve(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut left = self.edits;
        let mut index = 0;
        while index < self.lines.len() {
            if left.first().is_some_and(|edit| self.touches(edit, index)) {
                let (last, count, new) = self.group(index, left);
                items.extend(lines_of(&new));
                left = &left[count..];
                index = last;
            } else {
                items.push(Item::Kept(index));
            }
            index += 1;
        }
        if self.lines.is_empty() {
            items.extend(lines_of(&without_added_newline(apply(self.text, self.cell, left))));
        }
        items
    }

    /// The new text of the strings from `first` on that belong together: its last index, how many edits it takes, and
    /// the text. It takes in further strings until no edit reaches beyond it and its last line is whole.
    fn group(&self, first: usize, edits: &[&Edit]) -> (usize, usize, String) {
        let mut index = first;
        loop {
            let count = edits.iter().take_while(|edit| self.touches(edit, index)).count();
            let end = self.end_of(index);
            if edits[..count].iter().all(|edit| edit.range.end() <= end) {
                let start = if first == 0 { self.cell.start() } else { self.end_of(first - 1) };
                let new = apply(self.text, TextRange::new(start, end), &edits[..count]);
                if self.is_last(index) {
                    return (index, count, without_added_newline(new));
                }
                if new.is_empty() || new.ends_with('\n') {
                    return (index, count, new);
                }
            }
            index += 1;
        }
    }

    fn is_last(&self, index: usize) -> bool {
        index + 1 == self.lines.len()
    }

    /// Where the string ends in the joined text. The newline that was added after the last one is part of it.
    fn end_of(&self, index: usize) -> TextSize {
        if self.is_last(index) {
            return self.cell.end();
        }
        let before: TextSize = self.lines[..=index].iter().map(|line| TextSize::of(line.as_str())).sum();
        self.cell.start() + before
    }

    /// True where the edit begins in the string, or before it.
    fn touches(&self, edit: &Edit, index: usize) -> bool {
        self.is_last(index) || edit.range.start() < self.end_of(index)
    }
}

fn without_added_newline(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn lines_of(text: &str) -> impl Iterator<Item = Item> {
    text.split_inclusive('\n').map(|line| Item::New(line.to_owned()))
}

/// The array at `place` with new strings, laid out as it was.
fn render(
    json: &str,
    place: &Range<usize>,
    strings: &[Range<usize>],
    items: Vec<Item>,
    spelling: &Spelling,
) -> String {
    let (Some(first), Some(last)) = (strings.first(), strings.last()) else {
        let new = items.into_iter().filter_map(|item| match item {
            Item::New(text) => Some(spelling.string(&text)),
            Item::Kept(_) => None,
        });
        return format!("[{}]", new.collect::<Vec<_>>().join(", "));
    };
    if items.is_empty() {
        return "[]".to_owned();
    }
    let opening = &json[place.start..first.start];
    let between = match strings {
        [first, second, ..] => json[first.end..second.start].to_owned(),
        _ => format!(",{}", &opening[1..]),
    };
    let mut out = opening.to_owned();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(&between);
        }
        match item {
            Item::Kept(index) => out.push_str(&json[strings[*index].clone()]),
            Item::New(text) => out.push_str(&spelling.string(text)),
        }
    }
    out.push_str(&json[last.end..place.end]);
    out
}

/// How this notebook spells strings.
struct Spelling {
    /// Characters beyond ASCII are escaped.
    ascii: bool,
}

impl Spelling {
    fn string(&self, text: &str) -> String {
        let plain = serde_json::Value::String(text.to_owned()).to_string();
        if !self.ascii || plain.is_ascii() {
            return plain;
        }
        let mut out = String::with_capacity(plain.len() * 2);
        for character in plain.chars() {
            if character.is_ascii() {
                out.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::{EditsBuilder, SourceFile};
    use super::*;

    const PLAIN: &str = r##"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "import not_code"]},
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {"x": 1.50},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["import numpy as np\n"]}],
   "source": [
    "import numpy as np\n",
    "x = np.zeros(3)\n",
    "print('\u00e9\t')"
   ]
  },
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["%%bash\n", "ls"]},
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": []},
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": "y = 1\nz = 2"}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3", "display_name": "P"}},
 "nbformat": 4,
 "nbformat_minor": 4
}
"##;

    fn read(json: &str) -> Result<SourceFile, String> {
        SourceFile::from_bytes(Path::new("a.ipynb"), json.as_bytes()).map_err(|problem| problem.to_string())
    }

    /// The notebook's JSON after replacing the first `old` in its text.
    fn replace(json: &str, old: &str, new: &str) -> Result<String, String> {
        let file = read(json)?;
        let start = TextSize::of(&file.text[..file.text.find(old).unwrap()]);
        let mut edits = EditsBuilder::new();
        edits.replace(TextRange::at(start, TextSize::of(old)), new);
        let bytes = file.rewritten(&edits.finish().unwrap()).map_err(|problem| problem.kind.to_string())?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_text_is_the_python_cells() {
        let file = read(PLAIN).unwrap();
        let expected = "import numpy as np\nx = np.zeros(3)\nprint('\u{e9}\t')\n\ny = 1\nz = 2\n";
        assert_eq!(file.text, expected);
        let cells: Vec<_> = file.cells().map(|cell| (cell.cell_number, &file.text[cell.range])).collect();
        assert_eq!(cells[1..], [(4, ""), (5, "y = 1\nz = 2")]);
        assert_eq!(file.rewritten(&Edits::default()).unwrap(), PLAIN.as_bytes());
    }

    #[test]
    fn only_touched_lines_change() {
        let np = r#""import numpy as np\n","#;
        for (old, new, before, after) in [
            ("np.zeros", "cp.zeros", "x = np.zeros", "x = cp.zeros"),
            (
                "import numpy",
                "import cupy as cp\nimport numpy",
                np,
                r#""import cupy as cp\n",
    "import numpy as np\n","#,
            ),
            (
                "import numpy as np\n",
                "",
                r#"
    "import numpy as np\n","#,
                "",
            ),
            (
                "as np\nx = np",
                "as cp\ny = cp",
                r#"as np\n",
    "x = np"#,
                r#"as cp\n",
    "y = cp"#,
            ),
            (
                "np\nx",
                "np; x",
                r#"np\n",
    "x"#,
                "np; x",
            ),
            ("print", "PRINT", r#""print('\u00e9\t')""#, r#""PRINT('\u00e9\t')""#),
            ("y = 1", "y = '\u{3b1}\u{1f600}'", "y = 1", r"y = '\u03b1\ud83d\ude00'"),
            ("\ny = 1", "w = 0\ny = 1", r#""source": []}"#, r#""source": ["w = 0"]}"#),
        ] {
            let expected = PLAIN.replacen(before, after, 1);
            match replace(PLAIN, old, new) {
                Ok(found) if old != "\ny = 1" => assert_eq!(found, expected, "{old} -> {new}"),
                Ok(found) => panic!("{found}"),
                // The last case would join two cells.
                Err(problem) => assert_eq!((old, &*problem), ("\ny = 1", "a change would join two cells")),
            }
        }
    }

    #[test]
    fn an_empty_cell_can_be_filled() {
        let file = read(PLAIN).unwrap();
        let empty = file.cells().nth(1).unwrap();
        let mut edits = EditsBuilder::new();
        edits.insert(empty.range.start(), "a = 1\nb = 2");
        let written = file.rewritten(&edits.finish().unwrap()).unwrap();
        let expected = PLAIN.replacen(r#""source": []"#, r#""source": ["a = 1\n", "b = 2"]"#, 1);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn what_is_no_python_notebook_is_refused() {
        let spelled = PLAIN.replace("y = 1", "y = \\u0031");
        for (json, problem) in [
            ("", "not a Python notebook"),
            ("{}", "not a Python notebook"),
            (&*PLAIN.replace("\"nbformat\": 4", "\"nbformat\": 3"), "not a Python notebook"),
            (
                &*PLAIN.replace("\"language\": \"python\"", "\"language\": \"R\""),
                "its language is another one",
            ),
        ] {
            assert!(read(json).unwrap_err().contains(problem), "{json}");
        }
        assert_eq!(
            replace(&spelled, "z = 2", "z = 3").unwrap_err(),
            "the cell's JSON can't be kept as it is written"
        );
        assert!(replace(&spelled, "np.zeros", "cp.zeros").is_ok());
    }

    proptest! {
        #[test]
        fn writing_and_reading_agree(cuts in prop::collection::btree_set(0usize..60, 0..8), words in prop::collection::vec("[a\n\"\\\\é]{0,5}", 4)) {
            let file = read(PLAIN).unwrap();
            let mut edits = EditsBuilder::new();
            let cuts: Vec<usize> = cuts.into_iter().filter(|at| file.text.is_char_boundary(*at)).collect();
            for (pair, word) in cuts.chunks_exact(2).zip(&words) {
                edits.replace(TextRange::new((pair[0] as u32).into(), (pair[1] as u32).into()), word.as_str());
            }
            let edits = edits.finish().unwrap();
            if let Ok(bytes) = file.rewritten(&edits) {
                let again = read(std::str::from_utf8(&bytes).unwrap()).unwrap();
                // A cell whose last newline was cut gets it back.
                let strip = |text: &str| text.replace('\n', "");
                prop_assert_eq!(strip(&again.text), strip(&edits.apply(&file.text)));
            }
        }
    }
}
