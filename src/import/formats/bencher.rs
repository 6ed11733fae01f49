//! Bencher Metric Format: `{benchmark: {measure: {value, lower_value?, upper_value?}}}`. The measures
//! that every Bencher project has come with their meaning; others are given it.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use wire::{Direction, Spread, Unit};

use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::json;
use super::super::problem::Result;

#[derive(Deserialize)]
struct Metric {
    value: f64,
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

/// Reads a document.
///
/// # Errors
/// The path that is wrong.
pub fn read(content: &mut dyn BufRead) -> Result<FoundRun> {
    let all: BTreeMap<String, BTreeMap<String, Metric>> = json::read(content)?;
    let mut run = FoundRun::default();
    for (benchmark, measures) in all {
        if measures.is_empty() {
            continue;
        }
        let metrics = measures.iter().map(|(measure, metric)| found(measure, metric)).collect();
        // A suffix of Bencher's own that silences its alerts; it is not part of the name.
        let name = benchmark.strip_suffix("-bencher-ignore").unwrap_or(&benchmark);
        run.push(FoundPoint::new(format!("`{benchmark}`"), name, Outcome::Values(metrics)))?;
    }
    Ok(run)
}

fn found(measure: &str, metric: &Metric) -> FoundMetric {
    let values = vec![metric.value];
    let found = match measure {
        "latency" => FoundMetric::new(measure, Unit::Nanoseconds, Direction::Lower, values),
        "throughput" => FoundMetric::new(measure, Unit::OpsPerSecond, Direction::Higher, values),
        "build-time" => FoundMetric::new(measure, Unit::Seconds, Direction::Lower, values),
        "file-size" => FoundMetric::new(measure, Unit::Bytes, Direction::Lower, values),
        _ => FoundMetric::untold(measure, values),
    };
    found.with_spread(Spread {
        low: metric.lower_value,
        high: metric.upper_value,
        ..Spread::default()
    })
}
