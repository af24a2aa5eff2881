//! The inner loops of comparing: pure functions over pieces of two arrays.
//!
//! A ratio is an error in proportion to what is allowed: above 1, the two values disagree.
#![allow(clippy::float_cmp, reason = "equal values have no error, whatever is allowed")]

use super::tolerance::Tolerance;

/// Independent running maxima: without them each step would wait for the one before.
const LANES: usize = 8;

/// A float type as it lies in a file.
pub trait Element: Sync {
    /// Bytes of one element.
    const SIZE: usize;
    /// The error between two elements in proportion to what is allowed.
    fn ratio(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64) -> f64;
    /// The element's size, 0 if it is not finite.
    fn magnitude(element: &[u8]) -> f64;
    /// The ratios of a block of elements.
    #[inline]
    fn ratios(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64) -> [f64; LANES] {
        std::array::from_fn(|lane| {
            let place = lane * Self::SIZE..(lane + 1) * Self::SIZE;
            Self::ratio(&before[place.clone()], &after[place], tolerance, scale)
        })
    }
}

/// A real number that fits into a float64.
pub trait Real: Sync {
    /// Bytes of one number.
    const SIZE: usize;
    /// Reads one.
    fn read(bytes: &[u8]) -> f64;
}

/// float64.
pub struct Double<const BIG: bool>;
/// float32.
pub struct Single<const BIG: bool>;
/// float16.
pub struct Half<const BIG: bool>;
/// Two numbers of which the first is the real part.
pub struct Complex<R>(std::marker::PhantomData<R>);

/// The first `N` bytes.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

impl<const BIG: bool> Real for Double<BIG> {
    const SIZE: usize = 8;
    #[inline]
    fn read(bytes: &[u8]) -> f64 {
        if BIG { f64::from_be_bytes(first(bytes)) } else { f64::from_le_bytes(first(bytes)) }
    }
}

impl<const BIG: bool> Real for Single<BIG> {
    const SIZE: usize = 4;
    #[inline]
    fn read(bytes: &[u8]) -> f64 {
        f64::from(if BIG { f32::from_be_bytes(first(bytes)) } else { f32::from_le_bytes(first(bytes)) })
    }
}

impl<const BIG: bool> Real for Half<BIG> {
    const SIZE: usize = 2;
    #[inline]
    fn read(bytes: &[u8]) -> f64 {
        half(if BIG { u16::from_be_bytes(first(bytes)) } else { u16::from_le_bytes(first(bytes)) })
    }
}

/// An IEEE 754 half precision number.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let digits = bits & 0x3ff;
    let fraction = f64::from(digits);
    sign * match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if digits == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
    }
}

impl<R: Real> Element for R {
    const SIZE: usize = R::SIZE;
    #[inline]
    fn ratio(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64) -> f64 {
        let (before, after) = (R::read(before), R::read(after));
        let same = (before == after) | (before.is_nan() & after.is_nan());
        judge((before - after).abs(), same, tolerance.allowed(before, after, scale))
    }
    /// Step by step over the whole block, so that each step becomes vector instructions.
    #[inline]
    fn ratios(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64) -> [f64; LANES] {
        let read = |bytes: &[u8]| -> [f64; LANES] {
            std::array::from_fn(|lane| R::read(&bytes[lane * R::SIZE..(lane + 1) * R::SIZE]))
        };
        let (a, b) = (read(before), read(after));
        let mut ratios = [0.0; LANES];
        for lane in 0..LANES {
            let (x, y) = (a[lane], b[lane]);
            let size = if x.abs() > y.abs() { x.abs() } else { y.abs() };
            let size = if size > scale { size } else { scale };
            let error = (x - y).abs();
            let ratio = error / (tolerance.rtol * size + tolerance.atol);
            let ratio = if error < f64::INFINITY { ratio } else { f64::INFINITY };
            let same = (x == y) | (x.is_nan() & y.is_nan());
            ratios[lane] = if same { 0.0 } else { ratio };
        }
        ratios
    }
    #[inline]
    fn magnitude(element: &[u8]) -> f64 {
        let size = R::read(element).abs();
        if size < f64::INFINITY { size } else { 0.0 }
    }
}

impl<R: Real> Element for Complex<R> {
    const SIZE: usize = 2 * R::SIZE;
    #[inline]
    fn ratio(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64) -> f64 {
        let parts = |bytes: &[u8]| (R::read(bytes), R::read(&bytes[R::SIZE..]));
        let ((a_re, a_im), (b_re, b_im)) = (parts(before), parts(after));
        let equal = |a: f64, b: f64| (a == b) | (a.is_nan() & b.is_nan());
        let same = equal(a_re, b_re) & equal(a_im, b_im);
        let finite = a_re.is_finite() & a_im.is_finite() & b_re.is_finite() & b_im.is_finite();
        let error = if finite { (a_re - b_re).hypot(a_im - b_im) } else { f64::INFINITY };
        judge(error, same, tolerance.allowed(a_re.hypot(a_im), b_re.hypot(b_im), scale))
    }
    #[inline]
    fn magnitude(element: &[u8]) -> f64 {
        let size = R::read(element).hypot(R::read(&element[R::SIZE..]));
        if size < f64::INFINITY { size } else { 0.0 }
    }
}

