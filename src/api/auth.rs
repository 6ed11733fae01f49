//! Who calls: the holder of the bearer token of a request, looked up by its hash; to read also who
//! the browser's cookie says it is.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use time::Duration;

use super::{Failure, who};
use crate::account::rate::Limit;
use crate::account::{By, Client, Viewer, Who, session};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::person::Roles;
use crate::model::{MachineId, ProjectId, Scope, Secret, SessionId, Token, Visible};

/// How finely it is noted when a token was used.
const GRAIN: Duration = Duration::minutes(1);

/// The holder of a token that is known, not revoked and not expired.
#[derive(Debug)]
pub struct Caller {
    token: Token,
    /// The person whose token it is, with the rights that bound it.
    holder: Option<Viewer>,
    client: Client,
    viewer: Viewer,
}

impl Caller {
    /// Refuses a caller whose token has neither `scope` nor `admin`, or is of a person who may not
    /// do that.
    pub fn require(&self, scope: Scope) -> Result<()> {
        if self.token.scope != scope && self.token.scope != Scope::Admin {
            return Err(Error::Forbidden(match scope {
                Scope::Read => "this takes a token of scope read",
                Scope::Upload => "this takes a token of scope upload",
                Scope::Register => "this takes a token of scope register",
                Scope::Triage => "this takes a token of scope triage",
                Scope::Submit => "this takes a token of scope submit",
                Scope::Admin => "this takes a token of scope admin",
            }));
        }
        match &self.holder {
            Some(holder) if scope.role().is_none() => holder.require_site_admin(),
            _ => Ok(()),
        }
    }

    /// As [`Caller::require`], and refuses a caller whose token is limited to other projects, or of a
    /// person without the role in this one.
    pub fn require_in(&self, scope: Scope, project: ProjectId) -> Result<()> {
        self.require(scope)?;
        self.limit().shows(project).then_some(()).ok_or(OTHER_PROJECT)?;
        match (&self.holder, scope.role()) {
            (Some(holder), Some(role)) => holder.require(role, project),
            _ => Ok(()),
        }
    }

    /// Refuses a caller whose token is limited to projects that this name is none of.
    pub async fn require_named(&self, app: &App, project: &str) -> Result<()> {
        if self.token.projects.is_empty() {
            return Ok(());
        }
        let found = db::project::find_by_name(&app.db, project).await?;
        let is_within = found.is_some_and(|project| self.limit().shows(project.id));
        is_within.then_some(()).ok_or(OTHER_PROJECT)
    }

    /// Who calls, with what they may read.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// What lines of what was done begin with.
    pub fn by(&self, app: &App) -> By<'_> {
        By { viewer: &self.viewer, origin: &self.client.address, now: app.clock.now() }
    }

    /// What people call the token: who decides by it.
    pub fn name(&self) -> &str {
        &self.token.name
    }

    /// The machine this token uploads for; none: any machine.
    pub fn machine(&self) -> Option<MachineId> {
        self.token.machine
    }

    fn limit(&self) -> Visible {
        limit(&self.token)
    }

    async fn of(app: &App, secret: &Secret, client: Client) -> Result<Caller> {
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
        let limit = Limit {
            most: app.config.token_requests_per_minute,
            window: Duration::minutes(1),
            refusal: "this token was used too often; wait before the next request",
        };
        limit.take(app, &format!("token {}", token.id)).await?;
        if token.last_used_at.is_none_or(|at| at + GRAIN <= now) {
            db::token::mark_used(&app.db, token.id, now).await?;
        }
        let holder = holder(app, &token).await?;
        let visible = visible(app, &token, holder.as_ref()).await?;
        let viewer = Viewer::with(Who::Token(token.clone()), Roles::new(), visible);
        Ok(Caller { token, holder, client, viewer })
    }
}

const OTHER_PROJECT: Error = Error::Forbidden("this token is limited to other projects");

fn limit(token: &Token) -> Visible {
    match token.projects.as_slice() {
        [] => Visible::ALL,
        some => Visible::only(some.iter().copied()),
    }
}

async fn holder(app: &App, token: &Token) -> Result<Option<Viewer>> {
    let Some(person) = token.person else { return Ok(None) };
    let person = db::person::find(&app.db, person).await?;
    let person = person.filter(|person| person.disabled_at.is_none());
    let person = person.ok_or(Error::Unauthorised("the person of this token is disabled"))?;
    Ok(Some(session::holder(app, person, SessionId(0)).await?))
}

/// What a token reads: what is public; by a scope that reads also what it is limited to, or
/// everything; no more than its person.
async fn visible(app: &App, token: &Token, holder: Option<&Viewer>) -> Result<Visible> {
    let more = match (token.scope.reads(), token.projects.as_slice()) {
        (true, []) => Visible::ALL,
        (true, limit) => db::project::find_visible(&app.db, limit).await?,
        // Uploads and registrations read nothing, and are many.
        (false, _) => Visible::only([]),
    };
    Ok(holder.map_or(more.clone(), |holder| more.and(holder.visible())))
}

impl FromRequestParts<App> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Caller, Failure> {
        let client = who::client(parts, app);
        Ok(Caller::of(app, &bearer(parts)?, client).await?)
    }
}

/// Who reads: the holder of the token where one is sent, else the person of the browser's session or
/// the local owner, else nobody.
#[derive(Debug)]
pub struct Reader(pub Viewer);

impl FromRequestParts<App> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Reader, Failure> {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return Ok(Reader(who::viewer(parts, app).await?));
        }
        let caller = Caller::from_request_parts(parts, app).await?;
        if caller.token.scope.reads() {
            return Ok(Reader(caller.viewer));
        }
        let public = db::project::find_visible(&app.db, &[]).await?;
        Ok(Reader(Viewer::with(Who::Token(caller.token), Roles::new(), public)))
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
