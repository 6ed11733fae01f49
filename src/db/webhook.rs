//! Webhooks and what they are told: claimed with a lease, retried, told once for each line of an
//! incident's history.

use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::webhook::Webhook;
use crate::model::{IncidentId, ProjectId, WebhookId};

/// An event this worker may send until the lease runs out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Row.
    pub id: i64,
    /// Where it goes.
    pub url: String,
    /// Signs it.
    pub secret: String,
    /// Of which incident.
    pub incident: IncidentId,
    /// The line of its history.
    pub event: i64,
    /// What is sent, once the first attempt has fixed it.
    pub body: Option<String>,
    /// How often sending was tried, this time included.
    pub attempts: i32,
    /// Names this claim: a sender whose lease ran out no longer holds it.
    pub claimed_until: OffsetDateTime,
}

/// Adds a webhook; none where the project has this address already.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(
    pool: &Pool,
    project: ProjectId,
    url: &str,
    secret: &str,
    now: OffsetDateTime,
) -> Result<Option<WebhookId>, Failure> {
    sqlx::query_scalar!(
        r#"insert into webhook (project_id, url, secret, created_at) values ($1, $2, $3, $4)
           on conflict (project_id, url) where removed_at is null do nothing
           returning id as "id: WebhookId""#,
        project as ProjectId,
        url,
        secret,
        now
    )
    .fetch_optional(pool)
    .await
}

/// All webhooks that were not removed, by project.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool) -> Result<Vec<Webhook>, Failure> {
    sqlx::query_as!(
        Webhook,
        r#"select w.id as "id: WebhookId", p.name as project_name, w.url, w.created_at,
               waiting.count as "waiting!", waiting.error as last_error
           from webhook w
           join project p on p.id = w.project_id
           cross join lateral (
               select count(*) as count,
                      (array_agg(last_error order by attempts desc, id desc)
                           filter (where last_error is not null))[1] as error
               from webhook_delivery d
               where d.webhook_id = w.id and d.sent_at is null and d.abandoned_at is null
           ) waiting
           where w.removed_at is null
           order by p.name, w.id"#
    )
    .fetch_all(pool)
    .await
}

/// Address and secret of a webhook.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: WebhookId) -> Result<Option<(String, String)>, Failure> {
    let row = sqlx::query!(
        "select url, secret from webhook where id = $1 and removed_at is null",
        id as WebhookId
    );
    Ok(row.fetch_optional(pool).await?.map(|row| (row.url, row.secret)))
}

/// Removes a webhook, and abandons what waits for it. False where there is none.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_removed(
    connection: &mut Connection,
    id: WebhookId,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let removed = sqlx::query!(
        "update webhook set removed_at = $2 where id = $1 and removed_at is null",
        id as WebhookId,
        now
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "update webhook_delivery set abandoned_at = $2, claimed_until = null
         where webhook_id = $1 and sent_at is null and abandoned_at is null",
        id as WebhookId,
        now
    )
    .execute(connection)
    .await?;
    Ok(removed.rows_affected() == 1)
}

/// Queues a line of an incident's history for every webhook of its project; a second time changes
/// nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn queue(
    connection: &mut Connection,
    incident: IncidentId,
    event: i64,
    due_at: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into webhook_delivery (webhook_id, incident_id, incident_event_id, due_at)
         select w.id, i.id, $2, $3
         from incident i join webhook w on w.project_id = i.project_id and w.removed_at is null
         where i.id = $1
         on conflict on constraint webhook_delivery_is_told_once do nothing",
        incident as IncidentId,
        event,
        due_at
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Claims the event that waits longest, for `lease_until`. At first it waits for curves that were
/// due before it was, so that one cause is told whole; events of one incident keep their order.
///
/// # Errors
/// When the database does not answer.
pub async fn claim_next(
    pool: &Pool,
    now: OffsetDateTime,
    lease_until: OffsetDateTime,
) -> Result<Option<Claimed>, Failure> {
    sqlx::query_as!(
        Claimed,
        r#"update webhook_delivery d set claimed_until = $2, attempts = attempts + 1
           from webhook w
           where w.id = d.webhook_id and d.id = (
               select o.id from webhook_delivery o
               where o.sent_at is null and o.abandoned_at is null and o.due_at <= $1
                     and (o.claimed_until is null or o.claimed_until <= $1)
                     and (o.attempts > 0
                          or not exists (select from due x where x.marked_at <= o.due_at))
                     and not exists (
                         select from webhook_delivery earlier
                         where earlier.webhook_id = o.webhook_id
                               and earlier.incident_id = o.incident_id and earlier.id < o.id
                               and earlier.sent_at is null and earlier.abandoned_at is null)
               order by o.due_at, o.id
               limit 1
               for update skip locked)
           returning d.id, w.url, w.secret, d.incident_id as "incident: IncidentId",
                     d.incident_event_id as event, d.body, d.attempts,
                     d.claimed_until as "claimed_until!""#,
        now,
        lease_until
    )
    .fetch_optional(pool)
    .await
}

/// Fixes what is sent. False when another sender holds the event by now.
///
/// # Errors
/// When the database does not answer.
pub async fn set_body(pool: &Pool, claimed: &Claimed, body: &str) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "update webhook_delivery set body = $3
         where id = $1 and claimed_until = $2 and body is null",
        claimed.id,
        claimed.claimed_until,
        body
    );
    Ok(done.execute(pool).await?.rows_affected() == 1)
}

/// Notes that an event was taken.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_sent(pool: &Pool, claimed: &Claimed, now: OffsetDateTime) -> Result<(), Failure> {
    sqlx::query!(
        "update webhook_delivery set sent_at = $3, claimed_until = null, last_error = null
         where id = $1 and claimed_until = $2 and sent_at is null and abandoned_at is null",
        claimed.id,
        claimed.claimed_until,
        now
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Notes why an event was not taken and when to try again.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_failed(
    pool: &Pool,
    claimed: &Claimed,
    error: &str,
    retry_at: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "update webhook_delivery set claimed_until = null, last_error = $3, due_at = $4
         where id = $1 and claimed_until = $2 and sent_at is null and abandoned_at is null",
        claimed.id,
        claimed.claimed_until,
        error,
        retry_at
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Gives an event up.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_abandoned(
    pool: &Pool,
    claimed: &Claimed,
    error: &str,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "update webhook_delivery set claimed_until = null, last_error = $3, abandoned_at = $4
         where id = $1 and claimed_until = $2 and sent_at is null and abandoned_at is null",
        claimed.id,
        claimed.claimed_until,
        error,
        now
    )
    .execute(pool)
    .await
    .map(drop)
}

/// How many events wait to be sent.
///
/// # Errors
/// When the database does not answer.
pub async fn count_waiting(pool: &Pool) -> Result<i64, Failure> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from webhook_delivery
           where sent_at is null and abandoned_at is null"#
    )
    .fetch_one(pool)
    .await
}
