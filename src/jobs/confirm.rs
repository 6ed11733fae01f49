//! Confirm before telling: a suspect is measured again on its machine, base and head in turns,
//! where the machine's agent can prepare both. The mail waits for what comes of it and says so:
//! confirmed, refuted, or not measured again and why.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::submit::as_reported;
use crate::app::App;
use crate::db::job::confirmation;
use crate::db::{self, Connection};
use crate::detect::floor::Floor;
use crate::detect::history::direction_of;
use crate::detect::two_sides::{self, Across};
use crate::detect::{earlier, policy};
use crate::model::incident::{Incident, IncidentStep};
use crate::model::job::{self, Confirmation, Job, JobState, Outcome};
use crate::model::step::Change;
use crate::model::{Curve, IncidentId, JobId, Measurement};

/// Pairs of runs, base and head.
const PAIRS: u32 = 3;

/// Goes before what people asked for: somebody waits to be told.
const PRIORITY: i32 = 50;

/// How long the mail waits at most.
pub const PATIENCE: Duration = Duration::hours(6);

/// How long ago an agent may have been heard of to be counted on.
const HEARD_OF: Duration = Duration::hours(1);

/// Asks for one suspect that is about to be told to be measured again. None when there is none.
///
/// # Errors
/// When the database does not answer.
pub async fn ask_next(app: &App) -> Result<Option<IncidentId>> {
    let mut tx = app.db.begin().await?;
    let Some(incident) = confirmation::claim_unasked(&mut tx).await? else { return Ok(None) };
    let now = app.clock.now();
    let confirmation = match plan(app, incident, now).await? {
        Ok(suspect) => {
            let job = submit(&mut tx, incident, &suspect, now).await?;
            let words = format!("measured again on {}: job {job}", suspect.step.machine_name);
            Confirmation { incident, job: Some(job), outcome: None, words }
        }
        Err(why) => {
            let words = format!("not measured again: {why}");
            Confirmation { incident, job: None, outcome: Some(Outcome::NotRerun), words }
        }
    };
    confirmation::insert(&mut tx, &confirmation, now).await?;
    tx.commit().await?;
    Ok(Some(incident))
}

/// What is measured again.
struct Suspect {
    incident: Incident,
    step: IncidentStep,
    plan: wire::Plan,
    revisions: Vec<wire::Revision>,
}

/// The strongest step's curve at the tasks where it moved; or why it cannot be measured again.
async fn plan(
    app: &App,
    incident: IncidentId,
    now: OffsetDateTime,
) -> Result<Result<Suspect, String>> {
    let incident = db::incident::find(&app.db, incident).await?.context("the incident is gone")?;
    let steps = db::incident_step::list(&app.db, incident.id).await?;
    let headline = &incident.headline;
    let is_headline =
        |step: &&IncidentStep| step.curve == headline.curve && step.metric == headline.metric;
    let Some(step) = steps.iter().find(is_headline).cloned() else {
        return Ok(Err("none of its steps stands".into()));
    };
    if step.derived {
        return Ok(Err("how a curve scales is not measured again in turns".into()));
    }
    let name = &step.machine_name;
    let project = &incident.project_name;
    let agent = db::job::agent::find(&app.db, step.machine).await?;
    let why_not = match &agent {
        None => Some(format!("{name} has no agent")),
        Some(agent) if agent.seen_at + HEARD_OF < now => {
            Some(format!("the agent of {name} is silent"))
        }
        Some(agent) if !agent.projects.contains(project) => {
            Some(format!("the agent of {name} prepares no revision of {project}"))
        }
        Some(_) => None,
    };
    if let Some(why) = why_not {
        return Ok(Err(why));
    }
    let mut revisions = Vec::new();
    for end in [&step.good, &step.bad] {
        let row = db::revision::find(&app.db, end.revision).await?.context("a revision is gone")?;
        revisions.push(as_reported(row, &incident.branch_name).map_err(anyhow::Error::from)?);
    }
    let manner =
        confirmation::find_manner(&app.db, step.machine, step.curve, step.bad.revision).await?;
    let Some(manner) = manner else {
        return Ok(Err("another tool than the runner measured it".into()));
    };
    let plan = plan_of(&step, &incident.headline.all_tasks, manner);
    if let Err(invalid) = plan.check("plan") {
        return Ok(Err(invalid.to_string()));
    }
    Ok(Ok(Suspect { incident, step, plan, revisions }))
}

/// Measured as it was: `mode` and `placement` are arguments of their own, all else is a parameter.
fn plan_of(step: &IncidentStep, tasks: &[i32], manner: confirmation::Manner) -> wire::Plan {
    let mut parameters: BTreeMap<String, String> = step.parameters.clone();
    let tasks: Vec<String> = tasks.iter().map(i32::to_string).collect();
    let count = |value: i64| u32::try_from(value).ok().filter(|count| *count > 0);
    wire::Plan {
        workloads: vec![step.workload.clone()],
        tasks: Some(tasks.join(",")),
        mode: parameters.remove("mode"),
        placement: parameters.remove("placement"),
        parameters,
        windows: count(manner.windows.into()),
        window_ms: count(manner.dt_ns / 1_000_000),
        warmup: u32::try_from(manner.warmup).ok(),
        ..wire::Plan::default()
    }
}

