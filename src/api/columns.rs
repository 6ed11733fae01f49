//! The runs of a series as arrays, one a field: a thousand runs in a few dozen kilobytes.

use serde::Serialize;

use crate::model::{EnvironmentId, Measurement};

/// Digits of a commit, enough to name it.
const DIGITS: usize = 12;

/// Entry *i* of each array belongs to run *i*, in the order of revisions. Figures have six digits.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
pub struct Columns {
    /// The first digits of the commit.
    commit: Vec<String>,
    rank: Vec<i64>,
    environment: Vec<EnvironmentId>,
    /// Seconds since 1970, UTC, at the end of the run.
    finished_at_s: Vec<i64>,
    n: Vec<usize>,
    mean: Vec<f64>,
    /// Null for one sample.
    sd: Vec<Option<f64>>,
    min: Vec<f64>,
    median: Vec<f64>,
    /// Exact 95 % interval of the median; null where samples are too few for one.
    median_low: Vec<Option<f64>>,
    median_high: Vec<Option<f64>>,
    max: Vec<f64>,
}

impl Columns {
    /// Of these runs.
    pub fn of(runs: &[Measurement]) -> Columns {
        let figures = |of: fn(&Measurement) -> f64| runs.iter().map(of).map(six_digits).collect();
        let some = |of: fn(&Measurement) -> Option<f64>| {
            runs.iter().map(|run| of(run).map(six_digits)).collect()
        };
        let digits = |run: &Measurement| run.commit.get(..DIGITS).unwrap_or(&run.commit).to_owned();
        Columns {
            commit: runs.iter().map(digits).collect(),
            rank: runs.iter().map(|run| run.rank).collect(),
            environment: runs.iter().map(|run| run.environment).collect(),
            finished_at_s: runs.iter().map(|run| run.finished_at.unix_timestamp()).collect(),
            n: runs.iter().map(|run| run.summary.n).collect(),
            mean: figures(|run| run.summary.mean),
            sd: some(|run| run.summary.sd),
            min: figures(|run| run.summary.min),
            median: figures(|run| run.summary.median),
            median_low: some(|run| run.interval.map(|(low, _)| low)),
            median_high: some(|run| run.interval.map(|(_, high)| high)),
            max: figures(|run| run.summary.max),
        }
    }
}

/// Noise of a thousandth is little, and six digits are a thousand times finer.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_six_digits_at_any_size() {
        assert_eq!(six_digits(1_023_456.789), 1_023_460.0);
        assert_eq!(six_digits(-0.000_123_456_789), -0.000_123_457);
        assert_eq!(six_digits(0.0), 0.0);
        assert_eq!(six_digits(f64::MAX), 1.797_69e308);
    }
}
