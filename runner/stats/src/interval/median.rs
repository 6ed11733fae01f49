//! Exact interval of a median from order statistics.

use super::Interval;
use crate::{Sample, order, special};

/// The narrowest [x₍ₖ₎, x₍ₙ₊₁₋ₖ₎] whose exact coverage 1 − 2·P(B ≤ k − 1), B ~ Bin(n, ½), reaches
/// `level`; coverage holds for every continuous distribution and is exceeded with ties. None when
/// even the whole range does not reach it (n < 6 for 95 %). David and Nagaraja, Order Statistics,
/// 7.1. O(n log n).
pub fn median_interval(sample: Sample<'_>, level: f64) -> Option<Interval> {
    let sorted = order::sorted(sample.values());
    let n = sorted.len();
    let coverage = |k: usize| 1.0 - 2.0 * special::half_binomial_cdf(k - 1, n);
    let mut found = None;
    for k in 1..=n.div_ceil(2) {
        let reached = coverage(k);
        if reached.is_nan() || reached < level {
            break;
        }
        found = Some(Interval { low: sorted[k - 1], high: sorted[n - k], level: reached });
    }
    found
}
