//! Requests to the provider: a few seconds, a megabyte, no redirects.

use std::io;
use std::time::Duration;

use openidconnect::http::Method;
use openidconnect::{HttpRequest, HttpResponse};
use url::Url;

use crate::outward;

/// Longest wait for an answer.
const WHOLE: Duration = Duration::from_secs(10);

/// Most bytes of an answer.
const BYTES: u64 = 1 << 20;

/// Sends a request, and reads its answer whatever its status.
pub(super) async fn fetch(request: HttpRequest) -> io::Result<HttpResponse> {
    tokio::task::spawn_blocking(move || send(request)).await.map_err(io::Error::other)?
}

fn send(request: HttpRequest) -> io::Result<HttpResponse> {
    let url = Url::parse(&request.uri().to_string()).map_err(io::Error::other)?;
    let agent = outward::agent(&url, WHOLE);
    let sent = match *request.method() {
        Method::GET => agent.run(request.map(drop)),
        _ => agent.run(request),
    };
    let (parts, body) = sent.map_err(io::Error::other)?.into_parts();
    let bytes = body.into_with_config().limit(BYTES).read_to_vec().map_err(io::Error::other)?;
    Ok(HttpResponse::from_parts(parts, bytes))
}
