//! When the worker of this process last did something, or found nothing to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use time::OffsetDateTime;

/// Nobody worked yet.
const NEVER: i64 = i64::MIN;

/// A sign of life; cheap to clone.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<AtomicI64>);

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse(Arc::new(AtomicI64::new(NEVER)))
    }
}

impl Pulse {
    /// Gives a sign of life.
    pub fn beat(&self, now: OffsetDateTime) {
        self.0.store(now.unix_timestamp(), Ordering::Relaxed);
    }

    /// Seconds since the last one; none where no worker runs in this process.
    pub fn age_s(&self, now: OffsetDateTime) -> Option<i64> {
        let last = self.0.load(Ordering::Relaxed);
        (last != NEVER).then(|| (now.unix_timestamp() - last).max(0))
    }
}
