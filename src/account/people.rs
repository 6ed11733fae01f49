//! What is done to people, each with its line of what was done. The caller commits.

use serde_json::json;
use time::Duration;

use super::By;
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::{Person, PersonName, Project, Role, Secret, SessionId};

/// How long a link to set a password is good.
pub const LINK: Duration = Duration::days(3);

/// The person of this name.
///
/// # Errors
/// `NotFound`.
pub async fn find(connection: &mut Connection, name: &str) -> Result<Person> {
    let found = match PersonName::parse(name) {
        Some(name) => db::person::find_by_name(connection, &name).await?,
        None => None,
    };
    found.ok_or(Error::NotFound("person"))
}

/// Adds a person, who cannot log in before they have a password.
///
/// # Errors
/// `Invalid` for a name that cannot be one, `Conflict` for one that is taken.
pub async fn add(
    connection: &mut Connection,
    by: &By<'_>,
    name: &str,
    is_admin: bool,
) -> Result<Person> {
    let parsed = PersonName::parse(name);
    let name = parsed.ok_or_else(|| Error::invalid("name", PersonName::RULE))?;
    let id = db::person::insert(connection, &name, is_admin, by.now).await?;
    let id = id.ok_or_else(|| Error::Conflict {
        code: "person_known",
        field: "name".into(),
        detail: format!("there is a person {name} already"),
    })?;
    let became = json!({ "admin": is_admin });
    by.did(connection, "person_added", &about(name.as_str()), (None, Some(became))).await?;
    db::person::find(connection, id).await?.ok_or(Error::NotFound("person"))
}

/// Sets a hashed password. Every session of the person but `kept` is over then.
///
/// # Errors
/// When the database does not answer.
pub async fn set_password(
    connection: &mut Connection,
    by: &By<'_>,
    person: &Person,
    hash: &str,
    kept: Option<SessionId>,
) -> Result<()> {
    db::person::set_password(connection, person.id, hash).await?;
    db::session::delete_all(connection, person.id, kept).await?;
    by.did(connection, "password_set", &about(&person.name), (None, None)).await
}

/// A new link by which the person sets a password once; an older one is void.
///
/// # Errors
/// When the database does not answer.
pub async fn make_link(
    connection: &mut Connection,
    by: &By<'_>,
    person: &Person,
) -> Result<Secret> {
    let secret = Secret::random();
    db::person::put_link(connection, person.id, &secret, by.now + LINK).await?;
    by.did(connection, "password_link_made", &about(&person.name), (None, None)).await?;
    Ok(secret)
}

/// Where a link leads.
pub fn link_address(public_url: &str, secret: &Secret) -> String {
    format!("{public_url}/welcome?code={}", secret.reveal())
}

/// Gives a role in a project, or takes it away.
///
/// # Errors
/// When the database does not answer.
pub async fn set_role(
    connection: &mut Connection,
    by: &By<'_>,
    person: &Person,
    project: &Project,
    role: Option<Role>,
) -> Result<()> {
    let was = db::role::find(connection, person.id, project.id).await?;
    if was == role {
        return Ok(());
    }
    db::role::put(connection, person.id, project.id, role).await?;
    let told = |role: Option<Role>| {
        Some(json!({ "project": project.name, "role": role.map_or("none", Role::word) }))
    };
    by.did(connection, "role_set", &about(&person.name), (told(was), told(role))).await
}

/// Makes a person a site admin, or no longer.
///
/// # Errors
/// When the database does not answer.
pub async fn set_admin(
    connection: &mut Connection,
    by: &By<'_>,
    person: &Person,
    is_admin: bool,
) -> Result<()> {
    if person.is_admin == is_admin {
        return Ok(());
    }
    db::person::set_admin(connection, person.id, is_admin).await?;
    let told = |is_admin: bool| Some(json!({ "admin": is_admin }));
    let change = (told(person.is_admin), told(is_admin));
    by.did(connection, "role_set", &about(&person.name), change).await
}

/// Refuses a person from now on, and ends their sessions; or takes them back.
///
/// # Errors
/// When the database does not answer.
pub async fn set_disabled(
    connection: &mut Connection,
    by: &By<'_>,
    person: &Person,
    disabled: bool,
) -> Result<()> {
    if person.disabled_at.is_some() == disabled {
        return Ok(());
    }
    db::person::set_disabled(connection, person.id, disabled.then_some(by.now)).await?;
    if disabled {
        db::session::delete_all(connection, person.id, None).await?;
    }
    let what = if disabled { "person_disabled" } else { "person_enabled" };
    by.did(connection, what, &about(&person.name), (None, None)).await
}

/// Removes a person with their roles, sessions and tokens.
///
/// # Errors
/// When the database does not answer.
pub async fn remove(connection: &mut Connection, by: &By<'_>, person: &Person) -> Result<()> {
    by.did(connection, "person_removed", &about(&person.name), (None, None)).await?;
    Ok(db::person::delete(connection, person.id).await?)
}

/// Adds a project before its first report.
///
/// # Errors
/// `Invalid` for a name that no report can have, `Conflict` for one that is known.
pub async fn add_project(
    connection: &mut Connection,
    by: &By<'_>,
    name: &str,
    subject: wire::Subject,
    is_public: bool,
) -> Result<()> {
    if name.is_empty() || name.len() > wire::limits::NAME || name.contains('\0') {
        let problem = format!("must have 1 to {} bytes, no NUL", wire::limits::NAME);
        return Err(Error::invalid("name", problem));
    }
    if !db::project::insert(connection, name, subject, is_public, by.now).await? {
        return Err(Error::Conflict {
            code: "project_known",
            field: "name".into(),
            detail: format!("there is a project {name} already"),
        });
    }
    let became = json!({ "public": is_public });
    by.did(connection, "project_added", &format!("project {name}"), (None, Some(became))).await
}

/// Lets everybody read a project, or those alone who have a role in it. Whether that changed it.
///
/// # Errors
/// `NotFound`.
pub async fn set_public(
    connection: &mut Connection,
    by: &By<'_>,
    name: &str,
    is_public: bool,
) -> Result<bool> {
    let found = db::project::find_by_name(&mut *connection, name).await?;
    let project = found.ok_or(Error::NotFound("project"))?;
    if !db::project::set_public(connection, project.id, is_public).await? {
        return Ok(false);
    }
    let told = |is_public: bool| Some(json!({ "public": is_public }));
    let change = (told(!is_public), told(is_public));
    by.did(connection, "project_shown", &format!("project {name}"), change).await?;
    Ok(true)
}

fn about(name: &str) -> String {
    format!("person {name}")
}
