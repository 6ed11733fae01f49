//! The tokens of who looks, on `/account`: made, shown once, revoked.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use time::OffsetDateTime;

use super::account;
use super::failure::Failure;
use super::view::When;
use super::visitor::{Posted, Visitor};
use crate::account::{Who, tokens};
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{PersonId, ProjectId, Scope, Token, TokenId};

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Row.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// What it may do, and where.
    pub scope: String,
    /// Until when it is good, in words.
    pub state: String,
    /// When it was last used.
    pub used: Option<When>,
    /// Whether it is refused by now.
    pub is_over: bool,
}

/// What the form that makes one offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenForm {
    /// Scopes of which the visitor may make tokens.
    pub scopes: Vec<&'static str>,
    /// Projects it can be limited to.
    pub projects: Vec<String>,
    /// Id and name of the machines an upload token can be bound to.
    pub machines: Vec<(String, String)>,
}

/// Whose tokens a visitor handles: a person's own; the local owner's are nobody's in particular.
pub(super) fn whose(visitor: &Visitor) -> Result<Option<PersonId>> {
    match visitor.viewer.who() {
        Who::Person(person, _) => Ok(Some(person.id)),
        Who::Owner => Ok(None),
        _ => Err(Error::Unauthorised("this takes somebody who is logged in")),
    }
}

/// The visitor's tokens, the newest first.
pub(super) async fn rows(app: &App, visitor: &Visitor) -> Result<Vec<TokenRow>> {
    let now = app.clock.now();
    let projects = db::project::list(&app.db).await?;
    let names: BTreeMap<ProjectId, String> =
        projects.into_iter().map(|project| (project.id, project.name)).collect();
    let tokens = db::token::list_of(&app.db, whose(visitor)?).await?;
    Ok(tokens.iter().rev().map(|token| row(token, &names, now)).collect())
}

fn row(token: &Token, names: &BTreeMap<ProjectId, String>, now: OffsetDateTime) -> TokenRow {
    let limit: Vec<&str> =
        token.projects.iter().filter_map(|id| names.get(id).map(String::as_str)).collect();
    TokenRow {
        id: token.id.0,
        name: token.name.clone(),
        scope: match limit.as_slice() {
            [] => token.scope.word().to_owned(),
            some => format!("{} in {}", token.scope.word(), some.join(", ")),
        },
        state: match (token.revoked_at, token.expires_at) {
            (Some(_), _) => "revoked".into(),
            (None, Some(at)) if at <= now => "expired".into(),
            (None, Some(at)) => format!("good until {}", crate::format::full_time(at)),
            (None, None) => "does not expire".into(),
        },
        used: token.last_used_at.map(|at| When::new(at, now)),
        is_over: token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= now),
    }
}

/// What the visitor may make.
pub(super) async fn form(app: &App, visitor: &Visitor) -> Result<TokenForm> {
    let mut projects = db::project::list(&app.db).await?;
    projects.retain(|project| visitor.viewer.visible().shows(project.id));
    let machines = match visitor.viewer.is_site_admin() {
        true => db::machine::list(&app.db).await?,
        false => Vec::new(),
    };
    Ok(TokenForm {
        scopes: tokens::scopes_of(&visitor.viewer).into_iter().map(Scope::word).collect(),
        projects: projects.into_iter().map(|project| project.name).collect(),
        machines: machines.into_iter().map(|one| (one.public_id, one.name)).collect(),
    })
}

/// What the form posts.
#[derive(Debug, Deserialize)]
pub struct Make {
    name: Option<String>,
    scope: Option<String>,
    project: Option<String>,
    machine: Option<String>,
    days: Option<String>,
}

/// Makes a token, and shows its secret this once.
pub async fn make(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Make>,
) -> Result<Response, Failure> {
    let person = whose(&visitor)?;
    let scope = scope(&visitor, &form.scope.unwrap_or_default())?;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let project = match given(form.project) {
        Some(name) => vec![lookup::project(&app, &visitor.viewer, &name).await?],
        None => Vec::new(),
    };
    let machine = match given(form.machine).filter(|_| scope == Scope::Upload) {
        Some(id) => Some(lookup::machine(&app, &id).await?),
        None => None,
    };
    let days = given(form.days).map(|days| {
        let problem = |_| Error::invalid("days", format!("must be 1 to {}", tokens::MOST_DAYS));
        days.trim().parse::<i64>().map_err(problem)
    });
    let new = tokens::New {
        name: &form.name.unwrap_or_default(),
        scope,
        machine: machine.as_ref(),
        person,
        projects: &project,
        days: days.transpose()?,
    };
    let mut tx = app.db.begin().await?;
    let (_, secret) = tokens::make(&mut tx, &visitor.by(&app), &new).await?;
    tx.commit().await?;
    account::shown_with_secret(&app, &visitor, new.name, &secret).await
}

fn scope(visitor: &Visitor, word: &str) -> Result<Scope> {
    let scopes = tokens::scopes_of(&visitor.viewer);
    let words = scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(", ");
    let scope = Scope::parse(word)
        .ok_or_else(|| Error::invalid("scope", format!("`{word}` is none of {words}")))?;
    if scopes.contains(&scope) {
        return Ok(scope);
    }
    Err(Error::Forbidden("a token does no more than its person may"))
}

/// Which token is to be refused.
#[derive(Debug, Deserialize)]
pub struct Revoke {
    token: Option<String>,
}

/// Refuses one of the visitor's tokens from now on.
pub async fn revoke(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Revoke>,
) -> Result<Response, Failure> {
    let person = whose(&visitor)?;
    let id = form.token.and_then(|id| id.parse::<TokenId>().ok());
    let id = id.ok_or(Error::NotFound("token"))?;
    let mut tx = app.db.begin().await?;
    let token = db::token::find_by_id(&mut *tx, id).await?;
    let token = token.filter(|token| token.person == person).ok_or(Error::NotFound("token"))?;
    tokens::revoke(&mut tx, &visitor.by(&app), &token).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account").into_response())
}
