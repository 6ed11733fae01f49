//! What a path names.

use axum::extract::path::Path;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::Failure;
use crate::error::Error;

/// The parameters of the path, as text. What no name can hold is not found.
#[derive(Debug)]
pub struct At<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<At<T>, Failure> {
        let malformed = |detail| Error::Malformed { code: "malformed_path", detail };
        let raw = RawPathParams::from_request_parts(parts, state).await;
        let raw = raw.map_err(|error| malformed(error.body_text()))?;
        // Postgres keeps no text with it.
        if raw.iter().any(|(_, value)| value.contains('\0')) {
            return Err(Error::NotFound("path").into());
        }
        let path = Path::from_request_parts(parts, state).await;
        let Path(value) = path.map_err(|error| malformed(error.body_text()))?;
        Ok(At(value))
    }
}
