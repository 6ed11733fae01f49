//! The form of an incident's page by which people decide about it, and what it posts.

use std::collections::BTreeMap;

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
use crate::error::Error;
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

impl Way {
    /// The key that presses the button.
    pub(super) fn key(&self) -> Option<&'static str> {
        IncidentState::parse(self.to).and_then(key)
    }
}

/// The key that takes an incident there; those that need something beside it lead to its field.
fn key(state: IncidentState) -> Option<&'static str> {
    match state {
        IncidentState::Acknowledged => Some("a"),
        IncidentState::Confirmed => Some("c"),
        IncidentState::WontFix => Some("w"),
        IncidentState::Reopened => Some("r"),
        _ => None,
    }
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

/// The form of a list, by which many are decided about at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkForm {
    /// What the form carries.
    pub word: String,
    /// Which list it leads back to.
    pub list: String,
    /// Ways that need nothing beside them.
    pub plain: Vec<Way>,
    /// Reasons, where some can be marked invalid.
    pub reasons: Vec<&'static str>,
}

impl BulkForm {
    /// What can be decided about some of these by who looks; none where nothing can.
    pub fn new(incidents: &[Incident], visitor: &Visitor, list: &str) -> Option<BulkForm> {
        let ways: Vec<IncidentState> = incidents
            .iter()
            .filter(|one| visitor.viewer.may(Role::Triager, one.project))
            .flat_map(|one| one.state.choices())
            .copied()
            .collect();
        let possible = IncidentState::ALL.into_iter().filter(|state| ways.contains(state));
        let way = |state| Some(Way { to: IncidentState::word(state), verb: verb(state)? });
        (!ways.is_empty()).then(|| BulkForm {
            word: visitor.form.word(),
            list: list.to_owned(),
            plain: possible.filter_map(way).collect(),
            reasons: match ways.contains(&IncidentState::Invalid) {
                true => Reason::ALL.map(Reason::word).to_vec(),
                false => Vec::new(),
            },
        })
    }
}

/// Incidents decided about at once, at most.
const MOST_AT_ONCE: usize = 200;

/// What a list posts: a decision, and `incident_7=new` for each that was picked, with the state it
/// was seen in.
#[derive(Debug, Deserialize)]
pub struct DecidingMany {
    to: Option<String>,
    reason: Option<String>,
    note: Option<String>,
    list: Option<String>,
    #[serde(flatten)]
    picked: BTreeMap<String, String>,
}

/// `POST /incidents`: decides about all that were picked or about none, and leads back to the list.
pub async fn decide_many(
    State(app): State<App>,
    Posted { visitor, form }: Posted<DecidingMany>,
) -> Result<Redirect, Failure> {
    let mut picked = Vec::new();
    for (field, from) in &form.picked {
        let Some(id) = field.strip_prefix("incident_") else { continue };
        let incident = lookup::incident(&app, &visitor.viewer, id).await?;
        visitor.viewer.require(Role::Triager, incident.project)?;
        picked.push((incident, from));
        if picked.len() > MOST_AT_ONCE {
            let problem = format!("more than {MOST_AT_ONCE} were picked");
            return Err(Error::invalid("incident", problem).into());
        }
    }
    if picked.is_empty() {
        return Err(Error::invalid("incident", "none was picked; tick at least one").into());
    }
    // Projects are locked in one order, so that two who decide at once never wait for each other.
    picked.sort_by_key(|(incident, _)| (incident.project, incident.id));
    let by = visitor.by(&app);
    let mut tx = app.db.begin().await?;
    for (incident, from) in &picked {
        let decision = Decision {
            to: form.to.clone().unwrap_or_default(),
            from: Some((*from).clone()),
            reason: form.reason.clone(),
            fixed_by: None,
            note: form.note.clone(),
        };
        triage::decide(&mut tx, incident.id, &decision, by.viewer.name(), by.now)
            .await
            .map_err(|error| of_incident(incident, error))?;
        by.decided(&mut tx, incident, &decision).await?;
    }
    tx.commit().await?;
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("state", form.list.as_deref().unwrap_or("open"));
    Ok(Redirect::to(&format!("/incidents?{}", query.finish())))
}

/// Says which incident stands in the way, and that nothing was decided about the others.
fn of_incident(incident: &Incident, error: Error) -> Error {
    match error {
        Error::Conflict { code, field, detail } => {
            Error::Conflict { code, field, detail: format!("incident {}: {detail}", incident.id) }
        }
        other => other,
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
