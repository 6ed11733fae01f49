//! Histories as the detector reads them, and the steps found in them.

use std::collections::{BTreeMap, HashMap};

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::Connection;
use super::due::Due;
use super::pack;
use super::types::word;
use crate::model::step::{Change, CpuShare, Found, HistoryRow, Place, StandingStep};
use crate::model::{
    BranchId, CurveId, EnvironmentId, IncidentId, MachineId, ProjectId, RevisionId, RunId,
    SeriesId, StepId,
};

/// Every run of every series of a curve: one index range scan a series, samples left out.
pub async fn list_history(
    database: impl PgExecutor<'_>,
    machine: MachineId,
    curve: CurveId,
) -> sqlx::Result<Vec<HistoryRow>> {
    let mut found = list_histories(database, machine, &[curve]).await?;
    Ok(found.remove(&curve).unwrap_or_default())
}

/// As [`list_history`], of several curves of a machine; one without runs is left out.
pub async fn list_histories(
    database: impl PgExecutor<'_>,
    machine: MachineId,
    curves: &[CurveId],
) -> sqlx::Result<BTreeMap<CurveId, Vec<HistoryRow>>> {
    let rows = sqlx::query!(
        "select s.curve_id, s.id, s.tasks, s.metric, s.unit, s.direction, s.is_primary, m.run_id,
                m.revision_id, r.commit_id, m.branch_id, m.rank, m.environment_id,
                m.finished_at, m.n, m.scale, m.mean, m.median
         from series s
         join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
         join revision r on r.id = m.revision_id
         where s.machine_id = $1 and m.machine_id = $1 and s.curve_id = any($2)",
        machine.0,
        curves as &[CurveId]
    )
    .fetch_all(database)
    .await?;
    let mut found: BTreeMap<CurveId, Vec<HistoryRow>> = BTreeMap::new();
    for row in rows {
        found.entry(CurveId(row.curve_id)).or_default().push(HistoryRow {
            series: SeriesId(row.id),
            tasks: row.tasks,
            metric: row.metric,
            unit: word("unit", &row.unit, wire::Unit::parse)?,
            direction: word("direction", &row.direction, wire::Direction::parse)?,
            primary: row.is_primary,
            run: row.run_id,
            revision: RevisionId(row.revision_id),
            commit: row.commit_id,
            branch: BranchId(row.branch_id),
            rank: row.rank,
            environment: EnvironmentId(row.environment_id),
            finished_at: row.finished_at,
            n: row.n as usize,
            scale: row.scale,
            mean: row.mean,
            median: row.median,
        });
    }
    Ok(found)
}

/// The samples of these runs, by series and run; the median alone where retention took the windows.
pub async fn list_samples(
    connection: &mut Connection,
    due: Due,
    runs: &[&HistoryRow],
) -> sqlx::Result<HashMap<(SeriesId, RunId), Vec<f64>>> {
    if runs.is_empty() {
        return Ok(HashMap::new());
    }
    let series: Vec<SeriesId> = runs.iter().map(|row| row.series).collect();
    let branches: Vec<BranchId> = runs.iter().map(|row| row.branch).collect();
    let ranks: Vec<i64> = runs.iter().map(|row| row.rank).collect();
    let ids: Vec<RunId> = runs.iter().map(|row| row.run).collect();
    let rows = sqlx::query!(
        r#"select m.series_id as "series: SeriesId", m.run_id as run, s.tasks, m.median, m.derived,
                  m.samples, p.packed as "packed?"
           from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[])
               as w (series, branch, rank, run)
           join series s on s.machine_id = $1 and s.curve_id = $2 and s.id = w.series
           join measurement m on m.machine_id = $1 and m.series_id = w.series
             and m.branch_id = w.branch and m.rank = w.rank and m.run_id = w.run
           left join point p on m.derived is not null and p.machine_id = $1 and p.run_id = w.run
             and p.curve_id = $2 and p.tasks = s.tasks"#,
        due.machine.0,
        due.curve.0,
        &series as &[SeriesId],
        &branches as &[BranchId],
        &ranks,
        &ids
    );
    let rows = rows.fetch_all(connection).await?;
    let samples = rows.into_iter().map(|row| {
        let found = pack::samples(row.samples, row.derived, row.packed.as_deref(), row.tasks);
        ((row.series, row.run), if found.is_empty() { vec![row.median] } else { found })
    });
    Ok(samples.collect())
}

/// CPU time received and taken at one task count of a curve, in the given runs. What others on the
/// machine took counts where the kernel is not under test: there it may be the kernel's own work.
pub async fn list_cpu_shares(
    connection: &mut Connection,
    due: Due,
    tasks: i32,
    runs: &[RunId],
) -> sqlx::Result<Vec<CpuShare>> {
    sqlx::query_as!(
        CpuShare,
        r#"select run_id as "run", wall_ns, received_ns,
                  case when disturbance ? 'steal_ns' or ($5 and disturbance ? 'other_cpu_ns') then
                      coalesce((disturbance->>'steal_ns')::double precision, 0)
                      + case when $5 then
                            coalesce((disturbance->>'other_cpu_ns')::double precision, 0)
                        else 0 end
                  end as "taken_ns"
           from point
           where machine_id = $1 and curve_id = $2 and tasks = $3 and run_id = any($4)
                 and failure is null"#,
        due.machine.0,
        due.curve.0,
        tasks,
        runs,
        due.subject != wire::Subject::Kernel
    )
    .fetch_all(connection)
    .await
}

