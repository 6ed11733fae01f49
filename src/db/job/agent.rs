//! Agents: what they last said of themselves.

use time::OffsetDateTime;

use crate::db::{Connection, Failure, Pool};
use crate::model::MachineId;
use crate::model::job::Agent;

/// Keeps what an agent says of itself.
///
/// # Errors
/// When the database does not answer.
pub async fn put(
    connection: &mut Connection,
    machine: MachineId,
    claim: &wire::Claim,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into agent (machine_id, labels, projects, runner, seen_at)
         values ($1, $2, $3, $4, $5)
         on conflict (machine_id) do update
             set labels = excluded.labels, projects = excluded.projects, runner = excluded.runner,
                 seen_at = excluded.seen_at",
        machine as MachineId,
        &claim.labels,
        &claim.projects,
        claim.runner,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// The agent of a machine; none where none ever asked for a job.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, machine: MachineId) -> Result<Option<Agent>, Failure> {
    sqlx::query_as!(
        Agent,
        r#"select machine_id as "machine: MachineId", labels, projects, runner, seen_at
           from agent where machine_id = $1"#,
        machine as MachineId
    )
    .fetch_optional(pool)
    .await
}
