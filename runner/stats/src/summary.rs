//! Summaries of a sample.

use crate::Sample;

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

/// Summary of a sample.
pub fn summarise(sample: Sample<'_>) -> Summary {
    let mut sorted = sample.values().to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let sd = (n > 1)
        .then(|| (sorted.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt());
    let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    Summary { n, mean, sd, min: sorted[0], median, max: sorted[n - 1] }
}
