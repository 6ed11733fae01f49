//! The only place that asks what time it is. Everything else is handed a [`Clock`] or a time.

use std::sync::{Arc, Mutex};

use time::{Duration, OffsetDateTime};

/// The wall clock, or one that tests move by hand.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<Mutex<OffsetDateTime>>>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock(None)
    }

    /// A clock that stands at `at` until it is moved.
    pub fn standing_at(at: OffsetDateTime) -> Clock {
        Clock(Some(Arc::new(Mutex::new(at))))
    }

    /// The time now, UTC.
    pub fn now(&self) -> OffsetDateTime {
        match &self.0 {
            None => system_now(),
            Some(hand) => *hand.lock().expect("no holder of the clock's lock panics"),
        }
    }

    /// Moves a standing clock; the system's clock goes by itself and is left alone.
    pub fn advance(&self, by: Duration) {
        if let Some(hand) = &self.0 {
            *hand.lock().expect("no holder of the clock's lock panics") += by;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn system_now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
