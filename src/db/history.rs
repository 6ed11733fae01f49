//! The measurements of a curve, series by series, each in the order of revisions.

use stats::summary::Summary;
use time::OffsetDateTime;

use super::{Failure, Pool, pack};
use crate::model::{
    BranchId, Curve, CurveId, EnvironmentId, MachineId, Measurement, RevisionId, RunId, SeriesId,
};

/// Which measurements of a curve; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// Of this metric.
    pub metric: Option<&'a str>,
    /// At this task count.
    pub tasks: Option<i32>,
    /// On this branch. Ranks of different branches are not comparable: give it whenever order
    /// matters.
    pub branch: Option<BranchId>,
    /// At these revisions.
    pub revisions: Option<&'a [RevisionId]>,
    /// Of these runs.
    pub runs: Option<&'a [RunId]>,
}

/// Measurements of a curve by task count and metric, within a series by rank, then time; samples
/// are left empty unless `with_samples`, or where the summary of old lacks an interval. Of a run whose windows retention has taken away, its median
/// stands for them.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    curve: &Curve,
    filter: &Filter<'_>,
    with_samples: bool,
) -> Result<Vec<Measurement>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select m.series_id as "series: SeriesId", s.tasks, m.run_id as run,
               m.revision_id as "revision: RevisionId", m.branch_id as "branch: BranchId",
               v.commit_id as commit, v.subject, v.committed_at, m.rank,
               m.environment_id as "environment: EnvironmentId", m.finished_at, m.n, m.mean, m.sd,
               m.min, m.median, m.median_low, m.median_high, m.max, m.derived,
               case when $7 or (m.n > 5 and m.median_low is null) then m.samples end as samples,
               p.packed as "packed?"
           from series s
           join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
           join revision v on v.id = m.revision_id
           left join point p on $7 and m.derived is not null and p.machine_id = m.machine_id
             and p.run_id = m.run_id and p.curve_id = s.curve_id and p.tasks = s.tasks
           where s.machine_id = $1 and s.curve_id = $2 and m.machine_id = $1
             and ($3::text is null or s.metric = $3)
             and ($4::integer is null or s.tasks = $4)
             and ($5::bigint is null or m.branch_id = $5)
             and (m.branch_id > 0 or $6::bigint[] is not null or $8::uuid[] is not null)
             and ($6::bigint[] is null or m.revision_id = any($6))
             and ($8::uuid[] is null or m.run_id = any($8))
           order by s.tasks, s.metric, m.rank, m.finished_at, m.run_id"#,
        curve.machine as MachineId,
        curve.id as CurveId,
        filter.metric,
        filter.tasks,
        filter.branch as Option<BranchId>,
        filter.revisions as Option<&[RevisionId]>,
        with_samples,
        filter.runs as Option<&[RunId]>
    );
    let mut rows = rows.fetch_all(pool).await?;
    let samples: Vec<Vec<f64>> = match with_samples {
        true => rows.iter_mut().map(Row::take_samples).collect(),
        false => rows.iter_mut().map(|row| row.samples.take().unwrap_or_default()).collect(),
    };
    let all = rows.into_iter().zip(samples);
    Ok(all.map(|(row, samples)| row.into_measurement(samples)).collect())
}

/// One run of an earlier build.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierRun {
    /// Series.
    pub series: SeriesId,
    /// Task count of the series.
    pub tasks: i32,
    /// Revision it was built from.
    pub revision: RevisionId,
    /// Order of the revision within the branch.
    pub rank: i64,
    /// Environment of the run.
    pub environment: EnvironmentId,
    /// Median of its samples.
    pub median: f64,
}

/// Runs of one metric of a curve at the last `revisions` ranks of a branch before `rank`, by task
/// count and rank.
///
/// # Errors
/// When the database does not answer.
pub async fn list_before(
    pool: &Pool,
    curve: &Curve,
    metric: &str,
    (branch, rank): (BranchId, i64),
    revisions: i64,
) -> Result<Vec<EarlierRun>, Failure> {
    sqlx::query_as!(
        EarlierRun,
        r#"with earlier as (
               select m.series_id, s.tasks, m.revision_id, m.rank, m.environment_id, m.median,
                      m.run_id, dense_rank() over (order by m.rank desc) as age
               from series s
               join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
               where s.machine_id = $1 and m.machine_id = $1 and s.curve_id = $2 and s.metric = $3
                 and m.branch_id = $4 and m.rank < $5)
           select series_id as "series: SeriesId", tasks, revision_id as "revision: RevisionId",
                  rank, environment_id as "environment: EnvironmentId", median
           from earlier
           where age <= $6
           order by tasks, rank, revision_id, run_id"#,
        curve.machine as MachineId,
        curve.id as CurveId,
        metric,
        branch as BranchId,
        rank,
        revisions
    )
    .fetch_all(pool)
    .await
}

struct Row {
    series: SeriesId,
    tasks: i32,
    run: RunId,
    revision: RevisionId,
    branch: BranchId,
    commit: String,
    subject: String,
    committed_at: Option<OffsetDateTime>,
    rank: i64,
    environment: EnvironmentId,
    finished_at: OffsetDateTime,
    n: i32,
    mean: f64,
    sd: Option<f64>,
    min: f64,
    median: f64,
    median_low: Option<f64>,
    median_high: Option<f64>,
    max: f64,
    derived: Option<i16>,
    samples: Option<Vec<f64>>,
    packed: Option<Vec<u8>>,
}

impl Row {
    fn take_samples(&mut self) -> Vec<f64> {
        let packed = self.packed.take();
        let found = pack::samples(self.samples.take(), self.derived, packed.as_deref(), self.tasks);
        if found.is_empty() { vec![self.median] } else { found }
    }

    fn into_measurement(self, samples: Vec<f64>) -> Measurement {
        Measurement {
            series: self.series,
            tasks: self.tasks,
            run: self.run,
            revision: self.revision,
            branch: self.branch,
            commit: self.commit,
            subject: self.subject,
            committed_at: self.committed_at,
            rank: self.rank,
            environment: self.environment,
            finished_at: self.finished_at,
            summary: Summary {
                n: self.n as usize,
                mean: self.mean,
                sd: self.sd,
                min: self.min,
                median: self.median,
                max: self.max,
            },
            interval: self.median_low.zip(self.median_high),
            samples,
        }
    }
}
