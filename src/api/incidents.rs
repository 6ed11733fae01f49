//! Incidents: listed, one with its steps, their evidence, its history and its messages, and what
//! people decide about it.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::at::At;
use super::auth::{Caller, Reader};
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
use super::incident_steps::StepView;
use super::page::Page;
use super::problem::{Conflict, NotFound, Read, Write};
use super::values::Estimate;
use super::{Answer, Params, body, lookup};
use crate::account::Viewer;
use crate::alert::triage::{self, Decision};
use crate::app::App;
use crate::db;
use crate::db::incident::Filter;
use crate::detect::severity;
use crate::error::{Error, Result};
use crate::model::incident::{Event, Incident, Message, RangeEnd, Reason, State as Standing};
use crate::model::job::{Confirmation, Outcome};
use crate::model::severity::Severity;
use crate::model::step::Change;
use crate::model::{IncidentId, JobId, Scope};

/// Largest body of a decision, bytes.
const DECISION_BYTES: usize = 16 << 10;

/// The steps that have one cause.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Incident)]
pub struct IncidentView {
    id: IncidentId,
    project: String,
    branch: String,
    change: Change,
    state: Standing,
    /// Null when no step of it stands.
    severity: Option<SeverityView>,
    /// Why it is invalid.
    reason: Option<Reason>,
    /// The commit said to have undone it.
    fixed_by: Option<String>,
    /// The incident that took over its steps.
    merged_into: Option<IncidentId>,
    /// Last revision known to be without the cause.
    good: RangeEnd,
    /// First revision known to have it.
    bad: RangeEnd,
    steps: i64,
    machines: i64,
    workload: String,
    metric: String,
    tasks: Vec<i32>,
    /// after ÷ before of the strongest step.
    ratio: Option<Estimate>,
    #[serde(with = "rfc3339")]
    opened_at: OffsetDateTime,
    #[serde(with = "rfc3339")]
    changed_at: OffsetDateTime,
    /// Its page.
    url: String,
}

/// `score` is `noise_units` × `weight` × √`curves`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Severity)]
struct SeverityView {
    word: &'static str,
    score: f64,
    noise_units: f64,
    weight: f64,
    curves: usize,
}

impl From<Severity> for SeverityView {
    fn from(severity: Severity) -> SeverityView {
        SeverityView {
            word: severity.word(),
            score: severity.score,
            noise_units: severity.units,
            weight: severity.weight,
            curves: severity.curves,
        }
    }
}

/// An incident with its steps, its history and its messages.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct IncidentDetail {
    #[serde(flatten)]
    incident: IncidentView,
    moved: Vec<StepView>,
    /// Whether the suspect was measured again before it was told; null before anybody looked.
    confirmation: Option<ConfirmationView>,
    events: Vec<EventView>,
    messages: Vec<MessageView>,
}

/// Whether a suspect was measured again, and what came of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Confirmation)]
struct ConfirmationView {
    /// Null while the job is at work.
    outcome: Option<Outcome>,
    words: String,
    /// The job that measures it again.
    job: Option<JobId>,
}

impl From<Confirmation> for ConfirmationView {
    fn from(one: Confirmation) -> ConfirmationView {
        ConfirmationView { outcome: one.outcome, words: one.words, job: one.job }
    }
}

/// One line of the history.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = IncidentEvent)]
struct EventView {
    #[serde(with = "rfc3339")]
    at: OffsetDateTime,
    kind: String,
    detail: serde_json::Value,
}

/// A message about the incident and what became of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = IncidentMessage)]
struct MessageView {
    event: String,
    attempts: i32,
    #[serde(with = "rfc3339::option")]
    sent_at: Option<OffsetDateTime>,
    sent_to: Option<String>,
    #[serde(with = "rfc3339::option")]
    withdrawn_at: Option<OffsetDateTime>,
}

