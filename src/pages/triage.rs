//! The form of an incident's page by which people decide about it, and what it posts.

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Path, State};
use axum::response::Redirect;
use serde::Deserialize;

use super::failure::Failure;
use super::visitor::{Posted, Visitor};
use crate::account::Who;
use crate::alert::triage::{self, Decision};
use crate::api::lookup;
use crate::app::App;
use crate::model::incident::{Incident, Reason, State as IncidentState};
use crate::model::{ProjectId, Role};

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
    /// Whether who looks may decide.
    pub may: May,
}

/// Whether who looks at an incident may decide about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum May {
    /// Yes; what the form carries.
    Decide(String),
    /// Not before they log in there.
    LogIn(String),
    /// Not without the role.
    No,
}

impl May {
    fn of(visitor: &Visitor, project: ProjectId) -> May {
        match visitor.viewer.who() {
            _ if visitor.viewer.may(Role::Triager, project) => May::Decide(visitor.form.word()),
            Who::Nobody => May::LogIn(visitor.login_address()),
            _ => May::No,
        }
    }
}

impl HtmlSafe for TriageForm {}

impl TriageForm {
    /// What can be decided about an incident.
    pub fn new(incident: &Incident, visitor: &Visitor) -> TriageForm {
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
            may: May::of(visitor, incident.project),
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
pub struct Deciding {
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
    Posted { visitor, form }: Posted<Deciding>,
) -> Result<Redirect, Failure> {
    let incident = lookup::incident(&app, &visitor.viewer, &id).await?;
    visitor.viewer.require(Role::Triager, incident.project)?;
    let decision = Decision {
        to: form.to.unwrap_or_default(),
        from: form.from,
        reason: form.reason,
        fixed_by: form.fixed_by,
        note: form.note,
    };
    let by = visitor.by(&app);
    let mut tx = app.db.begin().await?;
    triage::decide(&mut tx, incident.id, &decision, by.viewer.name(), by.now).await?;
    by.decided(&mut tx, &incident, &decision).await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/incidents/{}", incident.id)))
}
