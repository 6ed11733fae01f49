//! `/runs/{uuid}`: everything one run recorded: every sample plotted, every window in a table,
//! failed points first.

mod curves;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

pub use curves::{CounterTable, CurveView, PointView, ProfileView, SummaryRow, WindowRow};

use super::failure::Failure;
use super::shown;
use super::view::{CommitMark, Facts, Layout, Section, When, points_words, short_run};
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::error::Result;
use crate::model::{Artefact, Run, RunPoint};

/// A point without samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRow {
    /// Row of the curve.
    pub curve: i64,
    /// Workload id.
    pub workload: String,
    /// Task count.
    pub tasks: i32,
    /// What failed.
    pub call: String,
    /// errno, where a system call failed.
    pub errno: String,
    /// Task that failed, where one did.
    pub task: String,
    /// What happened.
    pub detail: String,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/run.html")]
pub struct RunView {
    /// Frame.
    pub layout: Layout,
    /// UUID.
    pub id: String,
    /// Its first group.
    pub short_id: String,
    /// What ran.
    pub commit: CommitMark,
    /// Whose code.
    pub project: String,
    /// On which branch.
    pub branch: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// When it began.
    pub started: When,
    /// How long it took.
    pub took: String,
    /// When its report came.
    pub received: When,
    /// How many points, and how many failed.
    pub points_words: String,
    /// Points without samples.
    pub failed: Vec<FailedRow>,
    /// Measured points by curve.
    pub curves: Vec<CurveView>,
    /// In what surroundings.
    pub environment: Facts,
    /// Name, media type and size of each artefact.
    pub artefacts: Vec<String>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Html<String>, Failure> {
    let run = lookup::run(&app, &visitor.viewer, &id).await?;
    shown(&view(&app, &visitor, &run).await?)
}

async fn view(app: &App, visitor: &Visitor, run: &Run) -> Result<RunView> {
    let now = app.clock.now();
    let points = db::point::list_of_run(&app.db, run).await?;
    let environment = db::environment::find(&app.db, run.environment).await?;
    let artefacts = db::run::list_artefacts(&app.db, run).await?;
    Ok(RunView {
        layout: Layout::new(format!("Run {}", short_run(&run.id)), Section::None).seen_by(visitor),
        id: run.id.to_string(),
        short_id: short_run(&run.id),
        commit: CommitMark::new(&run.commit, &run.subject),
        project: run.project_name.clone(),
        branch: run.branch_name.clone(),
        machine_id: run.machine_public_id.clone(),
        machine_name: run.machine_name.clone(),
        started: When::new(run.started_at, now),
        took: duration(run.finished_at - run.started_at),
        received: When::new(run.received_at, now),
        points_words: points_words(run.points, run.failed_points),
        failed: points.iter().filter_map(failed_row).collect(),
        curves: curves::of(&run.id, &points, &artefacts),
        environment: Facts {
            caption: "In what surroundings it ran".into(),
            key_title: "fact",
            facts: environment.map(|one| one.facts.into_iter().collect()).unwrap_or_default(),
        },
        artefacts: artefacts.iter().map(artefact_words).collect(),
    })
}

fn failed_row(point: &RunPoint) -> Option<FailedRow> {
    let failure = point.outcome.as_ref().err()?;
    Some(FailedRow {
        curve: point.curve.0,
        workload: point.workload.clone(),
        tasks: point.tasks,
        call: failure.call.clone(),
        errno: failure.errno.map(|errno| errno.to_string()).unwrap_or_default(),
        task: failure.task.map(|task| task.to_string()).unwrap_or_default(),
        detail: failure.detail.clone(),
    })
}

fn artefact_words(artefact: &Artefact) -> String {
    format!("{} ({}, {} bytes)", artefact.name, artefact.media_type, artefact.size_bytes)
}

/// `1.5 s`, `4 min 10 s`.
fn duration(length: time::Duration) -> String {
    match length.whole_seconds() {
        s if s < 60 => format!("{:.1} s", length.as_seconds_f64()),
        s => format!("{} min {} s", s / 60, s % 60),
    }
}
