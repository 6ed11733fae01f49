//! How much work waits.

use time::OffsetDateTime;

use super::Pool;

/// Work that waits.
#[derive(Debug)]
pub struct Backlog {
    /// Curves that wait to be judged.
    pub due_curves: i64,
    /// When the first of them was marked.
    pub oldest_due_at: Option<OffsetDateTime>,
    /// Messages that wait to be sent.
    pub unsent_messages: i64,
}

/// What waits now.
///
/// # Errors
/// When the database does not answer.
pub async fn find_backlog(pool: &Pool) -> Result<Backlog, sqlx::Error> {
    sqlx::query_as!(
        Backlog,
        r#"select count(*) as "due_curves!", min(marked_at) as oldest_due_at,
               (select count(*) from outbox
                where sent_at is null and withdrawn_at is null) as "unsent_messages!"
           from due"#
    )
    .fetch_one(pool)
    .await
}

/// Since when the mail waits that has waited longest.
///
/// # Errors
/// When the database does not answer.
pub async fn find_oldest_unsent(pool: &Pool) -> Result<Option<OffsetDateTime>, sqlx::Error> {
    sqlx::query_scalar!(
        "select min(coalesce(queued_at, due_at)) from outbox
         where sent_at is null and withdrawn_at is null"
    )
    .fetch_one(pool)
    .await
}

/// How many more machines the partitions hold that are there.
///
/// # Errors
/// When the database does not answer.
pub async fn count_room(pool: &Pool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select (select count(*) from pg_inherits where inhparent = 'point'::regclass) * 8 - 1
               - coalesce((select max(id) from machine), 0) as "room!""#
    )
    .fetch_one(pool)
    .await
}
