//! Curves whose history changed and was not judged yet.

use time::OffsetDateTime;

use super::Connection;
use crate::model::{CurveId, MachineId, ProjectId};

/// A curve to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Where.
    pub machine: MachineId,
    /// Which.
    pub curve: CurveId,
    /// Whose code.
    pub project: ProjectId,
}

/// Locks the curve that waits longest until the transaction ends; passes over curves that another
/// worker holds. New runs of the curve wait for the same lock, so its history stands still.
pub async fn claim_next(connection: &mut Connection) -> sqlx::Result<Option<Due>> {
    sqlx::query_as!(
        Due,
        r#"select d.machine_id as "machine: MachineId", d.curve_id as "curve: CurveId",
                  c.project_id as "project: ProjectId"
           from due d join curve c on c.id = d.curve_id
           order by d.marked_at, d.machine_id, d.curve_id
           limit 1
           for update of d skip locked"#
    )
    .fetch_optional(connection)
    .await
}

/// Takes the mark away; the judgement is stored by the same transaction.
pub async fn delete(connection: &mut Connection, due: Due) -> sqlx::Result<()> {
    sqlx::query!(
        "delete from due where machine_id = $1 and curve_id = $2",
        due.machine.0,
        due.curve.0
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Sends a curve that could not be judged to the end of the queue, so that it holds up no other.
pub async fn postpone(
    connection: &mut Connection,
    due: Due,
    now: OffsetDateTime,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update due set marked_at = $3 where machine_id = $1 and curve_id = $2",
        due.machine.0,
        due.curve.0,
        now
    )
    .execute(connection)
    .await?;
    Ok(())
}
