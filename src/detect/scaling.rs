//! How a curve scales at a revision: its measurements in, the law through them out.

use std::collections::BTreeMap;

pub use stats::curve::{Change, Fit, Law, Refusal, Shape, change};
use stats::curve::{Point, Policy};

use super::policy;
use crate::model::Measurement;

/// Whether a metric counts work of all tasks together, so that a law of scaling applies.
pub fn applies(unit: wire::Unit, direction: wire::Direction) -> bool {
    direction == wire::Direction::Higher && policy::AGAINST_WALL_TIME.contains(&unit)
}

/// The law through the measurements of one metric at one revision, samples included.
///
/// # Errors
/// Why there is none.
pub fn law(measurements: &[Measurement]) -> Result<Fit, Refusal> {
    let mut runs: BTreeMap<i32, Vec<Vec<f64>>> = BTreeMap::new();
    for one in measurements {
        runs.entry(one.tasks).or_default().push(one.samples.clone());
    }
    through(runs)
}

/// The law through the samples of each run by task count.
///
/// # Errors
/// Why there is none.
pub fn through(runs: BTreeMap<i32, Vec<Vec<f64>>>) -> Result<Fit, Refusal> {
    let points: Vec<Point> = runs
        .into_iter()
        .filter_map(|(tasks, runs)| Some(Point { tasks: u32::try_from(tasks).ok()?, runs }))
        .collect();
    stats::curve::fit(&points, &Policy::default())
}
