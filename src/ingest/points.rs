//! The points of a report → curves, series, points and measurements that name each other by index.
//! Curves are in the order of their keys, and series in the order of theirs: the order in which
//! every upload takes its locks.

use stats::interval::median_interval;
use stats::summary::{Summary, summarise};
use stats::{Sample, robust};
use wire::{Metric, Outcome, Point};

use crate::db::store::{CurveRow, MeasurementRow, PointRow, SeriesRow};
use crate::error::{Error, Result};
use crate::model::{Origin, environment};

/// Rows of a report's points.
#[derive(Debug, Default)]
pub struct PointRows {
    /// Distinct curves, by key.
    pub curves: Vec<CurveRow>,
    /// Distinct series, by key.
    pub series: Vec<SeriesRow>,
    /// One a point, as reported.
    pub points: Vec<PointRow>,
    /// One a series: a report has no point twice.
    pub measurements: Vec<MeasurementRow>,
}

/// Lays out the rows of points that passed [`wire::Report::check`].
pub fn lay_out(points: &[Point]) -> Result<PointRows> {
    let mut curves: Vec<CurveRow> = points.iter().map(curve_of).collect();
    let keys = curves.clone();
    curves.sort();
    curves.dedup();
    let mut rows = PointRows::default();
    let mut values = Vec::new();
    for (i, (point, key)) in points.iter().zip(&keys).enumerate() {
        let curve = curves.binary_search(key).expect("each point's curve is among the curves");
        rows.points.push(point_row(point, curve)?);
        values.extend(series_of(i, point, curve)?);
    }
    values.sort_by(|(a, _), (b, _)| {
        (a.curve, a.tasks, &a.metric).cmp(&(b.curve, b.tasks, &b.metric))
    });
    for (series, measurement) in values {
        rows.measurements.push(MeasurementRow { series: rows.series.len(), ..measurement });
        rows.series.push(series);
    }
    rows.curves = curves;
    Ok(rows)
}

fn curve_of(point: &Point) -> CurveRow {
    CurveRow {
        workload: point.workload.clone(),
        version: point.version as i32,
        digest: environment::digest(&point.parameters),
        parameters: point.parameters.clone(),
    }
}

type SeriesValues = (SeriesRow, MeasurementRow);

fn series_of(i: usize, point: &Point, curve: usize) -> Result<Vec<SeriesValues>> {
    let outcome = &point.outcome;
    let kind = if matches!(outcome, Outcome::Imported(_)) { "imported" } else { "measured" };
    let mut all = Vec::with_capacity(outcome.metrics().len());
    for (j, metric) in outcome.metrics().iter().enumerate() {
        let field = format!("points[{i}].outcome.{kind}.metrics[{j}]");
        let samples = outcome.values(metric);
        // No window defined the metric (no CPU time received): the point stands, without it.
        let Some(sample) = Sample::new(&samples) else { continue };
        let row = MeasurementRow {
            series: 0,
            source: metric.source.clone(),
            summary: summary_of(sample, &field)?,
            scale: robust::scale(sample).filter(|scale| scale.is_finite()),
            interval: median_interval(sample, 0.95).map(|one| (one.low, one.high)),
        };
        all.push((series_row(point, metric, curve, j == 0, field), row));
    }
    Ok(all)
}

fn series_row(
    point: &Point,
    metric: &Metric,
    curve: usize,
    primary: bool,
    field: String,
) -> SeriesRow {
    SeriesRow {
        curve,
        tasks: point.tasks as i32,
        metric: metric.name.clone(),
        unit: metric.unit,
        direction: metric.direction,
        primary,
        field,
    }
}

fn summary_of(sample: Sample<'_>, field: &str) -> Result<Summary> {
    let summary = summarise(sample);
    let finite = summary.mean.is_finite()
        && summary.median.is_finite()
        && summary.sd.is_none_or(f64::is_finite);
    if finite {
        return Ok(summary);
    }
    Err(Error::invalid(
        format!("{field}.source.values"),
        "must be small enough that their mean and deviation are finite numbers",
    ))
}

fn point_row(point: &Point, curve: usize) -> Result<PointRow> {
    let json = |value: serde_json::Result<String>| value.map_err(|e| Error::Internal(e.into()));
    let mut row = PointRow {
        curve,
        tasks: point.tasks as i32,
        placement: "[]".into(),
        start_skew_ns: None,
        warmup_windows: None,
        windows: Vec::new(),
        disturbance: "{}".into(),
        counters: "{}".into(),
        imported: None,
        failure: None,
    };
    match &point.outcome {
        Outcome::Imported(imported) => {
            let origin = Origin { tool: imported.tool.clone(), spread: imported.spread.clone() };
            row.imported = Some(json(serde_json::to_string(&origin))?);
        }
        Outcome::Failed(failure) => row.failure = Some(json(serde_json::to_string(failure))?),
        Outcome::Measured(measured) => {
            // The casts lose nothing: every limit of the wire lies below 2^53.
            row.placement = json(serde_json::to_string(&measured.placement))?;
            row.disturbance = json(serde_json::to_string(&measured.disturbance))?;
            row.counters = json(serde_json::to_string(&measured.counters))?;
            row.start_skew_ns = Some(measured.start_skew_ns as i64);
            row.warmup_windows = Some(measured.warmup_windows as i32);
            row.windows.clone_from(&measured.windows);
        }
    }
    Ok(row)
}
