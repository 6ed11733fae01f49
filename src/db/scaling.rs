//! The laws of scaling of a curve, and the series that their figures are.

use std::collections::BTreeMap;

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

/// The laws of some curves of a machine in these environments at these revisions, in the order of
/// [`list`]; a curve without laws is left out.
///
/// # Errors
/// When the database does not answer.
pub async fn list_at(
    executor: impl PgExecutor<'_>,
    machine: MachineId,
    curves: &[CurveId],
    environments: &[EnvironmentId],
    revisions: &[RevisionId],
) -> Result<BTreeMap<CurveId, Vec<Scaling>>, Failure> {
    let rows = sqlx::query!(
        r#"select s.curve_id as "curve: CurveId", s.revision_id as "revision: RevisionId",
                  r.commit_id as commit, r.subject, r.branch_id as "branch: BranchId", r.rank,
                  s.environment_id as "environment: EnvironmentId", s.run_id as run,
                  s.finished_at, s.tasks, s.measurements, s.law as "law: Json<FittedLaw>", s.refusal
           from scaling s join revision r on r.id = s.revision_id
           where s.machine_id = $1 and s.curve_id = any($2) and s.environment_id = any($3)
               and s.revision_id = any($4)
           order by s.curve_id, r.branch_id, s.environment_id, r.rank, r.commit_id"#,
        machine as MachineId,
        curves as &[CurveId],
        environments as &[EnvironmentId],
        revisions as &[RevisionId]
    );
    let mut found: BTreeMap<CurveId, Vec<Scaling>> = BTreeMap::new();
    for row in rows.fetch_all(executor).await? {
        found.entry(row.curve).or_default().push(Scaling {
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
            law: row.law.map(|law| law.0).ok_or(row.refusal.unwrap_or_default()),
        });
    }
    Ok(found)
}

/// Takes the laws of curves of a machine at these revisions and environments away.
///
/// # Errors
/// When the database refuses.
pub async fn delete(
    connection: &mut Connection,
    machine: MachineId,
    gone: &[(CurveId, &Scaling)],
) -> Result<(), Failure> {
    if gone.is_empty() {
        return Ok(());
    }
    let curves: Vec<CurveId> = gone.iter().map(|(curve, _)| *curve).collect();
    let environments: Vec<EnvironmentId> = gone.iter().map(|(_, one)| one.environment).collect();
    let revisions: Vec<RevisionId> = gone.iter().map(|(_, one)| one.revision).collect();
    sqlx::query!(
        "delete from scaling s
         using unnest($2::bigint[], $3::bigint[], $4::bigint[]) as w (curve, environment, revision)
         where s.machine_id = $1 and s.curve_id = w.curve and s.environment_id = w.environment
             and s.revision_id = w.revision",
        machine as MachineId,
        &curves as &[CurveId],
        &environments as &[EnvironmentId],
        &revisions as &[RevisionId]
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Keeps these laws of curves of a machine, each in the place of an older one.
///
/// # Errors
/// When the database refuses.
pub async fn put(
    connection: &mut Connection,
    machine: MachineId,
    laws: &[(CurveId, &Scaling)],
) -> Result<(), Failure> {
    if laws.is_empty() {
        return Ok(());
    }
    let curves: Vec<CurveId> = laws.iter().map(|(curve, _)| *curve).collect();
    let environments: Vec<EnvironmentId> = laws.iter().map(|(_, one)| one.environment).collect();
    let revisions: Vec<RevisionId> = laws.iter().map(|(_, one)| one.revision).collect();
    let runs: Vec<RunId> = laws.iter().map(|(_, one)| one.run).collect();
    let finished: Vec<OffsetDateTime> = laws.iter().map(|(_, one)| one.finished_at).collect();
    // Arrays of unequal length cannot be the elements of one: as text, `{1,2,4}`.
    let tasks: Vec<String> = laws.iter().map(|(_, one)| array(&one.tasks)).collect();
    let measurements: Vec<i32> = laws.iter().map(|(_, one)| one.measurements).collect();
    let fitted: Vec<Option<Json<&FittedLaw>>> =
        laws.iter().map(|(_, one)| one.law.as_ref().ok().map(Json)).collect();
    let refusals: Vec<Option<String>> =
        laws.iter().map(|(_, one)| one.law.as_ref().err().cloned()).collect();
    sqlx::query!(
        "insert into scaling (machine_id, curve_id, environment_id, revision_id, run_id,
                              finished_at, tasks, measurements, law, refusal)
         select $1, w.curve, w.environment, w.revision, w.run, w.finished, w.tasks::integer[],
                w.measurements, w.law, w.refusal
         from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[], $6::timestamptz[],
                     $7::text[], $8::integer[], $9::jsonb[], $10::text[])
             as w (curve, environment, revision, run, finished, tasks, measurements, law, refusal)
         on conflict (machine_id, curve_id, environment_id, revision_id) do update
             set run_id = excluded.run_id, finished_at = excluded.finished_at,
                 tasks = excluded.tasks, measurements = excluded.measurements,
                 law = excluded.law, refusal = excluded.refusal",
        machine as MachineId,
        &curves as &[CurveId],
        &environments as &[EnvironmentId],
        &revisions as &[RevisionId],
        &runs,
        &finished,
        &tasks,
        &measurements,
        &fitted as _,
        &refusals as &[Option<String>]
    )
    .execute(connection)
    .await
    .map(drop)
}

/// As Postgres writes an array.
fn array(numbers: &[i32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{{{}}}", numbers.join(","))
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
