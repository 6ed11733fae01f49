//! Every request has an id, in its log lines and in its answer, and is counted and timed.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

use super::App;

/// Header of the id, in requests and in answers.
const ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that is taken over, bytes.
const LONGEST: usize = 128;

/// Runs a request under its id: the one it came with, else a new one. Headers, and with them
/// tokens, are never logged.
pub async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = given(request.headers()).unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let value = HeaderValue::from_str(&id).ok();
    if let Some(value) = value.clone() {
        request.headers_mut().insert(ID, value);
    }
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let path = request.uri().path();
    let span = tracing::info_span!("request", id, method = method.as_str(), path);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let took = started.elapsed();
    let status = response.status().as_u16();
    span.in_scope(|| tracing::debug!(status, took_ms = took.as_secs_f64() * 1e3, "answered"));
    // What the replica could not answer is asked again of the primary, and counted there.
    if !(app.reads_replica && response.status().is_server_error()) {
        app.metrics.answered(method.as_str(), &route, status, took);
    }
    if let Some(value) = value {
        response.headers_mut().insert(ID, value);
    }
    response
}

/// An id that fits into a log line: visible ASCII, not too long.
fn given(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(ID)?.to_str().ok()?;
    let fits = !id.is_empty() && id.len() <= LONGEST && id.bytes().all(|b| b.is_ascii_graphic());
    fits.then(|| id.to_owned())
}
