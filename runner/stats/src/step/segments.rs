//! From candidates to the splits that stand: prune, refine, search again.

use super::series::Series;
use super::test::{self, Numbers};
use super::{Policy, candidates, modes};

/// Rounds of searching the segments again.
const ROUNDS: usize = 3;

/// Positions (in the series) of all steps, in order.
pub(super) fn find(series: &Series, policy: &Policy) -> Vec<usize> {
    let mut splits = candidates::propose(series);
    prune(series, &mut splits, policy);
    for _ in 0..ROUNDS {
        refine(series, &mut splits);
        let before = splits.clone();
        search(series, &mut splits, policy);
        prune(series, &mut splits, policy);
        if splits == before {
            break;
        }
    }
    modes::calm(series, &mut splits, policy);
    splits
}

/// The segments that `splits` make.
pub(super) fn bounds(splits: &[usize], i: usize, n: usize) -> (usize, usize, usize) {
    let start = if i == 0 { 0 } else { splits[i - 1] };
    let end = splits.get(i + 1).copied().unwrap_or(n);
    (start, splits[i], end)
}

/// Removes the weakest split that fails its test, until none does. O(splits · segment log segment).
pub(super) fn prune(series: &Series, splits: &mut Vec<usize>, policy: &Policy) {
    let n = series.len();
    let factor = deflation(series, splits);
    let test = |splits: &[usize], i: usize| -> Numbers {
        test::numbers(series, bounds(splits, i, n), factor)
    };
    let mut tested: Vec<Numbers> = (0..splits.len()).map(|i| test(splits, i)).collect();
    loop {
        let weakest = (0..splits.len())
            .filter(|&i| !tested[i].passes(policy))
            .max_by(|&i, &j| tested[i].strength(policy).total_cmp(&tested[j].strength(policy)));
        let Some(i) = weakest else { break };
        splits.remove(i);
        tested.remove(i);
        for j in [i.wrapping_sub(1), i] {
            if j < splits.len() {
                tested[j] = test(splits, j);
            }
        }
    }
}

/// How much ln p must be divided by: (1 + φ) / (1 − φ), φ the lag-one correlation of the residuals
/// about the segments' medians, wild ones pulled in, less its standard error; never below 1. One value a revision: the
/// revision's first residual's median stands for it. O(n).
pub(super) fn deflation(series: &Series, splits: &[usize]) -> f64 {
    let mut edges = vec![0];
    edges.extend_from_slice(splits);
    edges.push(series.len());
    let mut residual = Vec::with_capacity(series.len());
    for edge in edges.windows(2) {
        let segment = &series.values[edge[0]..edge[1]];
        let centre = crate::order::median(segment).unwrap_or(0.0);
        residual.extend(segment.iter().map(|v| v - centre));
    }
    let reach = 2.5 * crate::robust::mad_of(&residual).unwrap_or(0.0) * crate::robust::MAD_TO_SD;
    let pulled: Vec<f64> = residual.iter().map(|r| r.clamp(-reach, reach)).collect();
    let one_each = series.group.last().is_some_and(|&g| g + 1 == series.len());
    let squares: f64 = pulled.iter().map(|r| r * r).sum();
    if !one_each || pulled.len() < 10 || squares <= 0.0 {
        return 1.0;
    }
    let products: f64 = pulled.windows(2).map(|w| w[0] * w[1]).sum();
    // Less its own standard error: a dozen values say little about their correlation.
    let phi = (products / squares - (pulled.len() as f64).sqrt().recip()).clamp(0.0, 0.95);
    (1.0 + phi) / (1.0 - phi)
}

/// Moves each split to where the absolute error about the two medians is least. O(n).
fn refine(series: &Series, splits: &mut [usize]) {
    for i in 0..splits.len() {
        let (start, k, end) = bounds(splits, i, series.len());
        splits[i] = best_place(series, start, k, end);
    }
}

fn best_place(series: &Series, start: usize, k: usize, end: usize) -> usize {
    let median = |s: &[f64]| crate::order::median(s).unwrap_or(f64::NAN);
    let before = median(&series.values[start..k]);
    let after = median(&series.values[k..end]);
    let (low, high) = (start + (k - start) / 2, k + (end - k).div_ceil(2));
    let (mut cost, mut least, mut best) = (0.0, f64::INFINITY, k);
    for j in low.max(start + 1)..high.min(end) {
        let left = series.values[j - 1];
        cost += (left - before).abs() - (left - after).abs();
        if series.splits_at(j) && cost < least {
            (least, best) = (cost, j);
        }
    }
    best
}

/// Looks for one more split in every segment; a split that passes its test is added.
fn search(series: &Series, splits: &mut Vec<usize>, policy: &Policy) {
    let factor = deflation(series, splits);
    let mut edges = vec![0];
    edges.extend_from_slice(splits);
    edges.push(series.len());
    for edge in edges.windows(2) {
        let (start, end) = (edge[0], edge[1]);
        let Some((k, _)) = candidates::best_split(series, start, end, 3) else { continue };
        let k = best_place(series, start, k, end);
        if test::numbers(series, (start, k, end), factor).passes(policy) {
            splits.push(k);
        }
    }
    splits.sort_unstable();
}
