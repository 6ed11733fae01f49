//! Jobs in the hands of agents: claimed by long poll, kept alive by heartbeats, finished.

use std::time::Duration;

use anyhow::Context as _;
use uuid::Uuid;
use wire::{Assignment, Claim, Finish, Heartbeat, HeartbeatAnswer};

use super::{HEARTBEAT_S, LEASE};
use crate::app::App;
use crate::db;
use crate::db::job::live;
use crate::error::{Error, Result};
use crate::model::job::{Job, JobState};
use crate::model::{JobId, MachineId, RunId};

/// Pause between two looks into the queue while a claim waits.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Waits for a job that the machine's agent can do, as long as the claim asks; none where nothing
/// came, or where the machine has a live job.
///
/// # Errors
/// `Invalid` names the field that breaks a limit.
pub async fn claim(app: &App, machine: MachineId, claim: &Claim) -> Result<Option<Assignment>> {
    claim.check()?;
    let waits = Duration::from_secs(claim.wait_s.into());
    let began = tokio::time::Instant::now();
    loop {
        if let Some(job) = claim_now(app, machine, claim).await? {
            return Ok(Some(job));
        }
        if began.elapsed() + LOOK_AGAIN > waits {
            return Ok(None);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn claim_now(app: &App, machine: MachineId, claim: &Claim) -> Result<Option<Assignment>> {
    let now = app.clock.now();
    let lease = Uuid::new_v4();
    let taker = live::Taker {
        machine,
        labels: &claim.labels,
        projects: &claim.projects,
        lease,
        lease_until: now + LEASE,
    };
    let mut tx = app.db.begin().await?;
    db::job::agent::put(&mut tx, machine, claim, now).await?;
    let id = match live::claim_next(&mut tx, &taker, now).await {
        Ok(Some(id)) => id,
        Ok(None) => {
            tx.commit().await?;
            return Ok(None);
        }
        Err(failure) if live::is_second_live_job(&failure) => return Ok(None),
        Err(failure) => return Err(failure.into()),
    };
    let job = db::job::find(&mut *tx, id).await?.context("a job is gone after its claim")?;
    tx.commit().await?;
    tracing::info!(job = %id, machine = job.machine_name, attempt = job.attempts, "job claimed");
    Ok(Some(assignment(job, lease)))
}

fn assignment(job: Job, lease: Uuid) -> Assignment {
    Assignment {
        id: job.id.0,
        lease: lease.to_string(),
        heartbeat_s: HEARTBEAT_S,
        project: wire::Project { name: job.project_name, subject: job.subject },
        plan: job.plan,
        revisions: job.revisions,
        turns: job.turns.iter().map(|turn| turn.unsigned_abs()).collect(),
    }
}

/// Keeps a claim alive, or says why to stop.
///
/// # Errors
/// `NotFound`; `Invalid` names the field that breaks a limit.
pub async fn beat(
    app: &App,
    job: JobId,
    machine: MachineId,
    beat: &Heartbeat,
) -> Result<HeartbeatAnswer> {
    beat.check()?;
    let lease = lease(&beat.lease)?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let away = time::Duration::seconds(beat.away_s.unwrap_or(0).into());
    match live::mark_alive(&mut tx, job, machine, lease, beat, now + LEASE + away).await {
        Ok(true) => {
            tx.commit().await?;
            return Ok(HeartbeatAnswer { stop: None });
        }
        Ok(false) => {}
        Err(failure) if live::is_second_live_job(&failure) => {
            tx.rollback().await?;
            return Ok(stop("the machine has another job by now".into()));
        }
        Err(failure) => return Err(failure.into()),
    }
    Ok(match live::find_standing(&mut tx, job, machine, lease).await? {
        Some((state, reason)) => {
            let why = reason.map_or(String::new(), |reason| format!(": {reason}"));
            stop(format!("the job is {}{why}", state.title()))
        }
        None => {
            db::job::find(&mut *tx, job).await?.ok_or(Error::NotFound("job"))?;
            stop("the lease ran out and the job was given away".into())
        }
    })
}

fn stop(words: String) -> HeartbeatAnswer {
    HeartbeatAnswer { stop: Some(words) }
}

/// Ends a job as its agent says, once its runs are stored. Saying it twice changes nothing.
///
/// # Errors
/// `NotFound`; `Invalid` names the field, `unknown_run` a run that was not uploaded; `Conflict`
/// `lease_lost` when the job is no longer this agent's.
pub async fn finish(app: &App, job: JobId, machine: MachineId, said: &Finish) -> Result<Job> {
    said.check()?;
    let lease = lease(&said.lease)?;
    let runs = runs(said)?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let stored = db::job::find(&mut *tx, job).await?.ok_or(Error::NotFound("job"))?;
    if said.failed.is_none() && runs.len() != stored.turns.len() {
        let problem = format!("must be {}: one for each turn", stored.turns.len());
        return Err(Error::invalid("runs", problem));
    }
    if let Some(missing) = live::list_missing_runs(&mut tx, machine, &runs).await?.first() {
        let at = runs.iter().position(|run| run == missing).unwrap_or_default();
        return Err(Error::Invalid {
            code: "unknown_run",
            field: format!("runs[{at}]"),
            problem: "was not uploaded from this machine: upload it first".into(),
        });
    }
    let ended = live::mark_finished(&mut tx, job, machine, (lease, said), now).await?;
    if !ended && !is_said_again(&mut tx, (job, machine, lease), said).await? {
        return Err(Error::Conflict {
            code: "lease_lost",
            field: "lease".into(),
            detail: "the job is no longer this agent's; its runs are kept".into(),
        });
    }
    live::insert_runs(&mut tx, job, machine, &runs).await?;
    let stored = db::job::find(&mut *tx, job).await?.ok_or(Error::NotFound("job"))?;
    tx.commit().await?;
    tracing::info!(%job, state = stored.state.word(), reason = stored.reason, "job ended");
    Ok(stored)
}

/// Whether a job that is over was ended by these very words.
async fn is_said_again(
    connection: &mut db::Connection,
    (job, machine, lease): (JobId, MachineId, Uuid),
    said: &Finish,
) -> Result<bool> {
    let standing = live::find_standing(connection, job, machine, lease).await?;
    Ok(match (standing, &said.failed) {
        (Some((JobState::Done, _)), None) => true,
        (Some((JobState::Failed, reason)), Some(said)) => reason.as_ref() == Some(said),
        _ => false,
    })
}

fn lease(text: &str) -> Result<Uuid> {
    text.parse().map_err(|_| Error::invalid("lease", "must be the UUID that the claim answered"))
}

fn runs(said: &Finish) -> Result<Vec<RunId>> {
    let run = |(i, text): (usize, &String)| {
        text.parse().map_err(|_| Error::invalid(format!("runs[{i}]"), "must be a UUID"))
    };
    said.runs.iter().enumerate().map(run).collect()
}
