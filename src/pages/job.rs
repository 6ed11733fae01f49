//! `/jobs/{id}`: what is measured, where, how far it is, which runs came of it, and the end of its log.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::failure::Failure;
use super::jobs::{class, machine};
use super::shown;
use super::view::{CommitMark, Facts, Layout, Section, When, short_run};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::format;
use crate::model::JobId;
use crate::model::job::{Job, MOST_ATTEMPTS};

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// From 1 on.
    pub number: usize,
    /// `base`, `head`, or nothing of a job with one revision.
    pub side: &'static str,
    /// What is measured.
    pub commit: CommitMark,
    /// The run that came of it: address and name.
    pub run: Option<(String, String)>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/job.html")]
pub struct JobView {
    /// Frame.
    pub layout: Layout,
    /// Row, and its address.
    pub id: i64,
    /// Whose code.
    pub project: String,
    /// Id and name of the machine.
    pub machine: Option<(String, String)>,
    /// Label of the machines it is for.
    pub label: Option<String>,
    /// State in words.
    pub state: &'static str,
    /// Class of the style sheet.
    pub class: &'static str,
    /// How far it is.
    pub progress: String,
    /// What the agent does just now.
    pub doing: String,
    /// Why it stands so.
    pub reason: Option<String>,
    /// The incident whose suspect it measures again.
    pub incident: Option<i64>,
    /// Address of the comparison, where two revisions were measured.
    pub compare: Option<String>,
    /// Who asked for it.
    pub submitted_by: String,
    /// When.
    pub created: When,
    /// When it was last claimed.
    pub claimed: Option<When>,
    /// When it was over.
    pub ended: Option<When>,
    /// Priority, attempts, deadline and limit in words.
    pub terms: Vec<String>,
    /// What is measured.
    pub plan: Facts,
    /// In order.
    pub turns: Vec<TurnRow>,
    /// The end of the log.
    pub log: String,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Html<String>, Failure> {
    let id: JobId = id.parse().map_err(|_| Error::NotFound("job"))?;
    let job = db::job::find(&app.db, id).await?.ok_or(Error::NotFound("job"))?;
    visitor.viewer.sees(job.project, "job")?;
    let log = db::job::find_log(&app.db, id).await?;
    shown(&view(&app, &visitor, &job, log))
}

fn view(app: &App, visitor: &Visitor, job: &Job, log: String) -> JobView {
    let now = app.clock.now();
    JobView {
        layout: Layout::new(format!("Job {}", job.id), Section::Jobs).seen_by(visitor),
        id: job.id.0,
        project: job.project_name.clone(),
        machine: machine(job),
        label: job.label.clone(),
        state: job.state.title(),
        class: class(job.state),
        progress: job.progress_words(),
        doing: if job.state.is_live() { job.progress.words.clone() } else { String::new() },
        reason: job.reason.clone(),
        incident: job.incident.map(|incident| incident.0),
        compare: compare(job),
        submitted_by: job.submitted_by.clone(),
        created: When::new(job.created_at, now),
        claimed: job.claimed_at.map(|at| When::new(at, now)),
        ended: job.ended_at.map(|at| When::new(at, now)),
        terms: terms(job),
        plan: plan(&job.plan),
        turns: (0..job.turns.len()).filter_map(|turn| turn_row(job, turn)).collect(),
        log,
    }
}

fn terms(job: &Job) -> Vec<String> {
    let mut terms = vec![
        format!("priority {}", job.priority),
        format!("attempt {} of {MOST_ATTEMPTS}", job.attempts.max(1)),
        format!("limit {} s", job.limit_s),
    ];
    terms.extend(job.deadline.map(|at| format!("deadline {}", format::full_time(at))));
    terms
}

fn compare(job: &Job) -> Option<String> {
    let ([base, head], false) = (job.revisions.as_slice(), job.runs.is_empty()) else {
        return None;
    };
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("base", &base.commit).append_pair("head", &head.commit);
    query.append_pair("machine", job.machine_public_id.as_deref()?);
    let mut address = url::Url::parse("http://x").ok()?;
    let mut path = address.path_segments_mut().ok()?;
    path.extend(["projects", &job.project_name, "compare"]);
    drop(path);
    Some(format!("{}?{}", address.path(), query.finish()))
}

fn turn_row(job: &Job, turn: usize) -> Option<TurnRow> {
    let revision = job.revision_of(turn)?;
    let side = match (job.revisions.len(), job.turns.get(turn)) {
        (2, Some(0)) => "base",
        (2, Some(_)) => "head",
        _ => "",
    };
    let run = job.runs.get(turn).map(|run| (format!("/runs/{run}"), short_run(run)));
    let commit = CommitMark::new(&revision.commit, &revision.subject);
    Some(TurnRow { number: turn + 1, side, commit, run })
}

fn plan(plan: &wire::Plan) -> Facts {
    let mut facts = vec![("workloads".to_owned(), plan.workloads.join(", "))];
    let mut add = |key: &str, value: Option<String>| {
        facts.extend(value.map(|value| (key.to_owned(), value)));
    };
    add("tasks", plan.tasks.clone());
    add("mode", plan.mode.clone());
    add("placement", plan.placement.clone());
    add("windows", plan.windows.map(|n| n.to_string()));
    add("window", plan.window_ms.map(|ms| format!("{ms} ms")));
    add("warm-up windows", plan.warmup.map(|n| n.to_string()));
    add("controls", plan.controls.map(|on| if on { "yes".into() } else { "no".into() }));
    for (key, value) in &plan.parameters {
        add(key, Some(value.clone()));
    }
    for (key, values) in &plan.sweep {
        add(key, Some(values.join(", ")));
    }
    Facts { caption: "Plan; what is not said is as in run".into(), key_title: "what", facts }
}
