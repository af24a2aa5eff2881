//! A line of text as numbers and what stands between them.
//!
//! Blanks beside a number are layout, since columns move with a number's width, and are no part of a token.

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// A number.
    Number(Number<'a>),
    /// Everything else.
    Other(&'a [u8]),
}

/// A number as it stands in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number<'a> {
    /// Its characters.
    pub text: &'a [u8],
    /// Its value.
    pub value: f64,
    /// The value of one unit in its last digit; `None` for whole numbers, which are exact.
    pub unit: Option<f64>,
}

/// Cuts a line, its line end removed, into tokens.
pub fn tokens(line: &[u8]) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut start, mut place) = (0, 0);
    let mut after_number = false;
    while place < line.len() {
        let Some(number) = number_at(line, place) else {
            place = skip_word(line, place);
            continue;
        };
        let between = layout_removed(&line[start..place], after_number, true);
        if !between.is_empty() {
            found.push(Token::Other(between));
        }
        place += number.text.len();
        start = place;
        after_number = true;
        found.push(Token::Number(number));
    }
    let rest = layout_removed(&line[start..], after_number, false);
    if !rest.is_empty() {
        found.push(Token::Other(rest));
    }
    found
}

/// Text between numbers without the blanks beside them.
fn layout_removed(text: &[u8], after_number: bool, before_number: bool) -> &[u8] {
    let text = if after_number { text.trim_ascii_start() } else { text };
    if before_number { text.trim_ascii_end() } else { text }
}

/// Whether a character belongs to words and numbers.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The place after a word, or after one other character.
fn skip_word(line: &[u8], place: usize) -> usize {
    if !is_word(line[place]) {
        return place + 1;
    }
    let length = line[place..].iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
    place + length
}

/// The number that begins at a place, if one does.
fn number_at(line: &[u8], place: usize) -> Option<Number<'_>> {
    let joined = place > 0 && (is_word(line[place - 1]) || line[place - 1] == b'.');
    let signed = matches!(line[place], b'+' | b'-');
    let digits = place + usize::from(signed);
    let length = digits_length(&line[digits..]).or_else(|| name_length(&line[digits..]))?;
    let end = digits + length;
    if joined {
        // `1-2` is a difference or a date, but `1-2j` is one complex number, and its imaginary part has a sign.
        let imaginary = signed && line.get(end) == Some(&b'j') && line[place - 1] != b'_';
        if !imaginary {
            return None;
        }
    }
    let text = &line[place..end];
    let value = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(Number { text, value, unit: unit_of(&line[digits..end]) })
}

/// The length of `12`, `1.5`, `.5`, `1.`, `1e-3` at the beginning of a text.
fn digits_length(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= text.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}

/// The length of `nan`, `inf`, `infinity` as a word at the beginning of a text.
fn name_length(text: &[u8]) -> Option<usize> {
    let length = text.iter().take_while(|byte| is_word(**byte)).count();
    let imaginary = length > 3 && text[length - 1] == b'j';
    let length = length - usize::from(imaginary);
    let word = text[..length].to_ascii_lowercase();
    matches!(word.as_slice(), b"nan" | b"inf" | b"infinity").then_some(length)
}

/// The value of one unit in the last digit of a number without its sign.
fn unit_of(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(0)),
        None if text.contains('.') => (text.as_str(), 0),
        None => return text.starts_with(['n', 'i']).then_some(0.0),
    };
    let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let decimals = i32::try_from(decimals).ok()?;
    Some(10.0_f64.powi(exponent.saturating_sub(decimals)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let show = |token| match token {
            Token::Number(number) => format!("#{}", text(number.text)),
            Token::Other(other) => text(other),
        };
        tokens(line.as_bytes()).into_iter().map(show).collect()
    }

    #[test]
    fn numbers_are_told_from_words() {
        let check = |line: &str, expected: &[&str]| assert_eq!(shown(line), expected, "{line}");
        check("total 1.50 of 3", &["total", "#1.50", "of", "#3"]);
        check("[[ 1.  -2.5]", &["[[", "#1.", "#-2.5", "]"]);
        check("x1 v2.3.4 abc_5", &["x1 v2.3.4 abc_5"]);
        check("2020-01-02", &["#2020", "-", "#01", "-", "#02"]);
        check("1.5s 20%", &["#1.5", "s", "#20", "%"]);
        check("(1.5-2e-17j)", &["(", "#1.5", "#-2e-17", "j)"]);
        check("nan -inf banana info", &["#nan", "#-inf", "banana info"]);
        check("a=.5,b=-.5", &["a=", "#.5", ",b=", "#-.5"]);
        check("1e5 1e 1e+", &["#1e5", "#1", "e", "#1", "e+"]);
        check("0x7f3a", &["#0", "x7f3a"]);
        check("", &[]);
        check("   ", &["   "]);
        check("1 2", &["#1", "#2"]);
        check("12", &["#12"]);
    }

    #[test]
    fn units_are_those_of_the_last_digit() {
        let check = |text: &str, expected: Option<f64>| {
            let Some(Token::Number(number)) = tokens(text.as_bytes()).first().copied() else {
                panic!("{text}")
            };
            assert_eq!(number.unit, expected, "{text}");
        };
        check("1.25", Some(0.01));
        check("-1.", Some(1.0));
        check("1.5e-3", Some(1e-4));
        check("2e3", Some(1000.0));
        check("12", None);
        check("nan", Some(0.0));
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..80)) {
            tokens(&line);
        }

        #[test]
        fn no_number_like_line_makes_it_panic(line in "[-+.0-9eEjxnaif ]{0,30}") {
            tokens(line.as_bytes());
        }

        #[test]
        fn printed_floats_are_read_back(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
            let text = format!("{value:?}");
            let Some(Token::Number(number)) = tokens(text.as_bytes()).first().copied() else { panic!("{text}") };
            prop_assert!(number.value.total_cmp(&value).is_eq());
        }
    }
}
