//! `/account`: what one may do, one's password, and the browsers that are logged in.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use super::failure::Failure;
use super::login::{chosen, require_passwords};
use super::provider::{self, ProviderPart};
use super::tokens::{self, TokenForm, TokenRow};
use super::view::{Layout, Section, When};
use super::visitor::{Posted, Visitor};
use crate::account::{Who, login, password, people, session};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::person::NamedRole;
use crate::model::{Person, Role, Secret, Session, SessionId};

/// A browser that is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Row.
    pub id: i64,
    /// What the browser says it is.
    pub browser: String,
    /// Where it logged in from.
    pub address: String,
    /// When it logged in.
    pub created: When,
    /// When it was last used.
    pub seen: When,
    /// It is the one that looks.
    pub is_this: bool,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/account.html")]
pub struct AccountView {
    /// Frame.
    pub layout: Layout,
    /// What the forms carry.
    pub form_word: String,
    /// Who.
    pub name: String,
    /// Needs no account: everything below is empty.
    pub is_owner: bool,
    /// Every right.
    pub is_admin: bool,
    /// Whether a role gives them the page on people.
    pub gives_roles: bool,
    /// Project and role.
    pub roles: Vec<(String, String)>,
    /// Whether there is a password to change.
    pub has_password: bool,
    /// Fewest characters of a new one.
    pub shortest: usize,
    /// What they are known by at the provider of identities, where there is one.
    pub provider: Option<ProviderPart>,
    /// The last used first.
    pub sessions: Vec<SessionRow>,
    /// A token that was made just now: its name and its secret, shown this once.
    pub secret: Option<(String, String)>,
    /// The newest first.
    pub tokens: Vec<TokenRow>,
    /// What can be made.
    pub token_form: TokenForm,
}

/// Shows the page; who is not logged in is led to do that first.
pub async fn show(State(app): State<App>, visitor: Visitor) -> Result<Response, Failure> {
    if let Who::Nobody = visitor.viewer.who() {
        return Ok(Redirect::to("/login?next=/account").into_response());
    }
    let view = view(&app, &visitor).await?;
    visitor.shown(&view)
}

/// The page, with the secret of a token that was made just now.
pub(super) async fn shown_with_secret(
    app: &App,
    visitor: &Visitor,
    name: &str,
    secret: &Secret,
) -> Result<Response, Failure> {
    let mut view = view(app, visitor).await?;
    view.secret = Some((name.to_owned(), secret.reveal().to_owned()));
    visitor.shown(&view)
}

async fn view(app: &App, visitor: &Visitor) -> Result<AccountView> {
    match visitor.viewer.who() {
        Who::Person(person, session) => of_person(app, visitor, person, *session).await,
        _ => of_owner(app, visitor).await,
    }
}

async fn of_owner(app: &App, visitor: &Visitor) -> Result<AccountView> {
    Ok(AccountView {
        secret: None,
        tokens: tokens::rows(app, visitor).await?,
        token_form: tokens::form(app, visitor).await?,
        layout: Layout::new("Account", Section::None).seen_by(visitor),
        form_word: visitor.form.word(),
        name: visitor.viewer.name().to_owned(),
        is_owner: true,
        is_admin: true,
        gives_roles: true,
        roles: Vec::new(),
        has_password: false,
        shortest: password::SHORTEST,
        provider: None,
        sessions: Vec::new(),
    })
}

async fn of_person(
    app: &App,
    visitor: &Visitor,
    person: &Person,
    this: SessionId,
) -> Result<AccountView> {
    let now = app.clock.now();
    let sessions = db::session::list(&app.db, person.id, now, now - session::IDLE).await?;
    let roles = db::role::list_named(&app.db, Some(person.id)).await?;
    let role = |role: NamedRole| (role.project_name, role.role.word().to_owned());
    Ok(AccountView {
        is_owner: false,
        is_admin: person.is_admin,
        gives_roles: visitor.viewer.may_somewhere(Role::Admin),
        roles: roles.into_iter().map(role).collect(),
        has_password: person.has_password && app.config.password_login,
        provider: provider::part(app, person).await?,
        sessions: sessions.into_iter().map(|one| session_row(one, this, now)).collect(),
        ..of_owner(app, visitor).await?
    })
}

fn session_row(session: Session, this: SessionId, now: OffsetDateTime) -> SessionRow {
    SessionRow {
        id: session.id.0,
        browser: match session.user_agent.as_str() {
            "" => "does not say".into(),
            agent => agent.to_owned(),
        },
        address: session.address,
        created: When::new(session.created_at, now),
        seen: When::new(session.last_seen_at, now),
        is_this: session.id == this,
    }
}

/// What the form of the password posts.
#[derive(Debug, Deserialize)]
pub struct Change {
    current: Option<Secret>,
    password: Option<Secret>,
    again: Option<Secret>,
}

/// Changes the password of who knows it. Every other session is over then.
pub async fn change_password(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Change>,
) -> Result<Redirect, Failure> {
    require_passwords(&app)?;
    let (person, session) = logged_in(&visitor)?;
    let chosen = chosen(form.password.as_ref(), form.again.as_ref(), &person.name)?;
    let current = form.current.as_ref().map_or("", Secret::reveal);
    login::verify(&app, &person.name, current, &visitor.client).await.map_err(
        |error| match error {
            Error::Unauthorised(_) => Error::invalid("current", "is not the password"),
            other => other,
        },
    )?;
    let hash = password::hash(chosen).await?;
    let mut tx = app.db.begin().await?;
    people::set_password(&mut tx, &visitor.by(&app), person, &hash, Some(session)).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account"))
}

/// Which session is to end.
#[derive(Debug, Deserialize)]
pub struct End {
    session: Option<String>,
}

/// Ends one session, or with `all` every one, this one included.
pub async fn end_session(
    State(app): State<App>,
    Posted { visitor, form }: Posted<End>,
) -> Result<Response, Failure> {
    let (person, this) = logged_in(&visitor)?;
    let about = format!("person {}", person.name);
    let mut tx = app.db.begin().await?;
    let (ended, this_too) = match form.session.as_deref() {
        Some("all") => (db::session::delete_all(&mut tx, person.id, None).await?, true),
        other => {
            let id = other.and_then(|id| id.parse().ok()).ok_or(Error::NotFound("session"))?;
            if !db::session::delete(&mut tx, person.id, id).await? {
                return Err(Error::NotFound("session").into());
            }
            (1, id == this)
        }
    };
    let told = Some(json!({ "sessions_ended": ended }));
    visitor.by(&app).did(&mut tx, "logged_out", &about, (None, told)).await?;
    tx.commit().await?;
    Ok(match this_too {
        true => (visitor.logged_out(), Redirect::to("/")).into_response(),
        false => Redirect::to("/account").into_response(),
    })
}

fn logged_in(visitor: &Visitor) -> Result<(&Person, SessionId)> {
    match visitor.viewer.who() {
        Who::Person(person, session) => Ok((person, *session)),
        _ => Err(Error::Unauthorised("this takes somebody who is logged in")),
    }
}
