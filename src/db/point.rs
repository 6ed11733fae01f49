//! The points of a run with every raw window, and the values of each metric.

use std::collections::{BTreeMap, HashMap};

use sqlx::types::Json;
use stats::summary::Summary;

use super::types::word;
use super::{Failure, Pool, pack};
use crate::model::incident::{IncidentStep, StepSide};
use crate::model::{
    BranchId, CurveId, EnvironmentId, MachineId, Origin, RevisionId, Run, RunMetric, RunPoint,
    RunValues, SeriesId,
};

/// The points of a run, by workload, parameters and task count.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_run(pool: &Pool, run: &Run) -> Result<Vec<RunPoint>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select p.curve_id as "curve: CurveId", c.workload, c.workload_version as version,
               c.parameters as "parameters: Json<BTreeMap<String, String>>", p.tasks,
               p.placement as "placement: Json<Vec<Vec<u32>>>", p.start_skew_ns, p.warmup_windows,
               p.packed, p.disturbance as "disturbance: Json<wire::Disturbance>",
               p.counters as "counters: Json<BTreeMap<String, f64>>",
               p.imported as "imported: Json<Origin>", p.failure as "failure: Json<wire::Failure>"
           from point p join curve c on c.id = p.curve_id
           where p.machine_id = $1 and p.run_id = $2
           order by c.workload, c.workload_version, c.parameters, p.tasks"#,
        run.machine as MachineId,
        run.id
    );
    let rows = rows.fetch_all(pool).await?;
    let packed: HashMap<_, _> =
        rows.iter().map(|row| ((row.curve, row.tasks), row.packed.clone())).collect();
    let mut metrics = list_metrics(pool, run, &packed).await?;
    let point = |row: Row| {
        let metrics = metrics.remove(&(row.curve, row.tasks)).unwrap_or_default();
        row.into_point(metrics)
    };
    rows.into_iter().map(point).collect()
}

/// Most runs of a side whose counters are read.
pub const COUNTED_RUNS: i64 = 20;

/// The counters of the runs on one side of a step, in its environment and at its task count: from
/// the step to the next one of its series, [`COUNTED_RUNS`] at most, the nearest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list_counters(
    pool: &Pool,
    step: &IncidentStep,
    side: StepSide,
) -> Result<Vec<BTreeMap<String, f64>>, Failure> {
    let edge = match side {
        StepSide::Before => &step.good,
        StepSide::After => &step.bad,
    };
    let rows = sqlx::query_scalar!(
        r#"with level as (
               select max(b.rank) filter (where b.rank <= $6) as first,
                      min(g.rank) filter (where g.rank >= $6) as last
               from step t
               join revision b on b.id = t.bad_revision_id
               join revision g on g.id = t.good_revision_id
               where t.machine_id = $1 and t.series_id = $2 and t.environment_id = $5
                 and t.retracted_at is null
           )
           select p.counters as "counters: Json<BTreeMap<String, f64>>"
           from revision edge
           join revision v on v.branch_id = edge.branch_id
           join run r on r.revision_id = v.id and r.machine_id = $1 and r.environment_id = $5
           join point p on p.machine_id = $1 and p.run_id = r.id and p.curve_id = $3 and p.tasks = $4
           cross join level
           where edge.id = $7 and p.failure is null and p.counters <> '{}'
             and case when $8 then v.rank between coalesce(level.first, v.rank) and $6
                      else v.rank between $6 and coalesce(level.last, v.rank) end
           order by abs(v.rank - $6), r.received_at, r.id
           limit $9"#,
        step.machine as MachineId,
        step.series as SeriesId,
        step.curve as CurveId,
        step.tasks,
        step.environment as EnvironmentId,
        edge.rank,
        edge.revision as RevisionId,
        side == StepSide::Before,
        COUNTED_RUNS
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(|counters| counters.0).collect())
}

type ByPoint = HashMap<(CurveId, i32), Vec<RunMetric>>;

/// One look into the index a series of the run's curves: it stands under the run's place there.
async fn list_metrics(
    pool: &Pool,
    run: &Run,
    packed: &HashMap<(CurveId, i32), Vec<u8>>,
) -> Result<ByPoint, Failure> {
    let curves: Vec<CurveId> = packed.keys().map(|(curve, _)| *curve).collect();
    let rows = sqlx::query!(
        r#"select s.curve_id as "curve: CurveId", s.tasks, s.id as "series: SeriesId", s.metric,
               s.unit, s.direction, m.samples, m.derived, m.n, m.mean, m.sd, m.min, m.median, m.max
           from series s
           join measurement m on m.machine_id = s.machine_id and m.series_id = s.id
           where s.machine_id = $1 and m.machine_id = $1 and s.curve_id = any($6)
             and m.branch_id = any(array[$3::bigint, -$3::bigint]) and m.rank = (select rank from revision where id = $4)
             and m.finished_at = $5 and m.run_id = $2
           order by s.is_primary desc, s.id"#,
        run.machine as MachineId,
        run.id,
        run.branch as BranchId,
        run.revision as RevisionId,
        run.finished_at,
        &curves as &[CurveId]
    );
    let mut metrics = ByPoint::new();
    for row in rows.fetch_all(pool).await? {
        let metric = RunMetric {
            series: row.series,
            name: row.metric,
            unit: word("unit", &row.unit, wire::Unit::parse)?,
            direction: word("direction", &row.direction, wire::Direction::parse)?,
            samples: pack::samples(
                row.samples,
                row.derived,
                packed.get(&(row.curve, row.tasks)).map(Vec::as_slice),
                row.tasks,
            ),
            summary: Summary {
                n: row.n as usize,
                mean: row.mean,
                sd: row.sd,
                min: row.min,
                median: row.median,
                max: row.max,
            },
        };
        metrics.entry((row.curve, row.tasks)).or_default().push(metric);
    }
    Ok(metrics)
}

struct Row {
    curve: CurveId,
    workload: String,
    version: i32,
    parameters: Json<BTreeMap<String, String>>,
    tasks: i32,
    placement: Json<Vec<Vec<u32>>>,
    start_skew_ns: Option<i64>,
    warmup_windows: Option<i32>,
    packed: Vec<u8>,
    disturbance: Json<wire::Disturbance>,
    counters: Json<BTreeMap<String, f64>>,
    imported: Option<Json<Origin>>,
    failure: Option<Json<wire::Failure>>,
}

impl Row {
    fn into_point(self, metrics: Vec<RunMetric>) -> Result<RunPoint, Failure> {
        let windows = self.windows()?;
        let outcome = match self.failure {
            Some(failure) => Err(failure.0),
            None => Ok(RunValues {
                placement: self.placement.0,
                start_skew_ns: self.start_skew_ns.unwrap_or_default(),
                warmup_windows: self.warmup_windows.unwrap_or_default(),
                windows,
                disturbance: self.disturbance.0,
                counters: self.counters.0,
                origin: self.imported.map(|origin| origin.0),
                metrics,
            }),
        };
        Ok(RunPoint {
            curve: self.curve,
            workload: self.workload,
            version: self.version,
            parameters: self.parameters.0,
            tasks: self.tasks,
            outcome,
        })
    }

    fn windows(&self) -> Result<Vec<wire::Window>, Failure> {
        let tasks = usize::try_from(self.tasks).unwrap_or_default();
        pack::unpack(&self.packed, tasks).ok_or_else(|| Failure::ColumnDecode {
            index: "packed".into(),
            source: "these bytes are no packed windows".into(),
        })
    }
}
