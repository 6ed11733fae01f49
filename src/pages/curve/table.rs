//! The figures of a plot as a table: one row a task count, a group of columns a side.

use std::collections::BTreeSet;

use askama::Template;
use askama::filters::HtmlSafe;

use super::Metric;
use super::plots::Sides;
use crate::chart::CurvePoint;
use crate::format;
use crate::pages::view::Value;

/// One side of one point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Median.
    pub median: Value,
    /// `[low, high]`, or a dash.
    pub interval: String,
    /// Number of samples.
    pub n: usize,
}

/// One task count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Task count.
    pub tasks: u32,
    /// One a side; none where that side has no sample.
    pub cells: Vec<Option<Cell>>,
    /// head ÷ base as a change; empty where there is no ratio.
    pub change: String,
}

/// The table of a metric.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/metric_table.html")]
pub struct MetricTable {
    /// Name, unit and direction.
    pub metric: String,
    /// Commits, base first.
    pub sides: Vec<String>,
    /// In order of task count.
    pub rows: Vec<TableRow>,
}

impl HtmlSafe for MetricTable {}

/// The table of one metric.
pub fn of(metric: &Metric, sides: &Sides) -> MetricTable {
    let tasks: BTreeSet<u32> =
        sides.each().flat_map(|(_, pooled)| pooled.keys().copied()).collect();
    MetricTable {
        metric: metric.full(),
        sides: sides.each().map(|(label, _)| label.clone()).collect(),
        rows: tasks.into_iter().map(|tasks| row(tasks, sides)).collect(),
    }
}

fn row(tasks: u32, sides: &Sides) -> TableRow {
    let points: Vec<Option<(CurvePoint, usize)>> = sides
        .each()
        .map(|(_, pooled)| {
            let samples = pooled.get(&tasks)?;
            Some((CurvePoint::of(tasks, samples)?, samples.len()))
        })
        .collect();
    let change = match points.as_slice() {
        [Some((base, _)), Some((head, _))] if base.value > 0.0 => {
            format::change(head.value / base.value)
        }
        _ => String::new(),
    };
    let cells = points.into_iter().map(|point| point.map(cell)).collect();
    TableRow { tasks, cells, change }
}

fn cell((point, n): (CurvePoint, usize)) -> Cell {
    let interval = point.interval.map_or("–".into(), |(low, high)| {
        format!("[{}, {}]", format::number(low), format::number(high))
    });
    Cell { median: Value::new(point.value), interval, n }
}
