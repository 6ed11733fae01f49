//! `/revisions/{id}`: one revision: its place, what may have come with it, what was measured at it.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::branches;
use super::failure::Failure;
use super::incidents::IncidentRows;
use super::shown;
use super::view::{CommitMark, Layout, RunRows, Section, When, parameter_words};
use super::visitor::Visitor;
use crate::app::App;
use crate::db;
use crate::detect::severity;
use crate::error::{Error, Result};
use crate::format;
use crate::model::revision::is_off_branch;
use crate::model::{Curve, NamedRevision, Revision, RevisionId};

/// Curves and runs shown.
const SHOWN: i64 = 500;

/// One curve measured at the revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredRow {
    /// Workload id.
    pub workload: String,
    /// Parameters in words.
    pub parameters: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Address of the curve at this revision.
    pub href: String,
    /// Address of the comparison with the revision before, where there is one.
    pub compare: Option<String>,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/revision.html")]
pub struct RevisionView {
    /// Frame.
    pub layout: Layout,
    /// First line of the commit message; from outside, never trusted.
    pub subject: String,
    /// All digits of the commit.
    pub commit: String,
    /// Whose code.
    pub project: String,
    /// On which branch.
    pub branch: String,
    /// Where the project's branches are.
    pub branches: String,
    /// Not on the branch any more since its history was written anew.
    pub left: bool,
    /// First-parent position, where it has one.
    pub position: Option<i64>,
    /// When it was committed, where that is known.
    pub committed: Option<When>,
    /// First parents first.
    pub parents: Vec<String>,
    /// Address and name of the measured revisions before and after it.
    pub before: Option<(i64, CommitMark)>,
    /// As above.
    pub after: Option<(i64, CommitMark)>,
    /// Incidents whose cause it may be.
    pub incidents: IncidentRows,
    /// Curves measured at it.
    pub curves: Vec<MeasuredRow>,
    /// How many.
    pub caption: String,
    /// Runs of it.
    pub runs: RunRows,
}

/// Shows the page.
pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Html<String>, Failure> {
    let id = id.parse().map(RevisionId).map_err(|_| Error::NotFound("revision"))?;
    let found = db::revision::find_named(&app.db, id).await?;
    let found = found.ok_or(Error::NotFound("revision"))?;
    visitor.viewer.sees(found.project, "revision")?;
    shown(&view(&app, &visitor, &found).await?)
}

async fn view(app: &App, visitor: &Visitor, named: &NamedRevision) -> Result<RevisionView> {
    let now = app.clock.now();
    let revision = &named.revision;
    let left = is_off_branch(revision.rank);
    let (before, after) = db::revision::find_neighbours(&app.db, revision).await?;
    let mut incidents = Vec::new();
    for id in db::incident::list_over(&app.db, revision.branch, revision.rank).await? {
        incidents.extend(db::incident::find(&app.db, id).await?);
    }
    let severities = severity::list(&app.db, &incidents).await?;
    let here = db::curve::Filter {
        project: Some(named.project),
        revision: Some(revision.id),
        ..db::curve::Filter::default()
    };
    let mut curves = db::curve::list(&app.db, visitor.viewer.visible(), &here, SHOWN).await?;
    curves.sort_by(|a, b| {
        (&a.workload, &a.machine_name, a.id).cmp(&(&b.workload, &b.machine_name, b.id))
    });
    let runs = db::run::Filter { revisions: Some(vec![revision.id]), ..Default::default() };
    let runs = db::run::list(&app.db, visitor.viewer.visible(), &runs, SHOWN).await?;
    let neighbour = |one: &Revision| (one.id.0, CommitMark::new(&one.commit, &one.subject));
    Ok(RevisionView {
        layout: Layout::new(format!("Revision {}", revision.short()), Section::None)
            .seen_by(visitor),
        subject: revision.subject.clone(),
        commit: revision.commit.clone(),
        project: named.project_name.clone(),
        branch: named.branch_name.clone(),
        branches: branches::address(&named.project_name),
        position: revision.position.filter(|_| !left),
        left,
        committed: revision.committed_at.map(|at| When::new(at, now)),
        parents: revision.parents.clone(),
        caption: match curves.len() as i64 {
            n if n >= SHOWN => format!("The first {SHOWN}"),
            n => format::count(n as usize, "curve"),
        },
        curves: curves.iter().map(|curve| row(curve, revision, before.as_ref())).collect(),
        before: before.as_ref().map(neighbour),
        after: after.as_ref().map(neighbour),
        incidents: IncidentRows::new("Newest first", &incidents, &severities, now),
        runs: RunRows::new("Latest reports first", &runs, now),
    })
}

fn row(curve: &Curve, head: &Revision, base: Option<&Revision>) -> MeasuredRow {
    MeasuredRow {
        workload: curve.workload.clone(),
        parameters: parameter_words(&curve.parameters),
        machine_id: curve.machine_public_id.clone(),
        machine_name: curve.machine_name.clone(),
        href: format!("/curves/{}?rev={}", curve.id, head.commit),
        compare: base.map(|base| {
            format!("/compare?curve={}&base={}&head={}", curve.id, base.commit, head.commit)
        }),
    }
}
