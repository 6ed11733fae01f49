//! `/search?q=`: incidents, revisions, workloads, machines and runs that fit a text.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use serde::Deserialize;
use time::OffsetDateTime;

use super::failure::Failure;
use super::incidents::IncidentRows;
use super::shown;
use super::view::{CommitMark, Layout, RunRows, Section, When};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::detect::severity;
use crate::error::{Error, Result};
use crate::format;
use crate::model::NamedRevision;
use crate::model::search::{self, Found, FoundWorkload};

/// Most of each kind.
const SHOWN: i64 = 20;

/// What can be chosen in the address.
#[derive(Debug, Default, Deserialize)]
pub struct Choice {
    #[serde(default)]
    q: String,
}

/// One revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionRow {
    /// Row, and its address.
    pub id: i64,
    /// The commit.
    pub commit: CommitMark,
    /// Whose code, and on which branch.
    pub place: String,
    /// First-parent position, where it has one.
    pub position: String,
    /// When it was committed, where that is known.
    pub committed: Option<When>,
}

impl RevisionRow {
    /// A revision as stored.
    pub fn new(found: &NamedRevision, now: OffsetDateTime) -> RevisionRow {
        let revision = &found.revision;
        RevisionRow {
            id: revision.id.0,
            commit: CommitMark::new(&revision.commit, &revision.subject),
            place: format!("{}, branch {}", found.project_name, found.branch_name),
            position: revision.position.map(|place| place.to_string()).unwrap_or_default(),
            committed: revision.committed_at.map(|at| When::new(at, now)),
        }
    }
}

/// One workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadRow {
    /// Its id.
    pub workload: String,
    /// Address of its curves.
    pub href: String,
    /// How many there are, and on how many machines.
    pub words: String,
}

impl WorkloadRow {
    fn new(found: &FoundWorkload) -> WorkloadRow {
        let words = |n: i64, noun| format::count(usize::try_from(n).unwrap_or(0), noun);
        let address = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("workload", &found.workload)
            .finish();
        WorkloadRow {
            workload: found.workload.clone(),
            href: format!("/curves?{address}"),
            words: format!(
                "{} on {}",
                words(found.curves, "curve"),
                words(found.machines, "machine")
            ),
        }
    }
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/search.html")]
pub struct SearchView {
    /// Frame.
    pub layout: Layout,
    /// What was looked for; empty: nothing.
    pub query: String,
    /// Incidents.
    pub incidents: IncidentRows,
    /// Revisions.
    pub revisions: Vec<RevisionRow>,
    /// Workloads.
    pub workloads: Vec<WorkloadRow>,
    /// Ids and names of machines.
    pub machines: Vec<(String, String)>,
    /// Runs.
    pub runs: RunRows,
}

impl SearchView {
    fn is_empty(&self) -> bool {
        self.incidents.rows.is_empty()
            && self.revisions.is_empty()
            && self.workloads.is_empty()
            && self.machines.is_empty()
            && self.runs.rows.is_empty()
    }
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(choice): Query<Choice>,
) -> Result<Html<String>, Failure> {
    shown(&view(&app, &visitor, &choice.q).await?)
}

async fn view(app: &App, visitor: &Visitor, typed: &str) -> Result<SearchView> {
    if typed.chars().count() > search::LONGEST || typed.contains('\0') {
        let limit = search::LONGEST;
        return Err(Error::query("q", format!("at most {limit} characters, none of them NUL")));
    }
    let now = app.clock.now();
    let found = match search::Query::parse(typed) {
        Some(query) => db::search::find(&app.db, visitor.viewer.visible(), &query, SHOWN).await?,
        None => Found::default(),
    };
    let severities = severity::list(&app.db, &found.incidents).await?;
    Ok(SearchView {
        layout: Layout::new("Search", Section::None).searched_for(typed.trim()).seen_by(visitor),
        query: typed.trim().to_owned(),
        incidents: IncidentRows::new("Newest first", &found.incidents, &severities, now),
        revisions: found.revisions.iter().map(|one| RevisionRow::new(one, now)).collect(),
        workloads: found.workloads.iter().map(WorkloadRow::new).collect(),
        machines: found.machines.into_iter().map(|one| (one.public_id, one.name)).collect(),
        runs: RunRows::new("Latest reports first", &found.runs, now),
    })
}
