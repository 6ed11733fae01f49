//! Histories as the detector reads them: the latest runs of every series of some curves, or those
//! around a place. A few index range scans whatever the number of runs stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Failure};
use crate::model::step::HistoryRow;
use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, RunId, SeriesId};

/// The latest runs of every series of these curves on every branch, at most so many each; a curve
/// without runs is left out.
///
/// # Errors
/// When the database does not answer.
pub async fn list_latest(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
    most: i64,
) -> Result<BTreeMap<CurveId, Vec<HistoryRow>>, Failure> {
    let series = list_series(connection, machine, curves).await?;
    let ids: Vec<SeriesId> = series.keys().copied().collect();
    let branches = sqlx::query_scalar!(
        r#"select b.id as "id: BranchId" from branch b
           where b.project_id in (select project_id from curve where id = any($1))"#,
        curves as &[CurveId]
    );
    let branches: Vec<BranchId> = branches.fetch_all(&mut *connection).await?;
    let rows = sqlx::query_as!(
        Row,
        r#"select m.series_id as "series: SeriesId", m.run_id as run,
                  m.revision_id as "revision: RevisionId", m.branch_id as "branch: BranchId",
                  m.rank, m.environment_id as "environment: EnvironmentId", m.finished_at, m.n,
                  m.scale, m.mean, m.median
           from unnest($2::bigint[]) as s (id)
           cross join unnest($3::bigint[]) as b (id)
           cross join lateral (
               select * from measurement
               where machine_id = $1 and series_id = s.id and branch_id = b.id
               order by rank desc, finished_at desc, run_id desc limit $4) m"#,
        machine as MachineId,
        &ids as &[SeriesId],
        &branches as &[BranchId],
        most
    );
    let rows = rows.fetch_all(&mut *connection).await?;
    with_words(connection, &series, rows).await
}

/// The runs of a curve on a branch at the ranks `inside`, and before and behind them at most so many
/// of each series; all of them where no number is given.
///
/// # Errors
/// When the database does not answer.
pub async fn list_around(
    connection: &mut Connection,
    (machine, curve, branch): (MachineId, CurveId, BranchId),
    inside: &RangeInclusive<i64>,
    most: Option<i64>,
) -> Result<Vec<HistoryRow>, Failure> {
    let series = list_series(connection, machine, &[curve]).await?;
    let ids: Vec<SeriesId> = series.keys().copied().collect();
    let rows = sqlx::query_as!(
        Row,
        r#"select m.series_id as "series!: SeriesId", m.run_id as "run!",
                  m.revision_id as "revision!: RevisionId", m.branch_id as "branch!: BranchId",
                  m.rank as "rank!", m.environment_id as "environment!: EnvironmentId",
                  m.finished_at as "finished_at!", m.n as "n!", m.scale, m.mean as "mean!",
                  m.median as "median!"
           from unnest($2::bigint[]) as s (id)
           cross join lateral (
               (select * from measurement
                where machine_id = $1 and series_id = s.id and branch_id = $3 and rank < $4
                order by rank desc, finished_at desc, run_id desc limit $6)
               union all
               (select * from measurement
                where machine_id = $1 and series_id = s.id and branch_id = $3
                    and rank between $4 and $5)
               union all
               (select * from measurement
                where machine_id = $1 and series_id = s.id and branch_id = $3 and rank > $5
                order by rank, finished_at, run_id limit $6)) m"#,
        machine as MachineId,
        &ids as &[SeriesId],
        branch as BranchId,
        *inside.start(),
        *inside.end(),
        most
    );
    let rows = rows.fetch_all(&mut *connection).await?;
    Ok(with_words(connection, &series, rows).await?.remove(&curve).unwrap_or_default())
}

/// What all rows of a series have in common.
struct Series {
    curve: CurveId,
    tasks: i32,
    metric: String,
    unit: wire::Unit,
    direction: wire::Direction,
    primary: bool,
}

async fn list_series(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
) -> Result<BTreeMap<SeriesId, Series>, Failure> {
    let rows = sqlx::query!(
        r#"select id as "id: SeriesId", curve_id as "curve: CurveId", tasks, metric, unit, direction,
                  is_primary
           from series where machine_id = $1 and curve_id = any($2) and not derived"#,
        machine as MachineId,
        curves as &[CurveId]
    );
    let rows = rows.fetch_all(connection).await?;
    rows.into_iter()
        .map(|row| {
            let series = Series {
                curve: row.curve,
                tasks: row.tasks,
                unit: word("unit", &row.unit, wire::Unit::parse)?,
                direction: word("direction", &row.direction, wire::Direction::parse)?,
                metric: row.metric,
                primary: row.is_primary,
            };
            Ok((row.id, series))
        })
        .collect()
}

struct Row {
    series: SeriesId,
    run: RunId,
    revision: RevisionId,
    branch: BranchId,
    rank: i64,
    environment: EnvironmentId,
    finished_at: OffsetDateTime,
    n: i32,
    scale: Option<f64>,
    mean: f64,
    median: f64,
}

/// The rows with what is the same for many of them.
async fn with_words(
    connection: &mut Connection,
    series: &BTreeMap<SeriesId, Series>,
    rows: Vec<Row>,
) -> Result<BTreeMap<CurveId, Vec<HistoryRow>>, Failure> {
    let revisions: BTreeSet<RevisionId> = rows.iter().map(|row| row.revision).collect();
    let revisions: Vec<RevisionId> = revisions.into_iter().collect();
    let commits = sqlx::query!(
        r#"select id as "id: RevisionId", commit_id from revision where id = any($1)"#,
        &revisions as &[RevisionId]
    );
    let commits: HashMap<RevisionId, String> =
        commits.fetch_all(connection).await?.into_iter().map(|r| (r.id, r.commit_id)).collect();
    let mut found: BTreeMap<CurveId, Vec<HistoryRow>> = BTreeMap::new();
    for row in rows {
        let (Some(of), Some(commit)) = (series.get(&row.series), commits.get(&row.revision)) else {
            continue;
        };
        found.entry(of.curve).or_default().push(HistoryRow {
            series: row.series,
            tasks: of.tasks,
            metric: of.metric.clone(),
            unit: of.unit,
            direction: of.direction,
            primary: of.primary,
            run: row.run,
            revision: row.revision,
            commit: commit.clone(),
            branch: row.branch,
            rank: row.rank,
            environment: row.environment,
            finished_at: row.finished_at,
            n: row.n as usize,
            scale: row.scale,
            mean: row.mean,
            median: row.median,
        });
    }
    Ok(found)
}
