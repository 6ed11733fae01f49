//! Two sides of a project compared, curve by curve, as the service judges them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Direction, Unit};

/// What a whole comparison comes to; a missing baseline never passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Every point that the base has was judged, and none is worse.
    NoRegression,
    /// A point is worse, beyond doubt.
    Regression,
    /// Not enough data, no baseline, nothing comparable, or a regression that is not confirmed.
    Undecided,
    /// The head failed where the base ran.
    MeasurementFailed,
}

/// Answer to `GET /api/v1/projects/{name}/compare`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ProjectComparison {
    /// Project.
    pub project: String,
    /// What is compared with.
    pub base: ComparedSide,
    /// What is judged.
    pub head: ComparedSide,
    /// What it comes to.
    pub outcome: GateOutcome,
    /// Why, in a sentence.
    pub words: String,
    /// The rule by which a point is called, in a sentence.
    pub rule: String,
    /// Curves that both sides have, regressions first, then by size of the change.
    pub curves: Vec<CurveComparison>,
    /// Curves that one side has alone.
    pub unpaired: Vec<UnpairedCurve>,
    /// The page with the whole table.
    pub url: String,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ComparedSide {
    /// As it was asked for: a commit, a range or runs.
    pub asked: String,
    /// Its commits, in order.
    pub commits: Vec<String>,
    /// First line of the message of the last commit.
    pub subject: String,
    /// Runs that count.
    pub runs: usize,
}

/// One metric of one curve, both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CurveComparison {
    /// Number of the curve.
    pub curve: i64,
    /// Id of the machine.
    pub machine: String,
    /// Its name.
    pub machine_name: String,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Metric.
    pub metric: String,
    /// Unit of its values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// The verdict over the curve in words; never one number.
    pub words: String,
    /// One a task count.
    pub points: Vec<PointComparison>,
    /// Task counts at which the head failed and the base ran, and why.
    pub failed: Vec<FailedAt>,
    /// Runs left out, in sentences.
    pub set_aside: Vec<String>,
    /// The rule, every inequality with its numbers and the line that decided; where it is asked for.
    pub why: Option<String>,
    /// The page of this comparison.
    pub url: String,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PointComparison {
    /// Task count.
    pub tasks: u32,
    /// Verdict in words: `regression`, `no change`, `not enough data` …
    pub verdict: String,
    /// Two builds of one code might show the change too.
    pub unconfirmed: bool,
    /// Median of the base.
    pub base: Option<f64>,
    /// Median of the head.
    pub head: Option<f64>,
    /// head ÷ base.
    pub ratio: Option<f64>,
    /// Its interval at the level corrected for the number of points.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
}

/// A point that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FailedAt {
    /// Task count.
    pub tasks: u32,
    /// What failed.
    pub detail: String,
}

/// A curve that one side has alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnpairedCurve {
    /// Number of the curve.
    pub curve: i64,
    /// Name of the machine.
    pub machine_name: String,
    /// Workload id.
    pub workload: String,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// `not measured at the base`, `not measured at the head`.
    pub why: String,
}
