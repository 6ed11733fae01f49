//! How often incidents were right: the share that people confirmed, of those they confirmed or
//! called invalid.

use stats::proportion;

use crate::model::quality::Tally;

/// The share with its 95 % interval, as (share, low, high), 0 to 1; none where too little was
/// decided.
pub fn precision(tally: &Tally) -> Option<(f64, f64, f64)> {
    let share = tally.precision()?;
    let (low, high) = proportion::wilson(tally.confirmed, tally.decided())?;
    Some((share, low, high))
}
