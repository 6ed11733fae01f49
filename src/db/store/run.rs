//! The run itself, its evidence, and the marks that its curves are to be judged again.

use time::OffsetDateTime;

use super::ArtefactRow;
use crate::db::{Connection, Failure};
use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, RunId};

/// A run to be stored.
#[derive(Debug)]
pub struct Run<'a> {
    /// Where.
    pub machine: MachineId,
    /// UUID made by the runner.
    pub id: RunId,
    /// Which code.
    pub revision: RevisionId,
    /// On which branch.
    pub branch: BranchId,
    /// The revision's place in its branch.
    pub rank: i64,
    /// In what surroundings.
    pub environment: EnvironmentId,
    /// SHA-256 of the report.
    pub digest: &'a [u8; 32],
    /// When it began.
    pub started_at: OffsetDateTime,
    /// When it ended.
    pub finished_at: OffsetDateTime,
    /// Now.
    pub received_at: OffsetDateTime,
}

/// Waits until no other transaction stores a run under this UUID, on any machine.
///
/// # Errors
/// When the database does not answer.
pub async fn lock_run(tx: &mut Connection, run: RunId) -> Result<(), Failure> {
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended('run ' || $1, 0))", run.to_string())
        .execute(tx)
        .await
        .map(drop)
}

/// Whose run this UUID is, and the digest of its report.
///
/// # Errors
/// When the database does not answer.
pub async fn find_run_digest(
    tx: &mut Connection,
    run: RunId,
) -> Result<Option<(MachineId, Vec<u8>)>, Failure> {
    let row = sqlx::query!(
        r#"select machine_id as "machine: MachineId", body_digest from run where id = $1"#,
        run
    );
    Ok(row.fetch_optional(tx).await?.map(|row| (row.machine, row.body_digest)))
}

/// Stores a run.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_run(tx: &mut Connection, run: &Run<'_>) -> Result<(), Failure> {
    sqlx::query!(
        "insert into run (machine_id, id, revision_id, environment_id, body_digest, started_at,
             finished_at, received_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        run.machine as MachineId,
        run.id,
        run.revision as RevisionId,
        run.environment as EnvironmentId,
        run.digest.as_slice(),
        run.started_at,
        run.finished_at,
        run.received_at
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Stores a piece of evidence once, and that this run has it.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_artefact(
    tx: &mut Connection,
    run: &Run<'_>,
    artefact: &ArtefactRow,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into artefact (digest, media_type, content, size_bytes) values ($1, $2, $3, $4)
         on conflict (digest) do nothing",
        artefact.digest.as_slice(),
        artefact.media_type,
        artefact.content,
        artefact.size_bytes
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into run_artefact (machine_id, run_id, name, digest) values ($1, $2, $3, $4)",
        run.machine as MachineId,
        run.id,
        artefact.name,
        artefact.digest.as_slice()
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Marks curves to be judged again near the run's revision. A mark that stands keeps its time, and is locked: a worker that
/// is judging the curve right now is waited for, and the curve judged once more.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_due(
    tx: &mut Connection,
    run: &Run<'_>,
    curves: &[CurveId],
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into due (machine_id, curve_id, marked_at, whole)
         select $1, curve, $3, false from unnest($2::bigint[]) as w (curve) order by curve
         on conflict (machine_id, curve_id) do update set marked_at = due.marked_at",
        run.machine as MachineId,
        curves as &[CurveId],
        run.received_at
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into due_range (machine_id, curve_id, branch_id, low, high)
         select $1, curve, $3, $4, $4 from unnest($2::bigint[]) as w (curve) order by curve
         on conflict (machine_id, curve_id, branch_id) do update
             set low = least(due_range.low, excluded.low),
                 high = greatest(due_range.high, excluded.high)",
        run.machine as MachineId,
        curves as &[CurveId],
        run.branch as BranchId,
        run.rank
    )
    .execute(tx)
    .await
    .map(drop)
}
