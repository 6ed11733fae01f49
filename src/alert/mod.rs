//! Turns the steps just found in a curve into what stands: steps kept, moved, retracted and added,
//! incidents grouped by cause, their history, and the messages to be sent. One transaction with
//! the detection that fed it; the project's row is locked, so workers take turns, and so do people
//! who decide about incidents ([`triage`]).

mod group;
mod outcome;
mod reconcile;
mod role;
mod tell;
pub mod triage;
mod unsettled;
pub mod words;

use anyhow::Result;
use serde_json::json;
use time::OffsetDateTime;

use crate::db::due::Due;
use crate::db::{self, Connection};
use crate::model::step::{Found, Scope, StandingStep};
use crate::model::{CurveId, ProjectId};
use reconcile::Action;

/// Stores what was found in curves of one machine and project, where they were judged, and settles the incidents it bears
/// on.
///
/// # Errors
/// When the database refuses; nothing is kept then, by the caller's transaction.
pub async fn apply(
    connection: &mut Connection,
    found: &[(Due, &[Found], &Scope)],
    now: OffsetDateTime,
) -> Result<()> {
    let Some((first, ..)) = found.first() else { return Ok(()) };
    db::incident::lock_project(connection, first.project).await?;
    let curves: Vec<CurveId> = found.iter().map(|(due, ..)| due.curve).collect();
    let (machine, project) = (first.machine, first.project);
    let before = db::step::list_standing_of_curves(connection, machine, project, &curves).await?;
    for (due, found, scope) in found {
        let is_judged = |step: &&StandingStep| {
            step.curve == due.curve && scope.holds(step.branch, step.bad.rank)
        };
        let standing: Vec<StandingStep> = before.iter().filter(is_judged).cloned().collect();
        for action in reconcile::reconcile(&standing, found) {
            store(connection, *due, action, now).await?;
        }
    }
    let after = match before.is_empty() && found.iter().all(|(_, found, _)| found.is_empty()) {
        true => Vec::new(),
        false => db::step::list_standing_of_curves(connection, machine, project, &curves).await?,
    };
    if unsettled::is_settled(&before, &after) {
        return Ok(());
    }
    group::settle(connection, project, &before, &after, now).await
}

/// Retracts those of some steps of a project that people took the ground from, by `why`, and settles
/// the incidents of the branches that the steps are on.
///
/// # Errors
/// When the database refuses.
pub async fn withdraw(
    connection: &mut Connection,
    project: ProjectId,
    steps: &[StandingStep],
    is_gone: impl Fn(&StandingStep) -> bool,
    why: &str,
    now: OffsetDateTime,
) -> Result<()> {
    db::incident::lock_project(connection, project).await?;
    for step in steps.iter().filter(|step| is_gone(step)) {
        db::step::mark_retracted(connection, step.machine, step.id, now).await?;
        let words = format!("the step of {} is gone: {why}", words::step(step));
        let detail = json!({ "words": words, "step": step.id });
        note(connection, step, "step_retracted", &detail, now).await?;
    }
    group::settle(connection, project, steps, &[], now).await
}

async fn store(
    connection: &mut Connection,
    due: Due,
    action: Action<'_>,
    now: OffsetDateTime,
) -> Result<()> {
    match action {
        Action::Add(new) => {
            db::step::insert(connection, due.machine, new, now).await?;
        }
        // The same levels to the last digit rest on the same values.
        Action::Renew(old, new) if unsettled::is_unchanged(old, new) => {}
        Action::Renew(old, new) => {
            db::step::update(connection, due.machine, old.id, new).await?;
        }
        Action::Move(old, new) => {
            db::step::update(connection, due.machine, old.id, new).await?;
            let detail = json!({
                "words": words::moved(old, new),
                "step": old.id,
                "from": { "good": old.good, "bad": old.bad },
                "to": { "good": new.good, "bad": new.bad },
            });
            note(connection, old, "step_moved", &detail, now).await?;
        }
        Action::Retract(old) => {
            db::step::mark_retracted(connection, due.machine, old.id, now).await?;
            let detail = json!({ "words": words::retracted(old), "step": old.id });
            note(connection, old, "step_retracted", &detail, now).await?;
        }
    }
    Ok(())
}

/// Adds a line to the history of the step's incident, if it has one.
async fn note(
    connection: &mut Connection,
    step: &StandingStep,
    kind: &str,
    detail: &serde_json::Value,
    now: OffsetDateTime,
) -> Result<()> {
    if let Some(incident) = step.incident {
        tell::note(connection, incident, kind, detail, now).await?;
    }
    Ok(())
}
