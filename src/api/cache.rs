//! What clients may keep: every answer to a read carries an `ETag`, and one that the client holds
//! already is answered 304 without its body.

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};

use crate::model::account::hex;

/// Largest body that is held against what the client has, bytes. Streams have no known size.
const LARGEST: u64 = 8 << 20;

/// Kept by the client alone, and asked for anew each time: what it shows may change by any upload.
const KEEP: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Answers of writes and refusals.
const FORGET: HeaderValue = HeaderValue::from_static("no-store");

/// Names each answer by its content.
pub async fn revalidate(request: Request, next: Next) -> Response {
    let is_get = request.method() == Method::GET;
    let is_read = is_get || request.method() == Method::HEAD;
    // Compression may follow, and makes another sequence of bytes of the same content.
    let is_weak = request.headers().contains_key(header::ACCEPT_ENCODING);
    let held = held(request.headers());
    let mut response = next.run(request).await;
    let keep = is_read && response.status() == StatusCode::OK;
    let cache = if keep { KEEP } else { FORGET };
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(cache);
    if is_read {
        // The form of an answer goes by it.
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    }
    let is_small = response.body().size_hint().exact().is_some_and(|size| size <= LARGEST);
    if !(is_get && keep && is_small) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await.map(|body| body.to_bytes()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let tag = format!("\"{}\"", hex(&Sha256::digest(&bytes)[..16]));
    let is_held = held.iter().any(|one| one == "*" || *one == tag);
    let sent = if is_weak { format!("W/{tag}") } else { tag };
    if let Ok(value) = HeaderValue::from_str(&sent) {
        parts.headers.insert(header::ETAG, value);
    }
    if !is_held {
        return Response::from_parts(parts, Body::from(bytes));
    }
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::empty())
}

/// The tags of `If-None-Match`, compared weakly: without their `W/`.
fn held(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::IF_NONE_MATCH).iter();
    let tags = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    tags.map(|tag| tag.trim().trim_start_matches("W/").to_owned()).collect()
}
