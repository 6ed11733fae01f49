//! `/login`, `/logout`, and `/welcome`, where a person sets a password by a link that is good once.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::failure::Failure;
use super::view::{Layout, Section};
use super::visitor::{Posted, Visitor, next_place};
use crate::account::{Who, login, password, people};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{Person, Secret};

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/login.html")]
pub struct LoginView {
    /// Frame.
    pub layout: Layout,
    /// What the form carries.
    pub form_word: String,
    /// Where to go on.
    pub next: String,
    /// The name that was typed.
    pub name: String,
    /// Why it was refused.
    pub refusal: Option<String>,
    /// Whether passwords are taken.
    pub passwords: bool,
    /// The provider that people may sign in by: its name, and where that begins.
    pub provider: Option<(String, String)>,
}

impl LoginView {
    /// The page as it is shown at first.
    pub(super) fn new(app: &App, visitor: &Visitor, next: &str) -> LoginView {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("next", next).finish();
        let settings = app.config.oidc.as_ref();
        LoginView {
            layout: Layout::new("Log in", Section::None),
            form_word: visitor.form.word(),
            next: next.to_owned(),
            name: String::new(),
            refusal: None,
            passwords: app.config.password_login,
            provider: settings.map(|one| (one.name.clone(), format!("/login/provider?{query}"))),
        }
    }
}

/// Where to go on after logging in.
#[derive(Debug, Deserialize)]
pub struct Next {
    pub(super) next: Option<String>,
}

/// Shows the form.
pub async fn form(
    State(app): State<App>,
    visitor: Visitor,
    Query(next): Query<Next>,
) -> Result<Response, Failure> {
    visitor.shown(&LoginView::new(&app, &visitor, next_place(next.next.as_deref())))
}

/// What the form posts.
#[derive(Debug, Deserialize)]
pub struct LogIn {
    name: Option<String>,
    password: Option<Secret>,
    next: Option<String>,
}

/// Logs in, and leads on.
pub async fn log_in(
    State(app): State<App>,
    Posted { visitor, form }: Posted<LogIn>,
) -> Result<Response, Failure> {
    require_passwords(&app)?;
    let name = form.name.unwrap_or_default();
    let typed = form.password.as_ref().map_or("", Secret::reveal);
    let next = next_place(form.next.as_deref());
    match login::log_in(&app, &name, typed, &visitor.client).await {
        Ok(secret) => Ok((visitor.logged_in(&secret), Redirect::to(next)).into_response()),
        Err(Error::Unauthorised(refusal)) => {
            let view = LoginView {
                name,
                refusal: Some(format!("{refusal}.")),
                ..LoginView::new(&app, &visitor, next)
            };
            Ok((StatusCode::UNAUTHORIZED, visitor.shown(&view)?).into_response())
        }
        Err(other) => Err(other.into()),
    }
}

/// A form without fields.
#[derive(Debug, Deserialize)]
pub struct Nothing {}

/// Ends this session.
pub async fn log_out(
    State(app): State<App>,
    Posted { visitor, .. }: Posted<Nothing>,
) -> Result<Response, Failure> {
    if let Who::Person(person, session) = visitor.viewer.who() {
        let mut tx = app.db.begin().await?;
        db::session::delete(&mut tx, person.id, *session).await?;
        let about = format!("person {}", person.name);
        visitor.by(&app).did(&mut tx, "logged_out", &about, (None, None)).await?;
        tx.commit().await?;
    }
    Ok((visitor.logged_out(), Redirect::to("/")).into_response())
}

/// The page that a link leads to.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/welcome.html")]
pub struct WelcomeView {
    /// Frame.
    pub layout: Layout,
    /// What the form carries.
    pub form_word: String,
    /// The link's secret.
    pub code: String,
    /// Whose password it sets.
    pub name: String,
    /// Fewest characters.
    pub shortest: usize,
}

/// The secret of a link.
#[derive(Debug, Deserialize)]
pub struct Code {
    code: Option<Secret>,
}

/// Shows the form of a link that is good.
pub async fn welcome(
    State(app): State<App>,
    visitor: Visitor,
    Query(code): Query<Code>,
) -> Result<Response, Failure> {
    let code = code.code.ok_or(Error::NotFound("link"))?;
    let person = of_link(&app, &code).await?;
    visitor.shown(&WelcomeView {
        layout: Layout::new("Set a password", Section::None),
        form_word: visitor.form.word(),
        code: code.reveal().to_owned(),
        name: person.name,
        shortest: password::SHORTEST,
    })
}

/// What the form posts.
#[derive(Debug, Deserialize)]
pub struct SetPassword {
    code: Option<Secret>,
    password: Option<Secret>,
    again: Option<Secret>,
}

/// Sets the password, and logs in.
pub async fn set_password(
    State(app): State<App>,
    Posted { visitor, form }: Posted<SetPassword>,
) -> Result<Response, Failure> {
    let code = form.code.ok_or(Error::NotFound("link"))?;
    let person = of_link(&app, &code).await?;
    let chosen = chosen(form.password.as_ref(), form.again.as_ref(), &person.name)?;
    let hash = password::hash(chosen).await?;
    let mut tx = app.db.begin().await?;
    if !db::person::delete_link(&mut tx, &code).await? {
        return Err(Error::NotFound("link").into());
    }
    let by = visitor.by(&app);
    people::set_password(&mut tx, &by, &person, &hash, None).await?;
    let how = json!({ "by": "link" });
    let secret = login::begin(&app, &mut tx, person, &visitor.client, how).await?;
    tx.commit().await?;
    Ok((visitor.logged_in(&secret), Redirect::to("/account")).into_response())
}

/// # Errors
/// `Forbidden` where people sign in by the provider alone.
pub(super) fn require_passwords(app: &App) -> Result<()> {
    if app.config.password_login {
        return Ok(());
    }
    Err(Error::Forbidden(
        "passwords are not taken here; people sign in by the provider on the login page",
    ))
}

async fn of_link(app: &App, code: &Secret) -> Result<Person> {
    require_passwords(app)?;
    let found = db::person::find_by_link(&app.db, code, app.clock.now()).await?;
    found.ok_or(Error::NotFound("link"))
}

/// A password typed twice.
pub(super) fn chosen<'a>(
    typed: Option<&'a Secret>,
    again: Option<&Secret>,
    name: &str,
) -> Result<&'a str> {
    let typed = typed.map_or("", Secret::reveal);
    if again.map_or("", Secret::reveal) != typed {
        return Err(Error::invalid("again", "is not the same password"));
    }
    password::checked("password", typed, name)
}
