//! One window summed over its tasks, and the side metrics computed from it.

use std::sync::atomic::{AtomicU64, Ordering};

use wire::{Direction, Metric, Source, Unit};

use super::memory::Held;
use super::shared::HEAD;
#[cfg(doc)]
use super::workload::Prepared;

/// A metric a workload adds. `value` gets one window, or all measured windows in one.
#[derive(Clone, Copy)]
pub struct SideMetric {
    /// Snake-case name.
    pub name: &'static str,
    /// Unit of every value.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The value; none where the window does not define it.
    pub value: fn(&Tally) -> Option<f64>,
}

/// Counters of all tasks in one window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Wall time, ns.
    pub dt_ns: u64,
    /// CPU time received, ns.
    pub cpu_ns: u64,
    /// Each counter word's increase; word 0 is the operations.
    pub words: Vec<u64>,
    /// Each counter word as it stood at the window's end, for words that go up and down.
    pub totals: Vec<u64>,
    /// What the tasks held at the window's end; none where [`Prepared::watches_memory`] is not set.
    pub held: Option<Held>,
    /// Operations of each task.
    pub task_ops: Vec<u64>,
    /// Where the work is fixed: how long after the release each task finished, ns.
    pub finish_ns: Vec<u64>,
}

impl Tally {
    /// Adds another window.
    pub fn add(&mut self, other: &Tally) {
        self.dt_ns += other.dt_ns;
        self.cpu_ns += other.cpu_ns;
        for (sums, more) in [(&mut self.words, &other.words), (&mut self.task_ops, &other.task_ops)]
        {
            sums.resize(more.len(), 0);
            sums.iter_mut().zip(more).for_each(|(sum, n)| *sum = sum.wrapping_add(*n));
        }
        self.finish_ns.extend(&other.finish_ns);
        self.totals.clone_from(&other.totals);
        self.held = other.held;
    }

    /// Increase of a word.
    pub fn word(&self, word: usize) -> u64 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// A word as it stood at the end.
    pub fn total(&self, word: usize) -> u64 {
        self.totals.get(word).copied().unwrap_or(0)
    }

    /// Increase of `word` a second of wall time; none where it did not increase.
    pub fn per_second(&self, word: usize) -> Option<f64> {
        let rate = self.word(word) as f64 * 1e9 / self.dt_ns as f64;
        (rate > 0.0).then_some(rate)
    }

    /// Increase of `word` ÷ increase of `by`.
    pub fn ratio(&self, word: usize, by: usize) -> Option<f64> {
        let by = self.word(by);
        (by > 0).then(|| self.word(word) as f64 / by as f64)
    }
}

/// The value of a metric that no window has: it is found once, see [`super::Prepared::found`].
pub fn at_end(_window: &Tally) -> Option<f64> {
    None
}

/// The workload's metrics over the windows: one value a window where each window defines it, one
/// for the whole point where only the sum does or it is among those `found` at the end, none
/// otherwise.
pub(crate) fn side_metrics(
    metrics: &[SideMetric],
    windows: &[Tally],
    found: &[(&str, f64)],
) -> Vec<Metric> {
    let mut whole = Tally::default();
    windows.iter().for_each(|window| whole.add(window));
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    let values = |m: &SideMetric| {
        let each: Option<Vec<f64>> = windows.iter().map(|w| finite((m.value)(w))).collect();
        let at_end = || found.iter().find(|(name, _)| *name == m.name).map(|&(_, value)| value);
        each.or_else(|| finite((m.value)(&whole).or_else(at_end)).map(|v| vec![v]))
    };
    let metric = |m: &SideMetric| {
        Some(Metric {
            name: m.name.into(),
            unit: m.unit,
            direction: m.direction,
            source: Source::Values(values(m)?),
        })
    };
    metrics.iter().filter_map(metric).collect()
}

/// A histogram of nanoseconds in counter words: exact below 8, then 8 buckets a power of two
/// (at most 12.5 % wide), the last one open above 2^40.
pub struct Histogram;

