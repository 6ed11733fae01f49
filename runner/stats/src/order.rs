//! Sorting and order statistics that the other modules share.
//!
//! Everything here is total: an empty slice answers `None` (or an empty vector), NaN sorts last.

/// A sorted copy; −0 before +0, NaN last. O(n log n).
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// As [`sorted`], of values that come one by one. O(n log n).
pub fn sorted_of(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut copy: Vec<f64> = values.collect();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Halfway between two values without overflow.
pub fn midpoint(a: f64, b: f64) -> f64 {
    a / 2.0 + b / 2.0
}

/// Median of sorted values: the middle one, or the middle two's midpoint. O(1).
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ if sorted[n / 2 - 1] == sorted[n / 2] => Some(sorted[n / 2]),
        _ => Some(midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Median of values in any order; the scratch is reordered. O(n).
pub fn median_in_place(scratch: &mut [f64]) -> Option<f64> {
    let n = scratch.len();
    if n == 0 {
        return None;
    }
    let (below, &mut upper, _) = scratch.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(if lower == upper { upper } else { midpoint(lower, upper) })
}

/// Median of values in any order. O(n), one copy.
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// Middle ranks, 1-based: equal values share the mean of the ranks they take. O(n log n).
pub fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        // Ranks start+1 ..= end share their mean.
        let rank = (start + 1 + end) as f64 / 2.0;
        for &index in &order[start..end] {
            ranks[index] = rank;
        }
        start = end;
    }
    ranks
}
