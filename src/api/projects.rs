//! Projects, their branches and their revisions.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::at::At;
use super::auth::Reader;
use super::document::PageParams;
use super::export::{self, Format, FormatParam, Tabular};
use super::page::Page;
use super::problem::Read;
use super::{Answer, Params, lookup};
use crate::app::App;
use crate::db;
use crate::db::revision::Listed;
use crate::error::{Error, Result};
use crate::model::{Branch, OrderBy, Project, ProjectId};

/// A project and what it tests.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = KnownProject)]
pub struct ProjectView {
    name: String,
    subject: wire::Subject,
}

/// A branch of a project.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Branch)]
struct BranchView {
    name: String,
    /// What its revisions are ordered by.
    order_by: OrderBy,
}

/// A project with its branches.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ProjectDetail {
    #[serde(flatten)]
    project: ProjectView,
    branches: Vec<BranchView>,
}

/// A revision of a branch.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = StoredRevision)]
pub struct RevisionView {
    commit: String,
    subject: String,
    /// Order within the branch.
    rank: i64,
    parents: Vec<String>,
    position: Option<i64>,
    #[serde(with = "rfc3339::option")]
    committed_at: Option<OffsetDateTime>,
    /// Runs at this revision.
    runs: i64,
}

/// Projects, in the order they were first seen.
#[utoipa::path(
    get, path = "/projects", operation_id = "list_projects", tag = "projects",
    params(PageParams, FormatParam),
    responses(
        (status = 200, description = "A page of projects.", content(
            (Page<ProjectView> = "application/json"),
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
    let (asked, format) = (params.page::<ProjectId>()?, Format::asked(&mut params)?);
    params.finish()?;
    let visible = viewer.visible().clone();
    export::list("projects", format, asked, move |after, limit| {
        let (pool, visible) = (app.db.clone(), visible.clone());
        async move {
            let rows = db::project::list_after(&pool, &visible, after, limit).await?;
            Ok(rows.into_iter().map(|one| (one.id, ProjectView::from(one))).collect())
        }
    })
    .await
}

/// A project with its branches.
#[utoipa::path(
    get, path = "/projects/{name}", operation_id = "read_project", tag = "projects",
    params(("name" = String, Path, description = "Name of the project.")),
    responses((status = 200, description = "The project.", body = ProjectDetail), Read),
)]
pub async fn show(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(name): At<String>,
    params: Params,
) -> Answer<Json<ProjectDetail>> {
    params.finish()?;
    let project = lookup::project(&app, &viewer, &name).await?;
    let branches = db::project::list_branches(&app.db, project.id).await?;
    let branches = branches.into_iter().map(BranchView::from).collect();
    Ok(Json(ProjectDetail { project: project.into(), branches }))
}

/// Revisions of a branch, the newest first.
#[utoipa::path(
    get, path = "/projects/{name}/revisions", operation_id = "list_revisions", tag = "projects",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("branch" = Option<String>, Query, description = "Must be given where the project has \
            several."),
        PageParams,
        FormatParam,
    ),
    responses(
        (status = 200, description = "A page of revisions.", content(
            (Page<RevisionView> = "application/json"),
            (String = "text/csv"),
            (String = "application/x-ndjson"),
        )),
        Read,
    ),
)]
pub async fn revisions(
    State(app): State<App>,
    Reader(viewer): Reader,
    At(name): At<String>,
    mut params: Params,
) -> Answer<Response> {
    let branch = params.take::<String>("branch")?;
    let (asked, format) = (params.page::<Place>()?, Format::asked(&mut params)?);
    params.finish()?;
    let project = lookup::project(&app, &viewer, &name).await?;
    let branch = lookup::branch_or_only(&app, project.id, branch.as_deref()).await?;
    let branch = branch.ok_or(Error::NotFound("branch"))?;
    export::list("revisions", format, asked, move |after: Option<Place>, limit| {
        let (pool, branch) = (app.db.clone(), branch.id);
        async move {
            let after = after.as_ref().map(|place| (place.0, place.1.as_str()));
            let rows = db::revision::list_of_branch(&pool, branch, after, limit).await?;
            let shown =
                |row: Listed| (Place(row.rank, row.commit.clone()), RevisionView::from(row));
            Ok(rows.into_iter().map(shown).collect())
        }
    })
    .await
}

/// Where a revision stands: rank and commit.
#[derive(Clone)]
struct Place(i64, String);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Place, ()> {
        let (rank, commit) = text.split_once(' ').ok_or(())?;
        let is_commit = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let rank = rank.parse().map_err(drop)?;
        if is_commit { Ok(Place(rank, commit.to_owned())) } else { Err(()) }
    }
}

impl Tabular for ProjectView {
    const COLUMNS: &'static [&'static str] = &["name", "subject"];
}

impl Tabular for RevisionView {
    const COLUMNS: &'static [&'static str] =
        &["commit", "subject", "rank", "parents", "position", "committed_at", "runs"];
}

impl From<Project> for ProjectView {
    fn from(project: Project) -> ProjectView {
        ProjectView { name: project.name, subject: project.subject }
    }
}

impl From<Branch> for BranchView {
    fn from(branch: Branch) -> BranchView {
        BranchView { name: branch.name, order_by: branch.order_by }
    }
}

impl From<Listed> for RevisionView {
    fn from(row: Listed) -> RevisionView {
        RevisionView {
            commit: row.commit,
            subject: row.subject,
            rank: row.rank,
            parents: row.parents,
            position: row.position,
            committed_at: row.committed_at,
            runs: row.runs,
        }
    }
}
