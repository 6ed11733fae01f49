//! The Mann–Whitney rank test: does one side tend to larger values than the other?
//!
//! No assumption on the shape of the noise; ties take middle ranks. Mann and Whitney (1947); the
//! exact distribution with ties is the permutation distribution of the middle ranks.

use crate::{Sample, order, special};

/// Up to this many values on both sides together the p-value is exact.
pub const EXACT_UP_TO: usize = 40;

/// Result of a Mann–Whitney test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the head is larger, ties counting ½: between 0 and n·m.
    pub u: f64,
    /// Two-sided p: the chance, were the sides exchangeable, of a U at least this far from n·m/2.
    pub p: f64,
    /// Whether `p` is exact; else by the normal approximation with tie and continuity correction.
    pub exact: bool,
}

/// Tests head against base. Exact up to [`EXACT_UP_TO`] values in O(n·(n + m)³) at worst (a few
/// hundred microseconds), else O((n + m) log(n + m)). Equal sides and constant data give p = 1.
pub fn mann_whitney(base: Sample<'_>, head: Sample<'_>) -> MannWhitney {
    let (n, m) = (base.values().len(), head.values().len());
    let all = [base.values(), head.values()].concat();
    let ranks = order::midranks(&all);
    let rank_sum: f64 = ranks[n..].iter().sum();
    let u = rank_sum - (m * (m + 1)) as f64 / 2.0;
    let exact = n + m <= EXACT_UP_TO;
    let p = if exact { exact_p(&ranks, m, rank_sum) } else { normal_p(&ranks, n, m, u) };
    MannWhitney { u, p, exact }
}

/// Share of the ways to choose `m` of the ranks whose sum is at least as far from its mean as
/// `rank_sum`. Ranks are doubled so that middle ranks are whole numbers.
fn exact_p(ranks: &[f64], m: usize, rank_sum: f64) -> f64 {
    let doubled: Vec<usize> = ranks.iter().map(|r| (2.0 * r) as usize).collect();
    let total: usize = doubled.iter().sum();
    // ways[k][s]: subsets of k ranks with doubled sum s; at most C(40, 20), exact in f64.
    let mut ways = vec![vec![0.0f64; total + 1]; m + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in doubled.iter().enumerate() {
        for k in (1..=m.min(seen + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(k);
            for s in rank..=total {
                larger[0][s] += smaller[k - 1][s - rank];
            }
        }
    }
    // Compared as whole numbers: N·s against m·total, so that equal distances are equal.
    let size = ranks.len() as i64;
    let distance = |s: i64| (size * s - m as i64 * total as i64).abs();
    let seen = distance((2.0 * rank_sum).round() as i64);
    let (mut far, mut all) = (0.0, 0.0);
    for (s, &count) in ways[m].iter().enumerate() {
        all += count;
        if distance(s as i64) >= seen {
            far += count;
        }
    }
    far / all
}

fn normal_p(ranks: &[f64], n: usize, m: usize, u: f64) -> f64 {
    let sorted = order::sorted(ranks);
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|group| (group.len() as f64).powi(3) - group.len() as f64)
        .sum();
    let (n, m) = (n as f64, m as f64);
    let size = n + m;
    let variance = n * m / 12.0 * (size + 1.0 - ties / (size * (size - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * special::normal_cdf(-z)).min(1.0)
}

/// Number of ways a U of exactly 0, 1, … n·m arises without ties, in order of U: the null
/// distribution's counts. O(n²·m²); meant for n·m up to a few thousand.
pub fn null_counts(n: usize, m: usize) -> Vec<f64> {
    let mut counts = vec![0.0; n * m + 1];
    fill_null_counts(n, m, &mut counts);
    counts
}

/// The first of [`null_counts`], as many as `counts` has room for (at least one, all 0 before).
fn fill_null_counts(n: usize, m: usize, counts: &mut [f64]) {
    // Gaussian binomial: multiply by (1 − x^(m+i)), divide by (1 − x^i), i = 1..=n.
    counts[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..counts.len()).rev() {
            counts[u] -= counts[u - m - i];
        }
        for u in i..counts.len() {
            counts[u] += counts[u - i];
        }
    }
}

/// The shorter side has at most this many values where the tail is exact …
const EXACT_SHORT: usize = 12;

/// … and the sides' sizes multiply to at most this.
const EXACT_TAIL_UP_TO: usize = 4000;

/// ln of the two-sided p of the rank statistic for two sorted slices of finite values: exact (as if
/// without ties) in the tail when the shorter side has up to 12 values, else normal with tie
/// correction, finite far into the tail. 0 when a side is empty or all values are equal. O(n + m).
pub(crate) fn ln_p_of_sorted(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len(), right.len());
    // Twice U, a whole number: pairs in which the right is larger count two, ties one.
    let (mut twice, mut ties) = (0u64, 0.0f64);
    let (mut i, mut j) = (0, 0);
    while i < n && j < m {
        let value = if left[i] < right[j] { left[i] } else { right[j] };
        let run =
            |side: &[f64], from: usize| side[from..].iter().take_while(|&&v| v == value).count();
        let (a, b) = (run(left, i), run(right, j));
        twice += (a * (2 * (m - j - b) + b)) as u64;
        ties += tie(a + b);
        i += a;
        j += b;
    }
    let rest = if i < n { &left[i..] } else { &right[j..] };
    ties += rest.chunk_by(|a, b| a == b).map(|run| tie(run.len())).sum::<f64>();
    let (pairs, size) = ((n * m) as f64, (n + m) as f64);
    let variance = pairs / 12.0 * (size + 1.0 - ties / (size * (size - 1.0)));
    if pairs == 0.0 || variance <= 0.0 {
        return 0.0;
    }
    let distance = (twice as f64 / 2.0 - pairs / 2.0).abs();
    let z = (distance - 0.5).max(0.0) / variance.sqrt();
    // Below 3 the two agree well enough for a number that decides nothing there.
    if z >= 3.0 && n.min(m) <= EXACT_SHORT && n * m <= EXACT_TAIL_UP_TO {
        return ln_exact_tail(n.min(m), n.max(m), distance);
    }
    (2f64.ln() + special::ln_normal_tail(z)).min(0.0)
}

/// t³ − t of a group of t equal values.
fn tie(size: usize) -> f64 {
    if size < 2 { 0.0 } else { (size as f64).powi(3) - size as f64 }
}

fn ln_exact_tail(n: usize, m: usize, distance: f64) -> f64 {
    let most = ((n * m) as f64 / 2.0 - distance).floor().max(0.0) as usize;
    let mut counts = [0.0f64; EXACT_TAIL_UP_TO / 2 + 1];
    let counts = &mut counts[..=most.min(EXACT_TAIL_UP_TO / 2)];
    fill_null_counts(n, m, counts);
    let ln_all = special::ln_gamma((n + m + 1) as f64)
        - special::ln_gamma((n + 1) as f64)
        - special::ln_gamma((m + 1) as f64);
    (2f64.ln() + counts.iter().sum::<f64>().ln() - ln_all).min(0.0)
}
