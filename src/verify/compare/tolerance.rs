//! How much two outputs may differ: defaults, what a contract says of an output, and what noise allows.
//!
//! Two floats agree if `|a - b| <= rtol * max(|a|, |b|, kappa * rms) + atol`, where `rms` is the root mean square of
//! the original's finite elements. The part with `rms` is the scale-aware floor: where a result is what remains of
//! terms that cancel, its error is in proportion to the terms, not to the remainder. The rms is the right measure of
//! the terms' size because orthogonal transforms and their like spread an error evenly over all elements (Higham,
//! *Accuracy and Stability of Numerical Algorithms*, 2nd ed., §24.1 for the FFT); a maximum would let one peak hide
//! errors everywhere else. `kappa` is `sqrt(eps / rtol)` at the default `rtol`, so that the floor lies half-way, in
//! orders of magnitude, between rounding of the scale and the tolerance at the scale: 4.7e-12 · rms for float64.
//! Since every element's error is within `rtol` of its own size or of the rms, the error's 2-norm is within
//! `rtol * sqrt(1 + kappa²)` of the original's: the elementwise test implies the normwise one.
//!
//! An `atol` that the contract names takes the floor's place.

use serde::{Deserialize, Serialize};

use crate::verify::Contract;

/// A noisy original may widen the tolerance to this many times its own difference from run to run, …
pub const NOISE_FACTOR: f64 = 3.0;
/// … but never beyond this many times what it would be without noise.
pub const NOISE_CAP: f64 = 10.0;

/// How an output is compared, as a contract names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Comparator {
    /// By name.
    Named(Named),
    /// Up to what does not matter.
    UpTo {
        /// What does not matter.
        #[serde(rename = "up-to")]
        up_to: UpTo,
    },
    /// Floats within these tolerances; the one that is not given keeps its default.
    Tolerance {
        /// Relative tolerance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rtol: Option<f64>,
        /// Absolute tolerance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        atol: Option<f64>,
    },
}

/// Comparators without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// Bit for bit, signs of zero and NaN payloads aside.
    Exact,
    /// Not at all.
    Ignore,
}

/// What does not matter in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpTo {
    /// Which label a group has. Negative labels, which mean "no group", must be the same.
    Permutation,
}

/// What the elements of a float array are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// float64, complex128, and numbers in text.
    Double,
    /// float32, complex64 and bfloat16.
    Single,
    /// float16.
    Half,
}

impl Precision {
    /// `sqrt(eps / default rtol)`; see the module's text.
    fn kappa(self) -> f64 {
        let (epsilon, rtol): (f64, f64) = match self {
            Self::Double => (f64::EPSILON, 1e-7),
            Self::Single => (f64::from(f32::EPSILON), 1e-4),
            Self::Half => (9.77e-4, 1e-2),
        };
        (epsilon / rtol).sqrt()
    }

    /// The name a contract gives it.
    fn name(self) -> &'static str {
        match self {
            Self::Double => "float64",
            Self::Single => "float32",
            Self::Half => "float16",
        }
    }
}

/// The tolerance for one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the larger of the two values.
    pub rtol: f64,
    /// Absolute; 0 where the floor is scale-aware.
    pub atol: f64,
    /// The floor's scale in proportion to the rms; 0 where `atol` takes its place.
    pub kappa: f64,
}

impl Tolerance {
    /// Nothing may differ.
    pub const EXACT: Self = Self { rtol: 0.0, atol: 0.0, kappa: 0.0 };

    /// What measures noise: ratios under it are scaled errors themselves.
    pub fn unit(precision: Precision) -> Self {
        Self { rtol: 1.0, atol: 0.0, kappa: precision.kappa() }
    }

    /// The tolerance that noise of the original allows, and whether the noise asked for more than the cap.
    pub fn with_noise(self, noise: f64) -> (Self, bool) {
        let wanted = NOISE_FACTOR * noise;
        let cap = NOISE_CAP * self.rtol;
        let rtol = self.rtol.max(wanted.min(cap));
        (Self { rtol, ..self }, wanted > cap)
    }

    /// Whether nothing may differ.
    pub fn is_exact(self) -> bool {
        self.rtol == 0.0 && self.atol == 0.0
    }

    /// The largest absolute error allowed between two values where the scale-aware floor is `scale`.
    pub fn allowed(self, before: f64, after: f64, scale: f64) -> f64 {
        self.rtol * before.abs().max(after.abs()).max(scale) + self.atol
    }
}

/// What a contract says of outputs.
#[derive(Debug)]
pub struct Policy<'a> {
    contract: &'a Contract,
}

impl<'a> Policy<'a> {
    /// The contract's policy.
    pub fn new(contract: &'a Contract) -> Self {
        Self { contract }
    }

