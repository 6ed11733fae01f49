//! `/incidents/{id}`: what moved, how sure, since when, the commits in range, before and after,
//! what happened since, and who was told.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use super::evidence::{self, StepEvidence};
use super::failure::Failure;
use super::incidents::{change_words, class, tasks_words, what};
use super::metric::Metric;
use super::sides;
use super::triage::TriageForm;
use super::view::{CommitMark, Figure, Layout, Section, Value, When, parameter_words};
use super::visitor::Visitor;
use crate::app::App;
use crate::chart::{CurvePlot, Size, svg};
use crate::db;
use crate::detect::history::in_words;
use crate::detect::severity;
use crate::error::{Error, Result};
use crate::format;
use crate::model::environment::diff;
use crate::model::incident::{Event, Incident, IncidentStep, Message};
use crate::model::severity::Severity;
use crate::model::{Curve, CurveId, IncidentId, Revision};

/// Curves drawn before and after.
const DRAWN: usize = 4;

/// Commits listed.
const COMMITS: i64 = 200;

const WIDE: Size = Size { width: 520, height: 280 };
const NARROW: Size = Size { width: 360, height: 240 };

/// The steps of one curve that stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedGroup {
    /// Address of the curve.
    pub href: String,
    /// Workload id.
    pub workload: String,
    /// Parameters in words.
    pub parameters: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Steps.
    pub rows: Vec<MovedRow>,
}

/// One step that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRow {
    /// Address of the curve's history at this step.
    pub href: String,
    /// Metric.
    pub metric: String,
    /// `ops/s, higher`.
    pub unit: String,
    /// Task count.
    pub tasks: i32,
    /// Level before.
    pub before: Value,
    /// Level after.
    pub after: Value,
    /// after ÷ before with its interval.
    pub change: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// First bad commit, shortened.
    pub bad: String,
}

/// A curve before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeforeAfter {
    /// Workload and machine.
    pub title: String,
    /// Address of the curve.
    pub href: String,
    /// Address of the comparison.
    pub compare: String,
    /// Its plot.
    pub figure: Figure,
    /// `16 tasks`: where its first step is.
    pub tasks_words: String,
    /// What moved with it there.
    pub evidence: StepEvidence,
}

/// A revision in the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRow {
    /// The commit.
    pub commit: CommitMark,
    /// Position or committer time.
    pub order: String,
    /// What it is to the incident.
    pub part: &'static str,
}

/// A line of the incident's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// When.
    pub at: When,
    /// What.
    pub kind: String,
    /// Exactly.
    pub detail: String,
    /// Why, in the words of who decided it.
    pub note: Option<String>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/incident.html")]
pub struct IncidentView {
    /// Frame.
    pub layout: Layout,
    /// Row, and its address.
    pub id: i64,
    /// Whose code.
    pub project: String,
    /// On which branch.
    pub branch: String,
    /// What moved most, in words.
    pub heading: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// Verdict and figures.
    pub words: String,
    /// State in words.
    pub state: String,
    /// Severity, and how it comes about; none where no step stands.
    pub severity: Option<String>,
    /// The incident that took over its steps.
    pub merged_into: Option<i64>,
    /// What can be decided.
    pub triage: TriageForm,
    /// When it was opened.
    pub opened: When,
    /// When anything about it last changed.
    pub changed: When,
    /// Steps that stand, by curve.
    pub moved: Vec<MovedGroup>,
    /// The curves that moved most.
    pub curves: Vec<BeforeAfter>,
    /// Last good commit, shortened.
    pub good: String,
    /// First bad commit, shortened.
    pub bad: String,
    /// How many revisions are in the range, in words.
    pub commits_words: String,
    /// Revisions in the range, newest first, the last good one below them.
    pub commits: Vec<CommitRow>,
    /// Whether the environment changed with it.
    pub environment_words: String,
    /// History, oldest first.
    pub events: Vec<EventRow>,
    /// Messages, in sentences.
    pub mails: Vec<String>,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let incident = find(&app, &id).await?;
    visitor.shown(&view(&app, &visitor, &incident).await?)
}

