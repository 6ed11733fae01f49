//! Hodges and Lehmann's centre of paired differences, with its signed-rank interval.

use super::{Interval, Shift};
use crate::{Sample, order, special};

/// Up to this many pairs the interval's level is exact.
const EXACT_UP_TO: usize = 60;

/// Median of all n·(n + 1)/2 Walsh averages (dᵢ + dⱼ)/2, i ≤ j (Hodges and Lehmann 1963), with the
/// interval [w₍ₖ₎, w₍ₙ₍ₙ₊₁₎⁄₂₊₁₋ₖ₎] that inverts Wilcoxon's signed-rank test (Tukey 1949), k the
/// largest with 1 − 2·P(W ≤ k − 1) ≥ `level`; exact up to [`EXACT_UP_TO`] pairs, by the normal
/// approximation beyond. It covers where differences are symmetric about their centre, as those of
/// two sides that take turns are. O(n) memory, O(n log n) time.
pub fn signed_rank(differences: Sample<'_>, level: f64) -> Shift {
    let sorted = order::sorted(differences.values());
    let n = sorted.len();
    let all = n * (n + 1) / 2;
    let (k, reached) = if n <= EXACT_UP_TO { exact_k(n, level) } else { normal_k(n, level) };
    let interval = (k > 0).then(|| Interval {
        low: walsh(&sorted, k),
        high: walsh(&sorted, all + 1 - k),
        level: reached,
    });
    let (lower, upper) = (walsh(&sorted, all.div_ceil(2)), walsh(&sorted, all / 2 + 1));
    Shift { shift: lower / 2.0 + upper / 2.0, interval }
}

/// The k-th smallest Walsh average, from 1: the smallest number that k of them do not exceed.
fn walsh(sorted: &[f64], k: usize) -> f64 {
    let average = |i: usize, j: usize| sorted[i] / 2.0 + sorted[j] / 2.0;
    // Two pointers: as i rises, the last partner that stays below falls.
    let not_above = |limit: f64| -> usize {
        let (mut count, mut partners) = (0, sorted.len());
        for i in 0..sorted.len() {
            while partners > 0 && average(i, partners - 1) > limit {
                partners -= 1;
            }
            count += partners.saturating_sub(i);
        }
        count
    };
    let (mut low, mut high) = (order_of(sorted[0]), order_of(sorted[sorted.len() - 1]));
    while low < high {
        let middle = low + (high - low) / 2;
        if not_above(of_order(middle)) >= k { high = middle } else { low = middle + 1 }
    }
    of_order(low)
}

/// Finite numbers as whole numbers in the same order, next to each other where the numbers are.
fn order_of(value: f64) -> i128 {
    let bits = i128::from((value.abs() + 0.0).to_bits());
    if value < 0.0 { -bits } else { bits }
}

fn of_order(order: i128) -> f64 {
    let value = f64::from_bits(order.unsigned_abs() as u64);
    if order < 0 { -value } else { value }
}

fn exact_k(n: usize, level: f64) -> (usize, f64) {
    // Ways to choose a set of the ranks 1 … n with each sum; at most 2^60, shares exact enough in f64.
    let mut ways = vec![0.0f64; n * (n + 1) / 2 + 1];
    ways[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..ways.len()).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all = 2f64.powi(n as i32);
    let (mut k, mut below, mut reached) = (0, 0.0, 1.0);
    while k < ways.len().div_ceil(2) {
        below += ways[k] / all;
        if 1.0 - 2.0 * below < level || level.is_nan() {
            break;
        }
        k += 1;
        reached = 1.0 - 2.0 * below;
    }
    (k, reached)
}

fn normal_k(n: usize, level: f64) -> (usize, f64) {
    let n = n as f64;
    let z = special::normal_quantile(0.5 + level / 2.0);
    let k = n * (n + 1.0) / 4.0 - z * (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    (if k.is_finite() { k.max(0.0) as usize } else { 0 }, level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(values: &[f64], level: f64) -> Shift {
        signed_rank(Sample::new(values).expect("finite values"), level)
    }

    /// All Walsh averages, sorted.
    fn averages(values: &[f64]) -> Vec<f64> {
        let mut all: Vec<f64> = (0..values.len())
            .flat_map(|i| (i..values.len()).map(move |j| (i, j)))
            .map(|(i, j)| values[i] / 2.0 + values[j] / 2.0)
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn averages_found_by_counting_are_those_of_the_sorted_list() {
        let mut random = Random::new(5);
        for n in [1, 2, 3, 7, 20, 61] {
            let mut values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            values[0] = values[n - 1];
            values.sort_by(f64::total_cmp);
            let all = averages(&values);
            for k in [1, all.len() / 3 + 1, all.len().div_ceil(2), all.len()] {
                assert_eq!(walsh(&values, k), all[k - 1], "{k} of {n}");
            }
        }
    }

    #[test]
    fn ten_pairs_have_the_interval_of_the_tables() {
        // Wilcoxon's table: n = 10, two-sided 5 %: the sum of ranks may be 8 at most, P = 0.0488.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = of(&values, 0.95).interval.expect("ten pairs suffice");
        assert!((found.level - (1.0 - 0.0488)).abs() < 1e-4, "{found:?}");
        let all = averages(&values);
        assert_eq!((found.low, found.high), (all[8], all[all.len() - 9]));
        assert_eq!(of(&values, 0.95).shift, 5.5);
        assert_eq!(of(&values[..5], 0.95).interval, None, "2 / 2^5 is more than 5 %");
    }

    #[test]
    fn intervals_of_symmetric_noise_cover_as_often_as_they_say() {
        let mut random = Random::new(6);
        for n in [12, 100] {
            let covers = (0..2000)
                .filter(|_| {
                    let values: Vec<f64> =
                        (0..n).map(|_| random.normal() / (random.unit() + 0.1)).collect();
                    let found = of(&values, 0.95).interval.expect("enough pairs");
                    (found.low..=found.high).contains(&0.0)
                })
                .count();
            assert!((1870..=1940).contains(&covers), "{covers} of 2000 at {n} pairs");
        }
    }
}
