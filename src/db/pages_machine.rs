//! What the pages of the service and of a machine count.

use super::{Failure, Pool};
use crate::model::{Counts, EnvironmentId, EnvironmentUse, MachineId, ProjectId, Visible};

/// How much there is to be seen.
///
/// # Errors
/// When the database does not answer.
pub async fn count(pool: &Pool, visible: &Visible) -> Result<Counts, Failure> {
    sqlx::query_as!(
        Counts,
        r#"select (select count(*) from machine) as "machines!",
               (select count(*) from curve
                where $1::bigint[] is null or project_id = any($1)) as "curves!",
               case when $1 is null then (select count(*) from run)
                    else (select count(*) from run r join revision v on v.id = r.revision_id
                          join branch b on b.id = v.branch_id where b.project_id = any($1))
                    end as "runs!",
               (select count(*) from due d join curve c on c.id = d.curve_id
                where $1 is null or c.project_id = any($1)) as "due!""#,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_one(pool)
    .await
}

/// Unbroken stretches of visible runs in one environment, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list_environment_uses(
    pool: &Pool,
    visible: &Visible,
    machine: MachineId,
    limit: i64,
) -> Result<Vec<EnvironmentUse>, Failure> {
    sqlx::query_as!(
        EnvironmentUse,
        r#"with numbered as (
               select environment_id, started_at,
                   row_number() over (order by started_at, id)
                       - row_number() over (partition by environment_id order by started_at, id)
                       as stretch
               from run r where machine_id = $1
                 and ($3::bigint[] is null or exists (
                     select from revision v join branch b on b.id = v.branch_id
                     where v.id = r.revision_id and b.project_id = any($3)))
           )
           select environment_id as "environment: EnvironmentId", min(started_at) as "since!",
               count(*) as "runs!"
           from numbered group by environment_id, stretch
           order by min(started_at) desc limit $2"#,
        machine as MachineId,
        limit,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await
}
