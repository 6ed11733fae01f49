//! Where a step could be: the best split, by ranks, of windows of many lengths and places.

use super::series::Series;
use crate::order;

/// A window whose best split stands out less than this (in standard deviations of the rank
/// statistic) proposes nothing.
const LEAST_Z: f64 = 2.2;

/// Best split of `start..end` by the rank statistic (largest `|S_k| / sd(S_k)`), and that value; none when
/// no split leaves `margin` values a side. O(L log L).
pub(super) fn best_split(
    series: &Series,
    start: usize,
    end: usize,
    margin: usize,
) -> Option<(usize, f64)> {
    let values = &series.values[start..end];
    let n = values.len();
    if n < 2 * margin || margin == 0 {
        return None;
    }
    let ranks = order::midranks(values);
    let middle = (n as f64 + 1.0) / 2.0;
    let variance = ranks.iter().map(|r| (r - middle).powi(2)).sum::<f64>() / (n - 1) as f64;
    if variance <= 0.0 {
        return None;
    }
    let (mut sum, mut best) = (0.0, None);
    for k in 1..n {
        sum += ranks[k - 1] - middle;
        if k < margin || n - k < margin || !series.splits_at(start + k) {
            continue;
        }
        let sd = (variance * (k * (n - k)) as f64 / n as f64).sqrt();
        let z = (sum / sd).abs();
        if best.is_none_or(|(_, most)| z > most) {
            best = Some((start + k, z));
        }
    }
    best
}

/// Candidate splits, in order: windows of lengths 8, 11, 16, 22 … n, each shifted by a quarter of
/// its length (seeded intervals, Kovács and others 2023). O(n log² n).
pub(super) fn propose(series: &Series) -> Vec<usize> {
    let n = series.len();
    let mut found = Vec::new();
    let mut length = 8.0f64;
    loop {
        let width = (length as usize).min(n);
        let shift = (width / 4).max(1);
        let mut start = 0;
        loop {
            let end = (start + width).min(n);
            if let Some((k, z)) = best_split(series, start, end, 3)
                && z >= LEAST_Z
            {
                found.push(k);
            }
            if end == n {
                break;
            }
            start += shift;
        }
        if width == n {
            break;
        }
        length *= std::f64::consts::SQRT_2;
    }
    found.sort_unstable();
    found.dedup();
    found
}
