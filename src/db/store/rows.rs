//! Rows of a report, as ingest lays them out; they name each other by index.

use std::collections::BTreeMap;

use stats::summary::Summary;

use crate::model::{CurveId, SeriesId};

/// A curve of a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CurveRow {
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// SHA-256 of the parameters.
    pub digest: [u8; 32],
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
}

/// A series of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesRow {
    /// Index into the curves.
    pub curve: usize,
    /// Task count.
    pub tasks: i32,
    /// Metric name.
    pub metric: String,
    /// Unit.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// Whether it is the point's first metric.
    pub primary: bool,
    /// Path of the metric in the report, for errors.
    pub field: String,
}

/// A series that is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownSeries {
    /// Row.
    pub id: SeriesId,
    /// Curve it belongs to.
    pub curve: CurveId,
    /// Task count.
    pub tasks: i32,
    /// Metric name.
    pub metric: String,
    /// Symbol of the unit.
    pub unit: String,
    /// Word of the direction.
    pub direction: String,
}

/// A point of a report. A failed one has no windows, nor has one that another tool measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PointRow {
    /// Index into the curves.
    pub curve: usize,
    /// Task count.
    pub tasks: i32,
    /// JSON of the placement.
    pub placement: String,
    /// Time between the first and the last task's start.
    pub start_skew_ns: Option<i64>,
    /// Windows thrown away first.
    pub warmup_windows: Option<i32>,
    /// Windows measured.
    pub windows: Vec<wire::Window>,
    /// JSON of the disturbance.
    pub disturbance: String,
    /// JSON of what an operation cost, `{}` when failed.
    pub counters: String,
    /// JSON of [`crate::model::Origin`], where another tool measured.
    pub imported: Option<String>,
    /// JSON of the failure.
    pub failure: Option<String>,
}

/// All values of one series in a report.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurementRow {
    /// Index into the series.
    pub series: usize,
    /// Where the values come from: they are stored only where they do not follow from the windows.
    pub source: wire::Source,
    /// Their summary.
    pub summary: Summary,
    /// Their robust scale; none for one value.
    pub scale: Option<f64>,
    /// Exact 95 % interval of their median; none where they are too few for one.
    pub interval: Option<(f64, f64)>,
}

/// A piece of evidence of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtefactRow {
    /// SHA-256 of the content.
    pub digest: [u8; 32],
    /// File name shown to people.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// gzip of the content.
    pub content: Vec<u8>,
    /// Bytes of the content.
    pub size_bytes: i64,
}
