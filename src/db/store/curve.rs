//! Curves and series of a report, many at once.

use sqlx::types::Json;

use super::{CurveRow, KnownSeries, SeriesRow};
use crate::db::{Connection, Failure};
use crate::model::{CurveId, MachineId, ProjectId, SeriesId};

/// The stored curves among `rows`; none where one is not stored yet.
///
/// # Errors
/// When the database does not answer.
pub async fn find_curves(
    tx: &mut Connection,
    machine: MachineId,
    project: ProjectId,
    rows: &[CurveRow],
) -> Result<Vec<Option<CurveId>>, Failure> {
    let columns = Columns::of(rows);
    let found = sqlx::query!(
        r#"select w.i as "i!", c.id as "id: CurveId"
           from unnest($3::text[], $4::integer[], $5::bytea[]) with ordinality
               as w (workload, version, digest, i)
           join curve c on c.machine_id = $1 and c.project_id = $2 and c.workload = w.workload
               and c.workload_version = w.version and c.parameters_digest = w.digest"#,
        machine as MachineId,
        project as ProjectId,
        &columns.workloads,
        &columns.versions,
        &columns.digests
    );
    let mut ids = vec![None; rows.len()];
    for row in found.fetch_all(tx).await? {
        ids[row.i as usize - 1] = Some(row.id);
    }
    Ok(ids)
}

/// Stores curves in the order given; those that are known stay as they are.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_curves(
    tx: &mut Connection,
    machine: MachineId,
    project: ProjectId,
    rows: &[CurveRow],
) -> Result<(), Failure> {
    let columns = Columns::of(rows);
    let parameters: Vec<_> = rows.iter().map(|row| Json(&row.parameters)).collect();
    sqlx::query!(
        "insert into curve (machine_id, project_id, workload, workload_version, parameters_digest,
             parameters)
         select $1, $2, w.workload, w.version, w.digest, w.parameters
         from unnest($3::text[], $4::integer[], $5::bytea[], $6::jsonb[]) with ordinality
             as w (workload, version, digest, parameters, i)
         order by w.i
         on conflict on constraint curve_is_unique do nothing",
        machine as MachineId,
        project as ProjectId,
        &columns.workloads,
        &columns.versions,
        &columns.digests,
        &parameters as _
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Holds the curves until the transaction ends, so that none gets a new series meanwhile.
///
/// # Errors
/// When the database does not answer.
pub async fn lock_curves(tx: &mut Connection, curves: &[CurveId]) -> Result<(), Failure> {
    sqlx::query!(
        "select from curve where id = any($1) order by id for no key update",
        curves as &[CurveId]
    )
    .execute(tx)
    .await
    .map(drop)
}

/// Every measured series of these curves.
///
/// # Errors
/// When the database does not answer.
pub async fn find_series(
    tx: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
) -> Result<Vec<KnownSeries>, Failure> {
    sqlx::query_as!(
        KnownSeries,
        r#"select id as "id: SeriesId", curve_id as "curve: CurveId", tasks, metric, unit, direction
           from series where machine_id = $1 and curve_id = any($2) and not derived"#,
        machine as MachineId,
        curves as &[CurveId]
    )
    .fetch_all(tx)
    .await
}

/// Stores series in the order given. None may be known: the caller holds their curves.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_series(
    tx: &mut Connection,
    machine: MachineId,
    rows: &[(CurveId, &SeriesRow)],
) -> Result<(), Failure> {
    let curves: Vec<CurveId> = rows.iter().map(|(curve, _)| *curve).collect();
    let tasks: Vec<i32> = rows.iter().map(|(_, row)| row.tasks).collect();
    let metrics: Vec<String> = rows.iter().map(|(_, row)| row.metric.clone()).collect();
    let units: Vec<String> = rows.iter().map(|(_, row)| row.unit.symbol().into()).collect();
    let directions: Vec<String> = rows.iter().map(|(_, row)| row.direction.word().into()).collect();
    let primary: Vec<bool> = rows.iter().map(|(_, row)| row.primary).collect();
    sqlx::query!(
        "insert into series (machine_id, curve_id, tasks, metric, unit, direction, is_primary)
         select $1, w.curve, w.tasks, w.metric, w.unit, w.direction, w.is_primary
         from unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::boolean[])
             as w (curve, tasks, metric, unit, direction, is_primary)",
        machine as MachineId,
        &curves as &[CurveId],
        &tasks,
        &metrics,
        &units,
        &directions,
        &primary
    )
    .execute(tx)
    .await
    .map(drop)
}

/// The keys of curves, column by column.
struct Columns {
    workloads: Vec<String>,
    versions: Vec<i32>,
    digests: Vec<Vec<u8>>,
}

impl Columns {
    fn of(rows: &[CurveRow]) -> Columns {
        Columns {
            workloads: rows.iter().map(|row| row.workload.clone()).collect(),
            versions: rows.iter().map(|row| row.version).collect(),
            digests: rows.iter().map(|row| row.digest.to_vec()).collect(),
        }
    }
}
