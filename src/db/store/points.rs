//! Points and measurements of a run: one statement each, whatever their number. Arrays of different
//! lengths cross as one flat array that the statement cuts up again.

use super::{MeasurementRow, PointRow, Run};
use crate::db::{Connection, Failure};
use crate::model::{CurveId, EnvironmentId, MachineId, RevisionId, SeriesId};

/// Stores the points of a run; each names its curve by index into `curves`.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_points(
    tx: &mut Connection,
    run: &Run<'_>,
    curves: &[CurveId],
    rows: &[PointRow],
) -> Result<(), Failure> {
    let columns = PointColumns::of(curves, rows);
    let window_ends = ends(rows.iter().map(|row| row.dt_ns.len()));
    let count_ends = ends(rows.iter().map(|row| row.ops.len()));
    sqlx::query!(
        "insert into point (machine_id, run_id, curve_id, tasks, placement, start_skew_ns,
             warmup_windows, disturbance, counters, imported, failure, dt_ns, ops, cpu_ns)
         select $1, $2, w.curve, w.tasks, w.placement::jsonb, w.skew, w.warmup,
             w.disturbance::jsonb, w.counters::jsonb, w.imported::jsonb, w.failure::jsonb,
             ($13::bigint[])[lag(w.windows, 1, 0) over (order by i) + 1 : w.windows],
             ($14::bigint[])[lag(w.counts, 1, 0) over (order by i) + 1 : w.counts],
             ($15::bigint[])[lag(w.counts, 1, 0) over (order by i) + 1 : w.counts]
         from unnest($3::bigint[], $4::integer[], $5::text[], $6::bigint[], $7::integer[], $8::text[],
                 $9::text[], $10::text[], $11::integer[], $12::integer[], $16::text[])
             with ordinality as w (curve, tasks, placement, skew, warmup, disturbance, counters,
                 failure, windows, counts, imported, i)",
        run.machine as MachineId,
        run.id,
        &columns.curves as &[CurveId],
        &columns.tasks,
        &columns.placements,
        &columns.skews as &[Option<i64>],
        &columns.warmups as &[Option<i32>],
        &columns.disturbances,
        &columns.counters,
        &columns.failures as &[Option<String>],
        &window_ends,
        &count_ends,
        &columns.dt_ns,
        &columns.ops,
        &columns.cpu_ns,
        &columns.imported as &[Option<String>]
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Stores the measurements of a run; each names its series by index into `series`.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_measurements(
    tx: &mut Connection,
    run: &Run<'_>,
    series: &[SeriesId],
    rows: &[MeasurementRow],
) -> Result<(), Failure> {
    let ids: Vec<SeriesId> = rows.iter().map(|row| series[row.series]).collect();
    let sample_ends = ends(rows.iter().map(|row| row.samples.len()));
    let samples: Vec<f64> = rows.iter().flat_map(|row| &row.samples).copied().collect();
    let summaries = |of: fn(&MeasurementRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let deviations: Vec<Option<f64>> = rows.iter().map(|row| row.summary.sd).collect();
    sqlx::query!(
        "insert into measurement (machine_id, series_id, run_id, revision_id, environment_id, rank,
             finished_at, samples, n, mean, sd, min, median, max)
         select $1, w.series, $2, $3, $4, $5, $6,
             ($9::float8[])[lag(w.samples, 1, 0) over (order by i) + 1 : w.samples],
             w.samples - lag(w.samples, 1, 0) over (order by i), w.mean, w.sd, w.min, w.median, w.max
         from unnest($7::bigint[], $8::integer[], $10::float8[], $11::float8[], $12::float8[],
                 $13::float8[], $14::float8[]) with ordinality
             as w (series, samples, mean, sd, min, median, max, i)",
        run.machine as MachineId,
        run.id,
        run.revision as RevisionId,
        run.environment as EnvironmentId,
        run.rank,
        run.finished_at,
        &ids as &[SeriesId],
        &sample_ends,
        &samples,
        &summaries(|row| row.summary.mean),
        &deviations as &[Option<f64>],
        &summaries(|row| row.summary.min),
        &summaries(|row| row.summary.median),
        &summaries(|row| row.summary.max)
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Where each piece ends in the flat array, counted from 1 and inclusive.
fn ends(lengths: impl Iterator<Item = usize>) -> Vec<i32> {
    lengths
        .scan(0, |end, length| {
            *end += length;
            Some(*end as i32)
        })
        .collect()
}

#[derive(Default)]
struct PointColumns {
    curves: Vec<CurveId>,
    tasks: Vec<i32>,
    placements: Vec<String>,
    skews: Vec<Option<i64>>,
    warmups: Vec<Option<i32>>,
    disturbances: Vec<String>,
    counters: Vec<String>,
    imported: Vec<Option<String>>,
    failures: Vec<Option<String>>,
    dt_ns: Vec<i64>,
    ops: Vec<i64>,
    cpu_ns: Vec<i64>,
}

impl PointColumns {
    fn of(curves: &[CurveId], rows: &[PointRow]) -> PointColumns {
        let mut columns = PointColumns::default();
        for row in rows {
            columns.curves.push(curves[row.curve]);
            columns.tasks.push(row.tasks);
            columns.placements.push(row.placement.clone());
            columns.skews.push(row.start_skew_ns);
            columns.warmups.push(row.warmup_windows);
            columns.disturbances.push(row.disturbance.clone());
            columns.counters.push(row.counters.clone());
            columns.imported.push(row.imported.clone());
            columns.failures.push(row.failure.clone());
            columns.dt_ns.extend(&row.dt_ns);
            columns.ops.extend(&row.ops);
            columns.cpu_ns.extend(&row.cpu_ns);
        }
        columns
    }
}
