//! What an address or a parameter names, found or refused.

use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::{Branch, Curve, CurveId, Machine, Project, ProjectId, Revision};

/// The machine with this id.
pub async fn machine(app: &App, id: &str) -> Result<Machine> {
    let found = db::machine::find_by_public_id(&app.db, id).await?;
    found.ok_or(Error::NotFound("machine"))
}

/// The project of this name.
pub async fn project(app: &App, name: &str) -> Result<Project> {
    db::project::find_by_name(&app.db, name).await?.ok_or(Error::NotFound("project"))
}

/// The branch of this name.
pub async fn branch(app: &App, project: ProjectId, name: &str) -> Result<Branch> {
    db::project::find_branch(&app.db, project, name).await?.ok_or(Error::NotFound("branch"))
}

/// The curve with this number.
pub async fn curve(app: &App, id: CurveId) -> Result<Curve> {
    db::curve::find(&app.db, id).await?.ok_or(Error::NotFound("curve"))
}

/// The revisions of the one commit whose id starts so: one on each branch that has the commit.
/// `parameter` is named when the digits are too few or fit several commits.
pub async fn commit(
    app: &App,
    project: ProjectId,
    parameter: &'static str,
    digits: &str,
) -> Result<Vec<Revision>> {
    if digits.len() < 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(Error::query(parameter, "must be at least 4 hex digits of a commit"));
    }
    let prefix = digits.to_ascii_lowercase();
    let found = db::revision::list_by_prefix(&app.db, project, &prefix).await?;
    let Some(first) = found.first() else { return Err(Error::NotFound("commit")) };
    match found.iter().find(|other| other.commit != first.commit) {
        None => Ok(found),
        Some(other) => {
            let both = format!("fits {} and {}: give more digits", first.commit, other.commit);
            Err(Error::query(parameter, both))
        }
    }
}

/// The branch of this name, else the only one of the project. Ranks of different branches have no
/// common order, so where there are several one must be named.
pub async fn branch_or_only(
    app: &App,
    project: ProjectId,
    name: Option<&str>,
) -> Result<Option<Branch>> {
    if let Some(name) = name {
        return branch(app, project, name).await.map(Some);
    }
    let mut branches = db::project::list_branches(&app.db, project).await?;
    if branches.len() > 1 {
        let names: Vec<&str> = branches.iter().map(|branch| branch.name.as_str()).collect();
        return Err(Error::query("branch", format!("must be one of {}", names.join(", "))));
    }
    Ok(branches.pop())
}