async fn submit(
    connection: &mut Connection,
    incident: IncidentId,
    suspect: &Suspect,
    now: OffsetDateTime,
) -> Result<JobId> {
    let new = db::job::New {
        project: suspect.incident.project,
        submission: None,
        incident: Some(incident),
        submitted_by: "scalewatch, to confirm before telling",
        plan: &suspect.plan,
        revisions: &suspect.revisions,
        turns: &job::turns(2, PAIRS),
        machine: Some(suspect.step.machine),
        label: None,
        priority: PRIORITY,
        deadline: Some(now + PATIENCE),
        limit_s: i32::try_from(PATIENCE.whole_seconds()).unwrap_or(i32::MAX),
        created_at: now,
    };
    Ok(db::job::insert(connection, &new).await?)
}

/// Judges one suspect whose job is over, keeps the outcome and lets the mail go. None when there is
/// none.
///
/// # Errors
/// When the database does not answer.
pub async fn decide_next(app: &App) -> Result<Option<IncidentId>> {
    let mut tx = app.db.begin().await?;
    let Some((incident, job)) = confirmation::claim_measured(&mut tx).await? else {
        return Ok(None);
    };
    let job = db::job::find(&mut *tx, job).await?.context("the job is gone")?;
    let (outcome, words) = outcome(app, incident, &job).await?;
    let now = app.clock.now();
    confirmation::mark_decided(&mut tx, incident, outcome, &words, now).await?;
    let detail = json!({ "words": words, "outcome": outcome, "job": job.id });
    db::incident::insert_event(&mut tx, incident, now, "measured_again", &detail).await?;
    tx.commit().await?;
    Ok(Some(incident))
}

async fn outcome(app: &App, incident: IncidentId, job: &Job) -> Result<(Outcome, String)> {
    if job.state != JobState::Done {
        let why = job.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        let words = format!("not measured again: job {} {}{why}", job.id, job.state.title());
        return Ok((Outcome::NotRerun, words));
    }
    let incident = db::incident::find(&app.db, incident).await?.context("the incident is gone")?;
    let headline = &incident.headline;
    let curve = db::curve::find(&app.db, headline.curve).await?.context("the curve is gone")?;
    let judged = judge(app, &curve, &headline.metric, job).await?;
    let name = &curve.machine_name;
    let runs = format!("{} runs of each in turns on {name}", job.turns.len() / 2);
    let Some(comparison) = judged else {
        let words = format!("not measured again: the {runs} are of another curve");
        return Ok((Outcome::NotRerun, words));
    };
    let judgement = &comparison.judgement;
    let words = &judgement.words;
    let looked_for = match incident.change {
        Change::Regression => stats::Verdict::Regression,
        Change::Improvement => stats::Verdict::Improvement,
    };
    Ok(if judgement.any(looked_for) {
        (Outcome::Confirmed, format!("confirmed by {runs}: {words}"))
    } else if judgement.any(stats::Verdict::NoChange) {
        (Outcome::Refuted, format!("refuted by {runs}: {words}"))
    } else {
        (Outcome::NotRerun, format!("neither confirmed nor refuted by {runs}: {words}"))
    })
}

/// The job's own runs, base against head; none where the curve has none of them.
async fn judge(
    app: &App,
    curve: &Curve,
    metric: &str,
    job: &Job,
) -> Result<Option<two_sides::Comparison>> {
    let filter =
        db::history::Filter { metric: Some(metric), runs: Some(&job.runs), ..Default::default() };
    let measured = db::history::list(&app.db, curve, &filter, true).await?;
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let Some(direction) = series.iter().find(|one| one.metric == metric).map(|one| one.direction)
    else {
        return Ok(None);
    };
    let [base, head] = [0, 1].map(|side| {
        let commit = job.revisions.get(side).map(|revision| revision.commit.as_str());
        let of_side = |one: &&Measurement| Some(one.commit.as_str()) == commit;
        measured.iter().filter(of_side).cloned().collect::<Vec<Measurement>>()
    });
    if base.is_empty() || head.is_empty() {
        return Ok(None);
    }
    let floors = db::noise::list_of_curve(&app.db, curve.machine, curve.id).await?;
    let floor = Floor::of_sides(&floors, metric);
    let earlier = earlier::load(&app.db, curve, metric, &base, &head).await?;
    let points = two_sides::points(&base, &head, &earlier, floor.relative);
    let mut ids: Vec<_> = measured.iter().map(|one| one.environment).collect();
    ids.sort_unstable();
    ids.dedup();
    let facts = db::environment::list(&app.db, &ids).await?;
    let facts = facts.into_iter().map(|one| (one.id, one.facts)).collect();
    let direction = direction_of(direction);
    let policy = policy::two_sides();
    Ok(Some(two_sides::compare_curve(&points, direction, &facts, &policy, Across::No)))
}
