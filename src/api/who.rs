//! Who a request is from, as its headers and its connection say: the address of the client, the
//! person of its session, or the local owner.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::header::{HOST, USER_AGENT};
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;

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
    let text = |name: &str| parts.headers.get_all(name).iter().next_back()?.to_str().ok();
    let forwarded = app.config.proxy_header.as_deref().and_then(text).and_then(last_address);
    let address = forwarded.or_else(|| peer(parts).map(|peer| peer.ip()));
    let agent = text(USER_AGENT.as_str()).unwrap_or_default();
    Client {
        address: address.map_or("unknown".into(), |address| address.to_canonical().to_string()),
        user_agent: agent.chars().take(USER_AGENT_BYTES).collect(),
    }
}

/// The person of the request's session, else the local owner where there is one, else nobody.
pub async fn viewer(parts: &Parts, app: &App) -> Result<Viewer> {
    let jar = CookieJar::from_headers(&parts.headers);
    if let Some(cookie) = jar.get(SESSION_COOKIE) {
        let secret = Secret::from_client(cookie.value());
        if let Some(viewer) = session::viewer(app, &secret).await? {
            return Ok(viewer);
        }
    }
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_owner = app.config.local_owner && local::is_owner(host, peer(parts));
    if is_owner {
        return Ok(Viewer::new(Who::Owner));
    }
    let public = db::project::find_visible(&app.db, &[]).await?;
    Ok(Viewer::with(Who::Nobody, Roles::new(), public))
}

fn peer(parts: &Parts) -> Option<SocketAddr> {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0)
}

/// The last address of a list with commas: the one that our own proxy wrote.
fn last_address(list: &str) -> Option<IpAddr> {
    let last = list.rsplit(',').next()?.trim();
    last.parse().ok().or_else(|| last.parse::<SocketAddr>().ok().map(|both| both.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_address_of_a_proxys_list_counts() {
        let read = |list| last_address(list).map(|address| address.to_string());
        assert_eq!(read("203.0.113.9"), Some("203.0.113.9".into()));
        assert_eq!(read("10.0.0.1, 203.0.113.9"), Some("203.0.113.9".into()));
        assert_eq!(read("forged, [2001:db8::1]:4711"), Some("2001:db8::1".into()));
        assert_eq!(read("nonsense"), None);
    }
}
