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
