//! One POST and what its answer means. Redirects are not followed, and of an answer nothing but its
//! status is read, so an address cannot be made to fetch or to show anything else.

use std::time::Duration;

use time::OffsetDateTime;
use url::Url;

use super::signature;
use crate::model::webhook::check_url;
use crate::outward;

/// Longest wait for an answer.
const WHOLE: Duration = Duration::from_secs(15);

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// 2xx.
    Taken,
    /// 410: the receiver is gone for good.
    Never(String),
    /// Any other answer, or none.
    Later(String),
}

/// Sends a body. `event` is its number, by which a receiver knows one it saw before.
pub async fn post(
    url: &str,
    secret: &str,
    event: i64,
    body: String,
    now: OffsetDateTime,
) -> Answered {
    let (url, secret) = (url.to_owned(), secret.to_owned());
    let sending = move || send(&url, &secret, event, &body, now.unix_timestamp());
    match tokio::task::spawn_blocking(sending).await {
        Ok(answered) => answered,
        Err(error) => Answered::Later(format!("the sender died: {error}")),
    }
}

fn send(url: &str, secret: &str, event: i64, body: &str, timestamp: i64) -> Answered {
    let address = check_url(url).and_then(|()| Url::parse(url).map_err(|_| "is no address"));
    let address = match address {
        Ok(address) => address,
        Err(problem) => return Answered::Never(format!("the address {problem}")),
    };
    let sent = outward::agent(&address, WHOLE)
        .post(url)
        .header("Content-Type", "application/json")
        .header("Scalewatch-Event", event.to_string())
        .header("Scalewatch-Timestamp", timestamp.to_string())
        .header("Scalewatch-Signature", signature(secret, timestamp, body))
        .send(body);
    match sent.map(|answer| answer.status().as_u16()) {
        Ok(200..=299) => Answered::Taken,
        Ok(410) => Answered::Never("answered 410: it is gone for good".to_owned()),
        Ok(status) => Answered::Later(format!("answered {status}")),
        Err(error) => Answered::Later(format!("no answer: {error}")),
    }
}
