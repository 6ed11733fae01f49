//! Which requests may be answered from the replica, and from which pool each is.
//!
//! Two routers differ in the pool that handlers find in their [`App`]. What may be a little behind and
//! writes nothing goes to the one with the replica; everything else, and what the replica cannot answer,
//! to the one with the primary.

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use tower::ServiceExt as _;

use super::App;
use super::replica::Replica;
use crate::db;

/// The cookie with the position of the browser's own last write: until the replica has come so far, this
/// browser reads from the primary.
const WRITTEN: &str = "scalewatch_written";

/// Seconds for which a browser is asked to remember it; the replica is out of use by then, if it has not
/// come so far.
const REMEMBERED_S: u32 = 600;

/// Pages that show measurements and what was found in them. People, sessions, tokens, the queue of jobs
/// and the service's own state are read from the primary.
const PAGES: [&str; 8] = [
    "/curves",
    "/compare",
    "/incidents",
    "/projects",
    "/machines",
    "/revisions",
    "/runs",
    "/search",
];

/// The same of the API.
const API: [&str; 7] = ["machines", "projects", "runs", "curves", "series", "compare", "incidents"];

#[derive(Clone)]
struct Split {
    app: App,
    replica: Replica,
    from_primary: Router,
    from_replica: Router,
}

/// One router of the two.
pub(super) fn split(app: App, replica: Replica, routes: impl Fn(App) -> Router) -> Router {
    let from_primary = routes(app.clone());
    let from_replica = routes(app.reading_from(&replica));
    Router::new().fallback(answer).with_state(Split { app, replica, from_primary, from_replica })
}

async fn answer(State(split): State<Split>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let may_lag = may_lag(&parts);
    if may_lag && split.replica.shows(own_write(&parts.headers)) {
        let again = Request::from_parts(parts.clone(), Body::empty());
        let answer = call(&split.from_replica, again).await;
        if !answer.status().is_server_error() {
            split.app.metrics.read_from("replica");
            return answer;
        }
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            split.replica.doubt("a read found no connection to it");
        }
    }
    if may_lag {
        split.app.metrics.read_from("primary");
    }
    let remembers = writes_from_a_browser(&parts);
    let mut answer = call(&split.from_primary, Request::from_parts(parts, body)).await;
    if remembers && !answer.status().is_client_error() && !answer.status().is_server_error() {
        remember(&split.app, answer.headers_mut()).await;
    }
    answer
}

async fn call(router: &Router, request: Request) -> Response {
    let answered: Result<Response, Infallible> = router.clone().oneshot(request).await;
    match answered {
        Ok(answer) => answer,
        Err(never) => match never {},
    }
}

/// Whether a request may be answered by what was so a few seconds ago. A program with a token reads from
/// the primary: it is counted there, and reads what it has just written.
fn may_lag(parts: &Parts) -> bool {
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    reads
        && !parts.headers.contains_key(header::AUTHORIZATION)
        && shows_measurements(parts.uri.path())
}

fn shows_measurements(path: &str) -> bool {
    let below = |path: &str, first: &str| {
        path.strip_prefix(first)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with('.'))
    };
    match path.strip_prefix("/api/v1/") {
        Some(rest) => API.iter().any(|first| below(rest, first)),
        None => path == "/" || PAGES.iter().any(|first| below(path, first)),
    }
}

fn writes_from_a_browser(parts: &Parts) -> bool {
    let reads = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    !reads && !parts.headers.contains_key(header::AUTHORIZATION)
}

/// The position in the cookie. One that somebody made up has them read from the primary, no more.
fn own_write(headers: &HeaderMap) -> i64 {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut values = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == WRITTEN).then(|| value.parse().unwrap_or(i64::MAX))
    });
    values.next().unwrap_or(0)
}

/// Has the browser remember up to where the primary has written. Where that cannot be told now, it is
/// asked to stay with the primary.
async fn remember(app: &App, headers: &mut HeaderMap) {
    let position = db::replica::written(&app.db).await.unwrap_or(i64::MAX);
    let secure = if app.config.is_by_tls() { "; Secure" } else { "" };
    let cookie = format!(
        "{WRITTEN}={position}; Path=/; Max-Age={REMEMBERED_S}; HttpOnly; SameSite=Lax{secure}"
    );
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        headers.append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_may_lag_and_nothing_else() {
        for path in ["/", "/curves", "/curves/1", "/incidents/3/why", "/api/v1/incidents.atom"] {
            assert!(shows_measurements(path), "{path}");
        }
        for path in ["/login", "/account", "/admin", "/jobs", "/metrics", "/health", "/curvesque"]
            .into_iter()
            .chain([
                "/api/v1/jobs/1",
                "/api/v1/audit",
                "/api/v1/openapi.json",
                "/static/a/b",
                "/api",
            ])
        {
            assert!(!shows_measurements(path), "{path}");
        }
    }

    #[test]
    fn a_browser_says_what_it_wrote_last() {
        let of = |cookie: &'static str| {
            own_write(&HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(cookie))]))
        };
        assert_eq!(of("a=b; scalewatch_written=1234"), 1234);
        assert_eq!(of("scalewatch_written=x"), i64::MAX);
        assert_eq!(of("scalewatch_session=1"), 0);
    }
}
