//! Steps as their incident's page and mail show them.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::Pool;
use super::incident::ratio;
use super::types::word;
use crate::model::incident::{IncidentStep, RangeEnd};
use crate::model::step::{Change, Evidence};
use crate::model::{CurveId, EnvironmentId, IncidentId, MachineId, RevisionId, SeriesId, StepId};

/// Steps of an incident, retracted ones last; primary metrics first, then by machine, workload and
/// task count.
pub async fn list(db: &Pool, incident: IncidentId) -> sqlx::Result<Vec<IncidentStep>> {
    read(db, Some(incident), None).await
}

/// Steps of a curve that stand, in the same order: those of incidents and those of none.
pub async fn list_standing_of_curve(db: &Pool, curve: CurveId) -> sqlx::Result<Vec<IncidentStep>> {
    read(db, None, Some(curve)).await
}

async fn read(
    db: &Pool,
    incident: Option<IncidentId>,
    curve: Option<CurveId>,
) -> sqlx::Result<Vec<IncidentStep>> {
    let rows = sqlx::query!(
        r#"select t.id, t.incident_id, t.machine_id, m.public_id, m.name as machine_name,
                  s.curve_id, c.workload, c.workload_version,
                  c.parameters as "parameters: Json<BTreeMap<String, String>>",
                  t.series_id, s.tasks, s.metric, s.unit, s.direction as better, s.is_primary,
                  s.derived, t.environment_id, t.direction, t.level_before, t.level_after,
                  t.ratio, t.ratio_low, t.ratio_high, t.evidence as "evidence: Json<Evidence>",
                  t.found_at, t.retracted_at,
                  g.id as good_id, g.rank as good_rank, g.commit_id as good_commit,
                  g.subject as good_subject,
                  b.id as bad_id, b.rank as bad_rank, b.commit_id as bad_commit,
                  b.subject as bad_subject
           from step t
           join machine m on m.id = t.machine_id
           join series s on s.id = t.series_id
           join curve c on c.id = s.curve_id
           join revision g on g.id = t.good_revision_id
           join revision b on b.id = t.bad_revision_id
           where t.incident_id = $1
                 or (s.curve_id = $2 and t.machine_id = s.machine_id and t.retracted_at is null)
           order by t.retracted_at is not null, s.is_primary desc, s.derived, m.id, c.id,
                    s.metric, s.tasks,
                    t.id"#,
        incident.map(|incident| incident.0),
        curve.map(|curve| curve.0)
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            let end = |revision, rank, commit, subject| RangeEnd {
                revision: RevisionId(revision),
                rank,
                commit,
                subject,
            };
            Ok(IncidentStep {
                id: StepId(row.id),
                incident: row.incident_id.map(IncidentId),
                machine: MachineId(row.machine_id),
                machine_public_id: row.public_id,
                machine_name: row.machine_name,
                curve: CurveId(row.curve_id),
                workload: row.workload,
                version: row.workload_version,
                parameters: row.parameters.0,
                series: SeriesId(row.series_id),
                tasks: row.tasks,
                metric: row.metric,
                unit: word("unit", &row.unit, wire::Unit::parse)?,
                direction: word("direction", &row.better, wire::Direction::parse)?,
                primary: row.is_primary,
                derived: row.derived,
                environment: EnvironmentId(row.environment_id),
                good: end(row.good_id, row.good_rank, row.good_commit, row.good_subject),
                bad: end(row.bad_id, row.bad_rank, row.bad_commit, row.bad_subject),
                change: word("direction", &row.direction, Change::parse)?,
                before: row.level_before,
                after: row.level_after,
                ratio: ratio(row.ratio, row.ratio_low, row.ratio_high),
                evidence: row.evidence.0,
                found_at: row.found_at,
                retracted_at: row.retracted_at,
            })
        })
        .collect()
}
