//! The form of an incident's page by which people decide about it, and what it posts. The right to
//! decide is the token typed into the form: no cookie carries it, so no other site can use it.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::Redirect;
use serde::Deserialize;

use super::failure::Failure;
use crate::alert::triage::{self, Decision};
use crate::api::Caller;
use crate::app::App;
use crate::error::{Error, Result};
use crate::model::incident::{Incident, Reason, State as IncidentState};
use crate::model::{IncidentId, Scope, Secret};

/// One way from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Word of the state.
    pub to: &'static str,
    /// What the button says.
    pub verb: &'static str,
}

/// The form.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/triage.html")]
pub struct TriageForm {
    /// Row of the incident.
    pub id: i64,
    /// Word of the state it is seen in.
    pub from: &'static str,
    /// Ways that need nothing beside them.
    pub plain: Vec<Way>,
    /// Reasons, where it can be marked invalid.
    pub reasons: Vec<&'static str>,
    /// Whether it can be marked fixed.
    pub can_be_fixed: bool,
}

impl HtmlSafe for TriageForm {}

impl TriageForm {
    /// What can be decided about an incident.
    pub fn new(incident: &Incident) -> TriageForm {
        let choices = incident.state.choices();
        let way = |state: &IncidentState| Some(Way { to: state.word(), verb: verb(*state)? });
        TriageForm {
            id: incident.id.0,
            from: incident.state.word(),
            plain: choices.iter().filter_map(way).collect(),
            reasons: match choices.contains(&IncidentState::Invalid) {
                true => Reason::ALL.map(Reason::word).to_vec(),
                false => Vec::new(),
            },
            can_be_fixed: choices.contains(&IncidentState::Fixed),
        }
    }

    fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.reasons.is_empty() && !self.can_be_fixed
    }
}

/// What a button says; none for states that need something beside it.
fn verb(state: IncidentState) -> Option<&'static str> {
    match state {
        IncidentState::Acknowledged => Some("Acknowledge"),
        IncidentState::Confirmed => Some("Confirm"),
        IncidentState::WontFix => Some("Won’t fix"),
        IncidentState::Reopened => Some("Reopen"),
        _ => None,
    }
}

/// What the form posts.
#[derive(Debug, Deserialize)]
pub struct Posted {
    token: Option<Secret>,
    to: Option<String>,
    from: Option<String>,
    reason: Option<String>,
    fixed_by: Option<String>,
    note: Option<String>,
}

/// `POST /incidents/{id}`: decides, and leads back to the page.
pub async fn decide(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    posted: Result<Form<Posted>, FormRejection>,
) -> Result<Redirect, Failure> {
    refuse_other_sites(&headers)?;
    let Form(posted) = posted.map_err(|error| Error::Malformed {
        code: "malformed_form",
        detail: format!("the form cannot be read: {}", error.body_text()),
    })?;
    let id: IncidentId = id.parse().map_err(|_| Error::NotFound("incident"))?;
    let token = posted.token.ok_or(Error::Unauthorised("this takes a token of scope triage"))?;
    let caller = Caller::of(&app, &token).await?;
    caller.require(Scope::Triage)?;
    let decision = Decision {
        to: posted.to.unwrap_or_default(),
        from: posted.from,
        reason: posted.reason,
        fixed_by: posted.fixed_by,
        note: posted.note,
    };
    let mut tx = app.db.begin().await?;
    triage::decide(&mut tx, id, &decision, caller.name(), app.clock.now()).await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/incidents/{id}")))
}

/// A browser says where a form came from; one of another site is none of ours.
fn refuse_other_sites(headers: &HeaderMap) -> Result<()> {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Error::Forbidden("this form was sent from another site")),
    }
}