/// The ratio of an error. Where one value is not finite and the other is another, nothing helps.
#[inline]
fn judge(error: f64, same: bool, allowed: f64) -> f64 {
    let ratio = if error < f64::INFINITY { error / allowed } else { f64::INFINITY };
    if same { 0.0 } else { ratio }
}

/// What a pass over some elements found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Found {
    /// The largest ratio.
    pub ratio: f64,
    /// The element that has it.
    pub index: u64,
    /// Elements beyond what is allowed.
    pub fails: u64,
}

impl Found {
    /// Both together: the larger ratio, at the smaller index where they are equal.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let other_is_worse =
            other.ratio > self.ratio || (other.ratio == self.ratio && other.index < self.index);
        let worse = if other_is_worse { other } else { self };
        Self { fails: self.fails + other.fails, ..worse }
    }
}

/// Compares two pieces of equal length; `start` is the index of their first element, and stands for the worst one
/// until [`locate`] finds it.
pub fn compare<E: Element>(
    before: &[u8],
    after: &[u8],
    start: u64,
    tolerance: Tolerance,
    scale: f64,
) -> Found {
    if before == after {
        return Found { index: start, ..Found::default() };
    }
    let mut worst = [0.0_f64; LANES];
    let mut fails = [0_u64; LANES];
    let step = LANES * E::SIZE;
    let (blocks_before, blocks_after) = (before.chunks_exact(step), after.chunks_exact(step));
    let (rest_before, rest_after) = (blocks_before.remainder(), blocks_after.remainder());
    for (a, b) in blocks_before.zip(blocks_after) {
        let ratios = E::ratios(a, b, tolerance, scale);
        for lane in 0..LANES {
            worst[lane] = if ratios[lane] > worst[lane] { ratios[lane] } else { worst[lane] };
            fails[lane] += u64::from(ratios[lane] > 1.0);
        }
    }
    for (a, b) in rest_before.chunks_exact(E::SIZE).zip(rest_after.chunks_exact(E::SIZE)) {
        let ratio = E::ratio(a, b, tolerance, scale);
        worst[0] = worst[0].max(ratio);
        fails[0] += u64::from(ratio > 1.0);
    }
    let ratio = worst.into_iter().fold(0.0, f64::max);
    Found { ratio, index: start, fails: fails.into_iter().sum() }
}

/// The place of the first element of a piece that has this ratio, the piece's worst.
pub fn locate<E: Element>(before: &[u8], after: &[u8], tolerance: Tolerance, scale: f64, ratio: f64) -> u64 {
    let mut pairs = before.chunks_exact(E::SIZE).zip(after.chunks_exact(E::SIZE));
    pairs.position(|(a, b)| E::ratio(a, b, tolerance, scale) >= ratio).unwrap_or(0) as u64
}

/// The largest finite element.
pub fn largest<E: Element>(elements: &[u8]) -> f64 {
    elements.chunks_exact(E::SIZE).map(E::magnitude).fold(0.0, f64::max)
}

/// The sum of the squares of the finite elements, each divided by `unit` first, and how many elements there are.
pub fn squares<E: Element>(elements: &[u8], unit: f64) -> f64 {
    elements.chunks_exact(E::SIZE).map(|element| (E::magnitude(element) / unit).powi(2)).sum()
}

