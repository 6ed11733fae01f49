//! Jobs: asked for, listed, one with its log, cancelled and asked for again.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::{JobRequest, Submitted, job_limits};

use super::at::At;
use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::page::Page;
use super::problem::{Act, Conflict, Read, Write};
use super::{Answer, Params, body, lookup};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::jobs::submit;
use crate::model::job::{Job, JobState};
use crate::model::{JobId, ProjectId, Scope};

/// Name of the header under whose value a request makes its jobs once.
const KEY: &str = "Idempotency-Key";

/// Asks for measurements, once however often the request is sent under its key.
#[utoipa::path(
    post, path = "/jobs", operation_id = "create_jobs", tag = "jobs",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same request under the \
        same key makes no second job; 1 to 200 visible ASCII characters.")),
    request_body = JobRequest,
    responses(
        (status = 201, description = "The jobs are new.", body = Submitted),
        (status = 200, description = "This very request came under its key before.", body = Submitted),
        Write,
        Conflict,
    ),
    security(("token" = ["submit"])),
)]
pub async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Caller,
    request: Request,
) -> Answer<(StatusCode, Json<Submitted>)> {
    caller.require(Scope::Submit)?;
    let key = headers.get(KEY).map(|value| value.to_str().unwrap_or_default().to_owned());
    let asked: JobRequest = body::read(request, job_limits::BODY_BYTES, Ok).await?;
    caller.require_named(&app, &asked.project).await?;
    let (new, jobs) = submit::submit(&app, &asked, key.as_deref(), caller.name()).await?;
    let jobs = jobs.into_iter().map(|job| view(&app, job)).collect();
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Submitted { new, jobs })))
}

/// Jobs, the newest first.
#[utoipa::path(
    get, path = "/jobs", operation_id = "list_jobs", tag = "jobs",
    params(
        ("project" = Option<String>, Query, description = "Name of a project."),
        ("machine" = Option<String>, Query, description = "Id of the machine that has or had it, or \
            that it is for."),
        ("commit" = Option<String>, Query, description = "At least 4 hex digits a commit of it \
            begins with."),
        ("state" = Option<String>, Query, description = "`open` (queued or with an agent), `live` \
            (with an agent), `ended`, or one state."),
        PageParams,
    ),
    responses((status = 200, description = "A page of jobs.", body = Page<wire::Job>), Read),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Json<Page<wire::Job>>> {
    let project = params.take::<String>("project")?;
    let machine = params.take::<String>("machine")?;
    let commit = params.take::<String>("commit")?;
    let states = params.take::<String>("state")?;
    let asked = params.page::<JobId>()?;
    params.finish()?;
    let mut filter = db::job::Filter { before: asked.after, ..Default::default() };
    filter.states = states.as_deref().map(self::states).transpose()?;
    if let Some(name) = &project {
        filter.project = Some(lookup::project(&app, &viewer, name).await?.id);
    }
    if let Some(id) = &machine {
        filter.machine = Some(lookup::machine(&app, id).await?.id);
    }
    if let Some(digits) = commit {
        if digits.len() < 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let problem = "must be at least 4 hex digits of a commit";
            return Err(Error::query("commit", problem).into());
        }
        filter.commit = Some(digits.to_ascii_lowercase());
    }
    let rows = db::job::list(&app.db, viewer.visible(), &filter, asked.rows()).await?;
    Ok(Json(asked.page(rows, |job| job.id, |job| view(&app, job))))
}

/// The states that a word of an address means.
pub fn states(word: &str) -> Result<Vec<JobState>> {
    match word {
        "open" => Ok([&[JobState::Queued], &JobState::LIVE[..]].concat()),
        "live" => Ok(JobState::LIVE.to_vec()),
        "ended" => Ok(JobState::ENDED.to_vec()),
        word => JobState::parse(word).map(|state| vec![state]).ok_or_else(|| {
            let words = JobState::ALL.map(JobState::word).join(", ");
            Error::query("state", format!("must be open, live, ended, {words}"))
        }),
    }
}

/// A job with the end of its log.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct JobDetail {
    #[serde(skip)]
    project: ProjectId,
    #[serde(flatten)]
    job: wire::Job,
    log: String,
}

/// A job with the end of its log.
#[utoipa::path(
    get, path = "/jobs/{id}", operation_id = "read_job", tag = "jobs",
    params(("id" = JobId, Path, description = "Number of the job.")),
    responses((status = 200, description = "The job.", body = JobDetail), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    params: Params,
) -> Answer<Json<JobDetail>> {
    params.finish()?;
    let detail = detail(&app, id_of(&id)?).await?;
    viewer.sees(detail.project, "job")?;
    Ok(Json(detail))
}

