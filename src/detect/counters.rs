//! Counters that moved with a step: evidence beside it. The ranking is the runner's own.

use std::collections::BTreeMap;

pub use stats::counters::Moved;

/// The counters of the runs on both sides of a step that moved, the surest and largest first.
pub fn moved(before: &[BTreeMap<String, f64>], after: &[BTreeMap<String, f64>]) -> Vec<Moved> {
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    stats::counters::moved(&before, &after)
}
