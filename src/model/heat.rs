//! What changed last, workload by machine.

use std::collections::BTreeMap;

use super::severity::Effect;
use super::step::Change;
use super::{CurveId, IncidentId};

/// Noise floor above which a workload is called unstable on a machine, relative.
pub const UNSTABLE: f64 = 0.05;

/// One curve: the last step of its first metric that stands, where there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    /// Workload id.
    pub workload: String,
    /// The machine's id in addresses.
    pub machine: String,
    /// The machine's name.
    pub machine_name: String,
    /// The curve.
    pub curve: CurveId,
    /// Noise floor of its first metric, relative; 0 where unknown.
    pub floor: f64,
    /// The step.
    pub step: Option<LatestStep>,
}

/// A step as far as the map needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatestStep {
    /// Incident it belongs to.
    pub incident: IncidentId,
    /// Bad or good.
    pub change: Change,
    /// after ÷ before, where before is positive.
    pub ratio: Option<f64>,
    /// Its size in noise units.
    pub units: f64,
}

impl LatestStep {
    /// A step found on a curve with this noise floor; `least_effect` is the smallest change called.
    pub fn new(
        (incident, change, ratio): (IncidentId, Change, Option<f64>),
        curve: CurveId,
        floor: f64,
        least_effect: f64,
    ) -> LatestStep {
        let effect = Effect { incident, curve, ratio, floor, weight: 1.0 };
        LatestStep { incident, change, ratio, units: effect.units(least_effect) }
    }
}

/// One workload on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// How many curves there are.
    pub curves: usize,
    /// The one whose last change is gravest, else the first.
    pub curve: CurveId,
    /// That change.
    pub step: Option<LatestStep>,
    /// Whether its noise floor exceeds [`UNSTABLE`].
    pub unstable: bool,
}

/// Workloads by machines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// Id in addresses and name of each column's machine, by name.
    pub machines: Vec<(String, String)>,
    /// Workload and its cells, one a machine; none where it was never measured there.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

impl HeatMap {
    /// Of every curve.
    pub fn new(curves: &[Latest]) -> HeatMap {
        let mut names: Vec<(&str, &str)> =
            curves.iter().map(|one| (&*one.machine_name, &*one.machine)).collect();
        names.sort_unstable();
        names.dedup();
        let mut cells: BTreeMap<&str, BTreeMap<&str, Cell>> = BTreeMap::new();
        for one in curves {
            let row = cells.entry(&one.workload).or_default();
            let new = Cell {
                curves: 1,
                curve: one.curve,
                step: one.step,
                unstable: one.floor > UNSTABLE,
            };
            row.entry(&one.machine).and_modify(|cell| cell.add(&new)).or_insert(new);
        }
        let row = |(workload, mut cells): (&str, BTreeMap<&str, Cell>)| {
            let cells = names.iter().map(|(_, machine)| cells.remove(machine)).collect();
            (workload.to_owned(), cells)
        };
        HeatMap {
            rows: cells.into_iter().map(row).collect(),
            machines: names.iter().map(|(name, id)| ((*id).into(), (*name).into())).collect(),
        }
    }
}

impl Cell {
    fn add(&mut self, other: &Cell) {
        let units = |cell: &Cell| cell.step.map_or(0.0, |step| step.units);
        if units(other) > units(self) {
            (self.curve, self.step) = (other.curve, other.step);
        }
        self.curves += other.curves;
        self.unstable |= other.unstable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(workload: &str, machine: &str, curve: i64, ratio: Option<f64>) -> Latest {
        let id = CurveId(curve);
        let found = |ratio| (IncidentId(curve), Change::Regression, Some(ratio));
        Latest {
            workload: workload.into(),
            machine: format!("id-of-{machine}"),
            machine_name: machine.into(),
            curve: id,
            floor: 0.01,
            step: ratio.map(|ratio| LatestStep::new(found(ratio), id, 0.01, 0.005)),
        }
    }

    #[test]
    fn each_cell_shows_the_gravest_of_its_curves_last_changes() {
        let map = HeatMap::new(&[
            latest("b/two", "m2", 1, Some(0.95)),
            latest("b/two", "m2", 2, Some(0.90)),
            latest("b/two", "m2", 3, None),
            latest("a/one", "m1", 4, None),
        ]);
        let names: Vec<_> = map.machines.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, ["m1", "m2"]);
        let workloads: Vec<_> = map.rows.iter().map(|(workload, _)| &**workload).collect();
        assert_eq!(workloads, ["a/one", "b/two"]);
        assert_eq!(map.rows[0].1[1], None, "never measured there");
        let calm = map.rows[0].1[0].as_ref().expect("measured");
        assert_eq!((calm.curves, calm.step), (1, None));
        let grave = map.rows[1].1[1].as_ref().expect("measured");
        assert_eq!((grave.curves, grave.curve), (3, CurveId(2)));
        let units = grave.step.expect("it moved").units;
        assert!((units - 10.536).abs() < 1e-3, "{units}");
    }
}
