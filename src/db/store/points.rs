//! Points with their windows, and measurements with the summaries of their samples: one statement
//! each.

use super::{MeasurementRow, PointRow, Run};
use crate::db::{Connection, Failure, pack};
use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, SeriesId};

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
    sqlx::query!(
        "insert into point (machine_id, run_id, curve_id, tasks, placement, start_skew_ns,
             warmup_windows, disturbance, counters, imported, failure, windows, wall_ns, received_ns,
             packed)
         select $1, $2, w.curve, w.tasks, w.placement::jsonb, w.skew, w.warmup,
             w.disturbance::jsonb, w.counters::jsonb, w.imported::jsonb, w.failure::jsonb,
             w.windows, w.wall, w.received, w.packed
         from unnest($3::bigint[], $4::integer[], $5::text[], $6::bigint[], $7::integer[], $8::text[],
                 $9::text[], $10::text[], $11::integer[], $12::float8[], $13::float8[], $14::bytea[],
                 $15::text[])
             as w (curve, tasks, placement, skew, warmup, disturbance, counters, failure, windows,
                 wall, received, packed, imported)",
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
        &columns.windows,
        &columns.wall,
        &columns.received,
        &columns.packed,
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
    let counts: Vec<i32> = rows.iter().map(|row| row.summary.n as i32).collect();
    let rules: Vec<Option<i16>> = rows.iter().map(|row| pack::rule_of(&row.source)).collect();
    let sample_ends = ends(rows.iter().map(|row| pack::stored(&row.source).len()));
    let samples: Vec<f64> =
        rows.iter().flat_map(|row| pack::stored(&row.source)).copied().collect();
    let figures = |of: fn(&MeasurementRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let some =
        |of: fn(&MeasurementRow) -> Option<f64>| rows.iter().map(of).collect::<Vec<Option<f64>>>();
    sqlx::query!(
        "insert into measurement (machine_id, run_id, branch_id, revision_id, environment_id, rank,
             finished_at, series_id, n, mean, sd, scale, min, median, median_low, median_high, max,
             derived, samples)
         select $1, $2, $3, $4, $5, $6, $7, w.series, w.n, w.mean, w.sd, w.scale, w.min, w.median,
             w.low, w.high, w.max, w.derived,
             case when w.derived is null then
                 ($20::float8[])[lag(w.ends, 1, 0) over (order by i) + 1 : w.ends]
             end
         from unnest($8::bigint[], $9::integer[], $10::float8[], $11::float8[], $12::float8[],
                 $13::float8[], $14::float8[], $15::float8[], $16::float8[], $17::float8[],
                 $18::smallint[], $19::integer[]) with ordinality
             as w (series, n, mean, sd, scale, min, median, low, high, max, derived, ends, i)",
        run.machine as MachineId,
        run.id,
        run.branch as BranchId,
        run.revision as RevisionId,
        run.environment as EnvironmentId,
        run.rank,
        run.finished_at,
        &ids as &[SeriesId],
        &counts,
        &figures(|row| row.summary.mean),
        &some(|row| row.summary.sd) as &[Option<f64>],
        &some(|row| row.scale) as &[Option<f64>],
        &figures(|row| row.summary.min),
        &figures(|row| row.summary.median),
        &some(|row| row.interval.map(|(low, _)| low)) as &[Option<f64>],
        &some(|row| row.interval.map(|(_, high)| high)) as &[Option<f64>],
        &figures(|row| row.summary.max),
        &rules as &[Option<i16>],
        &sample_ends,
        &samples
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
    windows: Vec<i32>,
    wall: Vec<f64>,
    received: Vec<f64>,
    packed: Vec<Vec<u8>>,
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
            columns.windows.push(row.windows.len() as i32);
            columns.wall.push(row.windows.iter().map(|window| window.dt_ns as f64).sum());
            let received = row.windows.iter().flat_map(|window| &window.cpu_ns);
            columns.received.push(received.map(|count| *count as f64).sum());
            columns.packed.push(pack::pack(&row.windows));
        }
        columns
    }
}
