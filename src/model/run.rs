//! A run as read back: its head for lists, its points with every raw window for its page.

use std::collections::BTreeMap;

use time::OffsetDateTime;

use super::{BranchId, CurveId, EnvironmentId, MachineId, ProjectId, RevisionId, RunId, SeriesId};

/// One execution, as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// UUID made by the runner.
    pub id: RunId,
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
    /// On which branch.
    pub branch: BranchId,
    /// The branch's name.
    pub branch_name: String,
    /// Which code.
    pub revision: RevisionId,
    /// Its commit.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// In what surroundings.
    pub environment: EnvironmentId,
    /// When it began.
    pub started_at: OffsetDateTime,
    /// When it ended.
    pub finished_at: OffsetDateTime,
    /// When its report came.
    pub received_at: OffsetDateTime,
    /// Points stored, failed ones included.
    pub points: i64,
    /// Points that failed.
    pub failed_points: i64,
}

/// One point of a run with every raw window.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPoint {
    /// Curve it lies on.
    pub curve: CurveId,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Task count.
    pub tasks: i32,
    /// Windows in order of time, placement and disturbance; or why there are none.
    pub outcome: Result<RunValues, wire::Failure>,
}

/// What was measured at a point.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValues {
    /// CPUs task *i* was allowed to run on; empty when tasks were not placed.
    pub placement: Vec<Vec<u32>>,
    /// Time between the first and the last task's start, ns.
    pub start_skew_ns: i64,
    /// Windows thrown away first.
    pub warmup_windows: i32,
    /// Raw windows.
    pub windows: Vec<wire::Window>,
    /// What disturbed it.
    pub disturbance: wire::Disturbance,
    /// What it cost, each a number per operation.
    pub counters: BTreeMap<String, f64>,
    /// Where the values come from when there are no windows.
    pub origin: Option<Origin>,
    /// Values of each metric: series, name, unit, direction, samples. Primary metric first.
    pub metrics: Vec<RunMetric>,
}

/// That another tool measured, and what it tells of samples that it does not tell.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// The tool, e.g. `hyperfine`.
    pub tool: String,
    /// Spread of those samples, by metric.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spread: BTreeMap<String, wire::Spread>,
}

/// One metric's values at a point of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMetric {
    /// Series the values belong to.
    pub series: SeriesId,
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// One value a window, or one in all.
    pub samples: Vec<f64>,
    /// Their summary.
    pub summary: stats::summary::Summary,
}

/// A piece of evidence kept with a run, content left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Artefact {
    /// File name shown to people.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// Bytes of the content as sent.
    pub size_bytes: i64,
    /// SHA-256 of the content, lower-case hex.
    pub digest: String,
}
