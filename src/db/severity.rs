//! What the severity of incidents follows from, and the weights of a project.

use super::{Connection, Failure, Pool};
use crate::model::severity::Effect;
use crate::model::{CurveId, IncidentId, ProjectId};

/// The standing steps of incidents, each with the noise and the weight that count for it.
///
/// # Errors
/// When the database does not answer.
pub async fn list_effects(pool: &Pool, incidents: &[IncidentId]) -> Result<Vec<Effect>, Failure> {
    let rows = sqlx::query_as!(
        Effect,
        r#"select t.incident_id as "incident!: IncidentId", c.id as "curve: CurveId",
               -- A coefficient weighs as much as it does to throughput.
               case when s.derived then (t.evidence->'bend'->>'throughput')::double precision
                    else t.ratio end as ratio,
               coalesce((select max(n.relative) from noise_of_curve n
                         where n.machine_id = c.machine_id and n.curve_id = c.id
                               and n.metric = s.metric), 0) as "floor!",
               coalesce((select w.weight from weight w
                         where w.project_id = c.project_id and w.workload in (c.workload, '')
                               and w.metric in (s.metric, '')
                         order by w.workload <> '' desc, w.metric <> '' desc limit 1), 1)
                   as "weight!"
           from step t join series s on s.id = t.series_id join curve c on c.id = s.curve_id
           where t.incident_id = any($1) and t.retracted_at is null
           order by t.incident_id, t.id"#,
        incidents as &[IncidentId]
    );
    rows.fetch_all(pool).await
}

/// How much a project's users care about a workload and metric; an empty one stands for every one.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    /// Workload id.
    pub workload: String,
    /// Metric.
    pub metric: String,
    /// Factor, 0 to 1000.
    pub weight: f64,
}

/// The weights of a project.
///
/// # Errors
/// When the database does not answer.
pub async fn list_weights(pool: &Pool, project: ProjectId) -> Result<Vec<Weight>, Failure> {
    sqlx::query_as!(
        Weight,
        "select workload, metric, weight from weight where project_id = $1
         order by workload, metric",
        project as ProjectId
    )
    .fetch_all(pool)
    .await
}

/// Puts weights in the place of those a project had. Whoever comes second waits.
///
/// # Errors
/// When the database refuses.
pub async fn replace_weights(
    connection: &mut Connection,
    project: ProjectId,
    weights: &[Weight],
) -> Result<(), Failure> {
    super::incident::lock_project(connection, project).await?;
    sqlx::query!("delete from weight where project_id = $1", project as ProjectId)
        .execute(&mut *connection)
        .await?;
    for one in weights {
        sqlx::query!(
            "insert into weight (project_id, workload, metric, weight) values ($1, $2, $3, $4)",
            project as ProjectId,
            one.workload,
            one.metric,
            one.weight
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}
