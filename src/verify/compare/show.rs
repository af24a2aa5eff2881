//! Single elements as people read them.

use super::kernel::{Double, Half, Real, Single};
use crate::verify::capture::npy::{Dtype, Kind};

/// An element as text, and as a number where it is a real one.
pub fn element(dtype: &Dtype, bytes: &[u8]) -> (String, Option<f64>) {
    match dtype.kind {
        Kind::Bool => (if bytes == [0] { "False" } else { "True" }.to_owned(), None),
        Kind::Int | Kind::Uint => {
            let value = integer(bytes, dtype.big_endian, dtype.kind == Kind::Int);
            (value.to_string(), Some(value as f64))
        }
        Kind::Float => {
            let value = real(bytes, dtype.big_endian);
            (float(value, bytes.len()), Some(value))
        }
        Kind::Complex => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            let (re, im) = (real(re, dtype.big_endian), real(im, dtype.big_endian));
            let size = bytes.len() / 2;
            let sign = if im.is_sign_negative() { "" } else { "+" };
            (format!("{}{sign}{}j", float(re, size), float(im, size)), None)
        }
        Kind::Raw => (raw(dtype, bytes), None),
    }
}

/// A real number from its bytes.
fn real(bytes: &[u8], big_endian: bool) -> f64 {
    match (bytes.len(), big_endian) {
        (8, false) => Double::<false>::read(bytes),
        (8, true) => Double::<true>::read(bytes),
        (4, false) => Single::<false>::read(bytes),
        (4, true) => Single::<true>::read(bytes),
        (_, false) => Half::<false>::read(bytes),
        (_, true) => Half::<true>::read(bytes),
    }
}

/// A float with the fewest digits that tell it from its neighbours of the same type.
pub fn float(value: f64, size: usize) -> String {
    if size == 4 {
        return format!("{:?}", value as f32);
    }
    format!("{value:?}")
}

/// An integer of up to 16 bytes.
pub fn integer(bytes: &[u8], big_endian: bool, signed: bool) -> i128 {
    let mut wide = [0; 16];
    for (place, byte) in wide.iter_mut().zip(bytes) {
        *place = *byte;
    }
    let size = bytes.len().min(16);
    if big_endian {
        wide[..size].reverse();
    }
    let value = i128::from_le_bytes(wide);
    if signed && (1..16).contains(&size) {
        let unused = 128 - 8 * size;
        (value << unused) >> unused
    } else {
        value
    }
}

/// Characters or bytes, without what fills them up.
fn raw(dtype: &Dtype, bytes: &[u8]) -> String {
    if dtype.text.contains('U') {
        let code = |four: &[u8]| {
            u32::try_from(integer(four, dtype.big_endian, false))
                .ok()
                .and_then(char::from_u32)
                .unwrap_or('\u{fffd}')
        };
        let text: String = bytes.chunks_exact(4).map(code).collect();
        return format!("{:?}", text.trim_end_matches('\0'));
    }
    format!("{:?}", String::from_utf8_lossy(bytes).trim_end_matches('\0'))
}

/// A text for a message: quoted, and cut where it is long.
pub fn text(value: &str) -> String {
    const LONGEST: usize = 120;
    if value.chars().count() <= LONGEST {
        return format!("{value:?}");
    }
    format!("{:?}…", value.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_shown_as_python_would() {
        let check = |dtype: &str, bytes: &[u8], expected: &str| {
            assert_eq!(element(&Dtype::parse(dtype).unwrap(), bytes).0, expected, "{dtype}");
        };
        check("<f8", &0.1_f64.to_le_bytes(), "0.1");
        check("<f4", &0.1_f32.to_le_bytes(), "0.1");
        check(">f4", &0.1_f32.to_be_bytes(), "0.1");
        check("<f2", &[0x00, 0x3c], "1.0");
        check("<i2", &(-3_i16).to_le_bytes(), "-3");
        check(">i4", &(-3_i32).to_be_bytes(), "-3");
        check("<u8", &u64::MAX.to_le_bytes(), "18446744073709551615");
        check("|b1", &[1], "True");
        check("<c8", &[1.5_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat(), "1.5-2.0j");
        check("<U3", &[97, 0, 0, 0, 98, 0, 0, 0, 0, 0, 0, 0], "\"ab\"");
        check("|S3", b"ab\0", "\"ab\"");
    }
}
