//! Whom a provider of identities knows, and sign-ins under way there. Of states and cookies only
//! hashes are written or compared.

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::{Person, PersonId, Secret};

/// A sign-in under way.
#[derive(Debug)]
pub struct SignIn {
    /// What the provider has to put into its token.
    pub nonce: String,
    /// What the code is exchanged with.
    pub verifier: String,
    /// Where to go on to.
    pub next: String,
    /// Who asked to be connected; none where somebody signs in.
    pub person: Option<PersonId>,
}

/// Keeps a sign-in that was begun.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_sign_in(
    pool: &Pool,
    state: &Secret,
    browser: &Secret,
    new: &SignIn,
    expires_at: OffsetDateTime,
) -> Result<(), Failure> {
    let (state, browser) = (state.hash(), browser.hash());
    sqlx::query!(
        "insert into sign_in (state, browser, nonce, verifier, next, person_id, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
        state.as_slice(),
        browser.as_slice(),
        new.nonce,
        new.verifier,
        new.next,
        new.person as Option<PersonId>,
        expires_at
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Takes a sign-in that comes back in the browser that began it, in time; none else.
///
/// # Errors
/// When the database does not answer.
pub async fn take_sign_in(
    pool: &Pool,
    state: &Secret,
    browser: &Secret,
    now: OffsetDateTime,
) -> Result<Option<SignIn>, Failure> {
    let (state, browser) = (state.hash(), browser.hash());
    sqlx::query_as!(
        SignIn,
        r#"delete from sign_in where state = $1 and browser = $2 and expires_at > $3
           returning nonce, verifier, next, person_id as "person: PersonId""#,
        state.as_slice(),
        browser.as_slice(),
        now
    )
    .fetch_optional(pool)
    .await
}

/// Removes sign-ins that did not come back in time.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_sign_ins_before(pool: &Pool, now: OffsetDateTime) -> Result<(), Failure> {
    sqlx::query!("delete from sign_in where expires_at <= $1", now).execute(pool).await.map(drop)
}

/// The person of an identity.
///
/// # Errors
/// When the database does not answer.
pub async fn find_person(
    executor: impl PgExecutor<'_>,
    issuer: &str,
    subject: &str,
) -> Result<Option<Person>, Failure> {
    sqlx::query_as!(
        Person,
        r#"select p.id as "id: PersonId", p.name, p.password is not null as "has_password!",
               p.is_admin, p.created_at, p.last_login_at, p.disabled_at
           from identity i join person p on p.id = i.person_id
           where i.issuer = $1 and i.subject = $2"#,
        issuer,
        subject
    )
    .fetch_optional(executor)
    .await
}

/// An identity to be kept.
#[derive(Debug)]
pub struct New<'a> {
    /// The provider's address.
    pub issuer: &'a str,
    /// Its name for them.
    pub subject: &'a str,
    /// Who it is here.
    pub person: PersonId,
    /// As told.
    pub email: &'a str,
    /// Now.
    pub linked_at: OffsetDateTime,
}

/// Connects an identity with a person; false where it is somebody's, or the person has another one
/// of that issuer.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(connection: &mut Connection, new: &New<'_>) -> Result<bool, Failure> {
    let stored = sqlx::query!(
        "insert into identity (issuer, subject, person_id, email, linked_at)
         values ($1, $2, $3, $4, $5) on conflict do nothing",
        new.issuer,
        new.subject,
        new.person as PersonId,
        new.email,
        new.linked_at
    );
    Ok(stored.execute(connection).await?.rows_affected() == 1)
}

/// Notes that somebody signed in, and the address that was told.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_used(
    connection: &mut Connection,
    issuer: &str,
    subject: &str,
    email: &str,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "update identity set last_used_at = $4, email = $3 where issuer = $1 and subject = $2",
        issuer,
        subject,
        email,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// What a person is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// Who.
    pub person: PersonId,
    /// The provider's address.
    pub issuer: String,
    /// As last told.
    pub email: String,
    /// When they were connected.
    pub linked_at: OffsetDateTime,
    /// When they last signed in by it.
    pub last_used_at: Option<OffsetDateTime>,
}

/// What people are known by, or one of them.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool, of: Option<PersonId>) -> Result<Vec<Connected>, Failure> {
    sqlx::query_as!(
        Connected,
        r#"select person_id as "person: PersonId", issuer, email, linked_at, last_used_at
           from identity where $1::bigint is null or person_id = $1 order by linked_at, issuer"#,
        of as Option<PersonId>
    )
    .fetch_all(pool)
    .await
}

/// Takes away all that a person is known by; the addresses there were.
///
/// # Errors
/// When the database does not answer.
pub async fn delete_of(
    connection: &mut Connection,
    person: PersonId,
) -> Result<Vec<String>, Failure> {
    sqlx::query_scalar!(
        "delete from identity where person_id = $1 returning email",
        person as PersonId
    )
    .fetch_all(connection)
    .await
}
