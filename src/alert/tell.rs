//! An incident's history, and which of it is told. A regression is told; an improvement is shown
//! on the pages alone. Nothing is told of what nobody had been told of and is over.

use anyhow::Result;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::db::outbox::Kind;
use crate::db::{self, Connection};
use crate::model::IncidentId;
use crate::model::incident::State;
use crate::model::step::Change;
use crate::model::triage::Target;

/// From one state to another.
pub(super) struct Shift<'a> {
    pub incident: IncidentId,
    pub change: Change,
    pub from: State,
    pub to: &'a Target,
    /// What happened, in a sentence.
    pub words: &'a str,
    /// Who decided it; data where nobody did.
    pub by: Option<&'a str>,
    /// Why, in the words of who decided it.
    pub note: Option<&'a str>,
}

/// Takes the incident there, keeps it in its history, and tells it where it is worth telling.
/// False when the incident no longer stands where it comes from.
pub(super) async fn change_state(
    connection: &mut Connection,
    shift: &Shift<'_>,
    now: OffsetDateTime,
) -> Result<bool> {
    let Shift { incident, from, to, .. } = *shift;
    if !db::incident::set_state(connection, incident, from, to, now).await? {
        return Ok(false);
    }
    let mut detail = json!({ "words": shift.words, "from": from, "to": to.state() });
    let facts = [
        ("by", shift.by.map(Value::from)),
        ("note", shift.note.map(Value::from)),
        ("reason", to.reason().map(|reason| json!(reason))),
        ("fixed_by", to.fixed_by().map(Value::from)),
        ("merged_into", to.merged_into().map(|into| json!(into))),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            detail[name] = value;
        }
    }
    let event = note(connection, incident, "state_changed", &detail, now).await?;
    if shift.change == Change::Regression {
        tell(connection, shift, event, now).await?;
    }
    Ok(true)
}

async fn tell(
    connection: &mut Connection,
    shift: &Shift<'_>,
    event: i64,
    now: OffsetDateTime,
) -> Result<()> {
    let incident = shift.incident;
    let to = shift.to.state();
    let told = match to {
        // Over: what was not sent yet is not worth sending any more.
        State::Invalid | State::Merged | State::Returned | State::Retracted => {
            db::outbox::withdraw(connection, incident, now).await?
        }
        _ => db::outbox::is_told(connection, incident).await?,
    };
    match to {
        State::New | State::Acknowledged => Ok(()),
        // Found again by data it is told in full, as at first.
        State::Reopened if shift.by.is_none() || !told => {
            opened(connection, incident, shift.change, now).await
        }
        State::Retracted if told => queue(connection, incident, Kind::IncidentRetracted, now).await,
        _ if told => changed(connection, incident, event, now).await,
        _ => Ok(()),
    }
}

async fn changed(
    connection: &mut Connection,
    incident: IncidentId,
    event: i64,
    now: OffsetDateTime,
) -> Result<()> {
    let name = format!("incident/{incident}/changed/{event}");
    let kind = Kind::IncidentChanged;
    Ok(db::outbox::insert(connection, &name, kind, incident, Some(event), now).await?)
}

/// Keeps and tells that an incident lies elsewhere than was told.
pub(super) async fn moved(
    connection: &mut Connection,
    incident: IncidentId,
    change: Change,
    words: &str,
    now: OffsetDateTime,
) -> Result<()> {
    let event = note(connection, incident, "moved", &json!({ "words": words }), now).await?;
    if change == Change::Regression && db::outbox::is_told(connection, incident).await? {
        changed(connection, incident, event, now).await?;
    }
    Ok(())
}

/// Queues the message that opens an incident, or opens it again.
pub(super) async fn opened(
    connection: &mut Connection,
    incident: IncidentId,
    change: Change,
    now: OffsetDateTime,
) -> Result<()> {
    match change {
        Change::Regression => queue(connection, incident, Kind::IncidentOpened, now).await,
        Change::Improvement => Ok(()),
    }
}

async fn queue(
    connection: &mut Connection,
    incident: IncidentId,
    kind: Kind,
    now: OffsetDateTime,
) -> Result<()> {
    let verb = if kind == Kind::IncidentOpened { "opened" } else { "retracted" };
    // The first is `incident/12/opened`; after a retraction it may be opened a second time.
    let name = match db::outbox::count(connection, incident, kind).await? {
        0 => format!("incident/{incident}/{verb}"),
        n => format!("incident/{incident}/{verb}/{}", n + 1),
    };
    Ok(db::outbox::insert(connection, &name, kind, incident, None, now).await?)
}

/// Adds a line to an incident's history, has webhooks told of it where it is worth telling, and
/// returns its number.
pub(super) async fn note(
    connection: &mut Connection,
    incident: IncidentId,
    kind: &str,
    detail: &Value,
    now: OffsetDateTime,
) -> Result<i64> {
    let event = db::incident::insert_event(connection, incident, now, kind, detail).await?;
    if matches!(kind, "opened" | "moved" | "state_changed") {
        db::webhook::queue(connection, incident, event, now).await?;
    }
    Ok(event)
}
