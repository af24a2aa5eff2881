//! Reading `.npy` headers: dtype, order, shape, and where the elements are.
//!
//! The format is that of `numpy.lib.format`, versions 1 to 3.

use super::source::Source;

/// Headers longer than this hold no plain array.
const HEADER_LIMIT: usize = 64 << 10;
/// As many dimensions as `NumPy` itself allows.
const RANK_LIMIT: usize = 64;

/// Why a file is no array that can be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// It is no `.npy` file, or a damaged one.
    #[error("the array file is damaged: {0}")]
    Damaged(String),
    /// Its elements are of a type that isn't read: structured, Python objects.
    #[error("the array's elements are of the type {0}, which is not read")]
    Unsupported(String),
}

/// What an array file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The element type.
    pub dtype: Dtype,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// The shape.
    pub shape: Vec<u64>,
}

/// An element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dtype {
    /// As `NumPy` writes it: `<f8`.
    pub text: String,
    /// What the bytes mean.
    pub kind: Kind,
    /// Bytes of one element.
    pub size: usize,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

/// What an element's bytes mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integer; dates and times too.
    Int,
    /// Unsigned integer.
    Uint,
    /// IEEE 754 binary floating point, of 2, 4 or 8 bytes.
    Float,
    /// Two floats.
    Complex,
    /// Bytes or characters, compared as they are.
    Raw,
}

impl Dtype {
    /// Reads `NumPy`'s text for a plain type.
    pub fn parse(text: &str) -> Result<Self, NpyError> {
        let unsupported = || NpyError::Unsupported(text.chars().take(80).collect());
        let (order, rest) = match text.as_bytes().first() {
            Some(b'<' | b'|' | b'=') => (false, &text[1..]),
            Some(b'>') => (true, &text[1..]),
            _ => return Err(unsupported()),
        };
        let letter = rest.chars().next().filter(char::is_ascii).ok_or_else(unsupported)?;
        let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
        let number: usize = digits.parse().map_err(|_| unsupported())?;
        let (kind, sizes, unit): (Kind, &[usize], usize) = match letter {
            'b' => (Kind::Bool, &[1], 1),
            'i' => (Kind::Int, &[1, 2, 4, 8], 1),
            'u' => (Kind::Uint, &[1, 2, 4, 8], 1),
            'f' => (Kind::Float, &[2, 4, 8], 1),
            'c' => (Kind::Complex, &[8, 16], 1),
            'M' | 'm' => (Kind::Int, &[8], 1),
            'S' => (Kind::Raw, &[], 1),
            'U' => (Kind::Raw, &[], 4),
            _ => return Err(unsupported()),
        };
        let rest_fits = matches!(letter, 'M' | 'm') || digits.len() + 1 == rest.len();
        if !rest_fits || (!sizes.is_empty() && !sizes.contains(&number)) || number > (1 << 24) {
            return Err(unsupported());
        }
        Ok(Self { text: text.to_owned(), kind, size: number * unit, big_endian: order })
    }
}

impl Header {
    /// The number of elements.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// The number of elements of a shape and their bytes, where both fit into 63 bits.
pub fn checked_size(shape: &[u64], size: usize) -> Option<(u64, u64)> {
    let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent))?;
    let bytes = count.checked_mul(size as u64)?;
    i64::try_from(bytes).is_ok().then_some((count, bytes))
}

/// Reads a header and returns it with the elements, whose size is exactly what the header says.
pub fn open(source: Source) -> Result<(Header, Source), NpyError> {
    let damaged = |why: &str| NpyError::Damaged(why.to_owned());
    let read = |buffer: &mut [u8], position: u64| {
        source.read_at(buffer, position).map_err(|error| NpyError::Damaged(error.to_string()))
    };
    let mut magic = [0; 8];
    read(&mut magic, 0)?;
    if &magic[..6] != b"\x93NUMPY" {
        return Err(damaged("it does not begin as one"));
    }
    let width: u64 = match magic[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(NpyError::Damaged(format!("version {version} is unknown"))),
    };
    let mut length = [0; 4];
    read(&mut length[..width as usize], 8)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > HEADER_LIMIT {
        return Err(NpyError::Unsupported(format!("with a header of {length} bytes")));
    }
    let mut text = vec![0; length];
    read(&mut text, 8 + width)?;
    let text = std::str::from_utf8(&text).map_err(|_| damaged("its header is no text"))?;
    let header = parse_header(text)?;
    let elements = source.skip(8 + width + length as u64);
    let (_, bytes) =
        checked_size(&header.shape, header.dtype.size).ok_or_else(|| damaged("its shape is impossible"))?;
    if elements.len() == bytes {
        Ok((header, elements))
    } else {
        Err(NpyError::Damaged(format!("{} bytes where its header says {bytes}", elements.len())))
    }
}

