//! `POST /runs/batch`: many reports in one request, each stored or refused for itself.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::task::JoinSet;
use wire::{Accepted, Problem, limits};

use super::auth::Caller;
use super::lines::{self, Limits, Line};
use super::problem::{Room, Write};
use super::{Answer, Failure};
use crate::app::App;
use crate::error::{Error, Result};
use crate::ingest::{self, Prepared};
use crate::model::{MachineId, Scope};

/// Most reports of one request.
const MOST_RUNS: usize = 10_000;

/// Reports of one request that are stored at the same time: while one waits for the disk, the next
/// is written.
const AT_ONCE: usize = 4;

/// What became of a batch.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Batch)]
pub struct BatchView {
    /// Reports stored now.
    new: usize,
    /// Reports that had been stored before.
    known: usize,
    /// Reports that were not stored.
    refused: usize,
    /// One a line that was read, in their order.
    outcomes: Vec<Outcome>,
    /// Why reading ended before the body did; lines after the last outcome were not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Problem>,
}

/// What became of one report: what `POST /runs` would have answered.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = BatchOutcome)]
struct Outcome {
    /// Number of the line, from 1, empty ones not counted.
    line: usize,
    /// 201 when the run is new, 200 when it was known, else why not.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Accepted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// Stores many reports, each for itself, and answers an outcome for each.
///
/// Reports are JSON lines, at most 10,000. The body is read as it comes, and each report is stored
/// in a transaction of its own; what was not stored may be sent again as it is, alone or in a batch.
#[utoipa::path(
    post, path = "/runs/batch", operation_id = "create_runs", tag = "runs",
    request_body(content = wire::Report, content_type = "application/x-ndjson",
        description = "One report a line; plain, or with Content-Encoding: gzip or zstd."),
    responses(
        (status = 200, description = "Every line was looked at.", body = BatchView),
        Write,
        Room,
    ),
    security(("token" = ["upload"])),
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Answer<Json<BatchView>> {
    caller.require(Scope::Upload)?;
    let _room = app.gate.admit()?;
    let limits = Limits { line_bytes: limits::BODY_BYTES, lines: MOST_RUNS };
    let mut lines = lines::read(request, limits, ingest::prepare)?;
    let mut storing: JoinSet<(usize, Result<Accepted>)> = JoinSet::new();
    let mut done = Vec::new();
    let mut ended = None;
    while let Some((number, line)) = lines.recv().await {
        match line {
            Err(error) if ends(&error) => ended = Some(Failure(error).problem()),
            line => {
                while storing.len() >= AT_ONCE {
                    take(&mut storing, &mut done).await?;
                }
                let line = match line {
                    Ok(report) => {
                        let named = caller.require_named(&app, &report.project.name).await;
                        named.map(|()| report)
                    }
                    Err(error) => Err(error),
                };
                let (app, machine) = (app.clone(), caller.machine());
                storing.spawn(async move { store(&app, machine, (number, line)).await });
            }
        }
    }
    while !storing.is_empty() {
        take(&mut storing, &mut done).await?;
    }
    done.sort_by_key(|(number, _)| *number);
    Ok(Json(BatchView::of(done, ended)))
}

/// Whether an error is of the body and not of one report.
fn ends(error: &Error) -> bool {
    matches!(
        error,
        Error::Malformed {
            code: "too_many_lines" | "body_incomplete" | "malformed_gzip" | "malformed_zstd",
            ..
        }
    )
}

async fn store(
    app: &App,
    machine: Option<MachineId>,
    (number, line): Line<Prepared>,
) -> (usize, Result<Accepted>) {
    let stored = match line {
        Ok(report) => ingest::store(app, machine, &report).await,
        Err(error) => Err(error),
    };
    (number, stored)
}

async fn take(
    storing: &mut JoinSet<(usize, Result<Accepted>)>,
    done: &mut Vec<(usize, Result<Accepted>)>,
) -> Result<()> {
    if let Some(one) = storing.join_next().await {
        done.push(one.map_err(|error| Error::Internal(error.into()))?);
    }
    Ok(())
}

impl BatchView {
    fn of(done: Vec<(usize, Result<Accepted>)>, ended: Option<Problem>) -> BatchView {
        let mut view = BatchView { new: 0, known: 0, refused: 0, outcomes: Vec::new(), ended };
        for (line, stored) in done {
            let outcome = match stored {
                Ok(accepted) => {
                    let status = if accepted.new { StatusCode::CREATED } else { StatusCode::OK };
                    *(if accepted.new { &mut view.new } else { &mut view.known }) += 1;
                    Outcome { line, status: status.into(), accepted: Some(accepted), error: None }
                }
                Err(error) => {
                    view.refused += 1;
                    let problem = Failure(error).problem();
                    Outcome { line, status: problem.status, accepted: None, error: Some(problem) }
                }
            };
            view.outcomes.push(outcome);
        }
        view
    }
}
