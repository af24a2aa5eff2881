//! Two arrays of any size, compared in pieces by all threads, in memory that does not grow with them.

use std::io;

use rayon::prelude::*;

use super::kernel::{self, Complex, Double, Element, Found, Half, Single};
use super::tolerance::{Precision, Tolerance};
use crate::verify::capture::node::Array;
use crate::verify::capture::npy::{self, Dtype, Header, Kind};
use crate::verify::capture::source::Source;
use crate::verify::capture::{Capture, CaptureError};

/// Bytes that one thread reads at once from each side: both pieces stay in its second-level cache.
const PIECE: usize = 128 << 10;
/// Arrays whose orders differ are read whole; larger ones are refused.
const REORDER_LIMIT: u64 = 4 << 30;

/// Calls a function with the element type of an array as its type parameter.
macro_rules! match_type {
    ($array:expr, $function:ident($($argument:expr),*)) => {{
        let dtype = &$array.header.dtype;
        match (dtype.kind, dtype.size, dtype.big_endian) {
            (Kind::Float, 8, false) => $function::<Double<false>>($($argument),*),
            (Kind::Float, 8, true) => $function::<Double<true>>($($argument),*),
            (Kind::Float, 4, false) => $function::<Single<false>>($($argument),*),
            (Kind::Float, 4, true) => $function::<Single<true>>($($argument),*),
            (Kind::Float, _, false) => $function::<Half<false>>($($argument),*),
            (Kind::Float, _, true) => $function::<Half<true>>($($argument),*),
            (Kind::Complex, 8, false) => $function::<Complex<Single<false>>>($($argument),*),
            (Kind::Complex, 8, true) => $function::<Complex<Single<true>>>($($argument),*),
            (Kind::Complex, _, false) => $function::<Complex<Double<false>>>($($argument),*),
            (Kind::Complex, _, true) => $function::<Complex<Double<true>>>($($argument),*),
            _ => $function::<Raw>($($argument),*),
        }
    }};
}

/// An array that is ready to be compared.
#[derive(Debug)]
pub struct Elements {
    /// Element type, order and shape.
    pub header: Header,
    /// What the program calls the element type; differs from the header's where `NumPy` has no such type.
    pub label: String,
    /// Whether this is a program's list of numbers, not an array.
    pub list: bool,
    source: Source,
}

impl Elements {
    /// An array file, whole.
    pub fn from_npy(source: Source) -> Result<Self, CaptureError> {
        let (header, source) = npy::open(source)?;
        Ok(Self { label: header.dtype.text.clone(), header, source, list: false })
    }

    /// An array from its bytes in C order.
    pub fn from_bytes(dtype: Dtype, shape: Vec<u64>, bytes: Vec<u8>) -> Result<Self, CaptureError> {
        let size = npy::checked_size(&shape, dtype.size);
        if size.map(|(_, size)| size) != Some(bytes.len() as u64) {
            return Err(CaptureError::Inconsistent(
                "an array's shape and bytes don't fit together".to_owned(),
            ));
        }
        let label = dtype.text.clone();
        let header = Header { dtype, fortran_order: false, shape };
        Ok(Self { header, label, source: Source::from_memory(bytes), list: false })
    }

    /// A captured array.
    pub fn from_node(capture: &Capture, array: &Array) -> Result<Self, CaptureError> {
        let stored = Dtype::parse(array.stored.as_deref().unwrap_or(&array.dtype));
        let inconsistent =
            |why: &str| CaptureError::Inconsistent(format!("an array's {why} don't fit together"));
        let elements = match (&array.data, &array.file) {
            (Some(data), None) => {
                let bytes = from_hex(data).ok_or_else(|| inconsistent("digits"))?;
                Self::from_bytes(stored?, array.shape.clone(), bytes)?
            }
            (None, Some(file)) => {
                let elements = Self::from_npy(capture.file(file)?)?;
                if elements.header.shape != array.shape || elements.header.fortran_order {
                    return Err(inconsistent("shape and file"));
                }
                elements
            }
            _ => return Err(inconsistent("places")),
        };
        Ok(Self { label: array.dtype.clone(), list: array.class == "list", ..elements })
    }

    /// The number of elements.
    pub fn count(&self) -> u64 {
        self.header.count()
    }

    /// What floats are made of; `None` for other types.
    pub fn precision(&self) -> Option<Precision> {
        let dtype = &self.header.dtype;
        let size = match dtype.kind {
            Kind::Float => dtype.size,
            Kind::Complex => dtype.size / 2,
            _ => return None,
        };
        Some(match size {
            8 => Precision::Double,
            // A bfloat16 is stored as a float32, but has fewer digits than a float16.
            4 if self.label != "bfloat16" => Precision::Single,
            _ => Precision::Half,
        })
    }

