//! What the pages of the service and of a machine count.

use super::{Failure, Pool};
use crate::model::{Counts, EnvironmentId, EnvironmentUse, MachineId};

/// How much there is.
///
/// # Errors
/// When the database does not answer.
pub async fn count(pool: &Pool) -> Result<Counts, Failure> {
    sqlx::query_as!(
        Counts,
        r#"select (select count(*) from machine) as "machines!",
               (select count(*) from curve) as "curves!", (select count(*) from run) as "runs!",
               (select count(*) from due) as "due!""#
    )
    .fetch_one(pool)
    .await
}

/// Unbroken stretches of runs in one environment, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list_environment_uses(
    pool: &Pool,
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
               from run where machine_id = $1
           )
           select environment_id as "environment: EnvironmentId", min(started_at) as "since!",
               count(*) as "runs!"
           from numbered group by environment_id, stretch
           order by min(started_at) desc limit $2"#,
        machine as MachineId,
        limit
    )
    .fetch_all(pool)
    .await
}
