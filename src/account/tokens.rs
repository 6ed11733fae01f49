//! Tokens: made, shown once, refused again; each with its line of what was done.

use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::{By, Viewer, Who};
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::{Machine, PersonId, Project, Role, Scope, Secret, Token, TokenId};

/// Longest name, bytes.
const LONGEST_NAME: usize = 100;

/// Most days until a token is refused.
pub const MOST_DAYS: i64 = 36_500;

/// A token to be made.
#[derive(Debug)]
pub struct New<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What it may do.
    pub scope: Scope,
    /// The machine an upload token is bound to.
    pub machine: Option<&'a Machine>,
    /// Whose it is; none: nobody's in particular.
    pub person: Option<PersonId>,
    /// The projects it is limited to; none: it is not limited.
    pub projects: &'a [Project],
    /// Days after which it is refused.
    pub days: Option<i64>,
}

/// Makes a token. The caller commits, and shows the secret this once.
///
/// # Errors
/// `Invalid` where it makes no sense.
pub async fn make(
    connection: &mut Connection,
    by: &By<'_>,
    new: &New<'_>,
) -> Result<(TokenId, Secret)> {
    let name = new.name.trim();
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        let problem = format!("must have 1 to {LONGEST_NAME} bytes, none of them a control");
        return Err(Error::invalid("name", problem));
    }
    if (new.scope == Scope::Upload) != new.machine.is_some() {
        let problem = "goes with the scope upload, and that scope with a machine";
        return Err(Error::invalid("machine", problem));
    }
    if !new.projects.is_empty() && matches!(new.scope, Scope::Register | Scope::Admin) {
        let problem = "a token of this scope is not limited to projects";
        return Err(Error::invalid("project", problem));
    }
    if new.days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        return Err(Error::invalid("days", format!("must be 1 to {MOST_DAYS}")));
    }
    let projects: Vec<_> = new.projects.iter().map(|project| project.id).collect();
    let expires_at: Option<OffsetDateTime> = new.days.map(|days| by.now + Duration::days(days));
    let secret = Secret::random();
    let row = db::token::New {
        name,
        scope: new.scope,
        machine: new.machine.map(|machine| machine.id),
        person: new.person,
        projects: &projects,
        created_at: by.now,
        expires_at,
    };
    let id = db::token::insert(&mut *connection, &row, &secret).await?;
    let names: Vec<&str> = new.projects.iter().map(|project| project.name.as_str()).collect();
    let became = json!({ "scope": new.scope.word(), "projects": names, "days": new.days });
    by.did(connection, "token_made", &about(id, name), (None, Some(became))).await?;
    Ok((id, secret))
}

/// Refuses a token from now on. The caller commits.
///
/// # Errors
/// `NotFound` where there is none that is not refused yet.
pub async fn revoke(connection: &mut Connection, by: &By<'_>, token: &Token) -> Result<()> {
    if !db::token::mark_revoked(&mut *connection, token.id, by.now).await? {
        return Err(Error::NotFound("token that is not revoked yet"));
    }
    by.did(connection, "token_revoked", &about(token.id, &token.name), (None, None)).await
}

/// The scopes of which somebody may make tokens.
pub fn scopes_of(viewer: &Viewer) -> Vec<Scope> {
    let may = |scope: &Scope| match scope.role() {
        Some(Role::Viewer) => !matches!(viewer.who(), Who::Nobody),
        Some(role) => viewer.may_somewhere(role),
        None => viewer.is_site_admin(),
    };
    Scope::ALL.into_iter().filter(may).collect()
}

fn about(id: TokenId, name: &str) -> String {
    format!("token {id} ({name})")
}
