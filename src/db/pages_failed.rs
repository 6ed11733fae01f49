//! Points of a curve that failed, with where they stand in the order of revisions.

use super::{Failure, Pool};
use crate::model::{BranchId, CurveId, FailedPoint, MachineId};

/// Points of a curve that failed, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    machine: MachineId,
    curve: CurveId,
) -> Result<Vec<FailedPoint>, Failure> {
    sqlx::query_as!(
        FailedPoint,
        r#"select p.tasks, p.run_id as run, v.branch_id as "branch: BranchId",
               v.commit_id as commit, v.subject, v.rank, r.finished_at
           from point p
           join run r on r.machine_id = p.machine_id and r.id = p.run_id
           join revision v on v.id = r.revision_id
           where p.machine_id = $1 and p.curve_id = $2 and p.failure is not null
             and v.off_branch_at is null
           order by r.finished_at desc, p.tasks limit 1000"#,
        machine as MachineId,
        curve as CurveId
    )
    .fetch_all(pool)
    .await
}
