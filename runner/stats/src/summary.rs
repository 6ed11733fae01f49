//! Summaries of a sample: what is stored beside the samples of a run, and the means and scales the
//! reports and verdicts are made of. Every function takes a [`Sample`] (not empty, all finite).

use crate::{Sample, order};

/// What is stored beside the samples of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1); none for one value.
    pub sd: Option<f64>,
    /// Least value.
    pub min: f64,
    /// Median (mean of the middle two for even n).
    pub median: f64,
    /// Greatest value.
    pub max: f64,
}

/// Summary of a sample. O(n log n).
pub fn summarise(sample: Sample<'_>) -> Summary {
    let sorted = order::sorted(sample.values());
    Summary {
        n: sorted.len(),
        mean: mean(sample),
        sd: sd(sample),
        min: sorted[0],
        median: order::median_of_sorted(&sorted).expect("a sample has at least one value"),
        max: sorted[sorted.len() - 1],
    }
}

/// Mean and sum of squared deviations in one pass (Welford 1962): loses no digits to a large
/// level, so 1e15 + small differences keep their deviation. O(n).
fn moments(values: &[f64]) -> (f64, f64) {
    let (mut mean, mut squares) = (0.0, 0.0);
    for (i, &v) in values.iter().enumerate() {
        let n = (i + 1) as f64;
        let before = v - mean;
        if before.is_finite() {
            mean += before / n;
        } else {
            mean = mean * (1.0 - 1.0 / n) + v / n;
        }
        squares += before * (v - mean);
    }
    (mean, squares)
}

/// Arithmetic mean; lies within the sample's range. O(n).
pub fn mean(sample: Sample<'_>) -> f64 {
    let values = sample.values();
    let (mean, _) = moments(values);
    let (low, high) = range(values);
    mean.clamp(low, high)
}

fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

/// Sample standard deviation sqrt(Σ(x − mean)² / (n − 1)); none for one value, infinite when the
/// squares overflow (deviations above 1e154). O(n).
pub fn sd(sample: Sample<'_>) -> Option<f64> {
    let values = sample.values();
    (values.len() > 1).then(|| (moments(values).1 / (values.len() - 1) as f64).sqrt())
}

/// Population standard deviation sqrt(Σ(x − mean)² / n); 0 for one value. O(n).
pub fn population_sd(sample: Sample<'_>) -> f64 {
    let values = sample.values();
    (moments(values).1 / values.len() as f64).sqrt()
}

/// Harmonic mean n / Σ(1/x); none unless every value is positive. O(n).
pub fn harmonic_mean(sample: Sample<'_>) -> Option<f64> {
    let values = sample.values();
    if values.iter().any(|&v| v <= 0.0) {
        return None;
    }
    let mean = values.len() as f64 / values.iter().map(|v| 1.0 / v).sum::<f64>();
    let (low, high) = range(values);
    Some(mean.clamp(low, high))
}

/// Deviation of the harmonic mean by the delta method: sqrt(Σ(1/x − 1/H)² · H⁴ / n), as mmtests
/// defines it (with n, not n − 1). None for one value or a value that is not positive. O(n).
pub fn harmonic_sd(sample: Sample<'_>) -> Option<f64> {
    let values = sample.values();
    let h = harmonic_mean(sample)?;
    // H² is taken into the sum: (H²/x − H)² overflows later than H⁴ does.
    let squares = values.iter().map(|v| (h * (h / v) - h).powi(2)).sum::<f64>();
    (values.len() > 1).then(|| (squares / values.len() as f64).sqrt())
}

/// Geometric mean exp(Σ ln x / n); none unless every value is positive. Only for values of one
/// set: over two sides it is meaningful only when both hold the same points. O(n).
pub fn geometric_mean(sample: Sample<'_>) -> Option<f64> {
    let values = sample.values();
    if values.iter().any(|&v| v <= 0.0) {
        return None;
    }
    let mean = (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp();
    let (low, high) = range(values);
    Some(mean.clamp(low, high))
}

/// Median: the middle value, or the mean of the middle two. O(n).
pub fn median(sample: Sample<'_>) -> f64 {
    order::median(sample.values()).expect("a sample has at least one value")
}

/// Quantile by linear interpolation of order statistics, type 7 of Hyndman and Fan (1996), the
/// default of R and `NumPy`. `p` outside 0..=1 is clamped, NaN counts as 0. O(n log n).
pub fn quantile(sample: Sample<'_>, p: f64) -> f64 {
    let sorted = order::sorted(sample.values());
    let at = p.clamp(0.0, 1.0).max(0.0) * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let part = at - below as f64;
    if part == 0.0 || sorted[below] == sorted[above] {
        return sorted[below];
    }
    sorted[below] * (1.0 - part) + sorted[above] * part
}

/// Mean of the values left when `share` of them is cut from each end (floor(share · n) values a
/// side, never all). 0 gives the mean, shares from ½ on give about the median. O(n log n).
pub fn trimmed_mean(sample: Sample<'_>, share: f64) -> f64 {
    let sorted = order::sorted(sample.values());
    let most = (sorted.len() - 1) / 2;
    let cut = ((share.clamp(0.0, 0.5).max(0.0) * sorted.len() as f64).floor() as usize).min(most);
    let kept = &sorted[cut..sorted.len() - cut];
    mean(Sample::new(kept).expect("at most (n − 1) / 2 values are cut from each end"))
}
