//! Requests to the provider: a few seconds, a megabyte, no redirects.

use std::io;
use std::time::Duration;

use openidconnect::http::Method;
use openidconnect::{HttpRequest, HttpResponse};
use url::Url;

use super::settings::is_loopback;

/// Longest wait for a connection, and for the whole.
const CONNECT: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_secs(10);

/// Most bytes of an answer.
const BYTES: u64 = 1 << 20;

/// Sends a request, and reads its answer whatever its status.
pub(super) async fn fetch(request: HttpRequest) -> io::Result<HttpResponse> {
    tokio::task::spawn_blocking(move || send(request)).await.map_err(io::Error::other)?
}

fn send(request: HttpRequest) -> io::Result<HttpResponse> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .user_agent(concat!("scalewatch/", env!("CARGO_PKG_VERSION")));
    // A proxy has another loopback.
    let url = Url::parse(&request.uri().to_string()).map_err(io::Error::other)?;
    let is_here = url.host().is_some_and(|host| is_loopback(&host));
    let agent = if is_here { config.proxy(None) } else { config }.build().new_agent();
    let sent = match *request.method() {
        Method::GET => agent.run(request.map(drop)),
        _ => agent.run(request),
    };
    let (parts, body) = sent.map_err(io::Error::other)?.into_parts();
    let bytes = body.into_with_config().limit(BYTES).read_to_vec().map_err(io::Error::other)?;
    Ok(HttpResponse::from_parts(parts, bytes))
}
