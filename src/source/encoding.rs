//! How bytes become text and text becomes bytes again: the byte order mark, the PEP 263 comment, UTF-8.

use std::fmt;

use encoding_rs::{DecoderResult, WINDOWS_1252};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// How a file's bytes become text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, Python's default.
    Utf8,
    /// UTF-8 after a byte order mark, which is no part of the text.
    Utf8Bom,
    /// Seven bits.
    Ascii,
    /// ISO 8859-1: every byte is the character of that number.
    Latin1,
    /// Another one that keeps ASCII as it is.
    Other(&'static encoding_rs::Encoding),
}

/// Why a file has no encoding that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EncodingProblem {
    /// The name in the comment is none we know (or one that doesn't keep ASCII as it is).
    Unknown(String),
    /// A byte order mark says UTF-8 and the comment something else.
    Contradiction(String),
}

impl Encoding {
    /// The encoding that Python would read `bytes` with.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, EncodingProblem> {
        let text = bytes.strip_prefix(BOM);
        let declared = declared_name(text.unwrap_or(bytes));
        let named = declared.as_deref().map(|name| Self::by_name(name).ok_or_else(|| name.to_owned()));
        match (text, named) {
            (None, None | Some(Ok(Self::Utf8))) => Ok(Self::Utf8),
            (Some(_), None | Some(Ok(Self::Utf8))) => Ok(Self::Utf8Bom),
            (None, Some(named)) => named.map_err(EncodingProblem::Unknown),
            (Some(_), Some(named)) => {
                Err(EncodingProblem::Contradiction(named.map_or_else(|name| name, |it| it.name().to_owned())))
            }
        }
    }

    /// The encoding that Python's `name` stands for.
    fn by_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        match name.as_str() {
            "utf-8" | "utf8" | "u8" | "utf" | "cp65001" => return Some(Self::Utf8),
            "ascii" | "us-ascii" | "646" => return Some(Self::Ascii),
            "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "8859" | "cp819" => {
                return Some(Self::Latin1);
            }
            "cp1252" | "windows-1252" | "1252" => return Some(Self::Other(WINDOWS_1252)),
            _ => {}
        }
        // What Python's tokenizer does with spellings such as `utf-8-unix`.
        if name.starts_with("utf-8-") {
            return Some(Self::Utf8);
        }
        if name.starts_with("latin-1-") || name.starts_with("iso-8859-1-") {
            return Some(Self::Latin1);
        }
        let label = match name.as_str() {
            "mac-roman" | "macroman" => "macintosh",
            "cp932" | "ms932" | "mskanji" => "shift_jis",
            "cp936" | "ms936" => "gbk",
            "cp949" | "uhc" | "euckr" => "euc-kr",
            "eucjp" | "ujis" => "euc-jp",
            "cp950" => "big5",
            "iso-8859-1" | "x-user-defined" | "replacement" => return None,
            other => other,
        };
        let found = encoding_rs::Encoding::for_label(label.as_bytes())?;
        // The label table takes Latin-1 and ASCII for windows-1252; their Python names are all above.
        (found.is_ascii_compatible() && found != WINDOWS_1252).then_some(Self::Other(found))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 | Self::Utf8Bom => "utf-8",
            Self::Ascii => "ascii",
            Self::Latin1 => "iso-8859-1",
            Self::Other(encoding) => encoding.name(),
        }
    }

    /// The text of `bytes`, or the offset of the first byte that is none.
    pub(super) fn decode(self, bytes: &[u8]) -> Result<String, usize> {
        match self {
            Self::Utf8 => decode_utf8(bytes, 0),
            Self::Utf8Bom => decode_utf8(bytes.strip_prefix(BOM).unwrap_or(bytes), BOM.len()),
            Self::Ascii => match bytes.iter().position(|byte| !byte.is_ascii()) {
                Some(offset) => Err(offset),
                None => decode_utf8(bytes, 0),
            },
            Self::Latin1 => Ok(bytes.iter().map(|&byte| char::from(byte)).collect()),
            Self::Other(encoding) => decode_other(encoding, bytes),
        }
    }

    /// The bytes of `text`, or the first character that this encoding doesn't have.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Utf8Bom => Ok([BOM, text.as_bytes()].concat()),
            Self::Ascii => match text.chars().find(|it| !it.is_ascii()) {
                Some(character) => Err(character),
                None => Ok(text.as_bytes().to_vec()),
            },
            Self::Latin1 => text.chars().map(|it| u8::try_from(it).map_err(|_| it)).collect(),
            Self::Other(encoding) => {
                let (bytes, _, failed) = encoding.encode(text);
                if failed {
                    let lacks = |it: &char| encoding.encode(it.encode_utf8(&mut [0; 4])).2;
                    return Err(text.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Ok(bytes.into_owned())
            }
        }
    }

    /// False where decoding and encoding again may give other bytes: then it must be tried.
    pub(super) fn is_reversible(self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Utf8Bom { "utf-8 with a byte order mark" } else { self.name() })
    }
}

fn decode_utf8(bytes: &[u8], skipped: usize) -> Result<String, usize> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| skipped + error.valid_up_to())
}

