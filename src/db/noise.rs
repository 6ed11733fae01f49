//! Noise floors: of curves for judgements, of machines for their page; who raises them marks the
//! curves they bear on to be judged again.

use std::collections::BTreeMap;

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Failure, Pool};
use crate::model::noise::{NoiseFloor, Source};
use crate::model::{CurveId, IncidentId, MachineId, ProjectId, Visible};

/// Floors that bear on a curve, from every source.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_curve(
    executor: impl PgExecutor<'_>,
    machine: MachineId,
    curve: CurveId,
) -> Result<Vec<NoiseFloor>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select c.workload, n.metric as "metric!", n.source as "source!",
                  n.relative as "relative!", n.observations as "observations!",
                  n.observed_at as "at!"
           from noise_of_curve n join curve c on c.id = n.curve_id
           where n.machine_id = $1 and n.curve_id = $2
           order by n.metric, n.source"#,
        machine as MachineId,
        curve as CurveId
    );
    rows.fetch_all(executor).await?.into_iter().map(NoiseFloor::try_from).collect()
}

/// Floors that bear on some curves of a machine, but for those between builds.
///
/// # Errors
/// When the database does not answer.
pub async fn list_given(
    executor: impl PgExecutor<'_>,
    machine: MachineId,
    curves: &[CurveId],
) -> Result<BTreeMap<CurveId, Vec<NoiseFloor>>, Failure> {
    let rows = sqlx::query!(
        r#"select n.curve_id as "curve!: CurveId", c.workload, n.metric as "metric!",
                  n.source as "source!", n.relative as "relative!",
                  n.observations as "observations!", n.observed_at as "at!"
           from noise_of_curve n join curve c on c.id = n.curve_id
           where n.machine_id = $1 and n.curve_id = any($2) and n.source <> 'builds'
           order by n.metric, n.source"#,
        machine as MachineId,
        curves as &[CurveId]
    );
    let mut found: BTreeMap<CurveId, Vec<NoiseFloor>> = BTreeMap::new();
    for row in rows.fetch_all(executor).await? {
        found.entry(row.curve).or_default().push(NoiseFloor {
            workload: row.workload,
            metric: row.metric,
            source: word("source", &row.source, Source::parse)?,
            relative: row.relative,
            observations: row.observations,
            at: row.at,
        });
    }
    Ok(found)
}

/// All floors of a machine, of visible workloads, as [`list_of_machine_after`].
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_machine(
    pool: &Pool,
    visible: &Visible,
    machine: MachineId,
) -> Result<Vec<NoiseFloor>, Failure> {
    list_of_machine_after(pool, visible, machine, None, i64::MAX).await
}

/// Floors of a machine by workload, metric and source, those behind `after`; at most `limit`. Of
/// several curves of a workload the widest between builds.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_machine_after(
    pool: &Pool,
    visible: &Visible,
    machine: MachineId,
    after: Option<(&str, &str, &str)>,
    limit: i64,
) -> Result<Vec<NoiseFloor>, Failure> {
    let workload = after.map(|after| after.0);
    let metric = after.map(|after| after.1);
    let source = after.map(|after| after.2);
    let rows = sqlx::query_as!(
        Row,
        r#"select workload as "workload!", metric as "metric!", source as "source!",
                  relative as "relative!", observations as "observations!", at as "at!"
           from (
               select workload, metric, 'calibrated' as source, relative,
                      pairs::bigint as observations, measured_at as at
               from noise_floor f where machine_id = $1
                 and ($2::bigint[] is null
                      or not exists (select from curve c
                                     where c.machine_id = $1 and c.workload = f.workload)
                      or exists (select from curve c
                                 where c.machine_id = $1 and c.workload = f.workload
                                   and c.project_id = any($2)))
               union all
               (select distinct on (c.workload, b.metric) c.workload, b.metric, 'builds',
                       b.relative, b.builds::bigint, b.observed_at
                from build_noise b join curve c on c.id = b.curve_id
                where b.machine_id = $1 and ($2 is null or c.project_id = any($2))
                order by c.workload, b.metric, b.relative desc)
               union all
               select workload, metric, 'refuted', max(relative), count(*), max(refuted_at)
               from refuted_suspect r join incident i on i.id = r.incident_id
               where machine_id = $1 and ($2 is null or i.project_id = any($2))
               group by workload, metric
           ) floors
           where $3::text is null or (workload, metric, source) > ($3, $4, $5)
           order by workload, metric, source limit $6"#,
        machine as MachineId,
        visible.projects() as Option<&[ProjectId]>,
        workload,
        metric,
        source,
        limit
    );
    rows.fetch_all(pool).await?.into_iter().map(NoiseFloor::try_from).collect()
}

