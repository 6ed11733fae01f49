//! What branches go through: another name, a history written anew, their end.

use axum::Json;
use axum::extract::{Request, State};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::serde::rfc3339;

use super::at::At;
use super::auth::Caller;
use super::problem::{Conflict, NotFound, Write};
use super::{Answer, body, lookup};
use crate::app::App;
use crate::db::branch::Place;
use crate::error::{Error, Result};
use crate::lives::{branch, order};
use crate::model::{Branch, OrderBy, Project, Scope};

/// Largest body, bytes.
const BODY_BYTES: usize = 32 << 20;

/// The commits of a branch as it is now, at most 200000.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BranchOrder)]
#[serde(deny_unknown_fields)]
pub struct Order {
    order: Vec<Entry>,
}

/// A commit and its place.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BranchOrderEntry)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Commit id, as reports give it.
    commit: String,
    /// First-parent position, where the branch is ordered by it.
    #[schema(minimum = 0)]
    position: Option<i64>,
    /// Committer time, where the branch is ordered by it.
    #[serde(default, with = "rfc3339::option")]
    committed_at: Option<OffsetDateTime>,
}

/// What became of the known revisions of the branch.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = BranchReordered)]
pub struct Reordered {
    /// Have another place now.
    moved: i64,
    /// Are on the branch again.
    returned: i64,
    /// Are not on the branch any more; they and their runs stay reachable.
    left: i64,
    /// Curves that are judged anew.
    curves: i64,
}

/// Tells the order of a branch anew, after its history was rewritten.
///
/// Known revisions take the places they are given; those that the list leaves out leave the branch.
/// Commits that no report has named yet are passed over. Steps and incidents follow.
#[utoipa::path(
    post, path = "/projects/{name}/branches/{branch}/order", operation_id = "order_branch",
    tag = "projects",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("branch" = String, Path, description = "Name of the branch, a slash as %2F."),
    ),
    request_body = Order,
    responses((status = 200, description = "What became of it.", body = Reordered), Write, NotFound),
    security(("token" = ["submit"])),
)]
pub async fn reorder(
    State(app): State<App>,
    At((name, branch)): At<(String, String)>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Reordered>> {
    let (project, branch) = found(&app, &caller, Scope::Submit, &name, &branch).await?;
    let by = branch.order_by;
    let places = body::read(request, BODY_BYTES, move |sent: Order| places(sent, by)).await?;
    let mut tx = app.db.begin().await?;
    let done = order::reorder(&mut tx, &caller.by(&app), &project, &branch, &places).await?;
    tx.commit().await?;
    app.due.notify_one();
    Ok(Json(Reordered {
        moved: done.moved,
        returned: done.returned,
        left: done.left,
        curves: done.curves,
    }))
}

fn places(sent: Order, by: OrderBy) -> Result<Vec<Place>> {
    let place = |(i, entry): (usize, Entry)| {
        let rank = match by {
            OrderBy::Position => entry.position,
            OrderBy::CommittedAt => {
                entry.committed_at.map(|at| (at.unix_timestamp_nanos() / 1_000) as i64)
            }
        };
        let rank = rank.ok_or_else(|| {
            let problem = format!("must be given: the branch is ordered by {}", by.word());
            Error::invalid(format!("order[{i}].{}", by.word()), problem)
        })?;
        let (position, committed_at) = (entry.position, entry.committed_at);
        Ok(Place { commit: entry.commit, position, committed_at, rank })
    };
    sent.order.into_iter().enumerate().map(place).collect()
}

/// What a branch is called from now on.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BranchRename)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    name: String,
}

/// A branch under its name.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = BranchRenamed)]
pub struct Renamed {
    name: String,
    was: String,
}

/// Gives a branch another name; what was measured on it stays with it.
///
/// The old name leads to the branch, in addresses and in reports, until another branch is given it.
#[utoipa::path(
    post, path = "/projects/{name}/branches/{branch}/name", operation_id = "rename_branch",
    tag = "projects",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("branch" = String, Path, description = "Name of the branch, a slash as %2F."),
    ),
    request_body = Rename,
    responses(
        (status = 200, description = "It has the name.", body = Renamed),
        Write,
        NotFound,
        Conflict,
    ),
    security(("token" = ["submit"])),
)]
pub async fn rename(
    State(app): State<App>,
    At((name, branch)): At<(String, String)>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Renamed>> {
    let (project, branch) = found(&app, &caller, Scope::Submit, &name, &branch).await?;
    let asked: Rename = body::read(request, wire::limits::BODY_BYTES, Ok).await?;
    let mut tx = app.db.begin().await?;
    branch::rename(&mut tx, &caller.by(&app), &project, &branch, &asked.name).await?;
    tx.commit().await?;
    Ok(Json(Renamed { name: asked.name, was: branch.name }))
}

/// The name of the branch, typed again.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = BranchDeletion)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The branch's name.
    confirm: String,
}

/// How much went with a branch.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = BranchDeleted)]
pub struct Deleted {
    revisions: u64,
    /// With all that was measured in them.
    runs: u64,
    incidents: u64,
    /// Curves that nothing is left of.
    curves: u64,
}

/// Removes a branch with everything that was measured on it. There is no way back.
#[utoipa::path(
    post, path = "/projects/{name}/branches/{branch}/delete", operation_id = "delete_branch",
    tag = "projects",
    params(
        ("name" = String, Path, description = "Name of the project."),
        ("branch" = String, Path, description = "Name of the branch, a slash as %2F."),
    ),
    request_body = Delete,
    responses(
        (status = 200, description = "It is gone.", body = Deleted),
        Write,
        NotFound,
        Conflict,
    ),
    security(("token" = ["admin"])),
)]
pub async fn delete(
    State(app): State<App>,
    At((name, branch)): At<(String, String)>,
    caller: Caller,
    request: Request,
) -> Answer<Json<Deleted>> {
    let (project, branch) = found(&app, &caller, Scope::Admin, &name, &branch).await?;
    let asked: Delete = body::read(request, wire::limits::BODY_BYTES, Ok).await?;
    let mut tx = app.db.begin().await?;
    let by = caller.by(&app);
    let done = branch::delete(&mut tx, &by, &project, &branch, &asked.confirm).await?;
    tx.commit().await?;
    app.due.notify_one();
    Ok(Json(Deleted {
        revisions: done.revisions,
        runs: done.runs,
        incidents: done.incidents,
        curves: done.curves,
    }))
}

/// The branch of a caller who may change it.
async fn found(
    app: &App,
    caller: &Caller,
    scope: Scope,
    project: &str,
    branch: &str,
) -> Result<(Project, Branch)> {
    caller.require(scope)?;
    let project = lookup::project(app, caller.viewer(), project).await?;
    caller.require_in(scope, project.id)?;
    let branch = lookup::branch(app, project.id, branch).await?;
    Ok((project, branch))
}
