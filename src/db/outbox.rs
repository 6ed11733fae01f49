//! Messages to be sent: claimed with a lease, retried, never dropped, never told twice.

use time::OffsetDateTime;

use super::{Connection, Pool};
use crate::model::IncidentId;

/// What a message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An incident was opened, or opened again.
    IncidentOpened,
    /// People or data took an incident told of before to another state.
    IncidentChanged,
    /// An incident told of before was disproved.
    IncidentRetracted,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::IncidentOpened, Kind::IncidentChanged, Kind::IncidentRetracted];

    /// As stored.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::IncidentOpened => "incident_opened",
            Kind::IncidentChanged => "incident_changed",
            Kind::IncidentRetracted => "incident_retracted",
        }
    }

    fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|one| one.word() == word)
    }
}

/// A message this worker may send until the lease runs out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Row.
    pub id: i64,
    /// Unique name of the event, e.g. `incident/12/opened`.
    pub event: String,
    /// What it tells.
    pub kind: Kind,
    /// Of which incident.
    pub incident: IncidentId,
    /// The line of its history that a change is.
    pub change: Option<i64>,
    /// How often sending was tried, this time included.
    pub attempts: i32,
    /// Names this claim: a sender whose lease ran out no longer holds it.
    pub claimed_until: OffsetDateTime,
}

/// Queues a message; a second one of the same event changes nothing. `change` is the line of the
/// incident's history that a change tells.
pub async fn insert(
    connection: &mut Connection,
    event: &str,
    kind: Kind,
    incident: IncidentId,
    change: Option<i64>,
    due_at: OffsetDateTime,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into outbox (event, kind, incident_id, incident_event_id, due_at, queued_at)
         values ($1, $2, $3, $4, $5, $5)
         on conflict (event) do nothing",
        event,
        kind.word(),
        incident.0,
        change,
        due_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Number of messages of this kind an incident ever had.
pub async fn count(
    connection: &mut Connection,
    incident: IncidentId,
    kind: Kind,
) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from outbox where incident_id = $1 and kind = $2"#,
        incident.0,
        kind.word()
    )
    .fetch_one(connection)
    .await
}

/// Withdraws an opening that was not sent. A message that a sender may be sending just now stays;
/// so does every other, which is not sent when nothing opened the thread. Returns whether anything about the incident may have gone out before.
pub async fn withdraw(
    connection: &mut Connection,
    incident: IncidentId,
    now: OffsetDateTime,
) -> sqlx::Result<bool> {
    sqlx::query!(
        "update outbox set withdrawn_at = $2
         where incident_id = $1 and kind = 'incident_opened' and sent_at is null
               and withdrawn_at is null and claimed_until is null",
        incident.0,
        now
    )
    .execute(&mut *connection)
    .await?;
    is_told(connection, incident).await
}

/// Whether a message that opens this incident went out, or may yet.
pub async fn is_told(connection: &mut Connection, incident: IncidentId) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (select from outbox
                          where incident_id = $1 and kind = 'incident_opened'
                                and withdrawn_at is null) as "told!""#,
        incident.0
    )
    .fetch_one(connection)
    .await
}

/// Claims the message that waits longest, for `lease_until`. Waits for curves that were due before
/// the message was, so that one cause is one message, and for suspects that are measured again;
/// messages of one incident keep their order.
pub async fn claim_next(
    db: &Pool,
    now: OffsetDateTime,
    lease_until: OffsetDateTime,
) -> sqlx::Result<Option<Claimed>> {
    let row = sqlx::query!(
        r#"update outbox set claimed_until = $2, attempts = attempts + 1
           where id = (
               select o.id from outbox o
               where o.sent_at is null and o.withdrawn_at is null and o.due_at <= $1
                     and (o.claimed_until is null or o.claimed_until <= $1)
                     and not exists (select from due d where d.marked_at <= o.due_at)
                     and (o.kind <> 'incident_opened'
                          or exists (select from confirmation c
                                     where c.incident_id = o.incident_id
                                           and c.outcome is not null))
                     and not exists (select from outbox earlier
                                     where earlier.incident_id = o.incident_id
                                           and earlier.id < o.id and earlier.sent_at is null
                                           and earlier.withdrawn_at is null)
               order by o.due_at, o.id
               limit 1
               for update skip locked)
           returning id, event, kind, incident_id, incident_event_id, attempts,
                     claimed_until as "claimed_until!""#,
        now,
        lease_until
    )
    .fetch_optional(db)
    .await?;
    row.map(|row| {
        Ok(Claimed {
            id: row.id,
            event: row.event,
            kind: super::types::word("kind", &row.kind, Kind::parse)?,
            incident: IncidentId(row.incident_id),
            change: row.incident_event_id,
            attempts: row.attempts,
            claimed_until: row.claimed_until,
        })
    })
    .transpose()
}

/// Notes that a message went out. False when the lease had run out and another sender took over.
pub async fn mark_sent(
    connection: &mut Connection,
    claimed: &Claimed,
    sent_to: &str,
    now: OffsetDateTime,
) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "update outbox set sent_at = $3, sent_to = $4, claimed_until = null, last_error = null
         where id = $1 and claimed_until = $2 and sent_at is null",
        claimed.id,
        claimed.claimed_until,
        now,
        sent_to
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes why sending failed and when to try again.
pub async fn mark_failed(
    db: &Pool,
    claimed: &Claimed,
    error: &str,
    retry_at: OffsetDateTime,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update outbox set claimed_until = null, last_error = $3, due_at = $4
         where id = $1 and claimed_until = $2 and sent_at is null",
        claimed.id,
        claimed.claimed_until,
        error,
        retry_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Withdraws a claimed message whose incident was retracted meanwhile.
pub async fn mark_withdrawn(db: &Pool, claimed: &Claimed, now: OffsetDateTime) -> sqlx::Result<()> {
    sqlx::query!(
        "update outbox set claimed_until = null, withdrawn_at = $3
         where id = $1 and claimed_until = $2 and sent_at is null",
        claimed.id,
        claimed.claimed_until,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// When the message that is due next may be tried; none when nothing waits.
pub async fn next_due(db: &Pool) -> sqlx::Result<Option<OffsetDateTime>> {
    sqlx::query_scalar!(
        "select min(greatest(due_at, claimed_until)) from outbox
         where sent_at is null and withdrawn_at is null"
    )
    .fetch_one(db)
    .await
}
