//! `/incidents/{id}`: what moved, how sure, since when, the commits in range, before and after,
//! what happened since, and who was told.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use super::before_after::{BeforeAfter, before_and_after};
use super::failure::Failure;
use super::incidents::{change_words, class, what};
use super::moved::{MovedGroup, moved};
use super::triage::TriageForm;
use super::view::{CommitMark, Layout, Section, When};
use super::visitor::Visitor;
use crate::api::lookup;
use crate::app::App;
use crate::db;
use crate::detect::history::in_words;
use crate::detect::severity;
use crate::error::Result;
use crate::format;
use crate::model::Revision;
use crate::model::environment::diff;
use crate::model::incident::{Event, Incident, IncidentStep, Message};
use crate::model::severity::Severity;

/// Commits listed.
const COMMITS: i64 = 200;

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
    /// Whether it was measured again before it was told, and what came of it.
    pub confirmation: Option<String>,
    /// The job that did.
    pub confirmation_job: Option<i64>,
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
    let incident = lookup::incident(&app, &visitor.viewer, &id).await?;
    visitor.shown(&view(&app, &visitor, &incident).await?)
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
    let confirmation = db::job::confirmation::find(&app.db, incident.id).await?;
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
        confirmation_job: confirmation.as_ref().and_then(|one| one.job).map(|job| job.0),
        confirmation: confirmation.map(|one| one.words),
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