/// Cancels a job that is not over; its agent is told with its next heartbeat.
#[utoipa::path(
    post, path = "/jobs/{id}/cancel", operation_id = "cancel_job", tag = "jobs",
    params(("id" = JobId, Path, description = "Number of the job.")),
    responses((status = 200, description = "The job now.", body = JobDetail), Act),
    security(("token" = ["submit"])),
)]
pub async fn cancel(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
) -> Answer<Json<JobDetail>> {
    let job = own(&app, &caller, &id).await?;
    let reason = format!("by {}", caller.name());
    let mut tx = app.db.begin().await?;
    if !db::job::mark_cancelled(&mut *tx, job.id, &reason, app.clock.now()).await? {
        return Err(stands_otherwise(&app, job.id, "it is over already").await?.into());
    }
    did(&app, &mut tx, &caller, "job_cancelled", &job).await?;
    tx.commit().await?;
    Ok(Json(detail(&app, job.id).await?))
}

/// Asks again for a job that failed, was cancelled or timed out.
#[utoipa::path(
    post, path = "/jobs/{id}/retry", operation_id = "retry_job", tag = "jobs",
    params(("id" = JobId, Path, description = "Number of the job.")),
    responses((status = 200, description = "The job now.", body = JobDetail), Act),
    security(("token" = ["submit"])),
)]
pub async fn retry(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
) -> Answer<Json<JobDetail>> {
    let job = own(&app, &caller, &id).await?;
    let mut tx = app.db.begin().await?;
    if !db::job::mark_queued_again(&mut *tx, job.id, app.clock.now()).await? {
        let why = "only what people asked for and what failed, was cancelled or timed out is \
                   asked for again";
        return Err(stands_otherwise(&app, job.id, why).await?.into());
    }
    did(&app, &mut tx, &caller, "job_retried", &job).await?;
    tx.commit().await?;
    Ok(Json(detail(&app, job.id).await?))
}

/// A job that the caller may do something with.
async fn own(app: &App, caller: &Caller, id: &str) -> Result<Job> {
    caller.require(Scope::Submit)?;
    let job = find(app, id_of(id)?).await?;
    caller.viewer().sees(job.project, "job")?;
    caller.require_in(Scope::Submit, job.project)?;
    Ok(job)
}

/// Keeps what was done to a job, which was seen as it is given.
async fn did(
    app: &App,
    connection: &mut db::Connection,
    caller: &Caller,
    what: &str,
    job: &Job,
) -> Result<()> {
    let about = format!("job {} of {}", job.id, job.project_name);
    let was = json!({ "state": job.state.word() });
    caller.by(app).did(connection, what, &about, (Some(was), None)).await
}

async fn stands_otherwise(app: &App, id: JobId, why: &str) -> Result<Error> {
    let job = find(app, id).await?;
    Ok(Error::Conflict {
        code: "job_stands_otherwise",
        field: "state".into(),
        detail: format!("the job is {}: {why}", job.state.title()),
    })
}

pub(super) fn id_of(id: &str) -> Result<JobId> {
    id.parse().map_err(|_| Error::NotFound("job"))
}

async fn find(app: &App, id: JobId) -> Result<Job> {
    db::job::find(&app.db, id).await?.ok_or(Error::NotFound("job"))
}

async fn detail(app: &App, id: JobId) -> Result<JobDetail> {
    let job = find(app, id).await?;
    let log = db::job::find_log(&app.db, id).await?;
    Ok(JobDetail { project: job.project, job: view(app, job), log })
}

pub(super) fn view(app: &App, job: Job) -> wire::Job {
    let time = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
    wire::Job {
        url: format!("{}/jobs/{}", app.config.public_url, job.id),
        id: job.id.0,
        state: job.state,
        reason: job.reason,
        project: wire::Project { name: job.project_name, subject: job.subject },
        plan: job.plan,
        revisions: job.revisions,
        turns: job.turns.iter().map(|turn| turn.unsigned_abs()).collect(),
        machine: job.machine_public_id,
        machine_name: job.machine_name,
        label: job.label,
        priority: job.priority,
        deadline: job.deadline.map(time),
        limit_s: job.limit_s.unsigned_abs(),
        attempts: job.attempts.unsigned_abs(),
        attempts_most: crate::model::job::MOST_ATTEMPTS.unsigned_abs(),
        incident: job.incident.map(|incident| incident.0),
        submitted_by: job.submitted_by,
        created_at: time(job.created_at),
        claimed_at: job.claimed_at.map(time),
        ended_at: job.ended_at.map(time),
        progress: job.progress,
        runs: job.runs.iter().map(ToString::to_string).collect(),
    }
}
