//! Series that toggle between known levels: each return to a level already seen must show more.
//!
//! A split leads from one side of the halfway line between its levels to the other. Stays on that
//! other side elsewhere in the series are visits. Up to two (a change, its revert, and again) ask
//! nothing; with more, the segment must outlast the visits: under a memoryless dwell of mean D
//! a stay of m points has the chance (1 − 1/D)^m, and its ln must fall with every visit.

use super::series::Series;
use super::{Policy, segments, test};
use crate::order;

/// Shifts smaller than this many scales cross the halfway line by noise alone.
const LEAST_SCALES: f64 = 2.5;

/// Shorter stays are spikes, not visits.
const LEAST_STAY: usize = 3;

/// Longer stays are levels of their own, not visits.
const LONGEST_STAY: usize = 60;

/// A level is the same when it differs by less than this share of the shift.
const NEAR: f64 = 0.2;

/// How far ln of the chance must fall with each visit after the second.
const PER_VISIT: f64 = 3.0;

/// It never needs to fall further than this.
const ENOUGH: f64 = 9.0;

/// Removes splits that a toggling series does not support, the least supported first, then tests
/// the others again. O(splits² · n) on toggling series, O(splits · n) on others.
pub(super) fn calm(series: &Series, splits: &mut Vec<usize>, policy: &Policy) {
    loop {
        let worst = (0..splits.len())
            .map(|i| (i, lacking(series, splits, i)))
            .filter(|(_, lack)| *lack > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((i, _)) = worst else { break };
        splits.remove(i);
    }
    segments::prune(series, splits, policy);
}

/// How much −ln of the chance falls short of what the visits ask; 0 or less when enough is shown.
fn lacking(series: &Series, splits: &[usize], i: usize) -> f64 {
    let (shown, asked) = support(series, splits, i);
    asked - shown
}

/// −ln of the chance of the less supported of a split's two segments, and what visits to its level
/// ask of it; (0, 0) where fewer than three visits ask nothing.
pub(super) fn support(series: &Series, splits: &[usize], i: usize) -> (f64, f64) {
    let (start, k, end) = segments::bounds(splits, i, series.len());
    let numbers = test::numbers(series, (start, k, end), 1.0);
    if numbers.scales() < LEAST_SCALES {
        return (0.0, 0.0);
    }
    let (before, after) = (numbers.before, numbers.after);
    let entered = side_support(series, (k, end), after, before);
    let left = side_support(series, (start, k), before, after);
    if entered.1 - entered.0 > left.1 - left.0 { entered } else { left }
}

/// The same for one side: a stay of `segment` at level `here`, opposite to `there`.
fn side_support(series: &Series, segment: (usize, usize), here: f64, there: f64) -> (f64, f64) {
    let half = here / 2.0 + there / 2.0;
    let values = &series.values;
    let inside = |i: usize| (values[i] > half) == (here > half);
    let (mut visits, mut dwell) = (0usize, 0usize);
    for (start, end) in stays(values.len(), inside) {
        // The segment itself, and stays that reach into it, are no visits.
        if (end <= segment.0 || start >= segment.1) && is_visit(values, (start, end), here, there) {
            visits += 1;
            dwell += end - start;
        }
    }
    if visits < 3 {
        return (0.0, 0.0);
    }
    let mean = dwell as f64 / visits as f64;
    let shown = -((segment.1 - segment.0) as f64) * (-1.0 / mean).ln_1p();
    (shown, (PER_VISIT * (visits - 2) as f64).min(ENOUGH))
}

/// Stretches of [`LEAST_STAY`] to [`LONGEST_STAY`] values on one side; fewer values than that on the other
/// side do not end a stay.
fn stays(n: usize, inside: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for i in (0..n).filter(|&i| inside(i)) {
        match found.last_mut() {
            Some((_, end)) if i - *end < LEAST_STAY => *end = i + 1,
            _ => found.push((i, i + 1)),
        }
    }
    found.retain(|(start, end)| (LEAST_STAY..=LONGEST_STAY).contains(&(end - start)));
    found
}

/// A stay is a visit when its own level is `here`, and a neighbouring value lies at `there`.
fn is_visit(values: &[f64], (start, end): (usize, usize), here: f64, there: f64) -> bool {
    let shift = (here - there).abs();
    let level = order::median(&values[start..end]).unwrap_or(f64::NAN);
    let opposite = |i: usize| values.get(i).is_some_and(|v| (v - there).abs() < NEAR * shift);
    (level - here).abs() < NEAR * shift && (opposite(start.wrapping_sub(1)) || opposite(end))
}