/// Compares elements of `size` bytes bit for bit.
pub fn compare_bytes(before: &[u8], after: &[u8], start: u64, size: usize) -> Found {
    if before == after || size == 0 {
        return Found { index: start, ..Found::default() };
    }
    let mut found = Found { index: start, ..Found::default() };
    for (index, (a, b)) in before.chunks_exact(size).zip(after.chunks_exact(size)).enumerate() {
        if a != b {
            if found.fails == 0 {
                found.index = start + index as u64;
            }
            found.fails += 1;
            found.ratio = f64::INFINITY;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOLERANCE: Tolerance = Tolerance { rtol: 1e-7, atol: 0.0, kappa: 0.0 };

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn doubles(before: &[f64], after: &[f64], tolerance: Tolerance, scale: f64) -> Found {
        let (before, after) = (bytes(before), bytes(after));
        let found = compare::<Double<false>>(&before, &after, 0, tolerance, scale);
        let index = locate::<Double<false>>(&before, &after, tolerance, scale, found.ratio);
        Found { index, ..found }
    }

    #[test]
    fn ratios_of_single_pairs() {
        let check = |a: f64, b: f64, agrees: bool| {
            assert_eq!(doubles(&[a], &[b], TOLERANCE, 0.0).fails == 0, agrees, "{a} and {b}");
        };
        check(1.0, 1.0 + 0.9e-7, true);
        check(1.0, 1.0 + 1.2e-7, false);
        check(0.0, -0.0, true);
        check(0.0, 1e-300, false);
        check(f64::NAN, f64::NAN, true);
        check(f64::NAN, 1.0, false);
        check(1.0, f64::NAN, false);
        check(f64::INFINITY, f64::INFINITY, true);
        check(f64::INFINITY, f64::NEG_INFINITY, false);
        check(f64::INFINITY, f64::MAX, false);
        check(f64::MAX, -f64::MAX, false);
    }

    #[test]
    fn the_worst_is_found_wherever_it_is() {
        for length in [1, 7, 8, 9, 40, 1001] {
            for place in [0, length / 2, length - 1] {
                let before: Vec<f64> = (0..length).map(|i| 1.0 + i as f64).collect();
                let mut after = before.clone();
                after[place] *= 1.5;
                after[(place + 1) % length] *= if length > 1 { 1.001 } else { 1.0 };
                let found = doubles(&before, &after, TOLERANCE, 0.0);
                assert_eq!(found.index, place as u64, "{length}");
                assert_eq!(found.fails, if length > 1 { 2 } else { 1 });
            }
        }
    }

    #[test]
    fn halves_are_read_as_ieee_says() {
        let check = |bits: u16, expected: f64| assert_eq!(half(bits), expected, "{bits:#x}");
        check(0x3c00, 1.0);
        check(0xc000, -2.0);
        check(0x7bff, 65504.0);
        check(0x0001, 2.0_f64.powi(-24));
        check(0x0400, 2.0_f64.powi(-14));
        check(0x7c00, f64::INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn a_complex_number_is_one_value() {
        let before = bytes(&[1.0, 1e-9, f64::NAN, 0.0]);
        let check = |after: [f64; 4], fails: u64| {
            let found = compare::<Complex<Double<false>>>(&before, &bytes(&after), 0, TOLERANCE, 0.0);
            assert_eq!(found.fails, fails, "{after:?}");
        };
        check([1.0, 2e-9, f64::NAN, 0.0], 0);
        check([1.0, 1e-6, f64::NAN, 0.0], 1);
        check([1.0, 1e-9, 0.0, f64::NAN], 1);
        check([f64::NAN, 1e-9, f64::NAN, 0.0], 1);
    }

    proptest! {
        #[test]
        fn comparing_is_reflexive_and_symmetric(pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 1..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            prop_assert_eq!(doubles(&a, &a, Tolerance::EXACT, 0.0).fails, 0);
            let (there, back) = (doubles(&a, &b, TOLERANCE, 0.0), doubles(&b, &a, TOLERANCE, 0.0));
            prop_assert_eq!(there, back);
        }

        #[test]
        fn comparing_is_monotone_in_tolerance(
            pairs in prop::collection::vec((-1e3..1e3_f64, 0.9..1.1_f64), 1..40), rtol in 0.0..0.2_f64, more in 0.0..0.2_f64
        ) {
            let a: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            let b: Vec<f64> = pairs.iter().map(|pair| pair.0 * pair.1).collect();
            let fails = |rtol| doubles(&a, &b, Tolerance { rtol, ..TOLERANCE }, 0.0).fails;
            prop_assert!(fails(rtol + more) <= fails(rtol));
        }

        #[test]
        fn pieces_add_up(pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 2..60), cut in 1..59_usize) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let cut = cut.min(a.len() - 1);
            let whole = doubles(&a, &b, TOLERANCE, 0.0);
            let parts = doubles(&a[..cut], &b[..cut], TOLERANCE, 0.0).join(doubles(&a[cut..], &b[cut..], TOLERANCE, 0.0));
            prop_assert_eq!((parts.ratio, parts.fails), (whole.ratio, whole.fails));
        }

        #[test]
        fn blocks_are_judged_like_single_elements(
            a in prop::collection::vec(any::<f64>(), LANES), b in prop::collection::vec(any::<f64>(), LANES), same in 0..LANES
        ) {
            let mut b = b;
            b[same] = a[same];
            let (a, b) = (bytes(&a), bytes(&b));
            let block = Double::<false>::ratios(&a, &b, TOLERANCE, 1e-3);
            for (lane, ratio) in block.into_iter().enumerate() {
                let place = lane * 8..(lane + 1) * 8;
                prop_assert_eq!(ratio, Double::<false>::ratio(&a[place.clone()], &b[place], TOLERANCE, 1e-3));
            }
        }
    }
}
