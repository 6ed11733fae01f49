//! Counters that moved with a step: evidence beside it. The ranking is the runner's own.

use std::collections::BTreeMap;

pub use stats::counters::Moved;

use crate::db::{self, Failure, Pool};
use crate::model::incident::{IncidentStep, StepSide};

/// The counters of the runs on both sides of a step that moved, the surest and largest first.
pub fn moved(before: &[BTreeMap<String, f64>], after: &[BTreeMap<String, f64>]) -> Vec<Moved> {
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    stats::counters::moved(&before, &after)
}

/// Those of the runs nearest to a step on both sides, at its task count.
///
/// # Errors
/// When the database does not answer.
pub async fn of_step(pool: &Pool, step: &IncidentStep) -> Result<Vec<Moved>, Failure> {
    let before = db::point::list_counters(pool, step, StepSide::Before).await?;
    Ok(moved(&before, &db::point::list_counters(pool, step, StepSide::After).await?))
}

/// How sure it is that a counter moved, in words.
pub fn sure(moved: &Moved) -> &'static str {
    match moved.apart {
        Some(true) => "told apart",
        Some(false) => "not told apart",
        None => "too few runs",
    }
}