/// Keeps a floor of A/A runs in the place of an older one. Whether anything changed.
///
/// # Errors
/// When the database refuses.
pub async fn put_calibrated(
    connection: &mut Connection,
    machine: MachineId,
    floor: &wire::NoiseFloor,
    measured_at: OffsetDateTime,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "insert into noise_floor (machine_id, workload, metric, relative, pairs, measured_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (machine_id, workload, metric) do update
             set relative = excluded.relative, pairs = excluded.pairs,
                 measured_at = excluded.measured_at
             where noise_floor.measured_at < excluded.measured_at",
        machine as MachineId,
        floor.workload,
        floor.metric,
        floor.relative,
        i32::try_from(floor.pairs).unwrap_or(i32::MAX),
        measured_at
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Marks every curve of these workloads on a machine to be judged again.
///
/// # Errors
/// When the database refuses.
pub async fn mark_workloads_due(
    connection: &mut Connection,
    machine: MachineId,
    workloads: &[String],
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into due (machine_id, curve_id, marked_at)
         select machine_id, id, $3 from curve
         where machine_id = $1 and workload = any($2) order by machine_id, id
         on conflict (machine_id, curve_id) do update set whole = true",
        machine as MachineId,
        workloads,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Marks every curve on which a floor from this incident bears to be judged again. Taken before
/// the project's lock, as a worker takes them.
///
/// # Errors
/// When the database refuses.
pub async fn mark_incident_due(
    connection: &mut Connection,
    incident: IncidentId,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into due (machine_id, curve_id, marked_at)
         select machine_id, id, $2 from curve
         where (machine_id, workload) in (
             select c.machine_id, c.workload
             from step t join series s on s.id = t.series_id join curve c on c.id = s.curve_id
             where t.incident_id = $1)
         order by machine_id, id
         on conflict (machine_id, curve_id) do update set whole = true",
        incident as IncidentId,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Keeps the sizes of an incident's standing steps as noise, none above `ceiling`.
///
/// # Errors
/// When the database refuses.
pub async fn insert_refuted(
    connection: &mut Connection,
    incident: IncidentId,
    ceiling: f64,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into refuted_suspect (machine_id, step_id, incident_id, workload, metric, relative,
                                      refuted_at)
         select t.machine_id, t.id, t.incident_id, c.workload, s.metric,
                least(case when s.derived
                           then abs((t.evidence->'bend'->>'throughput')::double precision - 1)
                           else abs(t.level_after - t.level_before)
                                / greatest(abs(t.level_after), abs(t.level_before)) end, $2), $3
         from step t join series s on s.id = t.series_id join curve c on c.id = s.curve_id
         where t.incident_id = $1 and t.retracted_at is null
               and greatest(abs(t.level_after), abs(t.level_before)) > 0
         on conflict (machine_id, step_id) do nothing",
        incident as IncidentId,
        ceiling,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Forgets that an incident's steps were noise.
///
/// # Errors
/// When the database refuses.
pub async fn delete_refuted(
    connection: &mut Connection,
    incident: IncidentId,
) -> Result<(), Failure> {
    sqlx::query!("delete from refuted_suspect where incident_id = $1", incident as IncidentId)
        .execute(connection)
        .await
        .map(drop)
}

/// Noise between the builds of one metric of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildNoise {
    /// Metric.
    pub metric: String,
    /// Relative, 0.01 is 1 %.
    pub relative: f64,
    /// Pairs of neighbouring builds.
    pub builds: i32,
    /// End of the newest run that counts.
    pub observed_at: OffsetDateTime,
}

/// Keeps what was just seen between the builds of some curves in the place of what was known.
///
/// # Errors
/// When the database refuses.
pub async fn replace_builds(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
    seen: &[(CurveId, &BuildNoise)],
) -> Result<(), Failure> {
    let of: Vec<CurveId> = seen.iter().map(|(curve, _)| *curve).collect();
    let metrics: Vec<String> = seen.iter().map(|(_, one)| one.metric.clone()).collect();
    let relative: Vec<f64> = seen.iter().map(|(_, one)| one.relative).collect();
    let builds: Vec<i32> = seen.iter().map(|(_, one)| one.builds).collect();
    let at: Vec<OffsetDateTime> = seen.iter().map(|(_, one)| one.observed_at).collect();
    sqlx::query!(
        "delete from build_noise where machine_id = $1 and curve_id = any($2)
             and (curve_id, metric) not in (select * from unnest($3::bigint[], $4::text[]))",
        machine as MachineId,
        curves as &[CurveId],
        &of as &[CurveId],
        &metrics
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "insert into build_noise (machine_id, curve_id, metric, relative, builds, observed_at)
         select $1, w.* from unnest($2::bigint[], $3::text[], $4::float8[], $5::integer[],
                                    $6::timestamptz[]) w
         on conflict (machine_id, curve_id, metric) do update
             set relative = excluded.relative, builds = excluded.builds,
                 observed_at = excluded.observed_at",
        machine as MachineId,
        &of as &[CurveId],
        &metrics,
        &relative,
        &builds,
        &at
    )
    .execute(connection)
    .await
    .map(drop)
}

struct Row {
    workload: String,
    metric: String,
    source: String,
    relative: f64,
    observations: i64,
    at: OffsetDateTime,
}

impl TryFrom<Row> for NoiseFloor {
    type Error = Failure;

    fn try_from(row: Row) -> Result<NoiseFloor, Failure> {
        Ok(NoiseFloor {
            workload: row.workload,
            metric: row.metric,
            source: word("source", &row.source, Source::parse)?,
            relative: row.relative,
            observations: row.observations,
            at: row.at,
        })
    }
}