fn decode_other(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> Result<String, usize> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(room);
    let (result, read) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
    if let DecoderResult::Malformed(length, after) = result {
        return Err(read.saturating_sub(usize::from(length) + usize::from(after)));
    }
    // The web's tables fill holes with control characters where Python's codecs fail.
    let hole = |it: char| ('\u{80}'..='\u{9f}').contains(&it);
    if encoding.is_single_byte() && encoding.name().starts_with("windows") && text.contains(hole) {
        let before = text.chars().take_while(|&it| !hole(it)).count();
        return Err(before);
    }
    Ok(text)
}

/// The name in the PEP 263 comment of the first two lines.
fn declared_name(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes;
    for _ in 0..2 {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let line = &rest[..end];
        if let Some(name) = name_in_comment(line) {
            return Some(name);
        }
        let blank = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'));
        if blank.is_some_and(|at| line[at] != b'#') {
            return None;
        }
        let newline = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = rest.get(end + newline..)?;
    }
    None
}

/// `#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`
fn name_in_comment(line: &[u8]) -> Option<String> {
    let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'))?;
    let comment = line[start..].strip_prefix(b"#")?;
    (0..comment.len()).find_map(|at| {
        let after = comment[at..].strip_prefix(b"coding")?;
        let after = after.strip_prefix(b":").or_else(|| after.strip_prefix(b"="))?;
        let name = after.trim_ascii_start();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = name.iter().position(|byte| !is_part(byte)).unwrap_or(name.len());
        (length > 0).then(|| String::from_utf8_lossy(&name[..length]).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name_of(bytes: &[u8]) -> String {
        match Encoding::of(bytes) {
            Ok(encoding) => format!("{encoding:?}"),
            Err(problem) => format!("{problem:?}"),
        }
    }

    #[test]
    fn the_encoding_is_what_python_would_take() {
        for (bytes, expected) in [
            (&b"x = 1\n"[..], "utf-8"),
            (b"", "utf-8"),
            (b"\xef\xbb\xbfx = 1\n", "utf-8 with a byte order mark"),
            (b"\xef\xbb\xbf# coding: utf-8\n", "utf-8 with a byte order mark"),
            (b"\xef\xbb\xbf# coding: latin-1\n", "Contradiction(\"iso-8859-1\")"),
            (b"# -*- coding: latin-1 -*-\n", "iso-8859-1"),
            (b"#!/usr/bin/python\n# vim: set fileencoding=iso-8859-1 :\n", "iso-8859-1"),
            (b"#!/usr/bin/python\r\n# coding=Latin_1\r\n", "iso-8859-1"),
            (b"#!/usr/bin/python\r# coding=utf8\r", "utf-8"),
            (b"\n  \t# coding: ascii\n", "ascii"),
            (b"\n\n# coding: ascii\n", "utf-8"),
            (b"x = 1\n# coding: ascii\n", "utf-8"),
            (b"x = 1 # coding: ascii\n", "utf-8"),
            (b"# coding: cp1252", "windows-1252"),
            (b"# coding: utf-8-unix", "utf-8"),
            (b"# coding : latin-1", "utf-8"),
            (b"# encoding: koi8-r", "KOI8-R"),
            (b"# coding: iso-8859-15", "ISO-8859-15"),
            (b"# coding: shift_jis", "Shift_JIS"),
            (b"# coding: gbk", "GBK"),
            (b"# coding: klingon", "Unknown(\"klingon\")"),
            (b"# coding: utf-16", "Unknown(\"utf-16\")"),
            (b"# coding: utf-7", "Unknown(\"utf-7\")"),
            (b"# coding: replacement", "Unknown(\"replacement\")"),
        ] {
            assert_eq!(name_of(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_found() {
        for (encoding, bytes, offset) in [
            (Encoding::Utf8, &b"ab\xff"[..], 2),
            (Encoding::Utf8Bom, b"\xef\xbb\xbfa\xc3", 4),
            (Encoding::Ascii, b"a\xe9", 1),
            (Encoding::Other(WINDOWS_1252), b"abc\x81", 3),
            (Encoding::Other(encoding_rs::SHIFT_JIS), b"ab\xfc\xfc", 2),
        ] {
            assert_eq!(encoding.decode(bytes), Err(offset), "{encoding:?}");
        }
    }

    #[test]
    fn text_that_does_not_fit_is_refused() {
        assert_eq!(Encoding::Ascii.encode("caf\u{e9}"), Err('\u{e9}'));
        assert_eq!(Encoding::Latin1.encode("\u{20ac}"), Err('\u{20ac}'));
        assert_eq!(Encoding::Other(WINDOWS_1252).encode("\u{20ac}"), Ok(vec![0x80]));
        assert_eq!(Encoding::Other(WINDOWS_1252).encode("a\u{3b1}"), Err('\u{3b1}'));
    }

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for encoding in [Encoding::Utf8, Encoding::Ascii, Encoding::Latin1] {
                if let Ok(text) = encoding.decode(&bytes) {
                    prop_assert_eq!(encoding.encode(&text), Ok(bytes.clone()));
                }
            }
            let marked = [BOM, &bytes].concat();
            if let Ok(text) = Encoding::Utf8Bom.decode(&marked) {
                prop_assert_eq!(Encoding::Utf8Bom.encode(&text), Ok(marked));
            }
        }

        #[test]
        fn finding_the_encoding_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Encoding::of(&[b"# coding:".as_slice(), &bytes].concat());
            let _ = Encoding::of(&bytes);
        }
    }
}
