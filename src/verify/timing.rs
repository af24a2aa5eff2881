//! How much faster: interleaved pairs of runs, the ratio of their medians, and how sure it is.

use serde::{Deserialize, Serialize};

/// Resamplings of the bootstrap: enough for the second digit of a 95 % interval's ends.
const RESAMPLINGS: usize = 2000;
/// Pairs without which nothing is decided, unless each of them lies far from the threshold.
const FEWEST_PAIRS: usize = 5;
/// Pairs without which nothing is decided at all, unless the contract allows no more.
const FEWEST_CLEAR_PAIRS: usize = 3;
/// A ratio this many times above or below the threshold is far from it.
const CLEAR: f64 = 1.25;
/// A first pair in which the candidate takes this many times as long ends the timing.
pub(super) const HOPELESS: f64 = 3.0;
/// Above this relative spread of the original's times, the machine is called noisy.
const NOISY: f64 = 0.1;
/// The bootstrap's random numbers begin here: equal samples give equal intervals.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// One run of each side, next to each other in time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Seconds of the original.
    pub before: f64,
    /// Seconds of the candidate.
    pub after: f64,
    /// The original was stopped at its limit: `before` is a lower bound.
    pub lower_bound: bool,
}

impl Pair {
    fn ratio(self) -> f64 {
        ratio(self.before, self.after)
    }
}

/// How much faster the candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speedup {
    /// Median of the original's seconds by the median of the candidate's.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What the pairs so far allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another pair.
    Another,
    /// The lower end beats the threshold.
    Faster,
    /// It doesn't, and more pairs would not change that, or are not allowed.
    NotFaster,
}

/// The speed-up that `pairs` show; of none, nothing.
pub fn speedup(pairs: &[Pair]) -> Option<Speedup> {
    if pairs.is_empty() {
        return None;
    }
    let mut random = SplitMix(SEED);
    let mut ratios: Vec<f64> = (0..RESAMPLINGS)
        .map(|_| {
            let resampled: Vec<Pair> = pairs.iter().map(|_| pairs[random.below(pairs.len())]).collect();
            ratio_of_medians(&resampled)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let low = ratios[RESAMPLINGS / 40];
    let high = ratios[RESAMPLINGS - 1 - RESAMPLINGS / 40];
    Some(Speedup { ratio: ratio_of_medians(pairs), low, high })
}

/// What to do after `pairs`, of which at most `limit` are allowed.
pub(super) fn next(pairs: &[Pair], threshold: f64, limit: u32) -> Next {
    let Some(found) = speedup(pairs) else { return Next::Another };
    if pairs.len() == 1 && pairs[0].ratio() * HOPELESS <= 1.0 && !pairs[0].lower_bound {
        return Next::NotFaster;
    }
    let last = pairs.len() >= limit as usize;
    let all = |far: &dyn Fn(f64) -> bool| pairs.iter().all(|pair| far(pair.ratio()));
    let clear = all(&|ratio| ratio > threshold * CLEAR) || all(&|ratio| ratio * CLEAR < threshold);
    let enough = pairs.len() >= if clear { FEWEST_CLEAR_PAIRS } else { FEWEST_PAIRS };
    match () {
        () if !enough && !last => Next::Another,
        () if found.low > threshold => Next::Faster,
        () if found.high < threshold || last => Next::NotFaster,
        () => Next::Another,
    }
}

/// The original's relative spread (median absolute deviation by median), where it is that of a noisy machine.
pub(super) fn noise(pairs: &[Pair]) -> Option<f64> {
    let times: Vec<f64> = pairs.iter().map(|pair| pair.before).collect();
    let middle = median(&times);
    let deviations: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
    let spread = ratio(median(&deviations), middle);
    (pairs.len() >= FEWEST_CLEAR_PAIRS && spread > NOISY).then_some(spread)
}

/// The middle value, or the mean of the two in the middle; of none, 0.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

fn ratio_of_medians(pairs: &[Pair]) -> f64 {
    let side = |seconds: fn(&Pair) -> f64| median(&pairs.iter().map(seconds).collect::<Vec<_>>());
    ratio(side(|pair| pair.before), side(|pair| pair.after))
}

/// Times are above 0; a clock too coarse to see one gives neither side an advantage.
fn ratio(before: f64, after: f64) -> f64 {
    before.max(f64::MIN_POSITIVE) / after.max(f64::MIN_POSITIVE)
}

/// Sebastiano Vigna's `SplitMix64`.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is small beside 2⁶⁴: the bias of the remainder is too.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(times: &[(f64, f64)]) -> Vec<Pair> {
        times
            .iter()
            .map(|(before, after)| Pair { before: *before, after: *after, lower_bound: false })
            .collect()
    }

    #[test]
    fn pairs_are_asked_for_until_the_answer_is_clear() {
        let check = |times: &[(f64, f64)], limit: u32, expected: Next| {
            assert_eq!(next(&pairs(times), 1.05, limit), expected, "{times:?}");
        };
        check(&[], 7, Next::Another);
        check(&[(1.0, 0.1)], 7, Next::Another);
        check(&[(1.0, 0.1); 3], 7, Next::Faster);
        check(&[(1.0, 0.1)], 1, Next::Faster);
        // Close to the threshold three pairs don't suffice.
        check(&[(1.1, 1.0); 3], 7, Next::Another);
        check(&[(1.1, 1.0); 5], 7, Next::Faster);
        check(&[(1.0, 1.0); 5], 7, Next::NotFaster);
        // An interval around the threshold is no proof, and the last pair decides.
        check(&[(1.0, 0.8), (1.0, 1.1), (1.0, 0.9), (1.0, 1.2), (1.0, 0.95)], 9, Next::Another);
        check(&[(1.0, 0.8), (1.0, 1.1), (1.0, 0.9), (1.0, 1.2), (1.0, 0.95)], 5, Next::NotFaster);
        // Hopeless at once.
        check(&[(1.0, 3.0)], 7, Next::NotFaster);
        check(&[(1.0, 2.9)], 7, Next::Another);
    }

    #[test]
    fn a_bound_is_never_hopeless() {
        let bound = Pair { before: 1.0, after: 5.0, lower_bound: true };
        assert_eq!(next(&[bound], 1.05, 7), Next::Another);
    }

    #[test]
    fn noise_is_named_where_it_is_large() {
        assert_eq!(noise(&pairs(&[(1.0, 1.0); 5])), None);
        assert!(noise(&pairs(&[(1.0, 1.0), (1.5, 1.0), (2.0, 1.0), (1.2, 1.0), (3.0, 1.0)])).is_some());
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_ratio_and_is_repeatable(times in prop::collection::vec((0.01..10.0, 0.01..10.0), 1..9)) {
            let pairs = pairs(&times);
            let found = speedup(&pairs).unwrap();
            prop_assert!(found.low <= found.high);
            prop_assert_eq!(Some(found), speedup(&pairs));
            let ratios = || pairs.iter().map(|pair| pair.ratio());
            let spread_low = times.iter().map(|t| t.0).fold(f64::MAX, f64::min) / times.iter().map(|t| t.1).fold(0.0, f64::max);
            prop_assert!(found.low >= spread_low * 0.999_999);
            prop_assert!(ratios().all(f64::is_finite));
        }

        #[test]
        fn a_median_lies_among_its_values(values in prop::collection::vec(-1e6..1e6, 1..20)) {
            let middle = median(&values);
            prop_assert!(values.iter().filter(|value| **value <= middle).count() * 2 >= values.len());
            prop_assert!(values.iter().filter(|value| **value >= middle).count() * 2 >= values.len());
        }
    }
}
