//! Sends what the outbox holds: one event, one mail. A message is claimed with a lease, sent, and
//! marked; a failure is noted and tried again later, for as long as it takes.

mod counters;
mod letter;
mod message;
mod section;
mod table;
mod transport;

use anyhow::Result;
use time::{Duration, OffsetDateTime};

use crate::app::App;
use crate::config::Config;
use crate::db;
use crate::db::outbox::{Claimed, Kind};
use crate::model::outbox::doubled;
use serde_json::json;
pub use transport::Transport;

/// How long a sender may take before another one takes over.
pub const LEASE: Duration = Duration::minutes(5);

/// Wait after the first failure; doubled with each further one.
pub const FIRST_RETRY: Duration = Duration::seconds(30);

/// Longest wait between attempts.
pub const LAST_RETRY: Duration = Duration::hours(1);

/// What became of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It went out.
    To(String),
    /// It could not be sent now and will be tried again.
    Failed(String),
    /// What it tells was over before it went out.
    Withdrawn,
}

/// What is wrong with the settings: an address that is none, a server that cannot be used.
pub fn problems(config: &Config) -> Vec<String> {
    let addresses = std::iter::once(&config.mail.from).chain(&config.mail.to);
    let refused = addresses.filter_map(|address| message::mailbox(address).err());
    let transport = Transport::from_config(config).err();
    refused.chain(transport).map(|error| format!("mail: {error:#}")).collect()
}

/// Sends the message that waits longest. None when none may be sent now.
///
/// # Errors
/// When the database does not answer; the message's lease runs out then.
pub async fn send_next(app: &App, transport: &Transport) -> Result<Option<(String, Sent)>> {
    let now = app.clock.now();
    let Some(claimed) = db::outbox::claim_next(&app.db, now, now + LEASE).await? else {
        return Ok(None);
    };
    let sent = match deliver(app, transport, &claimed, now).await {
        Ok(Some(place)) => {
            mark_sent(app, &claimed, &place).await?;
            Sent::To(place)
        }
        Ok(None) => {
            db::outbox::mark_withdrawn(&app.db, &claimed, now).await?;
            Sent::Withdrawn
        }
        Err(error) => {
            let error = format!("{error:#}");
            let retry_at = app.clock.now() + retry_after(claimed.attempts);
            db::outbox::mark_failed(&app.db, &claimed, &error, retry_at).await?;
            Sent::Failed(error)
        }
    };
    Ok(Some((claimed.event, sent)))
}

/// None when there is nothing to tell any more.
async fn deliver(
    app: &App,
    transport: &Transport,
    claimed: &Claimed,
    now: OffsetDateTime,
) -> Result<Option<String>> {
    let letter = letter::load(&app.db, claimed.incident, &app.config.public_url).await?;
    let worth_telling = match claimed.kind {
        Kind::IncidentOpened => letter.incident.state.is_open(),
        // What opened it stands before this in the queue, and was sent or withdrawn.
        Kind::IncidentChanged | Kind::IncidentRetracted => {
            db::outbox::is_told(&mut *app.db.acquire().await?, claimed.incident).await?
        }
    };
    if !worth_telling {
        return Ok(None);
    }
    let events = db::incident::list_events(&app.db, claimed.incident).await?;
    let message = message::compose(claimed, &letter, &events, &app.config.mail, now)?;
    let name = claimed.event.replace('/', "-");
    transport.send(&message, &name).await.map(Some)
}

async fn mark_sent(app: &App, claimed: &Claimed, place: &str) -> Result<()> {
    let now = app.clock.now();
    let mut transaction = app.db.begin().await?;
    if db::outbox::mark_sent(&mut transaction, claimed, place, now).await? {
        let detail = json!({ "words": format!("mailed to {place}"), "event": claimed.event });
        db::incident::insert_event(&mut transaction, claimed.incident, now, "mailed", &detail)
            .await?;
    }
    Ok(transaction.commit().await?)
}

fn retry_after(attempts: i32) -> Duration {
    doubled(FIRST_RETRY, attempts).min(LAST_RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_an_hour_and_never_ends() {
        let waits: Vec<i64> =
            [1, 2, 3, 8, 1000].map(retry_after).iter().map(|w| w.whole_seconds()).collect();
        assert_eq!(waits, [30, 60, 120, 3600, 3600]);
    }
}
