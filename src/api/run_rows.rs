//! What a run recorded as rows of CSV: one for each sample, and one for each point that failed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::export::Tabular;
use super::run::{OutcomeView, PointView};

/// One sample of one metric at one point, or why the point has none.
#[derive(Debug, Serialize)]
pub struct Row {
    workload: String,
    version: i32,
    parameters: BTreeMap<String, String>,
    tasks: i32,
    metric: Option<String>,
    unit: Option<wire::Unit>,
    direction: Option<wire::Direction>,
    sample: Option<usize>,
    value: Option<f64>,
    failure: Option<String>,
}

impl Tabular for Row {
    const COLUMNS: &'static [&'static str] = &[
        "workload",
        "version",
        "parameters",
        "tasks",
        "metric",
        "unit",
        "direction",
        "sample",
        "value",
        "failure",
    ];
}

/// The rows of all points, in their order.
pub fn of(recorded: &[PointView]) -> Vec<Row> {
    recorded.iter().flat_map(of_point).collect()
}

fn of_point(point: &PointView) -> Vec<Row> {
    let empty = || Row {
        workload: point.workload.clone(),
        version: point.version,
        parameters: point.parameters.clone(),
        tasks: point.tasks,
        metric: None,
        unit: None,
        direction: None,
        sample: None,
        value: None,
        failure: None,
    };
    let metrics = match &point.outcome {
        OutcomeView::Measured(measured) => &measured.metrics,
        OutcomeView::Imported(imported) => &imported.metrics,
        OutcomeView::Failed(failure) => {
            return vec![Row { failure: Some(failure.detail.clone()), ..empty() }];
        }
    };
    let mut rows = Vec::new();
    for metric in metrics {
        rows.extend(metric.samples.iter().enumerate().map(|(sample, value)| Row {
            metric: Some(metric.metric.clone()),
            unit: Some(metric.unit),
            direction: Some(metric.direction),
            sample: Some(sample),
            value: Some(*value),
            ..empty()
        }));
    }
    rows
}