    /// The bytes of one element, `index` counting in the array's own order.
    pub fn element(&self, index: u64) -> io::Result<Vec<u8>> {
        let size = self.header.dtype.size;
        let mut bytes = vec![0; size];
        self.source.read_at(&mut bytes, index * size as u64)?;
        Ok(bytes)
    }

    /// The element as text, and as a number where it is one.
    pub fn show(&self, index: u64) -> io::Result<(String, Option<f64>)> {
        Ok(super::show::element(&self.header.dtype, &self.element(index)?))
    }

    /// All elements, little-endian integers widened to 128 bits; for types whose elements have up to 16 bytes.
    pub fn for_each_key(&self, mut visit: impl FnMut(u64, i128)) -> io::Result<()> {
        let size = self.header.dtype.size.clamp(1, 16);
        let signed = self.header.dtype.kind == Kind::Int;
        let mut piece = vec![0; PIECE / size * size];
        let (mut index, mut position) = (0, 0);
        while position < self.source.len() {
            let length = (self.source.len() - position).min(piece.len() as u64) as usize;
            self.source.read_at(&mut piece[..length], position)?;
            for element in piece[..length].chunks_exact(size) {
                visit(index, super::show::integer(element, self.header.dtype.big_endian, signed));
                index += 1;
            }
            position += length as u64;
        }
        Ok(())
    }

    /// The array with its elements in C order.
    fn in_c_order(self) -> io::Result<Self> {
        if !self.header.fortran_order || self.header.shape.len() < 2 {
            return Ok(Self { header: Header { fortran_order: false, ..self.header }, ..self });
        }
        let bytes = self.source.read_all(REORDER_LIMIT)?;
        let (size, shape) = (self.header.dtype.size, &self.header.shape);
        let mut ordered = Vec::with_capacity(bytes.len());
        for index in 0..self.count() {
            let place = fortran_place(index, shape) as usize * size;
            ordered.extend_from_slice(&bytes[place..place + size]);
        }
        let header = Header { fortran_order: false, ..self.header };
        Ok(Self { header, source: Source::from_memory(ordered), ..self })
    }

