//! The last change of every curve.

use super::types::word;
use super::{Failure, Pool};
use crate::model::heat::{Latest, LatestStep};
use crate::model::step::Change;
use crate::model::{CurveId, IncidentId, ProjectId, Visible};

/// Every visible curve, of one project where given, with the last step that stands in its first metric:
/// of the newest revision, and there the largest. `least_effect` is the smallest change called.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    visible: &Visible,
    project: Option<ProjectId>,
    least_effect: f64,
) -> Result<Vec<Latest>, Failure> {
    let rows = sqlx::query!(
        r#"select c.id as "curve: CurveId", c.workload, m.public_id as machine,
                  m.name as machine_name, coalesce(n.floor, 0) as "floor!",
                  t.incident_id as "incident?: IncidentId", t.direction as "direction?", t.ratio as "ratio?"
           from curve c
           join machine m on m.id = c.machine_id
           left join lateral (
               select max(n.relative) as floor from noise_of_curve n
               where n.machine_id = c.machine_id and n.curve_id = c.id and n.metric in (
                   select s.metric from series s
                   where s.machine_id = c.machine_id and s.curve_id = c.id and s.is_primary)
           ) n on true
           left join lateral (
               select t.incident_id, t.direction, t.ratio
               from series s
               join step t on t.machine_id = s.machine_id and t.series_id = s.id
               join revision bad on bad.id = t.bad_revision_id
               where s.machine_id = c.machine_id and s.curve_id = c.id and s.is_primary
                     and t.retracted_at is null and t.incident_id is not null
               order by bad.rank desc, abs(ln(case when t.ratio > 0 then t.ratio end)) desc nulls first
               limit 1
           ) t on true
           where ($1::bigint is null or c.project_id = $1)
             and ($2::bigint[] is null or c.project_id = any($2))
           order by c.id"#,
        project as Option<ProjectId>,
        visible.projects() as Option<&[ProjectId]>
    );
    let rows = rows.fetch_all(pool).await?.into_iter().map(|row| {
        let step = match (row.incident, row.direction) {
            (Some(incident), Some(direction)) => {
                let found = (incident, word("direction", &direction, Change::parse)?, row.ratio);
                Some(LatestStep::new(found, row.curve, row.floor, least_effect))
            }
            _ => None,
        };
        Ok(Latest {
            workload: row.workload,
            machine: row.machine,
            machine_name: row.machine_name,
            curve: row.curve,
            floor: row.floor,
            step,
        })
    });
    rows.collect()
}
