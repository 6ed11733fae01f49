//! What agents say: give me a job, I am at it, it is over. By the machine's upload token.

use axum::Json;
use axum::extract::{Request, State};
use wire::{Claim, Claimed, Finish, Heartbeat, HeartbeatAnswer, job_limits};

use super::at::At;
use super::auth::Caller;
use super::jobs::{id_of, view};
use super::problem::{Conflict, NotFound, Write};
use super::{Answer, body};
use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs::hand_out;
use crate::model::{JobId, MachineId, Scope};

/// Claims a job for the token's machine, waiting up to `wait_s` for one.
#[utoipa::path(
    post, path = "/jobs/claim", operation_id = "claim_job", tag = "jobs",
    request_body = Claim,
    responses((status = 200, description = "A job, or null where nothing came.", body = Claimed), Write),
    security(("token" = ["upload"])),
)]
pub async fn claim(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Claimed>> {
    let machine = machine(&caller)?;
    let claim: Claim = body::read(request, job_limits::BODY_BYTES, Ok).await?;
    Ok(Json(Claimed { job: hand_out::claim(&app, machine, &claim).await? }))
}

/// Keeps a claim alive, or is told why to stop.
#[utoipa::path(
    post, path = "/jobs/{id}/heartbeat", operation_id = "beat_job", tag = "jobs",
    params(("id" = JobId, Path, description = "Number of the job.")),
    request_body = Heartbeat,
    responses(
        (status = 200, description = "Go on, or why to stop.", body = HeartbeatAnswer),
        Write,
        NotFound,
    ),
    security(("token" = ["upload"])),
)]
pub async fn beat(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<HeartbeatAnswer>> {
    let machine = machine(&caller)?;
    let id = id_of(&id)?;
    let beat: Heartbeat = body::read(request, job_limits::BODY_BYTES, Ok).await?;
    Ok(Json(hand_out::beat(&app, id, machine, &beat).await?))
}

/// Ends a claim: the job is done and its runs are uploaded, or it cannot be done.
#[utoipa::path(
    post, path = "/jobs/{id}/finish", operation_id = "finish_job", tag = "jobs",
    params(("id" = JobId, Path, description = "Number of the job.")),
    request_body = Finish,
    responses(
        (status = 200, description = "The job now.", body = wire::Job),
        Write,
        NotFound,
        Conflict,
    ),
    security(("token" = ["upload"])),
)]
pub async fn finish(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<wire::Job>> {
    let machine = machine(&caller)?;
    let id = id_of(&id)?;
    let said: Finish = body::read(request, job_limits::BODY_BYTES, Ok).await?;
    let job = hand_out::finish(&app, id, machine, &said).await?;
    Ok(Json(view(&app, job)))
}

/// The machine whose agent calls.
fn machine(caller: &Caller) -> Result<MachineId> {
    caller.require(Scope::Upload)?;
    let none = Error::Forbidden("this takes the upload token of the agent's machine");
    caller.machine().ok_or(none)
}
