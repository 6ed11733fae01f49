//! Both sides of a comparison over all curves of a project, loaded with few statements however many
//! curves there are.

use std::collections::BTreeMap;

use sqlx::types::Json;
use time::OffsetDateTime;

use super::history::EarlierRun;
use super::types::word;
use super::{Failure, Pool, pack};
use crate::model::{
    BranchId, CurveId, EnvironmentId, MachineId, NoiseFloor, ProjectId, RevisionId, RunId, SeriesId,
};

/// Which series are compared; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// On this machine.
    pub machine: Option<MachineId>,
    /// Of this workload.
    pub workload: Option<&'a str>,
    /// Of this metric; the primary one of each curve where none is named.
    pub metric: Option<&'a str>,
}

/// Which runs make a side: those of revisions, or those named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    /// Every run at one of these.
    pub revisions: Vec<RevisionId>,
    /// These runs alone, where any is named.
    pub runs: Vec<RunId>,
}

/// One run of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct SideRow {
    /// The curve.
    pub curve: CurveId,
    /// The series.
    pub series: SeriesId,
    /// Task count.
    pub tasks: i32,
    /// Metric.
    pub metric: String,
    /// Unit.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// The run.
    pub run: RunId,
    /// Its revision.
    pub revision: RevisionId,
    /// Branch of the revision.
    pub branch: BranchId,
    /// Order within the branch.
    pub rank: i64,
    /// Environment of the run.
    pub environment: EnvironmentId,
    /// When the run ended.
    pub finished_at: OffsetDateTime,
    /// All values.
    pub samples: Vec<f64>,
}

/// The runs of a side over all series of a project that fit, by curve, task count and time.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    project: ProjectId,
    filter: &Filter<'_>,
    side: &Runs,
) -> Result<Vec<SideRow>, Failure> {
    let rows = sqlx::query!(
        r#"select s.curve_id as "curve: CurveId", s.id as "series: SeriesId", s.tasks, s.metric,
                  s.unit, s.direction, r.id as run, r.revision_id as "revision: RevisionId",
                  v.branch_id as "branch: BranchId", m.rank,
                  m.environment_id as "environment: EnvironmentId", m.finished_at, m.median,
                  m.samples as "samples?", m.derived, p.packed as "packed?"
           from run r
           join revision v on v.id = r.revision_id
           join curve c on c.machine_id = r.machine_id and c.project_id = $1
           join series s on s.machine_id = c.machine_id and s.curve_id = c.id
           join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
                                 and m.run_id = r.id
           left join point p on m.derived is not null and p.machine_id = m.machine_id
             and p.run_id = m.run_id and p.curve_id = s.curve_id and p.tasks = s.tasks
           where (r.revision_id = any($2) and cardinality($3::uuid[]) = 0 or r.id = any($3))
             and ($4::bigint is null or c.machine_id = $4)
             and ($5::text is null or c.workload = $5)
             and (s.metric = $6 or ($6::text is null and s.is_primary))
           order by s.curve_id, s.metric, s.tasks, m.rank, m.finished_at, r.id"#,
        project as ProjectId,
        &side.revisions as &[RevisionId],
        &side.runs,
        filter.machine as Option<MachineId>,
        filter.workload,
        filter.metric
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let samples = pack::samples(row.samples, row.derived, row.packed.as_deref(), row.tasks);
            Ok(SideRow {
                curve: row.curve,
                series: row.series,
                tasks: row.tasks,
                metric: row.metric,
                unit: word("unit", &row.unit, wire::Unit::parse)?,
                direction: word("direction", &row.direction, wire::Direction::parse)?,
                run: row.run,
                revision: row.revision,
                branch: row.branch,
                rank: row.rank,
                environment: row.environment,
                finished_at: row.finished_at,
                // Retention may have taken the windows away.
                samples: if samples.is_empty() { vec![row.median] } else { samples },
            })
        })
        .collect()
}

/// What a curve is, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveHead {
    /// Row.
    pub id: CurveId,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
}

/// These curves.
///
/// # Errors
/// When the database does not answer.
pub async fn list_curves(pool: &Pool, curves: &[CurveId]) -> Result<Vec<CurveHead>, Failure> {
    let rows = sqlx::query!(
        r#"select c.id as "id: CurveId", m.public_id, m.name, c.workload, c.workload_version,
                  c.parameters as "parameters: Json<BTreeMap<String, String>>"
           from curve c join machine m on m.id = c.machine_id
           where c.id = any($1) order by c.id"#,
        curves as &[CurveId]
    )
    .fetch_all(pool)
    .await?;
    let heads = rows.into_iter().map(|row| CurveHead {
        id: row.id,
        machine_public_id: row.public_id,
        machine_name: row.name,
        workload: row.workload,
        version: row.workload_version,
        parameters: row.parameters.0,
    });
    Ok(heads.collect())
}