/// Incidents, newest first.
#[utoipa::path(
    get, path = "/incidents", operation_id = "list_incidents", tag = "incidents",
    params(
        ("state" = Option<String>, Query, description = "`open` (when left out), `settled`, `all`, \
            or one state."),
        FilterParams,
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of incidents.", content(
            (Page<IncidentView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn list(
    State(app): State<App>,
    Reader(viewer): Reader,
    mut params: Params,
) -> Answer<Response> {
    let states = states(params.take::<String>("state")?.as_deref())?;
    let (asked, format) = (params.page()?, Format::asked(&mut params)?);
    let filter = Filter { states: Some(states), ..filter(&app, &viewer, params).await? };
    let visible = viewer.visible().clone();
    export::list("incidents", format, asked, move |after, limit| {
        let (app, filter) = (app.clone(), Filter { after, ..filter.clone() });
        let visible = visible.clone();
        async move {
            let rows = db::incident::list(&app.db, &visible, &filter, limit).await?;
            let severities = severity::list(&app.db, &rows).await?;
            let shown = |one: Incident| (one.id, IncidentView::of(&app, one, &severities));
            Ok(rows.into_iter().map(shown).collect())
        }
    })
    .await
}

/// What incidents are narrowed to, state left out.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FilterParams {
    /// Name of a project.
    project: Option<String>,
    /// Name of a branch of `project`.
    branch: Option<String>,
    /// Id of a machine a step was found on.
    machine: Option<String>,
    /// Id of a workload with a step.
    workload: Option<String>,
    /// Bad or good.
    change: Option<Change>,
    /// Opened then or later.
    since: Option<OffsetDateTime>,
    /// Opened earlier.
    before: Option<OffsetDateTime>,
}

impl FilterParams {
    fn take(params: &mut Params) -> Result<FilterParams> {
        let change = params.take::<String>("change")?;
        let unknown = || Error::query("change", "must be regression or improvement");
        Ok(FilterParams {
            project: params.take("project")?,
            branch: params.take("branch")?,
            machine: params.take("machine")?,
            workload: params.take("workload")?,
            change: change.map(|word| Change::parse(&word).ok_or_else(unknown)).transpose()?,
            since: params.time("since")?,
            before: params.time("before")?,
        })
    }
}

/// What the parameters that are left ask for: every other one was taken before.
pub(super) async fn filter(app: &App, viewer: &Viewer, mut params: Params) -> Result<Filter> {
    let asked = FilterParams::take(&mut params)?;
    params.finish()?;
    let (project, branch) =
        lookup::project_filter(app, viewer, asked.project.as_deref(), asked.branch.as_deref())
            .await?;
    Ok(Filter {
        project,
        branch,
        machine: lookup::machine_filter(app, asked.machine.as_deref()).await?,
        workload: asked.workload,
        change: asked.change,
        since: asked.since,
        until: asked.before,
        ..Filter::default()
    })
}

/// The states a word stands for.
pub(super) fn states(word: Option<&str>) -> Result<Vec<Standing>, Error> {
    match word {
        None | Some("open") => Ok(Standing::OPEN.to_vec()),
        Some("settled") => Ok(Standing::SETTLED.to_vec()),
        Some("all") => Ok(Standing::ALL.to_vec()),
        Some(word) => Standing::parse(word).map(|state| vec![state]).ok_or_else(|| {
            let words = Standing::ALL.map(Standing::word).join(", ");
            Error::query("state", format!("must be open, settled, all, {words}"))
        }),
    }
}

/// An incident with its steps, their evidence, its history and its messages.
#[utoipa::path(
    get, path = "/incidents/{id}", operation_id = "read_incident", tag = "incidents",
    params(("id" = IncidentId, Path, description = "Number of the incident.")),
    responses((status = 200, description = "The incident.", body = IncidentDetail), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(id): At<String>,
    params: Params,
) -> Answer<Json<IncidentDetail>> {
    params.finish()?;
    let incident = lookup::incident(&app, &viewer, &id).await?;
    Ok(Json(detail(&app, incident).await?))
}

/// Takes an incident to another state, and answers it as it stands then.
#[utoipa::path(
    post, path = "/incidents/{id}/state", operation_id = "decide_incident", tag = "incidents",
    params(("id" = IncidentId, Path, description = "Number of the incident.")),
    request_body = Decision,
    responses(
        (status = 200, description = "The incident now.", body = IncidentDetail),
        Write,
        NotFound,
        Conflict,
    ),
    security(("token" = ["triage"])),
)]
pub async fn decide(
    State(app): State<App>,
    At(id): At<String>,
    caller: Caller,
    request: Request,
) -> Answer<Json<IncidentDetail>> {
    caller.require(Scope::Triage)?;
    let seen = lookup::incident(&app, caller.viewer(), &id).await?;
    caller.require_in(Scope::Triage, seen.project)?;
    let decision: Decision = body::read(request, DECISION_BYTES, Ok).await?;
    let mut tx = app.db.begin().await?;
    triage::decide(&mut tx, seen.id, &decision, caller.name(), app.clock.now()).await?;
    caller.by(&app).decided(&mut tx, &seen, &decision).await?;
    tx.commit().await?;
    let incident = lookup::incident(&app, caller.viewer(), &id).await?;
    Ok(Json(detail(&app, incident).await?))
}