    /// An index as the program would write it.
    pub fn index_text(&self, index: u64) -> String {
        let mut rest = index;
        let mut indices = Vec::new();
        let mut unravel = |extent: &u64| {
            indices.push(rest % (*extent).max(1));
            rest /= (*extent).max(1);
        };
        if self.header.fortran_order {
            self.header.shape.iter().for_each(&mut unravel);
        } else {
            self.header.shape.iter().rev().for_each(&mut unravel);
            indices.reverse();
        }
        match indices.as_slice() {
            [] => String::new(),
            indices => format!("[{}]", indices.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Where the element with this C-order index lies in Fortran order.
fn fortran_place(index: u64, shape: &[u64]) -> u64 {
    let (mut rest, mut place, mut stride) = (index, 0, shape.iter().product::<u64>());
    for extent in shape.iter().rev() {
        stride /= extent.max(&1);
        place += rest % extent.max(&1) * stride;
        rest /= extent.max(&1);
    }
    place
}

/// Bytes from hexadecimal digits.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.as_bytes().chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

/// Two arrays of equal type and shape, in the same order.
pub fn same_order(before: Elements, after: Elements) -> io::Result<(Elements, Elements)> {
    if before.header.fortran_order == after.header.fortran_order {
        Ok((before, after))
    } else {
        Ok((before.in_c_order()?, after.in_c_order()?))
    }
}

/// What comparing two arrays found, and the scale-aware floor's scale that it was judged with.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    /// The pass's result.
    pub found: Found,
    /// The floor's scale; 0 where no element needed it.
    pub scale: f64,
}

/// Compares two arrays of equal type, shape and order.
///
/// One pass decides where no element needs the scale-aware floor, which is the rule; else a second one, which knows
/// the original's rms, judges again.
pub fn compare(before: &Elements, after: &Elements, tolerance: Tolerance) -> io::Result<Judged> {
    let pass = |scale| match_type!(before, compare_all(before, after, tolerance, scale));
    let found = pass(0.0)?;
    if found.fails == 0 || tolerance.kappa == 0.0 || before.precision().is_none() {
        return Ok(Judged { found, scale: 0.0 });
    }
    let scale = tolerance.kappa * rms(before)?;
    Ok(Judged { found: pass(scale)?, scale })
}

/// The largest scaled error between two runs of the original: the tolerance under which they would just agree.
pub fn noise(before: &Elements, again: &Elements) -> io::Result<f64> {
    let Some(precision) = before.precision() else {
        return Ok(if compare(before, again, Tolerance::EXACT)?.found.fails == 0 {
            0.0
        } else {
            f64::INFINITY
        });
    };
    let unit = Tolerance::unit(precision);
    let pass = |scale| match_type!(before, compare_all(before, again, unit, scale));
    if pass(0.0)?.ratio == 0.0 {
        return Ok(0.0);
    }
    Ok(pass(unit.kappa * rms(before)?)?.ratio)
}

/// The root mean square of an array's finite elements.
fn rms(array: &Elements) -> io::Result<f64> {
    let largest = match_type!(array, largest_of(array))?;
    if largest == 0.0 {
        return Ok(0.0);
    }
    let squares = match_type!(array, squares_of(array, largest))?;
    Ok(largest * (squares / array.count().max(1) as f64).sqrt())
}

/// Stands for every type that is compared bit for bit.
struct Raw;

impl Element for Raw {
    const SIZE: usize = 0;
    fn ratio(_: &[u8], _: &[u8], _: Tolerance, _: f64) -> f64 {
        f64::INFINITY
    }
    fn magnitude(_: &[u8]) -> f64 {
        0.0
    }
}

/// One pass over both arrays.
fn compare_all<E: Element>(
    before: &Elements,
    after: &Elements,
    tolerance: Tolerance,
    scale: f64,
) -> io::Result<Found> {
    let size = before.header.dtype.size;
    if size == 0 || before.source.len() != after.source.len() {
        return Ok(Found::default());
    }
    let length = PIECE / size.min(PIECE) * size;
    let read = |a: &mut [u8], b: &mut [u8], position: u64| {
        let here = (before.source.len() - position).min(length as u64) as usize;
        before.source.read_at(&mut a[..here], position)?;
        after.source.read_at(&mut b[..here], position)?;
        io::Result::Ok(here)
    };
    let pieces = before.source.len().div_ceil(length as u64);
    let found = (0..pieces)
        .into_par_iter()
        .map_init(
            || (vec![0; length], vec![0; length]),
            |(a, b), piece| {
                let position = piece * length as u64;
                let here = read(a, b, position)?;
                let start = position / size as u64;
                Ok(if E::SIZE == 0 {
                    kernel::compare_bytes(&a[..here], &b[..here], start, size)
                } else {
                    kernel::compare::<E>(&a[..here], &b[..here], start, tolerance, scale)
                })
            },
        )
        .try_reduce_with(|one: Found, other| Ok(one.join(other)))
        .unwrap_or(io::Result::Ok(Found::default()))?;
    if E::SIZE == 0 || found.ratio == 0.0 {
        return Ok(found);
    }
    let (mut a, mut b) = (vec![0; length], vec![0; length]);
    let here = read(&mut a, &mut b, found.index * size as u64)?;
    let place = kernel::locate::<E>(&a[..here], &b[..here], tolerance, scale, found.ratio);
    Ok(Found { index: found.index + place, ..found })
}

/// One pass over one array; `combine` joins what pieces yield.
fn fold(
    array: &Elements,
    look: impl Fn(&[u8]) -> f64 + Sync,
    combine: impl Fn(f64, f64) -> f64 + Sync,
) -> io::Result<f64> {
    let length = PIECE / 16 * 16;
    (0..array.source.len().div_ceil(length as u64))
        .into_par_iter()
        .map_init(
            || vec![0; length],
            |buffer, piece| {
                let position = piece * length as u64;
                let here = (array.source.len() - position).min(length as u64) as usize;
                array.source.read_at(&mut buffer[..here], position)?;
                Ok(look(&buffer[..here]))
            },
        )
        .try_reduce(|| 0.0, |one, other| Ok(combine(one, other)))
}

fn largest_of<E: Element>(array: &Elements) -> io::Result<f64> {
    if E::SIZE == 0 { Ok(0.0) } else { fold(array, kernel::largest::<E>, f64::max) }
}

fn squares_of<E: Element>(array: &Elements, unit: f64) -> io::Result<f64> {
    if E::SIZE == 0 { Ok(0.0) } else { fold(array, |piece| kernel::squares::<E>(piece, unit), |a, b| a + b) }
}

#[cfg(test)]
#[path = "arrays_tests.rs"]
mod tests;
