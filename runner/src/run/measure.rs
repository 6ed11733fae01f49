//! Measures the points of a run: one set in seeded order, or two sides interleaved.
//!
//! The two sides of a paired run take turns at every point, and the one that begins changes with
//! each pair (ABBA): what drifts on the machine falls on both alike.

use std::collections::BTreeMap;

use stats::random::Random;
use wire::Point;

use super::plan::order;
use super::progress::Progress;
use crate::clock;
use crate::compare::files::Side;
use crate::harness::{self, PointPlan};

/// The points of one run, in the order planned, with the times between which they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub finished_at: String,
    /// The points.
    pub points: Vec<Point>,
}

/// The points measured so far, by index, and since when.
struct Taken {
    points: BTreeMap<usize, Point>,
    started_at: Option<String>,
    finished_at: String,
}

/// Measures one set of points.
///
/// # Errors
/// Only what makes a plan impossible to start; a point that fails is data.
pub fn one_side(
    plans: &[PointPlan],
    seed: u64,
    progress: &mut Progress,
) -> anyhow::Result<Measured> {
    let mut taken = Taken::new();
    for i in order(plans.len(), &mut Random::new(seed)) {
        taken.take(i, &plans[i], None, progress)?;
    }
    Ok(taken.done())
}

/// Measures two sides of equal shape `pairs` times. Returns (base, head) of each pair.
///
/// # Errors
/// As [`one_side`].
pub fn two_sides(
    base: &[PointPlan],
    head: &[PointPlan],
    pairs: u32,
    seed: u64,
    progress: &mut Progress,
) -> anyhow::Result<Vec<(Measured, Measured)>> {
    let mut random = Random::new(seed);
    let mut runs = Vec::new();
    for pair in 0..pairs {
        let mut taken = (Taken::new(), Taken::new());
        for (turn, i) in order(base.len().min(head.len()), &mut random).into_iter().enumerate() {
            for side in turns(pair, turn) {
                match side {
                    Side::Base => taken.0.take(i, &base[i], Some("base"), progress)?,
                    Side::Head => taken.1.take(i, &head[i], Some("head"), progress)?,
                }
            }
        }
        runs.push((taken.0.done(), taken.1.done()));
    }
    Ok(runs)
}

/// Who goes first: base in the first pair, head in the second, and so on, shifted from point to
/// point.
fn turns(pair: u32, turn: usize) -> [Side; 2] {
    match (pair as usize + turn).is_multiple_of(2) {
        true => [Side::Base, Side::Head],
        false => [Side::Head, Side::Base],
    }
}

impl Taken {
    fn new() -> Taken {
        Taken { points: BTreeMap::new(), started_at: None, finished_at: clock::now() }
    }

    fn take(
        &mut self,
        i: usize,
        plan: &PointPlan,
        side: Option<&str>,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        progress.begin(plan, side);
        self.started_at.get_or_insert_with(clock::now);
        let point = harness::measure(plan, &mut |_, _| progress.window())?;
        self.finished_at = clock::now();
        progress.end(plan, &point, side);
        self.points.insert(i, point);
        Ok(())
    }

    fn done(self) -> Measured {
        Measured {
            started_at: self.started_at.unwrap_or_else(|| self.finished_at.clone()),
            finished_at: self.finished_at,
            points: self.points.into_values().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_that_begins_changes_with_each_pair() {
        use Side::{Base, Head};
        let of_point: Vec<Side> = (0..4).flat_map(|pair| turns(pair, 0)).collect();
        assert_eq!(of_point, [Base, Head, Head, Base, Base, Head, Head, Base]);
        assert_eq!(turns(0, 1), [Head, Base]);
    }
}