/// The incident of an address.
pub(super) async fn find(app: &App, id: &str) -> Result<Incident> {
    let id = id.parse().map(IncidentId).map_err(|_| Error::NotFound("incident"))?;
    db::incident::find(&app.db, id).await?.ok_or(Error::NotFound("incident"))
}

async fn view(app: &App, visitor: &Visitor, incident: &Incident) -> Result<IncidentView> {
    let now = app.clock.now();
    let steps = db::incident_step::list(&app.db, incident.id).await?;
    let standing: Vec<&IncidentStep> =
        steps.iter().filter(|step| step.retracted_at.is_none()).collect();
    let commits = db::revision::list_between(
        &app.db,
        incident.branch,
        incident.good.rank,
        incident.bad.rank,
        COMMITS,
    )
    .await?;
    let severities = severity::list(&app.db, std::slice::from_ref(incident)).await?;
    let events = db::incident::list_events(&app.db, incident.id).await?;
    let messages = db::incident::list_messages(&app.db, incident.id).await?;
    let event = |event: &Event| EventRow {
        at: When::new(event.at, now),
        kind: event.kind.replace('_', " "),
        detail: event.words().to_owned(),
        note: event.note().map(str::to_owned),
    };
    Ok(IncidentView {
        layout: Layout::new(format!("Incident {}", incident.id), Section::Incidents)
            .seen_by(visitor),
        id: incident.id.0,
        project: incident.project_name.clone(),
        branch: incident.branch_name.clone(),
        heading: what(&incident.headline),
        class: class(incident.change),
        words: change_words(incident.change, incident.headline.ratio),
        state: incident.state_words(),
        severity: severities.get(&incident.id).map(Severity::words),
        merged_into: incident.merged_into.map(|into| into.0),
        triage: TriageForm::new(incident, visitor),
        opened: When::new(incident.opened_at, now),
        changed: When::new(incident.changed_at, now),
        moved: moved(&standing),
        curves: before_and_after(app, &standing).await?,
        good: format::commit(&incident.good.commit).to_owned(),
        bad: format::commit(&incident.bad.commit).to_owned(),
        commits_words: commits_words(commits.len()),
        commits: commit_rows(incident, commits),
        environment_words: environment_words(app, &standing).await?,
        events: events.iter().map(event).collect(),
        mails: messages.iter().map(|message| mail_words(message, now)).collect(),
    })
}

