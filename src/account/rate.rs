//! How often one may try: so many in a window of time, counted by the database.

use time::{Duration, OffsetDateTime};

use crate::app::App;
use crate::db;
use crate::error::{Error, Result};

/// So many in a window.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Most in a window.
    pub most: i32,
    /// How long a window lasts.
    pub window: Duration,
    /// What is said to who asks for more.
    pub refusal: &'static str,
}

impl Limit {
    /// Counts one of `subject`. Whether it opened a new window.
    ///
    /// # Errors
    /// `TooMany` above the limit, with how long to wait.
    pub async fn take(&self, app: &App, subject: &str) -> Result<bool> {
        let now = app.clock.now();
        let taken = db::rate::take(&app.db, subject, self.window, now).await?;
        if taken.taken <= self.most {
            return Ok(taken.taken == 1);
        }
        let retry_after_s = wait_s(taken.started_at + self.window, now);
        Err(Error::TooMany { detail: self.refusal, retry_after_s })
    }
}

/// Whole seconds until `end`, at least one.
fn wait_s(end: OffsetDateTime, now: OffsetDateTime) -> u64 {
    let left = (end - now).as_seconds_f64().ceil();
    left.max(1.0) as u64
}
