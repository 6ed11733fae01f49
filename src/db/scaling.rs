//! The laws of scaling of a curve, and the series that their figures are.

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::{Connection, Failure};
use crate::model::scaling::{Figure, FittedLaw, Scaling};
use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, RunId, SeriesId};

/// The laws of a curve by branch, environment and the order of revisions.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    executor: impl PgExecutor<'_>,
    machine: MachineId,
    curve: CurveId,
) -> Result<Vec<Scaling>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select s.revision_id as "revision: RevisionId", r.commit_id as commit, r.subject,
                  r.branch_id as "branch: BranchId", r.rank,
                  s.environment_id as "environment: EnvironmentId", s.run_id as run,
                  s.finished_at, s.tasks, s.measurements, s.law as "law: Json<FittedLaw>", s.refusal
           from scaling s join revision r on r.id = s.revision_id
           where s.machine_id = $1 and s.curve_id = $2
           order by r.branch_id, s.environment_id, r.rank, r.commit_id"#,
        machine as MachineId,
        curve as CurveId
    );
    Ok(rows.fetch_all(executor).await?.into_iter().map(Scaling::from).collect())
}

/// Keeps these laws of a curve in the place of those `known`; what is the same is not written.
///
/// # Errors
/// When the database refuses.
pub async fn replace(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    known: &[Scaling],
    laws: &[Scaling],
) -> Result<(), Failure> {
    let place = |one: &Scaling| (one.environment, one.revision);
    for gone in known.iter().filter(|old| !laws.iter().any(|new| place(new) == place(old))) {
        delete(connection, (machine, curve), gone).await?;
    }
    for new in laws.iter().filter(|new| !known.contains(new)) {
        put(connection, (machine, curve), new).await?;
    }
    Ok(())
}

async fn delete(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    gone: &Scaling,
) -> Result<(), Failure> {
    sqlx::query!(
        "delete from scaling
         where machine_id = $1 and curve_id = $2 and environment_id = $3 and revision_id = $4",
        machine as MachineId,
        curve as CurveId,
        gone.environment as EnvironmentId,
        gone.revision as RevisionId
    )
    .execute(connection)
    .await
    .map(drop)
}

async fn put(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    one: &Scaling,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into scaling (machine_id, curve_id, environment_id, revision_id, run_id,
                              finished_at, tasks, measurements, law, refusal)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (machine_id, curve_id, environment_id, revision_id) do update
             set run_id = excluded.run_id, finished_at = excluded.finished_at,
                 tasks = excluded.tasks, measurements = excluded.measurements,
                 law = excluded.law, refusal = excluded.refusal",
        machine as MachineId,
        curve as CurveId,
        one.environment as EnvironmentId,
        one.revision as RevisionId,
        one.run,
        one.finished_at,
        &one.tasks,
        one.measurements,
        one.law.as_ref().ok().map(Json) as _,
        one.law.as_ref().err()
    )
    .execute(connection)
    .await
    .map(drop)
}

/// The series of a figure of the law up to so many tasks; stored where it is not yet.
///
/// # Errors
/// When the database refuses.
pub async fn series(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    tasks: i32,
    figure: Figure,
) -> Result<SeriesId, Failure> {
    sqlx::query!(
        "insert into series (machine_id, curve_id, tasks, metric, unit, direction, is_primary,
                             derived)
         values ($1, $2, $3, $4, $5, $6, false, true)
         on conflict on constraint series_is_unique do nothing",
        machine as MachineId,
        curve as CurveId,
        tasks,
        figure.word(),
        figure.unit().symbol(),
        figure.direction().word()
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query_scalar!(
        r#"select id as "id: SeriesId" from series
           where machine_id = $1 and curve_id = $2 and tasks = $3 and metric = $4 and derived"#,
        machine as MachineId,
        curve as CurveId,
        tasks,
        figure.word()
    )
    .fetch_one(connection)
    .await
}

struct Row {
    revision: RevisionId,
    commit: String,
    subject: String,
    branch: BranchId,
    rank: i64,
    environment: EnvironmentId,
    run: RunId,
    finished_at: OffsetDateTime,
    tasks: Vec<i32>,
    measurements: i32,
    law: Option<Json<FittedLaw>>,
    refusal: Option<String>,
}

impl From<Row> for Scaling {
    fn from(row: Row) -> Scaling {
        let refusal = row.refusal.unwrap_or_default();
        Scaling {
            revision: row.revision,
            commit: row.commit,
            subject: row.subject,
            branch: row.branch,
            rank: row.rank,
            environment: row.environment,
            run: row.run,
            finished_at: row.finished_at,
            tasks: row.tasks,
            measurements: row.measurements,
            law: row.law.map(|law| law.0).ok_or(refusal),
        }
    }
}