/// Reads the header's Python dict of `descr`, `fortran_order` and `shape`.
fn parse_header(text: &str) -> Result<Header, NpyError> {
    let damaged = |why: &str| NpyError::Damaged(format!("its header {why}"));
    let (mut dtype, mut order, mut shape) = (None, None, None);
    let mut rest = text.trim().strip_prefix('{').ok_or_else(|| damaged("is no dict"))?;
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(end) = rest.strip_prefix('}') {
            if !end.trim().is_empty() {
                return Err(damaged("goes on after its end"));
            }
            break;
        }
        let (key, after) = quoted(rest).ok_or_else(|| damaged("has no key where one is expected"))?;
        rest = after.trim_start().strip_prefix(':').ok_or_else(|| damaged("lacks a colon"))?.trim_start();
        match key {
            "descr" if rest.starts_with('[') => {
                return Err(NpyError::Unsupported("a record".to_owned()));
            }
            "descr" => {
                let (value, after) = quoted(rest).ok_or_else(|| damaged("has no type"))?;
                dtype = Some(Dtype::parse(value)?);
                rest = after;
            }
            "fortran_order" => {
                let (value, after) = if let Some(after) = rest.strip_prefix("True") {
                    (true, after)
                } else {
                    (false, rest.strip_prefix("False").ok_or_else(|| damaged("has no order"))?)
                };
                order = Some(value);
                rest = after;
            }
            "shape" => {
                let inner = rest.strip_prefix('(').ok_or_else(|| damaged("has no shape"))?;
                let (inside, after) =
                    inner.split_once(')').ok_or_else(|| damaged("has no end of its shape"))?;
                shape = Some(parse_shape(inside).ok_or_else(|| damaged("has a shape that is none"))?);
                rest = after;
            }
            _ => return Err(damaged("has a key that is unknown")),
        }
    }
    Ok(Header {
        dtype: dtype.ok_or_else(|| damaged("has no type"))?,
        fortran_order: order.ok_or_else(|| damaged("has no order"))?,
        shape: shape.ok_or_else(|| damaged("has no shape"))?,
    })
}

/// A quoted word without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// The extents between the parentheses of a shape.
fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let extents: Option<Vec<u64>> = text
        .split(',')
        .map(str::trim)
        .filter(|extent| !extent.is_empty())
        .map(|extent| extent.parse().ok())
        .collect();
    extents.filter(|extents| extents.len() <= RANK_LIMIT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(header: &str, elements: usize) -> Source {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(vec![0; elements]);
        Source::from_memory(bytes)
    }

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let check = |text: &str, bytes: usize, dtype: &str, order: bool, shape: &[u64]| {
            let (header, elements) = open(file(text, bytes)).unwrap();
            assert_eq!((header.dtype.text.as_str(), header.fortran_order), (dtype, order));
            assert_eq!(header.shape, shape);
            assert_eq!(elements.len(), bytes as u64);
        };
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n", 96, "<f8", false, &[3, 4]);
        check("{'descr': '|b1', 'fortran_order': True, 'shape': (5,), }\n", 5, "|b1", true, &[5]);
        check("{'descr': '<U3', 'fortran_order': False, 'shape': (), }\n", 12, "<U3", false, &[]);
        check(
            "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (0, 7), }",
            0,
            "<M8[ns]",
            false,
            &[0, 7],
        );
    }

    #[test]
    fn what_is_no_array_is_refused() {
        let check = |text: &str, bytes: usize, expected: &str| {
            let error = open(file(text, bytes)).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 23, "24");
        check("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", 24, "|O");
        check("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (3,), }", 24, "record");
        check(
            "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
            0,
            "impossible",
        );
        check("{'descr': '<f8', 'shape': (3,), }", 24, "order");
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", 24, "shape");
        check("__import__('os')", 0, "dict");
        check("{'descr': '<f3', 'fortran_order': False, 'shape': (3,), }", 24, "<f3");
        assert!(open(Source::from_memory(b"PK\x03\x04abcdefgh".to_vec())).is_err());
        assert!(open(Source::from_memory(Vec::new())).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(head in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
            let mut bytes = if magic { b"\x93NUMPY\x01\x00".to_vec() } else { Vec::new() };
            bytes.extend(head);
            drop(open(Source::from_memory(bytes)));
        }

        #[test]
        fn no_header_makes_it_panic(text in "\\{('(descr|fortran_order|shape|x)': ?('[<>|=a-zA-Z0-9]{0,5}'|True|\\([0-9, -]{0,20}\\)|\\[),? ?){0,4}\\}?") {
            drop(open(file(&text, 8)));
        }
    }
}
