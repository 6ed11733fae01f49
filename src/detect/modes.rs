//! Two modes of a series, named for its readers. A switch between them is no step.

pub use stats::modes::{Mode, Modes};

use crate::model::{EnvironmentId, Measurement};

/// The two modes of the newest level: of the runs in the newest run's environment from the last
/// step on, where it has one. `runs` stand in the order of revisions.
pub fn of_newest_level(runs: &[Measurement], last_step: Option<i64>) -> Option<Modes> {
    let environment: EnvironmentId = runs.last()?.environment;
    let from = last_step.unwrap_or(i64::MIN);
    let level: Vec<f64> = runs
        .iter()
        .filter(|run| run.environment == environment && run.rank >= from)
        .map(|run| run.summary.median)
        .collect();
    stats::modes::two_modes(&level)
}
