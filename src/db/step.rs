//! Histories as the detector reads them, and the steps found in them.

use std::collections::HashMap;

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::Connection;
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
    let rows = sqlx::query!(
        "select s.id, s.tasks, s.metric, s.unit, s.direction, s.is_primary, m.run_id,
                m.revision_id, r.commit_id, m.branch_id, m.rank, m.environment_id,
                m.finished_at, m.n, m.scale, m.mean, m.median
         from series s
         join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
         join revision r on r.id = m.revision_id
         where s.machine_id = $1 and m.machine_id = $1 and s.curve_id = $2
               and m.branch_id > 0",
        machine.0,
        curve.0
    )
    .fetch_all(database)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(HistoryRow {
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
            })
        })
        .collect()
}

/// The samples of these runs of curves of a machine, by series and run; the median alone where
/// retention took the windows.
pub async fn list_samples(
    connection: &mut Connection,
    machine: MachineId,
    runs: &[(CurveId, HistoryRow)],
) -> sqlx::Result<HashMap<(SeriesId, RunId), Vec<f64>>> {
    if runs.is_empty() {
        return Ok(HashMap::new());
    }
    let curves: Vec<CurveId> = runs.iter().map(|(curve, _)| *curve).collect();
    let tasks: Vec<i32> = runs.iter().map(|(_, row)| row.tasks).collect();
    let series: Vec<SeriesId> = runs.iter().map(|(_, row)| row.series).collect();
    let branches: Vec<BranchId> = runs.iter().map(|(_, row)| row.branch).collect();
    let ranks: Vec<i64> = runs.iter().map(|(_, row)| row.rank).collect();
    let finished: Vec<OffsetDateTime> = runs.iter().map(|(_, row)| row.finished_at).collect();
    let ids: Vec<RunId> = runs.iter().map(|(_, row)| row.run).collect();
    let rows = sqlx::query!(
        r#"select m.series_id as "series: SeriesId", m.run_id as run, w.tasks as "tasks!", m.median,
                  m.derived, m.samples, p.packed as "packed?"
           from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[],
                       $7::timestamptz[], $8::uuid[])
               as w (curve, tasks, series, branch, rank, finished, run)
           join measurement m on m.machine_id = $1 and m.series_id = w.series
             and m.branch_id = w.branch and m.rank = w.rank and m.finished_at = w.finished
             and m.run_id = w.run
           left join point p on m.derived is not null and p.machine_id = $1 and p.run_id = w.run
             and p.curve_id = w.curve and p.tasks = w.tasks"#,
        machine.0,
        &curves as &[CurveId],
        &tasks,
        &series as &[SeriesId],
        &branches as &[BranchId],
        &ranks,
        &finished,
        &ids
    );
    let rows = rows.fetch_all(connection).await?;
    let samples = rows.into_iter().map(|row| {
        let found = pack::samples(row.samples, row.derived, row.packed.as_deref(), row.tasks);
        ((row.series, row.run), if found.is_empty() { vec![row.median] } else { found })
    });
    Ok(samples.collect())
}

/// CPU time received and taken by points of curves of a machine, each named by curve, task count
/// and run. What others on the machine took counts where the kernel is not under test: there it
/// may be the kernel's own work.
pub async fn list_cpu_shares(
    connection: &mut Connection,
    machine: MachineId,
    subject: wire::Subject,
    points: &[(CurveId, i32, RunId)],
) -> sqlx::Result<HashMap<(CurveId, i32, RunId), CpuShare>> {
    if points.is_empty() {
        return Ok(HashMap::new());
    }
    let curves: Vec<CurveId> = points.iter().map(|point| point.0).collect();
    let tasks: Vec<i32> = points.iter().map(|point| point.1).collect();
    let runs: Vec<RunId> = points.iter().map(|point| point.2).collect();
    let rows = sqlx::query!(
        r#"select p.curve_id as "curve: CurveId", p.tasks, p.run_id, p.wall_ns, p.received_ns,
                  case when disturbance ? 'steal_ns' or ($5 and disturbance ? 'other_cpu_ns') then
                      coalesce((disturbance->>'steal_ns')::double precision, 0)
                      + case when $5 then
                            coalesce((disturbance->>'other_cpu_ns')::double precision, 0)
                        else 0 end
                  end as "taken_ns"
           from unnest($2::bigint[], $3::integer[], $4::uuid[]) as w (curve, tasks, run)
           join point p on p.machine_id = $1 and p.run_id = w.run and p.curve_id = w.curve
               and p.tasks = w.tasks
           where failure is null"#,
        machine.0,
        &curves as &[CurveId],
        &tasks,
        &runs,
        subject != wire::Subject::Kernel
    );
    let rows = rows.fetch_all(connection).await?.into_iter().map(|row| {
        let (run, wall_ns, received_ns) = (row.run_id, row.wall_ns, row.received_ns);
        let share = CpuShare { run, wall_ns, received_ns, taken_ns: row.taken_ns };
        ((row.curve, row.tasks, run), share)
    });
    Ok(rows.collect())
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
