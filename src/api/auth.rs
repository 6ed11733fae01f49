//! Who calls: the bearer token of a request, looked up by its hash.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;

use super::Failure;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{MachineId, Scope, Secret, Token};

/// The holder of a token that is known, not revoked and not expired.
#[derive(Debug)]
pub struct Caller(Token);

impl Caller {
    /// Refuses a caller whose token has neither `scope` nor `admin`.
    pub fn require(&self, scope: Scope) -> Result<()> {
        if self.0.scope == scope || self.0.scope == Scope::Admin {
            return Ok(());
        }
        Err(Error::Forbidden(match scope {
            Scope::Read => "this takes a token of scope read",
            Scope::Upload => "this takes a token of scope upload",
            Scope::Register => "this takes a token of scope register",
            Scope::Triage => "this takes a token of scope triage",
            Scope::Submit => "this takes a token of scope submit",
            Scope::Admin => "this takes a token of scope admin",
        }))
    }

    /// The holder of this secret.
    pub async fn of(app: &App, secret: &Secret) -> Result<Caller> {
        let now = app.clock.now();
        let token = db::token::find(&app.db, secret)
            .await?
            .ok_or(Error::Unauthorised("this token is not known here"))?;
        if token.revoked_at.is_some() {
            return Err(Error::Unauthorised("this token was revoked"));
        }
        if token.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::Unauthorised("this token has expired"));
        }
        db::token::mark_used(&app.db, token.id, now).await?;
        Ok(Caller(token))
    }

    /// What people call the token: who decides by it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The machine this token uploads for; none: any machine.
    pub fn machine(&self) -> Option<MachineId> {
        self.0.machine
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Caller, Failure> {
        Ok(Caller::of(app, &bearer(parts)?).await?)
    }
}

fn bearer(parts: &Parts) -> Result<Secret> {
    let missing = Error::Unauthorised("this takes a token: send `Authorization: Bearer sw_…`");
    let Some(value) = parts.headers.get(AUTHORIZATION) else { return Err(missing) };
    let text = value.to_str().ok().and_then(|text| text.split_once(' '));
    match text {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Secret::from_client(secret.trim()))
        }
        _ => Err(missing),
    }
}
