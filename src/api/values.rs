//! Numbers as other answers show them. A number that is not finite is null.

use serde::Serialize;
use stats::summary::Summary;

/// Summary of samples.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Summary)]
pub struct SummaryView {
    n: usize,
    mean: f64,
    sd: Option<f64>,
    min: f64,
    median: f64,
    max: f64,
}

impl From<Summary> for SummaryView {
    fn from(summary: Summary) -> SummaryView {
        let Summary { n, mean, sd, min, median, max } = summary;
        SummaryView { n, mean, sd, min, median, max }
    }
}

/// A number with its 95 % interval.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Estimate {
    value: f64,
    /// Null where it is beyond any number.
    #[schema(value_type = Option<f64>, required)]
    low: f64,
    /// Null where it is beyond any number.
    #[schema(value_type = Option<f64>, required)]
    high: f64,
}

impl From<(f64, f64, f64)> for Estimate {
    fn from((value, low, high): (f64, f64, f64)) -> Estimate {
        Estimate { value, low, high }
    }
}
