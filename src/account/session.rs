//! Sessions: a random secret in a cookie, of which the database keeps the hash.

use time::Duration;

use super::{Client, Viewer, Who};
use crate::app::App;
use crate::db::{self, Connection};
use crate::error::Result;
use crate::model::{Person, PersonId, ProjectId, Secret, SessionId, Visible};

/// A session that is not used for so long is over.
pub const IDLE: Duration = Duration::days(7);

/// A session is over so long after its login, however much it is used.
pub const LONGEST: Duration = Duration::days(30);

/// How finely it is noted when a session was used.
const GRAIN: Duration = Duration::minutes(1);

/// Begins a session; those that are over, of whomever, go.
///
/// # Errors
/// When the database does not answer.
pub async fn begin(
    app: &App,
    connection: &mut Connection,
    person: PersonId,
    client: &Client,
) -> Result<Secret> {
    let now = app.clock.now();
    db::session::delete_expired(connection, now, now - IDLE).await?;
    let secret = Secret::random();
    let new = db::session::New {
        person,
        created_at: now,
        expires_at: now + LONGEST,
        address: &client.address,
        user_agent: &client.user_agent,
    };
    db::session::insert(connection, &new, &secret).await?;
    Ok(secret)
}

/// Whose session this is; none where it is unknown or over.
///
/// # Errors
/// When the database does not answer.
pub async fn viewer(app: &App, secret: &Secret) -> Result<Option<Viewer>> {
    let now = app.clock.now();
    let Some((session, person)) = db::session::find(&app.db, secret, now, now - IDLE).await? else {
        return Ok(None);
    };
    if session.last_seen_at + GRAIN <= now {
        db::session::mark_seen(&app.db, session.id, now).await?;
    }
    Ok(Some(holder(app, person, session.id).await?))
}

/// A person with their rights.
///
/// # Errors
/// When the database does not answer.
pub async fn holder(app: &App, person: Person, session: SessionId) -> Result<Viewer> {
    let roles = db::role::list_of(&app.db, person.id).await?;
    let held: Vec<ProjectId> = roles.keys().copied().collect();
    let visible = match person.is_admin {
        true => Visible::ALL,
        false => db::project::find_visible(&app.db, &held).await?,
    };
    Ok(Viewer::with(Who::Person(person, session), roles, visible))
}
