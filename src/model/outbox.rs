//! What waits to be sent and is tried again.

use time::Duration;

/// The wait after so many failed attempts: `first`, doubled with each further one, at most 20 times.
pub fn doubled(first: Duration, attempts: i32) -> Duration {
    let doublings = u32::try_from(attempts - 1).unwrap_or(0).min(20);
    first * 2_i32.pow(doublings)
}
