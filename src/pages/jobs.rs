//! `/jobs`: what was asked for and how far it is, by state, project and machine, and a form to ask.

use std::str::FromStr;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use time::OffsetDateTime;
use wire::{AskedRange, AskedRevision, JobRequest, Plan};

use super::failure::Failure;
use super::shown;
use super::view::{CommitMark, Layout, Section, StateChoice, When};
use super::visitor::{Posted, Visitor};
use crate::api::{self, lookup};
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::format;
use crate::jobs::submit;
use crate::model::job::{Job, JobState};
use crate::model::{JobId, Role};

/// Jobs on one page.
const SHOWN: i64 = 100;

/// One job in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Row, and its address.
    pub id: i64,
    /// What is measured.
    pub workloads: String,
    /// The revision, of two the head.
    pub commit: CommitMark,
    /// Whose code.
    pub project: String,
    /// Id and name of the machine, where one has it or it is for one.
    pub machine: Option<(String, String)>,
    /// Label of the machines it is for.
    pub label: String,
    /// State in words.
    pub state: &'static str,
    /// Class of the style sheet.
    pub class: &'static str,
    /// How far it is, and why it stands so.
    pub progress: String,
    /// When it was asked for.
    pub created: When,
}

/// A list of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/job_rows.html")]
pub struct JobRows {
    /// What the list holds.
    pub caption: String,
    /// Rows.
    pub rows: Vec<JobRow>,
}

impl HtmlSafe for JobRows {}

impl JobRows {
    /// Jobs as stored.
    pub fn new(caption: impl Into<String>, jobs: &[Job], now: OffsetDateTime) -> JobRows {
        JobRows { caption: caption.into(), rows: jobs.iter().map(|job| row(job, now)).collect() }
    }
}

fn row(job: &Job, now: OffsetDateTime) -> JobRow {
    let head = job.revisions.last();
    let text = |of: fn(&wire::Revision) -> &String| head.map_or("", |head| of(head));
    JobRow {
        id: job.id.0,
        workloads: workloads(&job.plan),
        commit: CommitMark::new(text(|head| &head.commit), text(|head| &head.subject)),
        project: job.project_name.clone(),
        machine: machine(job),
        label: job.label.clone().unwrap_or_default(),
        state: job.state.title(),
        class: class(job.state),
        progress: match &job.reason {
            Some(reason) => reason.clone(),
            None => job.progress_words(),
        },
        created: When::new(job.created_at, now),
    }
}

/// The first workloads of a plan, and how many more there are.
pub(super) fn workloads(plan: &wire::Plan) -> String {
    match plan.workloads.as_slice() {
        [first, second, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second} and {} more", rest.len())
        }
        all => all.join(", "),
    }
}

pub(super) fn machine(job: &Job) -> Option<(String, String)> {
    Some((job.machine_public_id.clone()?, job.machine_name.clone()?))
}

pub(super) const fn class(state: JobState) -> &'static str {
    match state {
        JobState::Failed => "regression",
        JobState::Done => "improvement",
        JobState::Cancelled | JobState::TimedOut => "undecided",
        _ => "",
    }
}

/// What can be chosen in the address.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    state: Option<String>,
    project: Option<String>,
    machine: Option<String>,
    after: Option<String>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/jobs.html")]
pub struct JobsView {
    /// Frame.
    pub layout: Layout,
    /// States to choose from.
    pub choices: Vec<StateChoice>,
    /// Project and machine it is narrowed to, and the address without.
    pub filters: Vec<(String, String)>,
    /// The jobs.
    pub jobs: JobRows,
    /// Address of older ones.
    pub older: Option<String>,
    /// What can be asked for; none for who may not.
    pub form: Option<JobForm>,
}

/// The form that asks for a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobForm {
    /// What it carries.
    pub form_word: String,
    /// Projects in which the visitor may ask.
    pub projects: Vec<String>,
    /// Id and name of the machines.
    pub machines: Vec<(String, String)>,
}

