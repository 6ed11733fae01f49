//! Intervals by resampling, seeded: the same data and seed give the same interval.

use super::Interval;
use crate::{Sample, order, random::Random, summary};

/// Percentile interval (Efron 1979) of any statistic of one sample. Covers less than it says below
/// about 10 values. None when `resamples` is 0 or the statistic gives a NaN.
/// O(resamples · (n + cost of the statistic)).
pub fn bootstrap(
    sample: Sample<'_>,
    statistic: impl Fn(&[f64]) -> f64,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let values = sample.values();
    let mut random = Random::new(seed);
    let mut scratch = vec![0.0; values.len()];
    let replicates: Vec<f64> = (0..resamples)
        .map(|_| {
            scratch.fill_with(|| values[random.below(values.len())]);
            statistic(&scratch)
        })
        .collect();
    percentile(&replicates, level)
}

/// Percentile interval of median head ÷ median base, where a side's median is the median of its
/// runs' medians. Stratified: runs are drawn first, then samples within each drawn run, so both
/// kinds of variation enter. None when a side is empty, a value is not finite, or a replicate's
/// base is not positive. O(resamples · samples).
pub fn ratio_of_medians(
    base: &[Vec<f64>],
    head: &[Vec<f64>],
    level: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let sound =
        |runs: &[Vec<f64>]| !runs.is_empty() && runs.iter().all(|r| Sample::new(r).is_some());
    if !sound(base) || !sound(head) {
        return None;
    }
    let mut random = Random::new(seed);
    let (mut drawn, mut medians) = (Vec::new(), Vec::new());
    let replicates: Vec<f64> = (0..resamples)
        .map(|_| {
            let b = replicate(base, &mut random, &mut drawn, &mut medians);
            let h = replicate(head, &mut random, &mut drawn, &mut medians);
            if b > 0.0 { h / b } else { f64::NAN }
        })
        .collect();
    percentile(&replicates, level)
}

fn replicate(
    runs: &[Vec<f64>],
    random: &mut Random,
    drawn: &mut Vec<f64>,
    medians: &mut Vec<f64>,
) -> f64 {
    medians.clear();
    for _ in runs {
        let run = &runs[random.below(runs.len())];
        drawn.clear();
        drawn.extend(run.iter().map(|_| run[random.below(run.len())]));
        medians.extend(order::median_in_place(drawn));
    }
    order::median_in_place(medians).expect("a side has at least one run, no run is empty")
}

fn percentile(replicates: &[f64], level: f64) -> Option<Interval> {
    let replicates = Sample::new(replicates)?;
    let tail = (1.0 - level) / 2.0;
    Some(Interval {
        low: summary::quantile(replicates, tail),
        high: summary::quantile(replicates, 1.0 - tail),
        level,
    })
}
