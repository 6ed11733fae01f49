//! Hodges and Lehmann's shift between two sides, with its exact rank interval.

use super::Interval;
use crate::{Sample, order, rank, special};

/// Up to this product of the sides' sizes the interval's level is exact.
const EXACT_UP_TO: usize = 1600;

/// How far the head lies above the base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Median of all differences head − base.
    pub shift: f64,
    /// Interval that inverts the Mann–Whitney test; none when the sides are too small for `level`.
    pub interval: Option<Interval>,
}

/// Median of all n·m differences (Hodges and Lehmann 1963) with the interval
/// [d₍ₖ₎, d₍ₙₘ₊₁₋ₖ₎] of Moses, k the largest with 1 − 2·P(U ≤ k − 1) ≥ `level`; exact up to
/// n·m = 1600, by the normal approximation beyond. O(n·m) memory, O(n·m log(n·m)) time.
pub fn hodges_lehmann(base: Sample<'_>, head: Sample<'_>, level: f64) -> Shift {
    let (b, h) = (base.values(), head.values());
    let mut differences: Vec<f64> = Vec::with_capacity(b.len() * h.len());
    for x in h {
        differences.extend(b.iter().map(|y| x - y));
    }
    differences.sort_unstable_by(f64::total_cmp);
    let shift = order::median_of_sorted(&differences).expect("both sides have a value");
    let (k, reached) = if differences.len() <= EXACT_UP_TO {
        exact_k(b.len(), h.len(), level)
    } else {
        normal_k(b.len(), h.len(), level)
    };
    let interval = (k > 0).then(|| Interval {
        low: differences[k - 1],
        high: differences[differences.len() - k],
        level: reached,
    });
    Shift { shift, interval }
}

fn exact_k(n: usize, m: usize, level: f64) -> (usize, f64) {
    let counts = rank::null_counts(n, m);
    let all: f64 = counts.iter().sum();
    let (mut k, mut below, mut reached) = (0, 0.0, 1.0);
    while k < counts.len().div_ceil(2) {
        below += counts[k] / all;
        if 1.0 - 2.0 * below < level || level.is_nan() {
            break;
        }
        k += 1;
        reached = 1.0 - 2.0 * below;
    }
    (k, reached)
}

fn normal_k(n: usize, m: usize, level: f64) -> (usize, f64) {
    let (n, m) = (n as f64, m as f64);
    let z = special::normal_quantile(0.5 + level / 2.0);
    let k = n * m / 2.0 - z * (n * m * (n + m + 1.0) / 12.0).sqrt();
    (if k.is_finite() { k.max(0.0) as usize } else { 0 }, level)
}