/// Steps by curve, curves in the order of their first step.
fn moved(steps: &[&IncidentStep]) -> Vec<MovedGroup> {
    let mut groups: Vec<(CurveId, MovedGroup)> = Vec::new();
    for step in steps {
        match groups.iter_mut().find(|(curve, _)| *curve == step.curve) {
            Some((_, group)) => group.rows.push(moved_row(step)),
            None => groups.push((step.curve, moved_group(step))),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn moved_group(step: &IncidentStep) -> MovedGroup {
    MovedGroup {
        href: format!("/curves/{}", step.curve),
        workload: step.workload.clone(),
        parameters: parameter_words(&step.parameters),
        machine_id: step.machine_public_id.clone(),
        machine_name: step.machine_name.clone(),
        rows: vec![moved_row(step)],
    }
}

fn moved_row(step: &IncidentStep) -> MovedRow {
    let metric = metric_of(step);
    MovedRow {
        href: format!("/curves/{}?tasks={}#history", step.curve, step.tasks),
        metric: metric.title(),
        unit: format!("{}, {}", metric.unit.symbol(), metric.direction.word()),
        tasks: step.tasks,
        before: Value::new(step.before),
        after: Value::new(step.after),
        change: step.ratio.map_or("no ratio".into(), format::change_with_interval),
        class: class(step.change),
        bad: format::commit(&step.bad.commit).to_owned(),
    }
}

pub(super) fn metric_of(step: &IncidentStep) -> Metric {
    Metric { name: step.metric.clone(), unit: step.unit, direction: step.direction }
}

/// The curves with steps, one plot each, in the order of the steps.
async fn before_and_after(app: &App, steps: &[&IncidentStep]) -> Result<Vec<BeforeAfter>> {
    let mut firsts: Vec<&IncidentStep> = Vec::new();
    for step in steps {
        if !firsts.iter().any(|first| first.curve == step.curve) && firsts.len() < DRAWN {
            firsts.push(step);
        }
    }
    let mut drawn = Vec::new();
    for step in firsts {
        if let Some(curve) = db::curve::find(&app.db, step.curve).await? {
            drawn.push(one_before_and_after(app, &curve, step).await?);
        }
    }
    Ok(drawn)
}

async fn one_before_and_after(
    app: &App,
    curve: &Curve,
    step: &IncidentStep,
) -> Result<BeforeAfter> {
    let series = db::series::list_of_curve(&app.db, curve.id).await?;
    let mut lines = Vec::new();
    for end in [&step.good, &step.bad] {
        let all = sides::load(app, curve, end.revision).await?;
        let pooled = sides::by_tasks(&sides::of_metric(&all, &series, &step.metric));
        lines.push(sides::line(format::commit(&end.commit), &pooled, |_| 1.0));
    }
    let metric = metric_of(step);
    let topology = sides::topology(app, curve).await?;
    let plot = CurvePlot { y_title: metric.axis(), lines, topology, ..CurvePlot::default() };
    let (good, bad) = (&step.good.commit, &step.bad.commit);
    let name = &metric.name;
    Ok(BeforeAfter {
        title: format!("{} on {}", curve.workload, curve.machine_name),
        href: format!("/curves/{}?base={good}&rev={bad}", curve.id),
        compare: format!("/compare?curve={}&base={good}&head={bad}&metric={name}", curve.id),
        figure: Figure::two(
            format!("{}. Hollow is before, filled is after; 95 % intervals.", metric.title()),
            (WIDE, NARROW),
            |size| svg::curve(&plot, size),
        ),
        tasks_words: tasks_words(step.tasks),
        evidence: evidence::of(app, step).await?,
    })
}

fn commits_words(known: usize) -> String {
    match known {
        0 | 1 => "No other revision is known in between.".into(),
        n => format!("{} are known in between.", format::count(n - 1, "revision")),
    }
}

fn commit_rows(incident: &Incident, between: Vec<Revision>) -> Vec<CommitRow> {
    let row = |revision: Revision| CommitRow {
        commit: CommitMark::new(&revision.commit, &revision.subject),
        order: order(&revision),
        part: if revision.rank == incident.bad.rank { "first bad" } else { "untested or unclear" },
    };
    let mut rows: Vec<CommitRow> = between.into_iter().rev().map(row).collect();
    rows.push(CommitRow {
        commit: CommitMark::new(&incident.good.commit, &incident.good.subject),
        order: String::new(),
        part: "last good",
    });
    rows
}

fn order(revision: &Revision) -> String {
    match (revision.position, revision.committed_at) {
        (Some(position), _) => position.to_string(),
        (None, Some(at)) => format::full_time(at),
        (None, None) => String::new(),
    }
}

/// Both levels of a step were measured in one environment; whether the newest runs still are.
async fn environment_words(app: &App, steps: &[&IncidentStep]) -> Result<String> {
    let mut ids: Vec<_> = steps.iter().map(|step| step.environment).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = db::environment::list(&app.db, &ids).await?;
    Ok(match found.as_slice() {
        [] => "No step stands, so there is nothing to hold against an environment.".into(),
        [_] => "The same before and after: each step compares runs of one environment only.".into(),
        [first, .., last] => format!(
            "Seen in {} environments, each compared only with itself; the first and the last \
             differ in: {}.",
            found.len(),
            in_words(&diff(&first.facts, &last.facts))
        ),
    })
}

fn mail_words(message: &Message, now: time::OffsetDateTime) -> String {
    let event = &message.event;
    let to = message.sent_to.as_deref().unwrap_or("nobody");
    match (message.sent_at, message.withdrawn_at, &message.last_error) {
        (Some(at), _, _) => format!("{event}: sent {} to {to}", format::ago(at, now)),
        (None, Some(at), _) => {
            format!("{event}: withdrawn {}, before it was sent", format::ago(at, now))
        }
        (None, None, Some(error)) => {
            let tries = format::count(message.attempts.unsigned_abs() as usize, "attempt");
            format!("{event}: not sent after {tries}, will be tried again: {error}")
        }
        (None, None, None) => format!("{event}: waits to be sent"),
    }
}
