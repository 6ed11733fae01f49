//! Runs: receiving a report, and listing what was received.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;
use wire::{Accepted, limits};

use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
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

impl Tabular for RunView {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "machine",
        "machine_name",
        "project",
        "branch",
        "commit",
        "subject",
        "started_at",
        "finished_at",
        "received_at",
        "points",
        "failed_points",
    ];
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
        ("branch" = Option<String>, Query, description = "Name of a branch of `project`."),
        ("workload" = Option<String>, Query, description = "Id of a workload they measured."),
        ("since" = Option<OffsetDateTime>, Query, description = "Arrived then or later."),
        ("before" = Option<OffsetDateTime>, Query, description = "Arrived earlier."),
        ("commit" = Option<String>, Query, description = "At least 4 hex digits a commit of \
            `project` begins with."),
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of runs.", content(
            (Page<RunView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Response> {
    let machine = params.take::<String>("machine")?;
    let project = params.take::<String>("project")?;
    let branch = params.take::<String>("branch")?;
    let commit = params.take::<String>("commit")?;
    let mut filter = db::run::Filter { workload: params.take("workload")?, ..Default::default() };
    (filter.since, filter.until) = (params.time("since")?, params.time("before")?);
    let (asked, format) = (params.page::<Place>()?, Format::asked(&mut params)?);
    params.finish()?;
    filter.machine = lookup::machine_filter(&app, machine.as_deref()).await?;
    (filter.project, filter.branch) =
        lookup::project_filter(&app, &viewer, project.as_deref(), branch.as_deref()).await?;
    if let Some(digits) = commit {
        let project = filter.project.ok_or_else(|| Error::query("commit", "takes a project"))?;
        let revisions = lookup::commit(&app, project, "commit", &digits).await?;
        filter.revisions = Some(revisions.into_iter().map(|revision| revision.id).collect());
    }
    let visible = viewer.visible().clone();
    export::list("runs", format, asked, move |after: Option<Place>, limit| {
        let after = after.map(|place| (place.0, place.1));
        let (pool, filter) = (app.db.clone(), db::run::Filter { after, ..filter.clone() });
        let visible = visible.clone();
        async move {
            let rows = db::run::list(&pool, &visible, &filter, limit).await?;
            let shown = |run: Run| (Place(run.received_at, run.id), RunView::from(run));
            Ok(rows.into_iter().map(shown).collect())
        }
    })
    .await
}

/// Where a run stands: microseconds since 1970 of its arrival, and its UUID.
#[derive(Clone)]
struct Place(OffsetDateTime, RunId);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0.unix_timestamp_nanos() / 1_000, self.1)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Place, ()> {
        let read = || {
            let (at, id) = text.split_once('-')?;
            let nanos = at.parse::<i64>().ok().map(|micros| i128::from(micros) * 1_000)?;
            let at = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?;
            Some(Place(at, id.parse().ok()?))
        };
        read().ok_or(())
    }
}