async fn detail(app: &App, incident: Incident) -> Result<IncidentDetail> {
    let id = incident.id;
    let severities = severity::list(&app.db, std::slice::from_ref(&incident)).await?;
    let moved = db::incident_step::list(&app.db, id).await?;
    let events = db::incident::list_events(&app.db, id).await?;
    let messages = db::incident::list_messages(&app.db, id).await?;
    let confirmation = db::job::confirmation::find(&app.db, id).await?;
    Ok(IncidentDetail {
        confirmation: confirmation.map(ConfirmationView::from),
        incident: IncidentView::of(app, incident, &severities),
        moved: moved.into_iter().map(StepView::from).collect(),
        events: events.into_iter().map(EventView::from).collect(),
        messages: messages.into_iter().map(MessageView::from).collect(),
    })
}

impl Tabular for IncidentView {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "project",
        "branch",
        "change",
        "state",
        "reason",
        "severity.word",
        "severity.score",
        "workload",
        "metric",
        "tasks",
        "ratio.value",
        "ratio.low",
        "ratio.high",
        "good.commit",
        "bad.commit",
        "steps",
        "machines",
        "opened_at",
        "changed_at",
        "fixed_by",
        "merged_into",
        "url",
    ];
}

impl IncidentView {
    /// As answers show it.
    pub(super) fn of(
        app: &App,
        incident: Incident,
        severities: &BTreeMap<IncidentId, Severity>,
    ) -> IncidentView {
        let headline = incident.headline;
        IncidentView {
            url: format!("{}/incidents/{}", app.config.public_url, incident.id),
            severity: severities.get(&incident.id).copied().map(SeverityView::from),
            id: incident.id,
            project: incident.project_name,
            branch: incident.branch_name,
            change: incident.change,
            state: incident.state,
            reason: incident.reason,
            fixed_by: incident.fixed_by,
            merged_into: incident.merged_into,
            good: incident.good,
            bad: incident.bad,
            steps: incident.steps,
            machines: incident.machines,
            workload: headline.workload,
            metric: headline.metric,
            tasks: headline.all_tasks,
            ratio: headline.ratio.map(Estimate::from),
            opened_at: incident.opened_at,
            changed_at: incident.changed_at,
        }
    }
}

impl From<Event> for EventView {
    fn from(event: Event) -> EventView {
        EventView { at: event.at, kind: event.kind, detail: event.detail }
    }
}

impl From<Message> for MessageView {
    fn from(message: Message) -> MessageView {
        MessageView {
            event: message.event,
            attempts: message.attempts,
            sent_at: message.sent_at,
            sent_to: message.sent_to,
            withdrawn_at: message.withdrawn_at,
        }
    }
}