/// Runs of these series at the last `revisions` ranks that each has on a branch before `rank`, by
/// series and rank.
///
/// # Errors
/// When the database does not answer.
pub async fn list_before(
    pool: &Pool,
    series: &[SeriesId],
    (branch, rank): (BranchId, i64),
    revisions: i64,
) -> Result<Vec<EarlierRun>, Failure> {
    sqlx::query_as!(
        EarlierRun,
        r#"select s.id as "series!: SeriesId", s.tasks as "tasks!",
                  e.revision_id as "revision!: RevisionId", e.rank as "rank!",
                  e.environment_id as "environment!: EnvironmentId", e.median as "median!"
           from series s
           cross join lateral (
               select aged.* from (
                   select m.revision_id, m.rank, m.environment_id, m.median, m.run_id,
                          dense_rank() over (order by m.rank desc) as age
                   from measurement m join revision v on v.id = m.revision_id
                   where m.machine_id = s.machine_id and m.series_id = s.id
                     and v.branch_id = $2 and v.off_branch_at is null and m.rank < $3
               ) aged
               where aged.age <= $4
           ) e
           where s.id = any($1)
           order by s.id, e.rank, e.revision_id, e.run_id"#,
        series as &[SeriesId],
        branch as BranchId,
        rank,
        revisions
    )
    .fetch_all(pool)
    .await
}

/// The newest standing step of a series in an environment, up to a rank of a branch: where the level
/// of the base begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelBegins {
    /// The series.
    pub series: SeriesId,
    /// The environment.
    pub environment: EnvironmentId,
    /// Rank of the first revision after the step.
    pub rank: i64,
}

/// See [`LevelBegins`].
///
/// # Errors
/// When the database does not answer.
pub async fn list_levels(
    pool: &Pool,
    series: &[SeriesId],
    (branch, rank): (BranchId, i64),
) -> Result<Vec<LevelBegins>, Failure> {
    sqlx::query_as!(
        LevelBegins,
        r#"select t.series_id as "series: SeriesId", t.environment_id as "environment: EnvironmentId",
                  max(b.rank) as "rank!"
           from series s
           join step t on t.machine_id = s.machine_id and t.series_id = s.id
           join revision b on b.id = t.bad_revision_id
           where s.id = any($1) and t.retracted_at is null and b.branch_id = $2 and b.rank <= $3
           group by t.series_id, t.environment_id"#,
        series as &[SeriesId],
        branch as BranchId,
        rank
    )
    .fetch_all(pool)
    .await
}

/// Floors that bear on these curves, from every source.
///
/// # Errors
/// When the database does not answer.
pub async fn list_floors(
    pool: &Pool,
    curves: &[CurveId],
) -> Result<Vec<(CurveId, NoiseFloor)>, Failure> {
    let rows = sqlx::query!(
        r#"select n.curve_id as "curve!: CurveId", c.workload, n.metric as "metric!",
                  n.source as "source!", n.relative as "relative!",
                  n.observations as "observations!", n.observed_at as "at!"
           from noise_of_curve n join curve c on c.id = n.curve_id
           where n.curve_id = any($1) order by n.curve_id, n.metric, n.source"#,
        curves as &[CurveId]
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let floor = NoiseFloor {
                workload: row.workload,
                metric: row.metric,
                source: word("source", &row.source, crate::model::noise::Source::parse)?,
                relative: row.relative,
                observations: row.observations,
                at: row.at,
            };
            Ok((row.curve, floor))
        })
        .collect()
}

/// A point that failed in one run of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedPoint {
    /// Its curve.
    pub curve: CurveId,
    /// Task count.
    pub tasks: i32,
    /// Why.
    pub failure: wire::Failure,
}

/// Points of a side that failed, over all curves of a project that fit; of several runs the last.
///
/// # Errors
/// When the database does not answer.
pub async fn list_failed(
    pool: &Pool,
    project: ProjectId,
    filter: &Filter<'_>,
    side: &Runs,
) -> Result<Vec<FailedPoint>, Failure> {
    let rows = sqlx::query!(
        r#"select distinct on (t.curve_id, t.tasks) t.curve_id as "curve: CurveId", t.tasks,
                  t.failure as "failure!: Json<wire::Failure>"
           from run r
           join curve c on c.machine_id = r.machine_id and c.project_id = $1
           join point t on t.machine_id = r.machine_id and t.run_id = r.id and t.curve_id = c.id
           where (r.revision_id = any($2) and cardinality($3::uuid[]) = 0 or r.id = any($3))
             and ($4::bigint is null or c.machine_id = $4)
             and ($5::text is null or c.workload = $5)
             and t.failure is not null
           order by t.curve_id, t.tasks, r.received_at desc"#,
        project as ProjectId,
        &side.revisions as &[RevisionId],
        &side.runs,
        filter.machine as Option<MachineId>,
        filter.workload
    )
    .fetch_all(pool)
    .await?;
    let point = |curve, tasks, failure: Json<wire::Failure>| FailedPoint {
        curve,
        tasks,
        failure: failure.0,
    };
    Ok(rows.into_iter().map(|row| point(row.curve, row.tasks, row.failure)).collect())
}
