//! Browsers that are logged in. Only the hash of a cookie's secret is ever written or compared.

use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::{Person, PersonId, Secret, Session, SessionId};

/// A session to be stored.
#[derive(Debug)]
pub struct New<'a> {
    /// Who.
    pub person: PersonId,
    /// Now.
    pub created_at: OffsetDateTime,
    /// From when on it is refused.
    pub expires_at: OffsetDateTime,
    /// Where it logs in from.
    pub address: &'a str,
    /// What the browser says it is.
    pub user_agent: &'a str,
}

/// Stores a session.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(
    connection: &mut Connection,
    new: &New<'_>,
    secret: &Secret,
) -> Result<(), Failure> {
    let hash = secret.hash();
    sqlx::query!(
        "insert into session (person_id, hash, created_at, last_seen_at, expires_at, address,
             user_agent)
         values ($1, $2, $3, $3, $4, $5, $6)",
        new.person as PersonId,
        hash.as_slice(),
        new.created_at,
        new.expires_at,
        new.address,
        new.user_agent
    )
    .execute(connection)
    .await
    .map(drop)
}

/// The session of this secret and who it is, where it is good at `now`, was last used after `idle`,
/// and the person is not disabled.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    pool: &Pool,
    secret: &Secret,
    now: OffsetDateTime,
    idle: OffsetDateTime,
) -> Result<Option<(Session, Person)>, Failure> {
    let hash = secret.hash();
    let row = sqlx::query!(
        r#"select s.id as "id: SessionId", s.created_at, s.last_seen_at, s.expires_at, s.address,
               s.user_agent, p.id as "person: PersonId", p.name,
               p.password is not null as "has_password!", p.is_admin,
               p.created_at as added_at, p.last_login_at
           from session s join person p on p.id = s.person_id
           where s.hash = $1 and s.expires_at > $2 and s.last_seen_at > $3
             and p.disabled_at is null"#,
        hash.as_slice(),
        now,
        idle
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| {
        let person = Person {
            id: row.person,
            name: row.name,
            has_password: row.has_password,
            is_admin: row.is_admin,
            created_at: row.added_at,
            last_login_at: row.last_login_at,
            disabled_at: None,
        };
        let session = Session {
            id: row.id,
            person: row.person,
            created_at: row.created_at,
            last_seen_at: row.last_seen_at,
            expires_at: row.expires_at,
            address: row.address,
            user_agent: row.user_agent,
        };
        (session, person)
    }))
}

/// Notes that a session was used.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_seen(pool: &Pool, id: SessionId, at: OffsetDateTime) -> Result<(), Failure> {
    sqlx::query!(
        "update session set last_seen_at = $2 where id = $1 and last_seen_at < $2",
        id as SessionId,
        at
    )
    .execute(pool)
    .await
    .map(drop)
}

/// The sessions of a person that are good, the last used first.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    person: PersonId,
    now: OffsetDateTime,
    idle: OffsetDateTime,
) -> Result<Vec<Session>, Failure> {
    sqlx::query_as!(
        Session,
        r#"select id as "id: SessionId", person_id as "person: PersonId", created_at,
               last_seen_at, expires_at, address, user_agent
           from session
           where person_id = $1 and expires_at > $2 and last_seen_at > $3
           order by last_seen_at desc, id desc"#,
        person as PersonId,
        now,
        idle
    )
    .fetch_all(pool)
    .await
}

/// Ends one session of a person; false where there is none.
///
/// # Errors
/// When the database does not answer.
pub async fn delete(
    connection: &mut Connection,
    person: PersonId,
    id: SessionId,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "delete from session where id = $1 and person_id = $2",
        id as SessionId,
        person as PersonId
    );
    Ok(done.execute(connection).await?.rows_affected() == 1)
}

/// Ends every session of a person, but for `kept`. How many there were.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_all(
    connection: &mut Connection,
    person: PersonId,
    kept: Option<SessionId>,
) -> Result<u64, Failure> {
    let done = sqlx::query!(
        "delete from session where person_id = $1 and id is distinct from $2",
        person as PersonId,
        kept as Option<SessionId>
    );
    Ok(done.execute(connection).await?.rows_affected())
}

/// Removes every session that is refused by now.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_expired(
    connection: &mut Connection,
    now: OffsetDateTime,
    idle: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!("delete from session where expires_at <= $1 or last_seen_at <= $2", now, idle)
        .execute(connection)
        .await
        .map(drop)
}
