//! Runs: receiving a report.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use wire::{Accepted, limits};

use super::Answer;
use super::auth::Caller;
use super::body;
use crate::app::App;
use crate::ingest;
use crate::model::Scope;

/// `POST /runs`: stores a report. 201 when the run is new; 200 when this very report was stored
/// before, and nothing changes.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Answer<(StatusCode, Json<Accepted>)> {
    caller.require(Scope::Upload)?;
    let report = body::read(request, limits::BODY_BYTES, ingest::prepare).await?;
    let accepted = ingest::store(&app, caller.machine(), &report).await?;
    let status = if accepted.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(accepted)))
}
