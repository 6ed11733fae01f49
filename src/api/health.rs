//! `GET /health`: whether the service can do its work, for load balancers and people.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::db;

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Health {
    status: &'static str,
    version: &'static str,
    /// What is wrong, in words; none when all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<Worker>,
}

/// How far the worker is behind.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Backlog)]
struct Worker {
    /// Curves that wait to be judged.
    due_curves: i64,
    /// How long the first of them has waited, seconds.
    oldest_due_s: Option<f64>,
    /// Messages that wait to be sent.
    unsent_messages: i64,
}

/// Whether the service can do its work: the database answers and has the schema of this version.
#[utoipa::path(
    get, path = "/health", operation_id = "read_health", tag = "service",
    responses(
        (status = 200, description = "It can.", body = Health),
        (status = 503, description = "It cannot; `problem` says why.", body = Health),
    ),
)]
pub async fn show(State(app): State<App>) -> Response {
    match look(&app).await {
        Ok(worker) => answer(StatusCode::OK, None, Some(worker)),
        Err(problem) => answer(StatusCode::SERVICE_UNAVAILABLE, Some(problem), None),
    }
}

async fn look(app: &App) -> Result<Worker, String> {
    let unreachable = |error: db::Failure| {
        tracing::warn!(%error, "the database does not answer");
        "the database does not answer".to_owned()
    };
    if let Some(problem) = db::schema::problem(&app.db).await.map_err(unreachable)? {
        return Err(problem);
    }
    let backlog = db::health::find_backlog(&app.db).await.map_err(unreachable)?;
    let waited = |since: OffsetDateTime| (app.clock.now() - since).as_seconds_f64().max(0.0);
    Ok(Worker {
        due_curves: backlog.due_curves,
        oldest_due_s: backlog.oldest_due_at.map(waited),
        unsent_messages: backlog.unsent_messages,
    })
}

fn answer(status: StatusCode, problem: Option<String>, worker: Option<Worker>) -> Response {
    let word = if status == StatusCode::OK { "ok" } else { "unavailable" };
    let health = Health { status: word, version: env!("CARGO_PKG_VERSION"), problem, worker };
    (status, Json(health)).into_response()
}
