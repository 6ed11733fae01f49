//! Who a request is from, as its headers and its connection say: the address of the client, the
//! person of its session, or the local owner.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::header::{HOST, USER_AGENT};
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;

use super::forwarded;
use crate::account::{Client, Viewer, Who, local, session};
use crate::app::App;
use crate::db;
use crate::error::Result;
use crate::model::Secret;
use crate::model::person::Roles;

/// The cookie of a session.
pub const SESSION_COOKIE: &str = "scalewatch_session";

/// Most bytes kept of what a browser says it is.
const USER_AGENT_BYTES: usize = 200;

/// Where a request comes from.
pub fn client(parts: &Parts, app: &App) -> Client {
    let agent = parts.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    let agent = agent.unwrap_or_default();
    let address = forwarded::client(&parts.headers, peer(parts), &app.config.proxy);
    Client {
        address: address.map_or("unknown".into(), |address| address.to_canonical().to_string()),
        user_agent: agent.chars().take(USER_AGENT_BYTES).collect(),
    }
}

/// The person of the request's session, else the local owner where there is one, else nobody.
pub async fn viewer(parts: &Parts, app: &App) -> Result<Viewer> {
    // Who was logged out, or lost a role, a moment ago is so for what the replica answers too.
    let app = &app.on_primary();
    let jar = CookieJar::from_headers(&parts.headers);
    if let Some(cookie) = jar.get(SESSION_COOKIE) {
        let secret = Secret::from_client(cookie.value());
        if let Some(viewer) = session::viewer(app, &secret).await? {
            return Ok(viewer);
        }
    }
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    // Through a proxy on this machine anybody may come.
    let from = forwarded::client(&parts.headers, peer(parts), &app.config.proxy);
    let from = from.map(|address| SocketAddr::new(address, 0));
    if app.config.local_owner && local::is_owner(host, from) {
        return Ok(Viewer::new(Who::Owner));
    }
    let public = db::project::find_visible(&app.db, &[]).await?;
    Ok(Viewer::with(Who::Nobody, Roles::new(), public))
}

fn peer(parts: &Parts) -> Option<SocketAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0)
}

/// Whether the request reached us, or the proxy in front of us, by TLS.
pub fn is_by_tls(parts: &Parts, app: &App) -> bool {
    let told = || forwarded::is_by_tls(&parts.headers, peer(parts), &app.config.proxy);
    app.config.tls.is_some() || app.config.is_by_tls() || told()
}