/// Shows the page.
pub async fn list(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Response, Failure> {
    let view = view(&app, &visitor, &choice).await?;
    match view.form {
        Some(_) => visitor.shown(&view),
        None => Ok(shown(&view)?.into_response()),
    }
}

async fn form(app: &App, visitor: &Visitor) -> Result<Option<JobForm>> {
    let mut projects = db::project::list(&app.db).await?;
    projects.retain(|project| visitor.viewer.may(Role::Maintainer, project.id));
    if projects.is_empty() {
        return Ok(None);
    }
    let machines = db::machine::list(&app.db).await?;
    let known = machines.into_iter().filter(|machine| machine.retired_at.is_none());
    Ok(Some(JobForm {
        form_word: visitor.form.word(),
        projects: projects.into_iter().map(|project| project.name).collect(),
        machines: known.map(|machine| (machine.public_id, machine.name)).collect(),
    }))
}

/// What the form posts: the fields of a request of the API, as texts.
#[derive(Debug, Deserialize)]
pub struct Ask {
    project: Option<String>,
    commit: Option<String>,
    base: Option<String>,
    after: Option<String>,
    branch: Option<String>,
    workloads: Option<String>,
    tasks: Option<String>,
    machine: Option<String>,
    label: Option<String>,
    runs: Option<String>,
    priority: Option<String>,
    deadline: Option<String>,
}

/// Asks for measurements as the API does, by somebody who may in the project.
pub async fn ask(
    State(app): State<App>,
    Posted { visitor, form }: Posted<Ask>,
) -> Result<Redirect, Failure> {
    let request = request(form)?;
    let project = lookup::project(&app, &visitor.viewer, &request.project).await?;
    visitor.viewer.require(Role::Maintainer, project.id)?;
    let (_, jobs) = submit::submit(&app, &request, None, visitor.viewer.name()).await?;
    Ok(match jobs.as_slice() {
        [one] => Redirect::to(&format!("/jobs/{}", one.id)),
        _ => Redirect::to(&address("open", Some(&project.name), None)),
    })
}

/// The request that a form spells. What is left empty is left out.
fn request(form: Ask) -> Result<JobRequest> {
    let text = |field: Option<String>| {
        field.map(|text| text.replace('\0', "").trim().to_owned()).filter(|text| !text.is_empty())
    };
    let branch = text(form.branch);
    let commit = text(form.commit).unwrap_or_default().to_ascii_lowercase();
    let revision = |commit: String| AskedRevision {
        commit,
        branch: branch.clone(),
        ..AskedRevision::default()
    };
    let (revision, range) = match text(form.after) {
        None => (Some(revision(commit)), None),
        Some(after) => (None, Some(AskedRange { after, upto: commit, branch: branch.clone() })),
    };
    let base = text(form.base).map(|commit| AskedRevision {
        commit: commit.to_ascii_lowercase(),
        branch,
        ..AskedRevision::default()
    });
    let workloads = text(form.workloads).unwrap_or_default();
    Ok(JobRequest {
        project: text(form.project).unwrap_or_default(),
        subject: None,
        revision,
        base,
        range,
        plan: Plan {
            workloads: workloads.split_whitespace().map(ToOwned::to_owned).collect(),
            tasks: text(form.tasks),
            ..Plan::default()
        },
        machine: text(form.machine),
        label: text(form.label),
        runs: number("runs", text(form.runs))?,
        priority: number("priority", text(form.priority))?,
        deadline: text(form.deadline),
        limit_s: None,
    })
}

fn number<T: FromStr>(field: &str, text: Option<String>) -> Result<Option<T>> {
    let read = |text: String| {
        text.parse().map_err(|_| Error::invalid(field, format!("`{text}` is no whole number")))
    };
    text.map(read).transpose()
}

async fn view(app: &App, visitor: &Visitor, choice: &Choice) -> Result<JobsView> {
    let asked = choice.state.as_deref().unwrap_or("all");
    let mut filter = db::job::Filter::default();
    if asked != "all" {
        filter.states = Some(api::job_states(asked)?);
    }
    let mut filters = Vec::new();
    if let Some(name) = &choice.project {
        filter.project = Some(lookup::project(app, &visitor.viewer, name).await?.id);
        filters.push((format!("project {name}"), address(asked, None, choice.machine.as_deref())));
    }
    if let Some(id) = &choice.machine {
        let found = lookup::machine(app, id).await?;
        filter.machine = Some(found.id);
        let href = address(asked, choice.project.as_deref(), None);
        filters.push((format!("machine {}", found.name), href));
    }
    if let Some(after) = &choice.after {
        let before = api::opened(after).and_then(|id| id.parse::<JobId>().ok());
        let problem = || Error::query("after", "must be the address of a page that was shown");
        filter.before = Some(before.ok_or_else(problem)?);
    }
    let mut jobs = db::job::list(&app.db, visitor.viewer.visible(), &filter, SHOWN + 1).await?;
    let more = jobs.len() as i64 > SHOWN;
    jobs.truncate(SHOWN as usize);
    let (project, machine) = (choice.project.as_deref(), choice.machine.as_deref());
    let older = jobs.last().filter(|_| more).map(|last| {
        let narrowed = address(asked, project, machine);
        format!("{narrowed}&after={}", api::sealed(&last.id))
    });
    let one = |name: &'static str| StateChoice {
        name,
        href: address(name, project, machine),
        chosen: name == asked,
    };
    let caption = match more || filter.before.is_some() {
        true => format!("{} of them, newest first", jobs.len()),
        false => format!("{}, newest first", format::count(jobs.len(), "job")),
    };
    Ok(JobsView {
        layout: Layout::new("Jobs", Section::Jobs).seen_by(visitor),
        choices: ["all", "open", "live", "ended", "failed"].map(one).into(),
        filters,
        jobs: JobRows::new(caption, &jobs, app.clock.now()),
        older,
        form: form(app, visitor).await?,
    })
}

fn address(state: &str, project: Option<&str>, machine: Option<&str>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("state", state);
    for (key, value) in [("project", project), ("machine", machine)] {
        if let Some(value) = value {
            query.append_pair(key, value);
        }
    }
    format!("/jobs?{}", query.finish())
}
