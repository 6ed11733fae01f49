//! Series that toggle between known levels: each return to a level already seen must show more.
//!
//! A split leads from one side of the halfway line between its levels to the other. Stays on that
//! other side elsewhere in the series are visits. Up to two (a change, its revert, and again) ask
//! nothing; with more, the segment must outlast the visits: under a memoryless dwell of mean D
//! a stay of m points has the chance (1 − 1/D)^m, and its ln must fall with every visit. Point by
//! point, where an alert cannot be taken back, the first visit already asks.

use std::ops::Range;

use super::test::Numbers;
use crate::order;

/// Shifts smaller than this many scales cross the halfway line by noise alone.
const LEAST_SCALES: f64 = 2.5;

/// Shorter stays are spikes, not visits.
const LEAST_STAY: usize = 3;

/// Longer stays are levels of their own, not visits.
pub(super) const LONGEST_STAY: usize = 40;

/// A level is the same when it differs by less than this share of the shift.
const NEAR: f64 = 0.2;

/// Visits that ask nothing of a whole series: a change, its revert, and again.
const FREE_VISITS: usize = 2;

/// How far ln of the chance must fall with each visit that asks.
const PER_VISIT: f64 = 5.0;

/// Visits are looked for among this many values before and after the stay.
const AROUND: usize = 1000;

/// It never needs to fall further than this.
const ENOUGH: f64 = 9.0;

/// −ln of the chance of the less supported of a split's two segments, and what visits to its level
/// ask of it; (0, 0) where few visits ask nothing. O([`AROUND`]).
pub(super) fn support(
    values: &[f64],
    (start, k, end): (usize, usize, usize),
    numbers: &Numbers,
) -> (f64, f64) {
    if numbers.scales() < LEAST_SCALES {
        return (0.0, 0.0);
    }
    let (before, after) = (numbers.before, numbers.after);
    let entered = side_support(values, (k, end), after, before, FREE_VISITS);
    let left = side_support(values, (start, k), before, after, FREE_VISITS);
    if entered.1 - entered.0 > left.1 - left.0 { entered } else { left }
}

/// The same of the segment that is being entered alone, while it lasts, and from the first visit on.
pub(super) fn entered(values: &[f64], k: usize, numbers: &Numbers) -> (f64, f64) {
    if numbers.scales() < LEAST_SCALES {
        return (0.0, 0.0);
    }
    side_support(values, (k, values.len()), numbers.after, numbers.before, 0)
}

/// The same for one side: a stay of `segment` at level `here`, opposite to `there`.
fn side_support(
    values: &[f64],
    segment: (usize, usize),
    here: f64,
    there: f64,
    free: usize,
) -> (f64, f64) {
    let half = here / 2.0 + there / 2.0;
    let (first, last) = (segment.0.saturating_sub(AROUND), values.len().min(segment.1 + AROUND));
    let (mut visits, mut dwell) = (0usize, 0usize);
    for (start, end) in stays(first..last, |i| (values[i] > half) == (here > half)) {
        // The segment itself, and stays that reach into it, are no visits.
        let outside = end <= segment.0 || start >= segment.1;
        if outside && is_visit(values, (start, end), here, there) {
            visits += 1;
            dwell += end - start;
        }
    }
    if visits <= free {
        return (0.0, 0.0);
    }
    let mean = dwell as f64 / visits as f64;
    let shown = -((segment.1 - segment.0) as f64) * (-1.0 / mean).ln_1p();
    (shown, (PER_VISIT * (visits - free) as f64).min(ENOUGH))
}

/// Stretches of [`LEAST_STAY`] to [`LONGEST_STAY`] values on one side; fewer values than that on the other
/// side do not end a stay.
fn stays(range: Range<usize>, inside: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for i in range.filter(|&i| inside(i)) {
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
