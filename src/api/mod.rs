//! The API: JSON under `/api/v1`, and `/health`. Reading what is public needs nothing, else a token or
//! a session; writing takes a bearer token
//! with the right scope. Every refusal is a [`wire::Problem`].

mod agents;
mod at;
mod audit;
mod auth;
mod badge;
mod batch;
mod body;
mod branches;
mod cache;
mod columns;
mod compare;
mod curves;
pub mod document;
mod encoding;
mod environments;
mod export;
mod failure;
mod feed;
mod forwarded;
mod health;
mod incident_steps;
mod incidents;
mod jobs;
mod lines;
pub mod lookup;
mod machines;
mod metrics;
mod noise;
mod page;
mod params;
pub mod problem;
mod project_compare;
mod projects;
mod quality;
mod ready;
mod run;
mod run_rows;
mod runs;
mod scaling;
mod series;
mod values;
pub mod webhook;
mod weights;
pub mod who;
mod why;

use axum::http::{Method, Uri};
use axum::routing::any;
use axum::{Router, middleware};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::error::Error;

pub use auth::Caller;
pub use failure::{Failure, log, retry_after, status};
pub use jobs::states as job_states;
pub use page::{opened, sealed};
pub use params::Params;
pub use project_compare::{Compared as ProjectCompared, compared as compare_project};

/// Result of a handler.
type Answer<T> = Result<T, Failure>;

/// Routes, each with what its handler says of it: [`document`] is made of these, so that every path
/// of the API is described.
fn routes() -> OpenApiRouter<App> {
    let v1 = OpenApiRouter::new()
        .routes(routes!(machines::list, machines::register))
        .routes(routes!(machines::show))
        .routes(routes!(machines::merge))
        .routes(routes!(noise::list, noise::put))
        .routes(routes!(projects::list))
        .routes(routes!(projects::show))
        .routes(routes!(projects::revisions))
        .routes(routes!(branches::reorder))
        .routes(routes!(branches::rename))
        .routes(routes!(branches::delete))
        .routes(routes!(badge::show))
        .routes(routes!(weights::list, weights::replace))
        .routes(routes!(runs::list, runs::create))
        .routes(routes!(batch::create))
        .routes(routes!(run::show))
        .routes(routes!(run::artefact))
        .routes(routes!(curves::list))
        .routes(routes!(curves::show))
        .routes(routes!(series::list))
        .routes(routes!(series::show))
        .routes(routes!(compare::show))
        .routes(routes!(why::compare))
        .routes(routes!(incidents::list))
        .routes(routes!(feed::show))
        .routes(routes!(quality::show))
        .routes(routes!(incidents::show))
        .routes(routes!(why::incident))
        .routes(routes!(incidents::decide))
        .routes(routes!(project_compare::show))
        .routes(routes!(jobs::list, jobs::create))
        .routes(routes!(agents::claim))
        .routes(routes!(jobs::show))
        .routes(routes!(jobs::cancel))
        .routes(routes!(jobs::retry))
        .routes(routes!(agents::beat))
        .routes(routes!(agents::finish))
        .routes(routes!(audit::list))
        .routes(routes!(document::show));
    OpenApiRouter::with_openapi(document::Base::openapi())
        .nest("/api/v1", v1)
        .routes(routes!(health::show))
        .routes(routes!(ready::live))
        .routes(routes!(ready::ready))
        .routes(routes!(metrics::show))
}

/// The routes, and what answers where there is none.
pub fn router() -> Router<App> {
    let (router, _) = routes().split_for_parts();
    router
        .method_not_allowed_fallback(wrong_method)
        .route("/api/{*rest}", any(unknown_path))
        .layer(middleware::from_fn(cache::revalidate))
}

async fn unknown_path(uri: Uri) -> Failure {
    tracing::debug!(path = uri.path(), "no such path");
    Failure(Error::NotFound("path"))
}

async fn wrong_method(method: Method) -> Failure {
    Failure(Error::MethodNotAllowed(method.to_string()))
}
