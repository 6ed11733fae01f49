//! The API: JSON under `/api/v1`, and `/health`. Reading is public; writing takes a bearer token
//! with the right scope. Every refusal is [`wire::ErrorBody`].

mod auth;
mod body;
mod failure;
mod health;
mod machines;
mod params;
mod runs;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::{any, get, post};

use crate::app::App;
use crate::error::Error;

pub use failure::{Failure, log, status};
pub use params::Params;

/// Result of a handler.
type Answer<T> = Result<T, Failure>;

/// Routes.
pub fn router() -> Router<App> {
    let v1 = Router::new()
        .route("/machines", post(machines::register))
        .route("/runs", post(runs::create))
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_path);
    Router::new()
        .nest("/api/v1", v1)
        .route("/api", any(unknown_path))
        .route("/api/{*rest}", any(unknown_path))
        .route("/health", get(health::show))
}

async fn unknown_path(uri: Uri) -> Failure {
    tracing::debug!(path = uri.path(), "no such path");
    Failure(Error::NotFound("path"))
}

async fn wrong_method(method: Method) -> Failure {
    Failure(Error::MethodNotAllowed(method.to_string()))
}
