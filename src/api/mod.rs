//! The API: JSON under `/api/v1`, and `/health`. Reading is public; writing takes a bearer token
//! with the right scope. Every refusal is [`wire::ErrorBody`].

mod auth;
mod body;
mod compare;
mod curves;
mod environments;
mod failure;
mod health;
mod incident_steps;
mod incidents;
mod lookup;
mod machines;
mod noise;
mod page;
mod params;
mod run;
mod runs;
mod scaling;
mod series;
mod values;
mod weights;
mod why;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::{any, get, post};

use crate::app::App;
use crate::error::Error;

pub use auth::Caller;
pub use failure::{Failure, log, status};
pub use params::Params;

/// Result of a handler.
type Answer<T> = Result<T, Failure>;

/// Routes.
pub fn router() -> Router<App> {
    let v1 = Router::new()
        .route("/machines", get(machines::list).post(machines::register))
        .route("/machines/{id}", get(machines::show))
        .route("/machines/{id}/noise-floors", get(noise::list).post(noise::put))
        .route("/projects/{name}/weights", get(weights::list).put(weights::replace))
        .route("/runs", get(runs::list).post(runs::create))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/artefacts/{name}", get(run::artefact))
        .route("/curves", get(curves::list))
        .route("/curves/{id}", get(curves::show))
        .route("/series/{id}", get(series::show))
        .route("/compare", get(compare::show))
        .route("/compare/why", get(why::compare))
        .route("/incidents", get(incidents::list))
        .route("/incidents/{id}", get(incidents::show))
        .route("/incidents/{id}/why", get(why::incident))
        .route("/incidents/{id}/state", post(incidents::decide))
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
