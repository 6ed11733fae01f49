//! Curves and series of a report → their ids. A metric keeps its unit and direction over a whole
//! curve: numbers in different units are never compared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::db::Connection;
use crate::db::store::{self, CurveRow, KnownSeries, SeriesRow};
use crate::error::{Error, Result};
use crate::model::{CurveId, MachineId, ProjectId, SeriesId};

/// Most curves that are remembered; beyond it all are forgotten.
const MOST_REMEMBERED: usize = 20_000;

/// Curves and series that were stored when they were read. Neither is given another meaning; where one
/// is deleted, with the only branch it was measured on, the database refuses its number and all are
/// forgotten. Shared by all uploads of a process; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<HashMap<Key, Remembered>>>);

/// A curve by its owner and what it measures: workload, version, digest of its parameters.
type Key = (MachineId, ProjectId, String, i32, [u8; 32]);

#[derive(Debug)]
struct Remembered {
    curve: CurveId,
    /// By task count and metric.
    series: HashMap<(i32, String), (SeriesId, wire::Unit, wire::Direction)>,
}

/// Ids of the curves and series of a report, in their order.
pub type Ids = (Vec<CurveId>, Vec<SeriesId>);

impl Memory {
    /// The ids of these curves and series; none where one is not known or means something else.
    pub fn recall(
        &self,
        machine: MachineId,
        project: ProjectId,
        curves: &[CurveRow],
        series: &[SeriesRow],
    ) -> Option<Ids> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |row: &CurveRow| known.get(&key(machine, project, row));
        let known: Vec<&Remembered> = curves.iter().map(of).collect::<Option<_>>()?;
        let id = |row: &SeriesRow| {
            let series = &known[row.curve].series;
            let (id, unit, direction) = series.get(&(row.tasks, row.metric.clone()))?;
            ((*unit, *direction) == (row.unit, row.direction)).then_some(*id)
        };
        let ids = series.iter().map(id).collect::<Option<_>>()?;
        Some((known.iter().map(|one| one.curve).collect(), ids))
    }

    /// Forgets everything.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Remembers what was committed.
    pub fn keep(
        &self,
        machine: MachineId,
        project: ProjectId,
        (curves, series): (&[CurveRow], &[SeriesRow]),
        ids: &Ids,
    ) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + curves.len() > MOST_REMEMBERED {
            known.clear();
        }
        for (row, curve) in curves.iter().zip(&ids.0) {
            let new = || Remembered { curve: *curve, series: HashMap::new() };
            known.entry(key(machine, project, row)).or_insert_with(new);
        }
        for (row, id) in series.iter().zip(&ids.1) {
            if let Some(one) = known.get_mut(&key(machine, project, &curves[row.curve])) {
                let meaning = (*id, row.unit, row.direction);
                one.series.insert((row.tasks, row.metric.clone()), meaning);
            }
        }
    }
}

fn key(machine: MachineId, project: ProjectId, row: &CurveRow) -> Key {
    (machine, project, row.workload.clone(), row.version, row.digest)
}

/// The ids of these curves, in the order given; new ones are stored.
pub async fn curve_ids(
    tx: &mut Connection,
    machine: MachineId,
    project: ProjectId,
    rows: &[CurveRow],
) -> Result<Vec<CurveId>> {
    let known = store::find_curves(tx, machine, project, rows).await?;
    if let Some(all) = known.iter().copied().collect() {
        return Ok(all);
    }
    let new = rows.iter().zip(&known).filter(|(_, id)| id.is_none());
    let new: Vec<CurveRow> = new.map(|(row, _)| row.clone()).collect();
    store::insert_curves(tx, machine, project, &new).await?;
    let all: Option<_> =
        store::find_curves(tx, machine, project, rows).await?.into_iter().collect();
    all.ok_or_else(|| anyhow::anyhow!("a curve is gone after its insert").into())
}

/// The ids of these series, in the order given; new ones are stored while their curves are held.
pub async fn series_ids(
    tx: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
    rows: &[SeriesRow],
) -> Result<Vec<SeriesId>> {
    let known = Known::load(tx, machine, curves, rows).await?;
    if let Some(all) = known.ids(curves, rows) {
        return Ok(all);
    }
    store::lock_curves(tx, curves).await?;
    let known = Known::load(tx, machine, curves, rows).await?;
    let new: Vec<(CurveId, &SeriesRow)> = rows
        .iter()
        .map(|row| (curves[row.curve], row))
        .filter(|(curve, row)| known.id(*curve, row).is_none())
        .collect();
    store::insert_series(tx, machine, &new).await?;
    let known = Known::load(tx, machine, curves, rows).await?;
    known
        .ids(curves, rows)
        .ok_or_else(|| anyhow::anyhow!("a series is gone after its insert").into())
}

/// The stored series of some curves.
struct Known(HashMap<(CurveId, i32, String), SeriesId>);

impl Known {
    /// Loads them, and refuses rows that give a metric another unit or direction.
    async fn load(
        tx: &mut Connection,
        machine: MachineId,
        curves: &[CurveId],
        rows: &[SeriesRow],
    ) -> Result<Known> {
        let series = store::find_series(tx, machine, curves).await?;
        check_meaning(&series, curves, rows)?;
        let key = |one: KnownSeries| ((one.curve, one.tasks, one.metric), one.id);
        Ok(Known(series.into_iter().map(key).collect()))
    }

    fn id(&self, curve: CurveId, row: &SeriesRow) -> Option<SeriesId> {
        self.0.get(&(curve, row.tasks, row.metric.clone())).copied()
    }

    fn ids(&self, curves: &[CurveId], rows: &[SeriesRow]) -> Option<Vec<SeriesId>> {
        rows.iter().map(|row| self.id(curves[row.curve], row)).collect()
    }
}

fn check_meaning(series: &[KnownSeries], curves: &[CurveId], rows: &[SeriesRow]) -> Result<()> {
    let mut meaning: HashMap<(CurveId, &str), (&str, &str)> = series
        .iter()
        .map(|one| ((one.curve, one.metric.as_str()), (one.unit.as_str(), one.direction.as_str())))
        .collect();
    for row in rows {
        let given = (row.unit.symbol(), row.direction.word());
        let known = *meaning.entry((curves[row.curve], row.metric.as_str())).or_insert(given);
        let part = match (known.0 == given.0, known.1 == given.1) {
            (true, true) => continue,
            (false, _) => "unit",
            (true, false) => "direction",
        };
        return Err(Error::Conflict {
            code: "metric_redefined",
            field: format!("{}.{part}", row.field),
            detail: format!(
                "{} of this curve is in {}, {} is better; a metric that means something else takes \
                 another name or another workload version",
                row.metric, known.0, known.1
            ),
        });
    }
    Ok(())
}
