//! What was done, by whom and from where.

use serde_json::Value;
use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::PersonId;
use crate::model::person::Deed;

/// A line to be kept.
#[derive(Debug)]
pub struct New<'a> {
    /// Now.
    pub at: OffsetDateTime,
    /// The person, where it was one.
    pub person: Option<PersonId>,
    /// Who.
    pub who: &'a str,
    /// Where from.
    pub origin: &'a str,
    /// What.
    pub what: &'a str,
    /// To whom or what.
    pub about: &'a str,
    /// As it was before.
    pub was: Option<&'a Value>,
    /// As it is since.
    pub became: Option<&'a Value>,
}

/// Keeps a line.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(connection: &mut Connection, new: &New<'_>) -> Result<(), Failure> {
    sqlx::query!(
        "insert into audit (at, person_id, who, origin, what, about, was, became)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        new.at,
        new.person as Option<PersonId>,
        new.who,
        new.origin,
        new.what,
        new.about,
        new.was,
        new.became
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Lines, the newest first, those before `before` when given; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool, before: Option<i64>, limit: i64) -> Result<Vec<Deed>, Failure> {
    sqlx::query_as!(
        Deed,
        "select id, at, who, origin, what, about, was, became from audit
         where $1::bigint is null or id < $1 order by id desc limit $2",
        before,
        limit
    )
    .fetch_all(pool)
    .await
}
