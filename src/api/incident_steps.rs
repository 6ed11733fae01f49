//! The steps of an incident as its answer shows them.

use std::collections::BTreeMap;

use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::values::Estimate;
use crate::model::incident::{IncidentStep, RangeEnd};
use crate::model::step::{Change, Evidence};
use crate::model::{CurveId, EnvironmentId, SeriesId};

/// A change of level found in a series.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Step)]
pub struct StepView {
    machine: String,
    machine_name: String,
    curve: CurveId,
    /// Null of a figure of the law of scaling, which is no series of measurements.
    series: Option<SeriesId>,
    workload: String,
    version: i32,
    parameters: BTreeMap<String, String>,
    tasks: i32,
    metric: String,
    /// Whether the metric is a figure of the curve's law of scaling up to `tasks`.
    derived: bool,
    unit: wire::Unit,
    direction: wire::Direction,
    change: Change,
    before: f64,
    after: f64,
    ratio: Option<Estimate>,
    good: RangeEnd,
    bad: RangeEnd,
    environment: EnvironmentId,
    evidence: Evidence,
    #[serde(with = "rfc3339")]
    found_at: OffsetDateTime,
    #[serde(with = "rfc3339::option")]
    retracted_at: Option<OffsetDateTime>,
}

impl From<IncidentStep> for StepView {
    fn from(step: IncidentStep) -> StepView {
        StepView {
            machine: step.machine_public_id,
            machine_name: step.machine_name,
            curve: step.curve,
            series: (!step.derived).then_some(step.series),
            workload: step.workload,
            version: step.version,
            parameters: step.parameters,
            tasks: step.tasks,
            metric: step.metric,
            derived: step.derived,
            unit: step.unit,
            direction: step.direction,
            change: step.change,
            before: step.before,
            after: step.after,
            ratio: step.ratio.map(Estimate::from),
            good: step.good,
            bad: step.bad,
            environment: step.environment,
            evidence: step.evidence,
            found_at: step.found_at,
            retracted_at: step.retracted_at,
        }
    }
}
