//! Logging in: name and password → a session. A name that is unknown, disabled or without a
//! password is answered like a wrong password, in the same words and after the same work.

use serde_json::json;
use time::Duration;

use super::rate::Limit;
use super::{By, Client, Viewer, Who, password, session};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::account::hex;
use crate::model::{Person, PersonName, Secret, SessionId};

/// How long tries are counted together.
const WINDOW: Duration = Duration::minutes(15);

/// Tries at one account.
const ACCOUNT: Limit = Limit {
    most: 10,
    window: WINDOW,
    refusal: "there were too many tries at this account; wait before the next one",
};

/// Tries from one address.
const ADDRESS: Limit = Limit {
    most: 50,
    window: WINDOW,
    refusal: "there were too many tries from this address; wait before the next one",
};

const WRONG: &str = "the name or the password is wrong";

/// Begins a session for who knows the password.
///
/// # Errors
/// `Unauthorised` where name and password do not fit, `TooMany` after too many tries.
pub async fn log_in(app: &App, name: &str, password: &str, client: &Client) -> Result<Secret> {
    let verified = verify(app, name, password, client).await;
    let mut tx = app.db.begin().await?;
    let person = match verified {
        Ok(person) => person,
        Err(error) => {
            if let Error::Unauthorised(_) = error {
                note_refusal(app, &mut tx, name, client).await?;
                tx.commit().await?;
            }
            return Err(error);
        }
    };
    let secret = begin(app, &mut tx, person, client, json!({ "by": "password" })).await?;
    tx.commit().await?;
    Ok(secret)
}

/// Keeps that somebody was refused. A name that is nobody's may be a password typed in the wrong
/// field, so it is not kept.
async fn note_refusal(
    app: &App,
    connection: &mut db::Connection,
    name: &str,
    client: &Client,
) -> Result<()> {
    let known = match PersonName::parse(name) {
        Some(name) => db::person::find_by_name(&mut *connection, &name).await?,
        None => None,
    };
    let about = known.map_or("an unknown person".into(), |known| format!("person {}", known.name));
    let nobody = Viewer::new(Who::Nobody);
    let by = By { viewer: &nobody, origin: &client.address, now: app.clock.now() };
    by.did(connection, "login_refused", &about, (None, None)).await
}

/// Begins a session of a person who has proved who they are.
///
/// # Errors
/// When the database does not answer.
pub async fn begin(
    app: &App,
    connection: &mut db::Connection,
    person: Person,
    client: &Client,
    how: serde_json::Value,
) -> Result<Secret> {
    let now = app.clock.now();
    let secret = session::begin(app, connection, person.id, client).await?;
    db::person::mark_logged_in(connection, person.id, now).await?;
    let about = format!("person {}", person.name);
    let viewer = Viewer::new(Who::Person(person, SessionId(0)));
    let by = By { viewer: &viewer, origin: &client.address, now };
    by.did(connection, "logged_in", &about, (None, Some(how))).await?;
    Ok(secret)
}

/// The person who has this name and password. Every try counts until one succeeds.
///
/// # Errors
/// As [`log_in`].
pub async fn verify(app: &App, name: &str, password: &str, client: &Client) -> Result<Person> {
    let address = format!("login from {}", client.address);
    let typed = Secret::from_client(&name.trim().to_ascii_lowercase());
    let account = format!("login as {}", hex(&typed.hash()));
    if ADDRESS.take(app, &address).await? {
        db::rate::delete_before(&app.db, app.clock.now() - WINDOW).await?;
    }
    ACCOUNT.take(app, &account).await?;
    let person = match PersonName::parse(name) {
        Some(name) => db::person::find_by_name(&app.db, &name).await?,
        None => None,
    };
    let person = person.filter(|person| person.disabled_at.is_none());
    let stored = match &person {
        Some(person) => db::person::find_password(&app.db, person.id).await?,
        None => None,
    };
    let is_readable = password.len() <= password::LONGEST;
    let tried = if is_readable { password } else { "" };
    let fits = password::fits(tried, stored).await? && is_readable;
    let person = person.filter(|_| fits).ok_or(Error::Unauthorised(WRONG))?;
    db::rate::delete(&app.db, &account).await?;
    db::rate::give_back(&app.db, &address).await?;
    Ok(person)
}