    /// What the contract says of an output or of something that holds it: the longest pattern that fits wins.
    pub fn comparator(&self, path: &str) -> Option<&'a Comparator> {
        self.contract
            .tolerance
            .iter()
            .filter(|(pattern, _)| covers(pattern, path))
            .max_by_key(|(pattern, _)| pattern.len())
            .map(|(_, comparator)| comparator)
    }

    /// The tolerance of an output's floats.
    pub fn tolerance(&self, path: &str, precision: Precision) -> Tolerance {
        let position = precision as usize;
        let mut tolerance =
            Tolerance { rtol: self.contract.rtol[position], atol: 0.0, kappa: precision.kappa() };
        if let Some(atol) = self.contract.atol {
            tolerance = Tolerance { atol, kappa: 0.0, ..tolerance };
        }
        for said in
            [self.contract.tolerance.get(precision.name()), self.comparator(path)].into_iter().flatten()
        {
            tolerance = match *said {
                Comparator::Named(Named::Exact) => Tolerance::EXACT,
                Comparator::Tolerance { rtol, atol } => Tolerance {
                    rtol: rtol.unwrap_or(tolerance.rtol),
                    atol: atol.unwrap_or(tolerance.atol),
                    kappa: if atol.is_some() { 0.0 } else { tolerance.kappa },
                },
                Comparator::Named(Named::Ignore) | Comparator::UpTo { .. } => tolerance,
            };
        }
        tolerance
    }
}

/// Whether a pattern names an output or something that holds it. Files may be named with or without `files/`.
fn covers(pattern: &str, path: &str) -> bool {
    let inside_files = path.strip_prefix("files/");
    fits(pattern, path) || inside_files.is_some_and(|path| fits(pattern, path))
}

/// Whether a pattern fits a path or a beginning of it that ends where a part ends. `*` stands for any text within a
/// part of a file's path, `**` for any text.
fn fits(pattern: &str, path: &str) -> bool {
    let boundary = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[', ':', '/']);
    let Some(star) = pattern.find('*') else {
        return path.strip_prefix(pattern).is_some_and(boundary);
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..star]) else { return false };
    let across = pattern[star..].starts_with("**");
    let after = pattern[star..].trim_start_matches('*');
    loop {
        if fits_after_star(after, rest) {
            return true;
        }
        let Some(next) = rest.chars().next() else { return false };
        if next == '/' && !across {
            return false;
        }
        rest = &rest[next.len_utf8()..];
    }
}

/// What follows a star: an end of the pattern fits everywhere, anything else as usual.
fn fits_after_star(after: &str, rest: &str) -> bool {
    after.is_empty() || fits(after, rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_name_outputs_and_what_is_below() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(covers(pattern, path), expected, "{pattern} on {path}");
        };
        check("globals.u", "globals.u", true);
        check("globals.u", "globals.u[3, 4]", true);
        check("globals.model", "globals.model.labels_", true);
        check("globals.u", "globals.up", false);
        check("return", "return[0]", true);
        check("return[0]", "return[0].x", true);
        check("return[0]", "return[1]", false);
        check("out/*.npy", "files/out/x.npy", true);
        check("out/*.npy", "files/out/deep/x.npy", false);
        check("out/**.npy", "files/out/deep/x.npy", true);
        check("files/out/x.npy", "files/out/x.npy[3]", true);
        check("globals.*_seconds", "globals.solve_seconds", true);
        check("globals.*", "globals.anything", true);
        check("stdout", "stdout:12", true);
        check("", "stdout", false);
    }

    #[test]
    fn noise_widens_up_to_the_cap() {
        let tolerance = Tolerance { rtol: 1e-7, atol: 0.0, kappa: 0.0 };
        let check = |noise: f64, rtol: f64, beyond: bool| {
            let (widened, over) = tolerance.with_noise(noise);
            assert!((widened.rtol - rtol).abs() <= rtol * 1e-12, "{noise}: {}", widened.rtol);
            assert_eq!(over, beyond, "{noise}");
        };
        check(0.0, 1e-7, false);
        check(1e-9, 1e-7, false);
        check(1e-7, 3e-7, false);
        check(3e-7, 9e-7, false);
        check(1e-6, 1e-6, true);
        check(f64::INFINITY, 1e-6, true);
    }

    #[test]
    fn comparators_are_written_as_the_manual_says() {
        let check = |text: &str, expected: Comparator| {
            assert_eq!(
                toml::from_str::<std::collections::BTreeMap<String, Comparator>>(text).unwrap()["x"],
                expected
            );
        };
        check("x = 'exact'", Comparator::Named(Named::Exact));
        check("x = 'ignore'", Comparator::Named(Named::Ignore));
        check("x = {up-to = 'permutation'}", Comparator::UpTo { up_to: UpTo::Permutation });
        check("x = {rtol = 1e-9}", Comparator::Tolerance { rtol: Some(1e-9), atol: None });
        for bad in ["x = 'roughly'", "x = {up-to = 'taste'}", "x = {rtoll = 1.0}"] {
            assert!(toml::from_str::<std::collections::BTreeMap<String, Comparator>>(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_larger_tolerance_never_allows_less(
            a in any::<f64>(), b in any::<f64>(), scale in 0.0..1e10_f64, rtol in 0.0..1.0_f64, more in 0.0..1.0_f64
        ) {
            let small = Tolerance { rtol, atol: 0.0, kappa: 0.1 }.allowed(a, b, scale);
            let large = Tolerance { rtol: rtol + more, atol: 0.0, kappa: 0.1 }.allowed(a, b, scale);
            prop_assert!(small <= large || small.is_nan() || a.is_infinite() || b.is_infinite());
        }

        #[test]
        fn matching_ends(pattern in "[a*/.]{0,8}", path in "[a/.]{0,12}") {
            let _ = covers(&pattern, &path);
        }
    }
}