/// Steps of some curves of a project's machine that stand.
pub async fn list_standing_of_curves(
    connection: &mut Connection,
    machine: MachineId,
    project: ProjectId,
    curves: &[CurveId],
) -> sqlx::Result<Vec<StandingStep>> {
    list_standing(connection, project, Some((machine, curves)), None).await
}

/// Steps of a branch that stand, on every machine and curve.
pub async fn list_standing_of_branch(
    connection: &mut Connection,
    project: ProjectId,
    branch: BranchId,
) -> sqlx::Result<Vec<StandingStep>> {
    list_standing(connection, project, None, Some(branch)).await
}

async fn list_standing(
    connection: &mut Connection,
    project: ProjectId,
    of: Option<(MachineId, &[CurveId])>,
    branch: Option<BranchId>,
) -> sqlx::Result<Vec<StandingStep>> {
    let rows = sqlx::query!(
        r#"select t.id, t.machine_id, s.curve_id, t.series_id, s.tasks, s.metric, s.is_primary,
                  s.derived, t.environment_id, b.branch_id, t.good_revision_id, g.rank as good_rank,
                  t.bad_revision_id, b.rank as bad_rank, b.commit_id as bad_commit, t.direction,
                  t.level_before, t.level_after, t.ratio, t.incident_id,
                  coalesce((t.evidence->'neighbour'->>'blamed')::boolean, false) as "blamed!"
           from step t
           join series s on s.id = t.series_id
           join curve c on c.id = s.curve_id
           join revision g on g.id = t.good_revision_id
           join revision b on b.id = t.bad_revision_id
           where t.retracted_at is null and c.project_id = $1
                 and ($2::bigint is null or t.machine_id = $2)
                 and ($3::bigint[] is null or s.curve_id = any($3))
                 and ($4::bigint is null or b.branch_id = $4)
           order by t.id"#,
        project.0,
        of.map(|(machine, _)| machine.0),
        of.map(|(_, curves)| curves) as Option<&[CurveId]>,
        branch.map(|branch| branch.0)
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let place = |revision, rank| Place { revision: RevisionId(revision), rank };
            Ok(StandingStep {
                id: StepId(row.id),
                machine: MachineId(row.machine_id),
                curve: CurveId(row.curve_id),
                series: SeriesId(row.series_id),
                tasks: row.tasks,
                metric: row.metric,
                primary: row.is_primary,
                derived: row.derived,
                environment: EnvironmentId(row.environment_id),
                branch: BranchId(row.branch_id),
                good: place(row.good_revision_id, row.good_rank),
                bad: place(row.bad_revision_id, row.bad_rank),
                bad_commit: row.bad_commit,
                change: word("direction", &row.direction, Change::parse)?,
                before: row.level_before,
                after: row.level_after,
                ratio: row.ratio,
                blamed_on_neighbour: row.blamed,
                incident: row.incident_id.map(IncidentId),
            })
        })
        .collect()
}

/// Stores a step found for the first time, in no incident yet.
pub async fn insert(
    connection: &mut Connection,
    machine: MachineId,
    found: &Found,
    now: OffsetDateTime,
) -> sqlx::Result<StepId> {
    sqlx::query_scalar!(
        "insert into step (machine_id, series_id, environment_id, good_revision_id,
                           bad_revision_id, direction, level_before, level_after, ratio, ratio_low,
                           ratio_high, evidence, found_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         returning id",
        machine.0,
        found.series.0,
        found.environment.0,
        found.good.revision.0,
        found.bad.revision.0,
        found.change.word(),
        found.before,
        found.after,
        found.ratio.map(|ratio| ratio.0),
        found.ratio.map(|ratio| ratio.1),
        found.ratio.map(|ratio| ratio.2),
        Json(&found.evidence) as _,
        now
    )
    .fetch_one(connection)
    .await
    .map(StepId)
}

/// Renews place, levels and evidence of a step that was found again.
pub async fn update(
    connection: &mut Connection,
    machine: MachineId,
    step: StepId,
    found: &Found,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update step set good_revision_id = $3, bad_revision_id = $4, level_before = $5,
                level_after = $6, ratio = $7, ratio_low = $8, ratio_high = $9, evidence = $10
         where machine_id = $1 and id = $2",
        machine.0,
        step.0,
        found.good.revision.0,
        found.bad.revision.0,
        found.before,
        found.after,
        found.ratio.map(|ratio| ratio.0),
        found.ratio.map(|ratio| ratio.1),
        found.ratio.map(|ratio| ratio.2),
        Json(&found.evidence) as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Marks a step as disproved; the row stays as history.
pub async fn mark_retracted(
    connection: &mut Connection,
    machine: MachineId,
    step: StepId,
    now: OffsetDateTime,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update step set retracted_at = $3 where machine_id = $1 and id = $2",
        machine.0,
        step.0,
        now
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Puts a step into an incident, or into none.
pub async fn set_incident(
    connection: &mut Connection,
    machine: MachineId,
    step: StepId,
    incident: Option<IncidentId>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update step set incident_id = $3 where machine_id = $1 and id = $2",
        machine.0,
        step.0,
        incident.map(|incident| incident.0)
    )
    .execute(connection)
    .await?;
    Ok(())
}