impl Histogram {
    /// Words of one histogram.
    pub const WORDS: usize = 8 * (40 - 3 + 1) + 1;

    /// Counts `ns` in the `nth` histogram of a task's extra words.
    #[inline]
    pub fn record(extra: &[AtomicU64], nth: usize, ns: u64) {
        if let Some(cell) = extra.get(nth * Histogram::WORDS + Histogram::bucket(ns)) {
            cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    fn bucket(ns: u64) -> usize {
        if ns < 8 {
            return ns as usize;
        }
        let power = ns.ilog2() as usize;
        let part = (ns >> (power - 3)) as usize & 7;
        ((power - 2) * 8 + part).min(Histogram::WORDS - 1)
    }

    /// Least value of a bucket.
    fn least(bucket: usize) -> f64 {
        if bucket < 8 {
            return bucket as f64;
        }
        let (power, part) = (bucket / 8 + 2, bucket % 8);
        ((8 + part) as f64) * 2f64.powi(power as i32 - 3)
    }

    /// Quantile `q` of the `nth` histogram in a tally: the middle of its bucket.
    pub fn quantile(tally: &Tally, nth: usize, q: f64) -> Option<f64> {
        let counts = tally.words.get(HEAD + nth * Histogram::WORDS..)?.get(..Histogram::WORDS)?;
        let total: u64 = counts.iter().sum();
        let rank = ((total as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = counts.iter().position(|n| {
            seen += n;
            seen >= rank
        })?;
        let (least, next) = (Histogram::least(bucket), Histogram::least(bucket + 1));
        Some(if bucket < 8 { least } else { (least + next) / 2.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_lies_within_an_eighth_of_the_value_it_stands_for() {
        for value in [0, 1, 7, 8, 9, 100, 999, 12_345, 1 << 30, (1 << 40) + 5] {
            let extra: Vec<AtomicU64> =
                (0..2 * Histogram::WORDS).map(|_| AtomicU64::default()).collect();
            Histogram::record(&extra, 1, value);
            let mut words = vec![0; HEAD];
            words.extend(extra.into_iter().map(AtomicU64::into_inner));
            let tally = Tally { words, ..Tally::default() };
            assert_eq!(Histogram::quantile(&tally, 0, 0.99), None);
            let found = Histogram::quantile(&tally, 1, 0.99).expect("one value");
            assert!((found - value as f64).abs() <= value as f64 / 8.0, "{value} became {found}");
        }
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        let tally = Tally { words: vec![0; HEAD + Histogram::WORDS], ..Tally::default() };
        assert_eq!(Histogram::quantile(&tally, 0, 0.99), None);
        assert_eq!(Histogram::quantile(&tally, 1, 0.99), None);
    }

    #[test]
    fn a_metric_undefined_in_one_window_is_given_once_for_the_point() {
        let metric = SideMetric {
            name: "x_per_op",
            unit: Unit::CountPerOp,
            direction: Direction::Lower,
            value: |t| t.ratio(1, 0),
        };
        let window = |ops, x| Tally { words: vec![ops, x], ..Tally::default() };
        let values = |windows: &[Tally]| match side_metrics(&[metric], windows, &[]).pop() {
            Some(Metric { source: Source::Values(values), .. }) => values,
            _ => vec![],
        };
        assert_eq!(values(&[window(2, 4), window(1, 3)]), [2.0, 3.0]);
        assert_eq!(values(&[window(2, 4), window(0, 0)]), [2.0]);
        assert!(values(&[window(0, 0)]).is_empty());
    }

    #[test]
    fn what_is_found_at_the_end_stands_for_the_whole_point() {
        let metric = SideMetric {
            name: "free_fragments",
            unit: Unit::Count,
            direction: Direction::Lower,
            value: at_end,
        };
        let windows = [Tally { words: vec![1], ..Tally::default() }];
        let found = side_metrics(&[metric], &windows, &[("other", 1.0), ("free_fragments", 7.0)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].source, Source::Values(vec![7.0]));
        assert!(side_metrics(&[metric], &windows, &[]).is_empty());
    }
}
