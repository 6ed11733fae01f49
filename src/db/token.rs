//! Tokens. Only the hash of a secret is ever written or compared.

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::Pool;
use super::types::word;
use crate::model::{MachineId, PersonId, ProjectId, Scope, Secret, Token, TokenId};

/// A token to be stored.
#[derive(Debug)]
pub struct New<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What it may do.
    pub scope: Scope,
    /// The machine an upload token is bound to; none for other scopes.
    pub machine: Option<MachineId>,
    /// Whose it is; none: of the command line, or a machine's own.
    pub person: Option<PersonId>,
    /// The projects it is limited to; none: it is not limited.
    pub projects: &'a [ProjectId],
    /// Now.
    pub created_at: OffsetDateTime,
    /// From when on it is refused.
    pub expires_at: Option<OffsetDateTime>,
}

/// Stores a token.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(
    executor: impl PgExecutor<'_>,
    new: &New<'_>,
    secret: &Secret,
) -> Result<TokenId, sqlx::Error> {
    let hash = secret.hash();
    sqlx::query_scalar!(
        r#"with made as (
               insert into token (name, hash, scope, machine_id, created_at, expires_at, person_id)
               values ($1, $2, $3, $4, $5, $6, $7) returning id),
           limited as (
               insert into token_project (token_id, project_id)
               select made.id, project from made, unnest($8::bigint[]) as project)
           select id as "id: TokenId" from made"#,
        new.name,
        hash.as_slice(),
        new.scope.word(),
        new.machine as Option<MachineId>,
        new.created_at,
        new.expires_at,
        new.person as Option<PersonId>,
        new.projects as &[ProjectId]
    )
    .fetch_one(executor)
    .await
}

/// The token of this secret, revoked and expired ones included.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, secret: &Secret) -> Result<Option<Token>, sqlx::Error> {
    let hash = secret.hash();
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id: TokenId", name, scope, machine_id as "machine_id: MachineId", created_at,
               expires_at, last_used_at, revoked_at, person_id as "person: PersonId",
               array(select project_id from token_project where token_id = token.id)
                   as "projects!: Vec<ProjectId>"
           from token where hash = $1"#,
        hash.as_slice()
    );
    row.fetch_optional(pool).await?.map(Token::try_from).transpose()
}

/// All tokens, oldest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool) -> Result<Vec<Token>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: TokenId", name, scope, machine_id as "machine_id: MachineId", created_at,
               expires_at, last_used_at, revoked_at, person_id as "person: PersonId",
               array(select project_id from token_project where token_id = token.id)
                   as "projects!: Vec<ProjectId>"
           from token order by id"#
    );
    rows.fetch_all(pool).await?.into_iter().map(Token::try_from).collect()
}

/// Notes that a token was accepted, at most once a minute.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_used(pool: &Pool, id: TokenId, at: OffsetDateTime) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update token set last_used_at = $2
         where id = $1 and (last_used_at is null or last_used_at + interval '1 minute' <= $2)",
        id as TokenId,
        at
    )
    .execute(pool)
    .await
    .map(drop)
}

/// The tokens of a person, oldest first; of nobody where none is given.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of(pool: &Pool, person: Option<PersonId>) -> Result<Vec<Token>, sqlx::Error> {
    let mut tokens = list(pool).await?;
    tokens.retain(|token| token.person == person);
    Ok(tokens)
}

/// The token of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_id(
    executor: impl PgExecutor<'_>,
    id: TokenId,
) -> Result<Option<Token>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id: TokenId", name, scope, machine_id as "machine_id: MachineId", created_at,
               expires_at, last_used_at, revoked_at, person_id as "person: PersonId",
               array(select project_id from token_project where token_id = token.id)
                   as "projects!: Vec<ProjectId>"
           from token where id = $1"#,
        id as TokenId
    );
    row.fetch_optional(executor).await?.map(Token::try_from).transpose()
}

/// Refuses a token from `at` on; false when there is none that is not revoked yet.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_revoked(
    executor: impl PgExecutor<'_>,
    id: TokenId,
    at: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "update token set revoked_at = $2 where id = $1 and revoked_at is null",
        id as TokenId,
        at
    );
    Ok(done.execute(executor).await?.rows_affected() == 1)
}

struct Row {
    id: TokenId,
    name: String,
    scope: String,
    machine_id: Option<MachineId>,
    created_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    person: Option<PersonId>,
    projects: Vec<ProjectId>,
}

impl TryFrom<Row> for Token {
    type Error = sqlx::Error;

    fn try_from(row: Row) -> Result<Token, sqlx::Error> {
        Ok(Token {
            id: row.id,
            name: row.name,
            scope: word("scope", &row.scope, Scope::parse)?,
            machine: row.machine_id,
            person: row.person,
            projects: row.projects,
            created_at: row.created_at,
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
            revoked_at: row.revoked_at,
        })
    }
}
