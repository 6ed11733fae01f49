//! The middle of all samples of a point: what lists and plots show of it.

use stats::Sample;
use stats::interval::median_interval;
use stats::summary::median;

/// Median of the samples with its exact 95 % interval, where there are samples enough for one;
/// none where there is no sample or one is not finite.
pub fn middle(samples: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
    let sample = Sample::new(samples)?;
    let interval = median_interval(sample, 0.95).map(|one| (one.low, one.high));
    Some((median(sample), interval))
}
