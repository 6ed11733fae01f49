//! What was done, kept in the transaction that does it.

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::Viewer;
use crate::alert::triage::Decision;
use crate::db::{self, Connection};
use crate::error::Result;
use crate::model::incident::{Incident, State};

/// Who does something, where from and when.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// Who.
    pub viewer: &'a Viewer,
    /// An address, or `command line`.
    pub origin: &'a str,
    /// Now.
    pub now: OffsetDateTime,
}

impl By<'_> {
    /// Keeps that somebody decided about an incident, which was seen as it is given.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decided(
        &self,
        connection: &mut Connection,
        seen: &Incident,
        decision: &Decision,
    ) -> Result<()> {
        let was = json!({ "state": seen.state.word() });
        let mut became = json!({ "state": decision.to.trim() });
        // A form posts all its fields, whatever was decided.
        let beside = match State::parse(decision.to.trim()) {
            Some(State::Invalid) => Some(("reason", &decision.reason)),
            Some(State::Fixed) => Some(("fixed_by", &decision.fixed_by)),
            _ => None,
        };
        if let Some((key, Some(text))) = beside {
            became[key] = text.trim().into();
        }
        let about = format!("incident {} of {}", seen.id, seen.project_name);
        self.did(connection, "incident_decided", &about, (Some(was), Some(became))).await
    }

    /// Keeps that something was done.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn did(
        &self,
        connection: &mut Connection,
        what: &str,
        about: &str,
        (was, became): (Option<Value>, Option<Value>),
    ) -> Result<()> {
        let new = db::audit::New {
            at: self.now,
            person: self.viewer.as_person().map(|person| person.id),
            who: self.viewer.name(),
            origin: self.origin,
            what,
            about,
            was: was.as_ref(),
            became: became.as_ref(),
        };
        Ok(db::audit::insert(connection, &new).await?)
    }
}
