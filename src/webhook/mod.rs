//! Tells addresses outside what happens to the incidents of a project. An event is claimed with a
//! lease, sent, and marked; a failure is noted and tried again later, with growing pauses, for some
//! days. Whatever the attempt, the body is the same; receivers that see one twice (a sender may die
//! between sending and noting it) know it by its id.

mod client;
mod sign;

use anyhow::Result;
use time::Duration;

use crate::api::webhook as body;
use crate::app::App;
use crate::db;
use crate::db::webhook::Claimed;
use crate::model::outbox::doubled;

pub use client::{Answered, post};
pub use sign::signature;

/// How long a sender may take before another one takes over.
pub const LEASE: Duration = Duration::minutes(2);

/// Wait after the first failure; doubled with each further one.
pub const FIRST_RETRY: Duration = Duration::seconds(10);

/// Longest wait between attempts.
pub const LAST_RETRY: Duration = Duration::hours(1);

/// Attempts after which an event is given up: some three days.
pub const MOST_ATTEMPTS: i32 = 80;

/// What became of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It was taken by this address.
    To(String),
    /// It was not taken and will be tried again.
    Failed(String),
    /// It is given up.
    Abandoned(String),
}

/// Sends the event that waits longest. None when none may be sent now.
///
/// # Errors
/// When the database does not answer; the event's lease runs out then.
pub async fn send_next(app: &App) -> Result<Option<Sent>> {
    let now = app.clock.now();
    let Some(claimed) = db::webhook::claim_next(&app.db, now, now + LEASE).await? else {
        return Ok(None);
    };
    let Some(body) = body_of(app, &claimed).await? else {
        let error = "another sender took it over".to_owned();
        return Ok(Some(Sent::Failed(error)));
    };
    let answered = post(&claimed.url, &claimed.secret, claimed.event, body, now).await;
    let now = app.clock.now();
    Ok(Some(match answered {
        Answered::Taken => {
            db::webhook::mark_sent(&app.db, &claimed, now).await?;
            Sent::To(claimed.url)
        }
        Answered::Never(error) => {
            db::webhook::mark_abandoned(&app.db, &claimed, &error, now).await?;
            Sent::Abandoned(error)
        }
        Answered::Later(error) if claimed.attempts >= MOST_ATTEMPTS => {
            db::webhook::mark_abandoned(&app.db, &claimed, &error, now).await?;
            Sent::Abandoned(error)
        }
        Answered::Later(error) => {
            let retry_at = now + retry_after(claimed.attempts);
            db::webhook::mark_failed(&app.db, &claimed, &error, retry_at).await?;
            Sent::Failed(error)
        }
    }))
}

/// What is sent, fixed by the first attempt. None when another sender took over.
async fn body_of(app: &App, claimed: &Claimed) -> Result<Option<String>> {
    if let Some(body) = &claimed.body {
        return Ok(Some(body.clone()));
    }
    let body = body::of_event(app, claimed.incident, claimed.event).await?;
    let is_ours = db::webhook::set_body(&app.db, claimed, &body).await?;
    Ok(is_ours.then_some(body))
}

fn retry_after(attempts: i32) -> Duration {
    doubled(FIRST_RETRY, attempts).min(LAST_RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_an_hour_and_all_of_them_last_some_days() {
        let waits: Vec<i64> =
            [1, 2, 3, 9, 10, 80].map(retry_after).iter().map(|w| w.whole_seconds()).collect();
        assert_eq!(waits, [10, 20, 40, 2560, 3600, 3600]);
        let all: i64 = (1..MOST_ATTEMPTS).map(|n| retry_after(n).whole_seconds()).sum();
        assert!((2 * 86_400..4 * 86_400).contains(&all), "{all}");
    }
}
