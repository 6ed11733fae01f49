//! How often something was done in the current window of time, counted by the database, so that
//! every service process counts alike.

use time::{Duration, OffsetDateTime};

use super::{Failure, Pool};

/// Where a subject stands after one more was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// How many in this window, this one included.
    pub taken: i32,
    /// When the window began.
    pub started_at: OffsetDateTime,
}

/// Counts one more of `subject`; a window that is over begins anew.
///
/// # Errors
/// When the database does not answer.
pub async fn take(
    pool: &Pool,
    subject: &str,
    window: Duration,
    now: OffsetDateTime,
) -> Result<Taken, Failure> {
    sqlx::query_as!(
        Taken,
        "insert into rate (subject, started_at, taken) values ($1, $2, 1)
         on conflict (subject) do update
             set taken = case when rate.started_at > $3 then least(rate.taken, 1000000000) + 1
                              else 1 end,
                 started_at = case when rate.started_at > $3 then rate.started_at else $2 end
         returning taken, started_at",
        subject,
        now,
        now - window
    )
    .fetch_one(pool)
    .await
}

/// Gives one back that turned out not to count.
///
/// # Errors
/// When the database does not answer.
pub async fn give_back(pool: &Pool, subject: &str) -> Result<(), Failure> {
    sqlx::query!("update rate set taken = taken - 1 where subject = $1 and taken > 0", subject)
        .execute(pool)
        .await
        .map(drop)
}

/// Forgets a subject.
///
/// # Errors
/// When the database does not answer.
pub async fn delete(pool: &Pool, subject: &str) -> Result<(), Failure> {
    sqlx::query!("delete from rate where subject = $1", subject).execute(pool).await.map(drop)
}

/// Forgets every window that began before `before`.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_before(pool: &Pool, before: OffsetDateTime) -> Result<(), Failure> {
    sqlx::query!("delete from rate where started_at < $1", before).execute(pool).await.map(drop)
}
