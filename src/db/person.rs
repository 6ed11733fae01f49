//! People and the links by which they set a password. Passwords come in and go out hashed.

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::{Person, PersonId, PersonName, Secret};

/// Adds a person; none where the name is taken.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(
    connection: &mut Connection,
    name: &PersonName,
    is_admin: bool,
    now: OffsetDateTime,
) -> Result<Option<PersonId>, Failure> {
    sqlx::query_scalar!(
        r#"insert into person (name, is_admin, created_at) values ($1, $2, $3)
           on conflict (name) do nothing returning id as "id: PersonId""#,
        name.as_str(),
        is_admin,
        now
    )
    .fetch_optional(connection)
    .await
}

/// The person of this name.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_name(
    executor: impl PgExecutor<'_>,
    name: &PersonName,
) -> Result<Option<Person>, Failure> {
    sqlx::query_as!(
        Person,
        r#"select id as "id: PersonId", name, password is not null as "has_password!", is_admin,
               created_at, last_login_at, disabled_at
           from person where name = $1"#,
        name.as_str()
    )
    .fetch_optional(executor)
    .await
}

/// The person of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(executor: impl PgExecutor<'_>, id: PersonId) -> Result<Option<Person>, Failure> {
    sqlx::query_as!(
        Person,
        r#"select id as "id: PersonId", name, password is not null as "has_password!", is_admin,
               created_at, last_login_at, disabled_at
           from person where id = $1"#,
        id as PersonId
    )
    .fetch_optional(executor)
    .await
}

/// Everybody, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool) -> Result<Vec<Person>, Failure> {
    sqlx::query_as!(
        Person,
        r#"select id as "id: PersonId", name, password is not null as "has_password!", is_admin,
               created_at, last_login_at, disabled_at
           from person order by name"#
    )
    .fetch_all(pool)
    .await
}

/// The hash of a person's password; none where none was set.
///
/// # Errors
/// When the database does not answer.
pub async fn find_password(pool: &Pool, id: PersonId) -> Result<Option<String>, Failure> {
    let found = sqlx::query_scalar!("select password from person where id = $1", id as PersonId);
    Ok(found.fetch_optional(pool).await?.flatten())
}

/// Sets the hash of a person's password; an open link to set one is void then.
///
/// # Errors
/// When the database does not answer.
pub async fn set_password(
    connection: &mut Connection,
    id: PersonId,
    hash: &str,
) -> Result<(), Failure> {
    sqlx::query!("update person set password = $2 where id = $1", id as PersonId, hash)
        .execute(&mut *connection)
        .await?;
    sqlx::query!("delete from password_link where person_id = $1", id as PersonId)
        .execute(connection)
        .await
        .map(drop)
}

/// Makes a person a site admin, or no longer.
///
/// # Errors
/// When the database does not answer.
pub async fn set_admin(
    connection: &mut Connection,
    id: PersonId,
    is_admin: bool,
) -> Result<(), Failure> {
    sqlx::query!("update person set is_admin = $2 where id = $1", id as PersonId, is_admin)
        .execute(connection)
        .await
        .map(drop)
}

/// Refuses a person from `at` on, or no longer.
///
/// # Errors
/// When the database does not answer.
pub async fn set_disabled(
    connection: &mut Connection,
    id: PersonId,
    at: Option<OffsetDateTime>,
) -> Result<(), Failure> {
    sqlx::query!("update person set disabled_at = $2 where id = $1", id as PersonId, at)
        .execute(connection)
        .await
        .map(drop)
}

/// Removes a person with their roles, sessions and tokens. What they did stays told.
///
/// # Errors
/// When the database does not answer.
pub async fn delete(connection: &mut Connection, id: PersonId) -> Result<(), Failure> {
    sqlx::query!("delete from person where id = $1", id as PersonId)
        .execute(connection)
        .await
        .map(drop)
}

/// Notes that a person logged in.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_logged_in(
    connection: &mut Connection,
    id: PersonId,
    at: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!("update person set last_login_at = $2 where id = $1", id as PersonId, at)
        .execute(connection)
        .await
        .map(drop)
}

/// Keeps a link to set a password, in the place of an older one.
///
/// # Errors
/// When the database does not answer.
pub async fn put_link(
    connection: &mut Connection,
    id: PersonId,
    secret: &Secret,
    expires_at: OffsetDateTime,
) -> Result<(), Failure> {
    let hash = secret.hash();
    sqlx::query!(
        "insert into password_link (person_id, hash, expires_at) values ($1, $2, $3)
         on conflict (person_id) do update
             set hash = excluded.hash, expires_at = excluded.expires_at",
        id as PersonId,
        hash.as_slice(),
        expires_at
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Whose link this is, where it is still good.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_link(
    executor: impl PgExecutor<'_>,
    secret: &Secret,
    now: OffsetDateTime,
) -> Result<Option<Person>, Failure> {
    let hash = secret.hash();
    sqlx::query_as!(
        Person,
        r#"select p.id as "id: PersonId", p.name, p.password is not null as "has_password!",
               p.is_admin, p.created_at, p.last_login_at, p.disabled_at
           from password_link l join person p on p.id = l.person_id
           where l.hash = $1 and l.expires_at > $2 and p.disabled_at is null"#,
        hash.as_slice(),
        now
    )
    .fetch_optional(executor)
    .await
}

/// Takes the link away; false where somebody else was faster.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_link(connection: &mut Connection, secret: &Secret) -> Result<bool, Failure> {
    let hash = secret.hash();
    let done = sqlx::query!("delete from password_link where hash = $1", hash.as_slice());
    Ok(done.execute(connection).await?.rows_affected() == 1)
}
