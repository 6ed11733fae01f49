//! Runs: receiving a report, and listing what was received.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;
use wire::{Accepted, limits};

use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::page::Page;
use super::problem::{Conflict, Read, Room, Write};
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::ingest;
use crate::model::{Run, RunId, Scope};

/// Stores the report of a run, all of it or nothing.
///
/// Sent again it changes nothing: the run's UUID and the report tell.
#[utoipa::path(
    post, path = "/runs", operation_id = "create_run", tag = "runs",
    request_body(content = wire::Report, description = "Plain, or with Content-Encoding: gzip or zstd."),
    responses(
        (status = 201, description = "The run is new.", body = Accepted),
        (status = 200, description = "This very report was stored before.", body = Accepted),
        Write,
        Room,
        Conflict,
    ),
    security(("token" = ["upload"])),
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Answer<(StatusCode, Json<Accepted>)> {
    caller.require(Scope::Upload)?;
    let _room = app.gate.admit()?;
    let report = body::read(request, limits::BODY_BYTES, ingest::prepare).await?;
    caller.require_named(&app, &report.project.name).await?;
    let accepted = ingest::store(&app, caller.machine(), &report).await?;
    let status = if accepted.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(accepted)))
}

/// A run as lists show it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Run)]
pub struct RunView {
    #[schema(value_type = uuid::Uuid)]
    id: RunId,
    machine: String,
    machine_name: String,
    project: String,
    branch: String,
    commit: String,
    subject: String,
    #[serde(with = "rfc3339")]
    started_at: OffsetDateTime,
    #[serde(with = "rfc3339")]
    finished_at: OffsetDateTime,
    #[serde(with = "rfc3339")]
    received_at: OffsetDateTime,
    points: i64,
    failed_points: i64,
}

impl From<Run> for RunView {
    fn from(run: Run) -> RunView {
        RunView {
            id: run.id,
            machine: run.machine_public_id,
            machine_name: run.machine_name,
            project: run.project_name,
            branch: run.branch_name,
            commit: run.commit,
            subject: run.subject,
            started_at: run.started_at,
            finished_at: run.finished_at,
            received_at: run.received_at,
            points: run.points,
            failed_points: run.failed_points,
        }
    }
}

/// Runs, the last to arrive first.
#[utoipa::path(
    get, path = "/runs", operation_id = "list_runs", tag = "runs",
    params(
        ("machine" = Option<String>, Query, description = "Id of a machine."),
        ("project" = Option<String>, Query, description = "Name of a project."),
        ("commit" = Option<String>, Query, description = "At least 4 hex digits a commit of \
            `project` begins with."),
        PageParams,
    ),
    responses((status = 200, description = "A page of runs.", body = Page<RunView>), Read),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Json<Page<RunView>>> {
    let machine = params.take::<String>("machine")?;
    let project = params.take::<String>("project")?;
    let commit = params.take::<String>("commit")?;
    let (after, limit) = (params.take::<Cursor>("after")?, params.limit()?);
    params.finish()?;
    let mut filter = db::run::Filter::default();
    if let Some(id) = machine {
        filter.machine = Some(lookup::machine(&app, &id).await?.id);
    }
    if let Some(name) = &project {
        filter.project = Some(lookup::project(&app, &viewer, name).await?.id);
    }
    if let Some(digits) = commit {
        let project = filter.project.ok_or_else(|| Error::query("commit", "takes a project"))?;
        let revisions = lookup::commit(&app, project, "commit", &digits).await?;
        filter.revisions = Some(revisions.into_iter().map(|revision| revision.id).collect());
    }
    filter.before = after.map(|cursor| (cursor.0, cursor.1));
    let rows = db::run::list(&app.db, viewer.visible(), &filter, limit + 1).await?;
    Ok(Json(Page::of(rows, limit, |run| Cursor(run.received_at, run.id), RunView::from)))
}

/// Where a page of runs ends: microseconds since 1970 of its arrival, and its UUID.
struct Cursor(OffsetDateTime, RunId);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0.unix_timestamp_nanos() / 1_000, self.1)
    }
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Cursor, &'static str> {
        let read = || {
            let (at, id) = text.split_once('-')?;
            let nanos = at.parse::<i64>().ok().map(|micros| i128::from(micros) * 1_000)?;
            let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?;
            Some(Cursor(at, id.parse().ok()?))
        };
        read().ok_or("it is not the `next` of a page of runs")
    }
}
