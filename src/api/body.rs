//! A request's body → one of our types. Content type, encoding and size are checked first, so that
//! nothing large is kept and a broken field is named by its path.

use std::io::Read as _;

use anyhow::Context as _;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::encoding::Encoding;
use crate::error::{Error, Result};

/// Most bytes that are read and thrown away after a refusal, so that a client which is still
/// sending gets to see the answer.
const DRAIN: usize = 128 << 20;

/// Reads a JSON body of at most `limit` bytes, before and after decompression, and hands it to
/// `digest` off the threads that serve requests.
///
/// # Errors
/// The body's type, encoding, size or shape, by meaning.
pub async fn read<T, R>(
    request: Request,
    limit: usize,
    digest: impl FnOnce(T) -> Result<R> + Send + 'static,
) -> Result<R>
where
    T: DeserializeOwned,
    R: Send + 'static,
{
    check_type(request.headers(), &["application/json"])?;
    let encoding = Encoding::of(request.headers())?;
    let bytes = collect(request.into_body(), limit).await?;
    let work = move || digest(parse(&content(encoding, bytes, limit)?)?);
    tokio::task::spawn_blocking(work).await.context("the thread that read a body died")?
}

/// Refuses a body of another media type.
pub(super) fn check_type(headers: &HeaderMap, allowed: &[&str]) -> Result<()> {
    let value = headers.get(header::CONTENT_TYPE);
    let media_type = value.map_or("", |value| value.to_str().unwrap_or_default());
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if allowed.iter().any(|allowed| essence.eq_ignore_ascii_case(allowed)) {
        return Ok(());
    }
    let problem = format!("Content-Type is `{media_type}`, not {}", allowed.join(" or "));
    Err(Error::UnsupportedMedia(problem))
}

async fn collect(mut body: Body, limit: usize) -> Result<Vec<u8>> {
    match Limited::new(&mut body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes().into()),
        Err(error) if error.is::<LengthLimitError>() => {
            drain(body).await;
            Err(Error::TooLarge { limit })
        }
        Err(error) => Err(Error::Malformed {
            code: "body_incomplete",
            detail: format!("the body broke off: {error}"),
        }),
    }
}

async fn drain(mut body: Body) {
    let mut left = DRAIN;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, |data| data.len())) {
            Some(rest) => left = rest,
            None => break,
        }
    }
}

fn content(encoding: Encoding, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>> {
    if encoding == Encoding::Identity {
        return Ok(bytes);
    }
    let mut content = Vec::with_capacity(bytes.len().saturating_mul(4).min(limit));
    encoding
        .reader(bytes.as_slice())
        .take(limit as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| encoding.malformed(&error))?;
    if content.len() > limit { Err(Error::TooLarge { limit }) } else { Ok(content) }
}

/// JSON → one of our types. To know the path costs time, so it is asked for only when something is
/// wrong.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner());
        match inner.classify() {
            serde_json::error::Category::Data => Error::invalid(path, inner.to_string()),
            _ => malformed(inner),
        }
    })?;
    json.end().map_err(|error| malformed(&error))?;
    Ok(value)
}

fn malformed(error: &serde_json::Error) -> Error {
    Error::Malformed { code: "malformed_json", detail: format!("the body is not JSON: {error}") }
}
