//! `/login/provider`: to the provider of identities and back, and on the account page what a person is
//! known by there.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::failure::{Failure, FailureView};
use super::login::{LoginView, Next, Nothing};
use super::shown;
use super::view::{Layout, Section, When};
use super::visitor::{Posted, Visitor, next_place};
use crate::account::oidc::{self, Back, Refusal, Stopped};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{Person, Secret};

/// Sends the browser to the provider.
pub async fn go(
    State(app): State<App>,
    visitor: Visitor,
    Query(next): Query<Next>,
) -> Result<Response, Failure> {
    let next = next_place(next.next.as_deref());
    let cookie = visitor.sign_in.clone().unwrap_or_else(Secret::random);
    match oidc::begin(&app, &visitor.client, &cookie, next, None).await {
        Ok(address) => Ok((visitor.going(&cookie), Redirect::to(&address)).into_response()),
        Err(stopped) => told(&app, &visitor, stopped),
    }
}

/// What the provider sends the browser back with.
#[derive(Debug, Deserialize)]
pub struct Returned {
    state: Option<String>,
    code: Option<String>,
    iss: Option<String>,
}

/// Lets in who comes back.
pub async fn back(
    State(app): State<App>,
    visitor: Visitor,
    Query(returned): Query<Returned>,
) -> Result<Response, Failure> {
    let back = Back {
        state: returned.state.as_deref().unwrap_or_default(),
        code: returned.code.as_deref(),
        issuer: returned.iss.as_deref(),
    };
    let (viewer, cookie) = (&visitor.viewer, visitor.sign_in.as_ref());
    match oidc::finish(&app, &visitor.client, viewer, cookie, &back).await {
        Ok(done) => {
            let next = Redirect::to(next_place(Some(&done.next)));
            Ok(match done.session {
                Some(secret) => (visitor.logged_in(&secret), next).into_response(),
                None => next.into_response(),
            })
        }
        Err(stopped) => told(&app, &visitor, stopped),
    }
}

/// Who was not logged in reads it on the login page, and who was on a page of its own.
fn told(app: &App, visitor: &Visitor, stopped: Stopped) -> Result<Response, Failure> {
    let refusal = match stopped {
        Stopped::Refused(refusal) => refusal,
        Stopped::Failed(error) => return Err(error.into()),
    };
    let status = match refusal {
        Refusal::Away => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::FORBIDDEN,
    };
    let words = refusal.words(&oidc::settings(app)?.name);
    if visitor.viewer.as_person().is_none() {
        let view = LoginView { refusal: Some(words), ..LoginView::new(app, visitor, "/") };
        return Ok((status, visitor.shown(&view)?).into_response());
    }
    let view = FailureView {
        layout: Layout::new("Not connected", Section::None).seen_by(visitor),
        heading: "Not connected".into(),
        detail: words,
        advice: "You are logged in as before; nothing was changed.".into(),
        number: None,
    };
    Ok((status, shown(&view)?).into_response())
}

/// The page between the account page and the provider: forms lead nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/going.html")]
pub struct GoingView {
    /// Frame.
    pub layout: Layout,
    /// The provider's name.
    pub name: String,
    /// Where it asks who somebody is.
    pub href: String,
}

/// Begins to connect who is logged in.
pub async fn connect(
    State(app): State<App>,
    Posted { visitor, .. }: Posted<Nothing>,
) -> Result<Response, Failure> {
    let person = person(&visitor)?;
    let cookie = visitor.sign_in.clone().unwrap_or_else(Secret::random);
    match oidc::begin(&app, &visitor.client, &cookie, "/account", Some(person)).await {
        Ok(href) => {
            let onward = [(header::REFRESH, format!("0; url={href}"))];
            let view = GoingView {
                layout: Layout::new("Connect", Section::None).seen_by(&visitor),
                name: oidc::settings(&app)?.name.clone(),
                href,
            };
            Ok((visitor.going(&cookie), onward, shown(&view)?).into_response())
        }
        Err(stopped) => told(&app, &visitor, stopped),
    }
}

/// Takes away what who is logged in is known by.
pub async fn disconnect(
    State(app): State<App>,
    Posted { visitor, .. }: Posted<Nothing>,
) -> Result<Redirect, Failure> {
    let person = person(&visitor)?;
    let mut tx = app.db.begin().await?;
    oidc::disconnect(&app, &mut tx, &visitor.by(&app), person).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account"))
}

fn person(visitor: &Visitor) -> Result<&Person> {
    let person = visitor.viewer.as_person();
    person.ok_or(Error::Unauthorised("this takes a person who is logged in"))
}

/// What a person is known by at the provider, on the account page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderPart {
    /// Its name.
    pub name: String,
    /// The address told, and when they last signed in; none where they are not connected.
    pub connected: Option<(String, Option<When>)>,
    /// Whether they can log in without.
    pub can_leave: bool,
}

/// The part of the account page; none where there is no provider.
pub(super) async fn part(app: &App, person: &Person) -> Result<Option<ProviderPart>> {
    let Some(settings) = app.config.oidc.as_ref() else { return Ok(None) };
    let known = db::identity::list(&app.db, Some(person.id)).await?;
    let known = known.into_iter().find(|one| one.issuer == settings.issuer);
    let now = app.clock.now();
    Ok(Some(ProviderPart {
        name: settings.name.clone(),
        connected: known.map(|one| (one.email, one.last_used_at.map(|at| When::new(at, now)))),
        can_leave: person.has_password && app.config.password_login,
    }))
}
