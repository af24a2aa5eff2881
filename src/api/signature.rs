//! Signatures as text: Python's own spelling without parentheses, and the result classes beside them.

use super::{Parameter, ParameterKind, Returns};

/// The parameters of `text`, e.g. `a, /, axis=None, *, keepdims=...`; the offending part where it is no signature.
pub(super) fn parameters(text: &str) -> Result<Vec<Parameter>, String> {
    let mut out: Vec<Parameter> = Vec::new();
    let mut kind = ParameterKind::Either;
    for part in split(text) {
        match part {
            "" => {}
            "/" => out.iter_mut().for_each(|p| p.kind = ParameterKind::PositionalOnly),
            "*" => kind = ParameterKind::KeywordOnly,
            _ if part.starts_with("**") => {
                out.push(named(&part[2..], ParameterKind::KeywordRest, None)?);
            }
            _ if part.starts_with('*') => {
                out.push(named(&part[1..], ParameterKind::Rest, None)?);
                kind = ParameterKind::KeywordOnly;
            }
            _ => match part.split_once('=') {
                Some((name, default)) => out.push(named(name, kind, Some(default))?),
                None => out.push(named(part, kind, None)?),
            },
        }
    }
    Ok(out)
}

fn named(name: &str, kind: ParameterKind, default: Option<&str>) -> Result<Parameter, String> {
    let fits = |c: char| c.is_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(fits) {
        return Err(name.to_owned());
    }
    Ok(Parameter { name: name.to_owned(), kind, default: default.map(str::to_owned) })
}

/// Splits at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quote, mut from) = (Vec::new(), 0_i32, None, 0);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// The parameters of a ufunc with so many inputs and outputs, in the source library and in the target.
pub(super) fn ufunc(inputs: usize, outputs: usize) -> (Vec<Parameter>, Vec<Parameter>) {
    let mut source = Vec::new();
    for index in 0..inputs {
        let name = if inputs == 1 { "x".to_owned() } else { format!("x{}", index + 1) };
        source.push(Parameter { name, kind: ParameterKind::PositionalOnly, default: None });
    }
    let none = Some("None".to_owned());
    if outputs > 1 {
        for index in 0..outputs {
            let name = format!("out{}", index + 1);
            source.push(Parameter { name, kind: ParameterKind::PositionalOnly, default: none.clone() });
        }
    }
    source.push(Parameter { name: "out".to_owned(), kind: ParameterKind::Either, default: none });
    let mut target = source.clone();
    let keyword = |name: &str, default: &str| Parameter {
        name: name.to_owned(),
        kind: ParameterKind::KeywordOnly,
        default: Some(default.to_owned()),
    };
    for (name, default) in [("casting", "'same_kind'"), ("dtype", "None")] {
        source.push(keyword(name, default));
        target.push(keyword(name, default));
    }
    for (name, default) in [("where", "True"), ("order", "'K'"), ("subok", "True"), ("signature", "None")] {
        source.push(keyword(name, default));
    }
    (source, target)
}

/// The result class of `text`, e.g. `array 1` or `tuple(array 2, array 1)`.
pub(super) fn returns(text: &str) -> Result<Returns, String> {
    let text = text.trim();
    if let Some(parts) = text.strip_prefix("tuple(").and_then(|rest| rest.strip_suffix(')')) {
        return Ok(Returns::Tuple(split(parts).into_iter().map(returns).collect::<Result<_, _>>()?));
    }
    if let Some(class) = text.strip_prefix("object ") {
        return Ok(Returns::Object(class.to_owned()));
    }
    if let Some(rank) = text.strip_prefix("array ") {
        return rank.parse().map(|rank| Returns::Array(Some(rank))).map_err(|_| text.to_owned());
    }
    Ok(match text {
        "elementwise" => Returns::Elementwise,
        "like" => Returns::Like,
        "accumulate" => Returns::Accumulate,
        "shape" => Returns::Shape,
        "reshape" => Returns::Reshape,
        "deeper" => Returns::Deeper,
        "nested" => Returns::Nested,
        "array" => Returns::Array(None),
        "join" => Returns::Join,
        "stack" => Returns::Stack,
        "reduction" => Returns::Reduction,
        "dot" => Returns::Dot,
        "matmul" => Returns::Matmul,
        "where" => Returns::Where,
        "unique" => Returns::Unique,
        "scalar" => Returns::Scalar,
        "python" => Returns::Python,
        "truth" => Returns::Truth,
        "number" => Returns::Number,
        "grid" => Returns::Grid,
        "per-matrix" => Returns::PerMatrix,
        "quantile" => Returns::Quantile,
        "same" => Returns::Same,
        "value" => Returns::Value,
        "indices" => Returns::Indices,
        "list" => Returns::List,
        "draw" => Returns::Draw,
        "dims" => Returns::Dims,
        "loaded" => Returns::Loaded,
        "special" => Returns::Special,
        "none" => Returns::Nothing,
        "other" => Returns::Other,
        "unknown" => Returns::Unknown,
        _ => return Err(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, ParameterKind, Option<&str>)]) {
        let got = parameters(text).unwrap();
        let got: Vec<_> = got.iter().map(|p| (p.name.as_str(), p.kind, p.default.as_deref())).collect();
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn signatures_read_as_python_does() {
        use ParameterKind::{Either, KeywordOnly, KeywordRest, PositionalOnly, Rest};
        check("", &[]);
        check("a, /, axis=None", &[("a", PositionalOnly, None), ("axis", Either, Some("None"))]);
        check("x, *, axes=(-2, -1)", &[("x", Either, None), ("axes", KeywordOnly, Some("(-2, -1)"))]);
        check("*xi, **kw", &[("xi", Rest, None), ("kw", KeywordRest, None)]);
        check("s=', ', t=1", &[("s", Either, Some("', '")), ("t", Either, Some("1"))]);
    }

    #[test]
    fn what_is_no_signature_is_named() {
        assert_eq!(parameters("a, b c"), Err("b c".to_owned()));
        assert_eq!(parameters("a, =3"), Err(String::new()));
    }

    #[test]
    fn result_classes_nest() {
        let pair = Returns::Tuple(vec![Returns::Array(Some(2)), Returns::Value]);
        assert_eq!(returns("tuple(array 2, value)"), Ok(pair));
        assert_eq!(returns("array two"), Err("array two".to_owned()));
        assert_eq!(returns("matrix"), Err("matrix".to_owned()));
    }
}
