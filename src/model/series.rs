//! Curves, their series, and the measurements of a series in the order of revisions.

use std::collections::BTreeMap;

use time::OffsetDateTime;

use super::{BranchId, CurveId, EnvironmentId, MachineId, ProjectId, RevisionId, RunId, SeriesId};

/// The points of one workload on one machine that differ only in task count.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Row.
    pub id: CurveId,
    /// Where.
    pub machine: MachineId,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
    /// Whose code.
    pub project: ProjectId,
    /// The project's name.
    pub project_name: String,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Task counts with a series, ascending.
    pub tasks: Vec<i32>,
}

/// One metric at one task count of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Row.
    pub id: SeriesId,
    /// Curve it belongs to.
    pub curve: CurveId,
    /// Where.
    pub machine: MachineId,
    /// Task count.
    pub tasks: i32,
    /// Metric name.
    pub metric: String,
    /// Unit of every value.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// The workload's first metric: the one people look at first.
    pub primary: bool,
}

/// One run of a series: summary, where it stands in the order, and the samples when asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Series.
    pub series: SeriesId,
    /// Task count of the series.
    pub tasks: i32,
    /// Run.
    pub run: RunId,
    /// Revision.
    pub revision: RevisionId,
    /// Branch of the revision: ranks of different branches are not comparable.
    pub branch: BranchId,
    /// Commit of the revision.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Committer time, when reported.
    pub committed_at: Option<OffsetDateTime>,
    /// Order within the branch.
    pub rank: i64,
    /// Environment of the run.
    pub environment: EnvironmentId,
    /// When the run ended.
    pub finished_at: OffsetDateTime,
    /// Summary of the samples.
    pub summary: stats::summary::Summary,
    /// Exact 95 % interval of their median; none where they are too few for one, and for runs stored
    /// before it was kept.
    pub interval: Option<(f64, f64)>,
    /// All samples in order of time; empty when they were not asked for.
    pub samples: Vec<f64>,
}
