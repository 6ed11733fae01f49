//! Curves whose history changed and was not judged yet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Pool};
use crate::model::revision::parse_subject;
use crate::model::{BranchId, CurveId, MachineId, ProjectId};

/// A curve to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Where.
    pub machine: MachineId,
    /// Which.
    pub curve: CurveId,
    /// Whose code.
    pub project: ProjectId,
    /// What the project tests.
    pub subject: wire::Subject,
}

/// Locks the curve that waits longest until the transaction ends; passes over curves that another
/// worker holds. New runs of the curve wait for the same lock, so its history stands still.
pub async fn claim_next(connection: &mut Connection) -> sqlx::Result<Option<Due>> {
    let row = sqlx::query!(
        "select d.machine_id, d.curve_id, c.project_id, p.subject
         from due d
         join curve c on c.id = d.curve_id
         join project p on p.id = c.project_id
         order by d.marked_at, d.machine_id, d.curve_id
         limit 1
         for update of d skip locked"
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        Ok(Due {
            machine: MachineId(row.machine_id),
            curve: CurveId(row.curve_id),
            project: ProjectId(row.project_id),
            subject: word("subject", &row.subject, parse_subject)?,
        })
    })
    .transpose()
}

/// What changed of a curve since it was judged last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Whether all of it is to be judged, however long.
    pub whole: bool,
    /// Branches on which it was judged in windows, in order.
    pub long: Vec<BranchId>,
    /// Ranks between which runs arrived, by branch.
    pub ranges: BTreeMap<BranchId, RangeInclusive<i64>>,
}

/// The changes of these curves, which the caller holds.
pub async fn list_changes(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
) -> sqlx::Result<BTreeMap<CurveId, Changes>> {
    let rows = sqlx::query!(
        r#"select d.curve_id as "curve: CurveId", d.whole,
                  j.long_branches as "long?: Vec<BranchId>",
                  r.branch_id as "branch?: BranchId", r.low as "low?", r.high as "high?"
           from due d
           left join judged j on j.machine_id = d.machine_id and j.curve_id = d.curve_id
           left join due_range r on r.machine_id = d.machine_id and r.curve_id = d.curve_id
           where d.machine_id = $1 and d.curve_id = any($2)"#,
        machine as MachineId,
        curves as &[CurveId]
    );
    let mut found: BTreeMap<CurveId, Changes> = BTreeMap::new();
    for row in rows.fetch_all(connection).await? {
        let changes = found.entry(row.curve).or_default();
        changes.whole = row.whole;
        changes.long = row.long.unwrap_or_default();
        if let (Some(branch), Some(low), Some(high)) = (row.branch, row.low, row.high) {
            changes.ranges.insert(branch, low..=high);
        }
    }
    Ok(found)
}

/// Keeps on which branches a curve is judged in windows.
pub async fn put_long(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    long: &BTreeSet<BranchId>,
) -> sqlx::Result<()> {
    let long: Vec<BranchId> = long.iter().copied().collect();
    sqlx::query!(
        "insert into judged (machine_id, curve_id, long_branches) values ($1, $2, $3)
         on conflict (machine_id, curve_id) do update set long_branches = excluded.long_branches",
        machine as MachineId,
        curve as CurveId,
        &long as &[BranchId]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Whether a curve of this project waits to be judged.
pub async fn is_project_due(pool: &Pool, project: ProjectId) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (select from due d join curve c on c.id = d.curve_id
                          where c.project_id = $1) as "due!""#,
        project.0
    )
    .fetch_one(pool)
    .await
}

/// Locks other curves of the same machine and project that wait, at most `most`: a run makes many
/// due at once.
pub async fn claim_beside(
    connection: &mut Connection,
    first: Due,
    most: i64,
) -> sqlx::Result<Vec<Due>> {
    let curves = sqlx::query_scalar!(
        r#"select d.curve_id as "curve: CurveId"
           from due d join curve c on c.id = d.curve_id
           where d.machine_id = $1 and c.project_id = $2 and d.curve_id <> $3
           order by d.curve_id limit $4
           for update of d skip locked"#,
        first.machine.0,
        first.project.0,
        first.curve.0,
        most
    );
    let curves = curves.fetch_all(connection).await?;
    Ok(curves.into_iter().map(|curve| Due { curve, ..first }).collect())
}

/// Takes the marks away; the judgements are stored by the same transaction.
pub async fn delete(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
) -> sqlx::Result<()> {
    sqlx::query!(
        "with gone as (delete from due_range where machine_id = $1 and curve_id = any($2))
         delete from due where machine_id = $1 and curve_id = any($2)",
        machine.0,
        curves as &[CurveId]
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
