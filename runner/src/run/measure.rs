//! Measures the points of a run: one set in seeded order, or two sides interleaved.
//!
//! The two sides of a paired run take turns at every point, and the one that begins changes with
//! each pair (ABBA): what drifts on the machine falls on both alike.

use std::collections::BTreeMap;
use std::time::Instant;

use stats::random::Random;
use wire::Point;

use super::plan::order;
use super::precision::PairedPoint;
use super::progress::Progress;
use crate::clock::{self, Span};
use crate::compare::files::Side;
use crate::harness::{self, Manner, PointPlan, Until};
use crate::profile::{self, Folded};

/// The points of one run, in the order planned, with the times between which they were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    pub finished_at: String,
    /// The points.
    pub points: Vec<Point>,
    /// Profiles of points, by index.
    pub profiles: BTreeMap<usize, Folded>,
}

/// What one side of a run measures, and how.
#[derive(Debug, Clone)]
pub struct Task {
    /// The points.
    pub plans: Vec<PointPlan>,
    /// In what manner.
    pub manner: Manner,
}

/// How often a pair is measured.
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    /// So often, at least where `until` is given.
    pub least: u32,
    /// Goes on until the ratio of each point is known this well; the budget is each point's.
    pub until: Option<Until>,
}

/// What a paired run gave.
#[derive(Debug, Clone)]
pub struct PairedRuns {
    /// (base, head) of each pair; later pairs may lack points that are known well enough.
    pub runs: Vec<(Measured, Measured)>,
    /// One a point of the plan, in its order.
    pub points: Vec<PairedPoint>,
}

/// The points measured so far, by index, and since when.
struct Taken {
    points: BTreeMap<usize, Point>,
    profiles: BTreeMap<usize, Folded>,
    span: Option<Span>,
    ends: (String, String),
}

/// Measures one set of points.
///
/// # Errors
/// Only what makes a plan impossible to start; a point that fails is data.
pub fn one_side(task: &Task, seed: u64, progress: &mut Progress) -> anyhow::Result<Measured> {
    let mut taken = Taken::new();
    for i in order(task.plans.len(), &mut Random::new(seed)) {
        taken.take(i, task, None, progress)?;
    }
    Ok(taken.done())
}

/// Measures two sides of equal shape in pairs.
///
/// # Errors
/// As [`one_side`].
pub fn two_sides(
    base: &Task,
    head: &Task,
    pairs: Pairs,
    seed: u64,
    progress: &mut Progress,
) -> anyhow::Result<PairedRuns> {
    let mut random = Random::new(seed);
    let mut open: Vec<usize> = (0..base.plans.len().min(head.plans.len())).collect();
    let mut points = vec![PairedPoint::default(); open.len()];
    let mut runs = Vec::new();
    for pair in 0.. {
        if open.is_empty() || (pairs.until.is_none() && pair >= pairs.least) {
            break;
        }
        let mut taken = (Taken::new(), Taken::new());
        for (turn, at) in order(open.len(), &mut random).into_iter().enumerate() {
            let (i, began) = (open[at], Instant::now());
            for side in turns(pair, turn) {
                match side {
                    Side::Base => taken.0.take(i, base, Some("base"), progress)?,
                    Side::Head => taken.1.take(i, head, Some("head"), progress)?,
                }
            }
            points[i].spent += began.elapsed();
            points[i].add(&taken.0.points[&i], &taken.1.points[&i]);
        }
        runs.push((taken.0.done(), taken.1.done()));
        if let Some(until) = &pairs.until {
            open.retain(|&i| !points[i].is_enough(until, pair + 1, pairs.least));
        }
    }
    Ok(PairedRuns { runs, points })
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
        let now = clock::now();
        let (points, profiles) = (BTreeMap::new(), BTreeMap::new());
        Taken { points, profiles, span: None, ends: (now.clone(), now) }
    }

    fn take(
        &mut self,
        i: usize,
        task: &Task,
        side: Option<&str>,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        let plan = &task.plans[i];
        progress.begin(plan, side);
        let span = *self.span.get_or_insert_with(Span::begin);
        let on_window = &mut |_, _: &wire::Window| progress.window();
        let (point, recorded) = harness::measure_and_profile(plan, &task.manner, on_window)?;
        self.ends = span.ends();
        progress.end(plan, &point, side);
        match recorded.map(folded) {
            Some(Ok(folded)) => drop(self.profiles.insert(i, folded)),
            Some(Err(why)) => progress.say(plan, &format!("no profile: {why}")),
            None => {}
        }
        self.points.insert(i, point);
        Ok(())
    }

    fn done(mut self) -> Measured {
        let (started_at, finished_at) = self.ends;
        let of = |(at, i)| Some((at, self.profiles.remove(i)?));
        let profiles = self.points.keys().enumerate().filter_map(of).collect();
        Measured { started_at, finished_at, points: self.points.into_values().collect(), profiles }
    }
}

/// The stacks of a recording, or in words why there are none. The point stands in any case.
fn folded(recorded: harness::Recorded) -> Result<Folded, String> {
    let (file, _event) = recorded?;
    profile::fold(&file).map_err(|error| format!("{error:#}"))
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
