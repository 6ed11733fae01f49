//! Steps found against steps known: what is counted, the same in tests and benchmarks.

use scalewatch_stats::Direction;
use scalewatch_stats::step::{Buffers, Online, Policy, detect_values};

/// A step found this near a true one, in values, is that.
pub const MARGIN: usize = 5;

/// Counts over any number of series.
#[derive(Debug, Clone, Default)]
pub struct Count {
    pub points: usize,
    pub found: usize,
    pub missed: usize,
    /// Steps found that are none, and those found a second time.
    pub wrong: usize,
    /// Found at their very place.
    pub exact: usize,
    /// Values read after the first of the new level, of each step found.
    pub delays: Vec<usize>,
}

impl Count {
    pub fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.wrong).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.found as f64 / (self.found + self.missed).max(1) as f64
    }

    pub fn f1(&self) -> f64 {
        let all = 2 * self.found + self.wrong + self.missed;
        2.0 * self.found as f64 / all.max(1) as f64
    }

    pub fn wrong_per_1000(&self) -> f64 {
        1000.0 * self.wrong as f64 / self.points.max(1) as f64
    }

    pub fn exact_share(&self) -> f64 {
        self.exact as f64 / self.found.max(1) as f64
    }

    /// The delay that a share of the steps found does not exceed.
    pub fn delay(&self, share: f64) -> usize {
        let mut delays = self.delays.clone();
        delays.sort_unstable();
        let at = (share * delays.len() as f64) as usize;
        delays.get(at.min(delays.len().saturating_sub(1))).copied().unwrap_or(0)
    }

    pub fn add(&mut self, other: &Count) {
        self.points += other.points;
        self.found += other.found;
        self.missed += other.missed;
        self.wrong += other.wrong;
        self.exact += other.exact;
        self.delays.extend(&other.delays);
    }
}

/// Whole-series steps, as though told after the last value.
pub fn whole(values: &[f64]) -> Vec<(usize, usize)> {
    detect_values(values).into_iter().map(|index| (index, values.len())).collect()
}

/// Steps told point by point, each with the count of values read.
pub fn online(values: &[f64]) -> Vec<(usize, usize)> {
    let mut series = Online::new(Direction::Higher, Policy::default());
    let mut buffers = Buffers::default();
    let told = values.iter().zip(1..);
    told.filter_map(|(&v, seen)| Some((series.push(v, &mut buffers)?.index, seen))).collect()
}

/// Counts the steps told (place, values read; in the order told) against the true places, each of
/// which is found by the nearest still free; and which of them were.
pub fn count(
    points: usize,
    truth: &[usize],
    told: &[(usize, usize)],
) -> (Count, Vec<Option<usize>>) {
    let mut count = Count { points, ..Count::default() };
    let mut by: Vec<Option<usize>> = vec![None; truth.len()];
    for &(index, seen) in told {
        let near = |t: &usize| by[*t].is_none() && truth[*t].abs_diff(index) <= MARGIN;
        let free = (0..truth.len()).filter(near).min_by_key(|&t| truth[t].abs_diff(index));
        let Some(t) = free else {
            count.wrong += 1;
            continue;
        };
        count.found += 1;
        count.exact += usize::from(truth[t] == index);
        let delay = (seen - 1).saturating_sub(truth[t]);
        count.delays.push(delay);
        by[t] = Some(delay);
    }
    count.missed = truth.len() - count.found;
    (count, by)
}
