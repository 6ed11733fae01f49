//! Roles of people in projects.

use super::types::word;
use super::{Connection, Failure, Pool};
use crate::model::person::{NamedRole, Roles};
use crate::model::{PersonId, ProjectId, Role};

/// The roles of a person by project.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of(pool: &Pool, person: PersonId) -> Result<Roles, Failure> {
    let rows = sqlx::query!(
        r#"select project_id as "project: ProjectId", role from role where person_id = $1"#,
        person as PersonId
    );
    let rows = rows.fetch_all(pool).await?;
    rows.into_iter().map(|row| Ok((row.project, word("role", &row.role, Role::parse)?))).collect()
}

/// The roles of a person, or of everybody, by person and project.
///
/// # Errors
/// When the database does not answer.
pub async fn list_named(pool: &Pool, person: Option<PersonId>) -> Result<Vec<NamedRole>, Failure> {
    let rows = sqlx::query!(
        r#"select r.person_id as "person: PersonId", r.project_id as "project: ProjectId",
               p.name, r.role
           from role r join project p on p.id = r.project_id
           where $1::bigint is null or r.person_id = $1 order by r.person_id, p.name"#,
        person as Option<PersonId>
    );
    let mut named = Vec::new();
    for row in rows.fetch_all(pool).await? {
        named.push(NamedRole {
            person: row.person,
            project: row.project,
            project_name: row.name,
            role: word("role", &row.role, Role::parse)?,
        });
    }
    Ok(named)
}

/// The role of a person in a project.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    connection: &mut Connection,
    person: PersonId,
    project: ProjectId,
) -> Result<Option<Role>, Failure> {
    let found = sqlx::query_scalar!(
        "select role from role where person_id = $1 and project_id = $2",
        person as PersonId,
        project as ProjectId
    );
    let found = found.fetch_optional(connection).await?;
    found.map(|role| word("role", &role, Role::parse)).transpose()
}

/// Gives a person a role in a project in the place of the one they had; none takes it away.
///
/// # Errors
/// When the database does not answer.
pub async fn put(
    connection: &mut Connection,
    person: PersonId,
    project: ProjectId,
    role: Option<Role>,
) -> Result<(), Failure> {
    let Some(role) = role else {
        return sqlx::query!(
            "delete from role where person_id = $1 and project_id = $2",
            person as PersonId,
            project as ProjectId
        )
        .execute(connection)
        .await
        .map(drop);
    };
    sqlx::query!(
        "insert into role (person_id, project_id, role) values ($1, $2, $3)
         on conflict (person_id, project_id) do update set role = excluded.role",
        person as PersonId,
        project as ProjectId,
        role.word()
    )
    .execute(connection)
    .await
    .map(drop)
}
