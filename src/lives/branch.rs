//! Other names of branches, and their end.

use serde_json::json;

use crate::account::By;
use crate::db::branch::Deleted;
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::{Branch, Project};

/// Gives a branch another name. The old one leads to it, in addresses and in reports, until a branch
/// takes it. The caller commits.
///
/// # Errors
/// `Invalid` for a name that no report can have, `Conflict` for one that another branch has.
pub async fn rename(
    connection: &mut Connection,
    by: &By<'_>,
    project: &Project,
    branch: &Branch,
    name: &str,
) -> Result<()> {
    if name.is_empty() || name.len() > wire::limits::NAME || name.contains('\0') {
        let problem = format!("must have 1 to {} bytes, no NUL", wire::limits::NAME);
        return Err(Error::invalid("name", problem));
    }
    if name == branch.name {
        return Ok(());
    }
    let taken = db::project::find_branch(&mut *connection, project.id, name).await?;
    if taken.is_some_and(|taken| taken.id != branch.id) {
        return Err(Error::Conflict {
            code: "branch_known",
            field: "name".into(),
            detail: format!(
                "{} has a branch {name} already, or had it under this name",
                project.name
            ),
        });
    }
    let names = (branch.name.as_str(), name);
    db::branch::mark_renamed(connection, (project.id, branch.id), names, by.now).await?;
    let told = |name: &str| Some(json!({ "name": name }));
    let change = (told(&branch.name), told(name));
    by.did(connection, "branch_renamed", &about(project, branch), change).await
}

/// Removes a branch with everything that was measured on it. `confirmed` is its name, typed again.
/// There is no way back. The caller commits.
///
/// # Errors
/// `Invalid` where the name is another one, `Conflict` while a job measures it.
pub async fn delete(
    connection: &mut Connection,
    by: &By<'_>,
    project: &Project,
    branch: &Branch,
    confirmed: &str,
) -> Result<Deleted> {
    if confirmed != branch.name {
        return Err(Error::invalid(
            "confirm",
            format!("must be the branch's name, {}", branch.name),
        ));
    }
    db::branch::hold_reports(connection).await?;
    if let Some(job) = db::branch::find_live_job(connection, project.id, &branch.name).await? {
        return Err(Error::Conflict {
            code: "branch_in_use",
            field: "branch".into(),
            detail: format!("job {job} measures it; cancel the job, or wait until it is over"),
        });
    }
    let done = db::branch::delete(connection, (project.id, branch.id), by.now).await?;
    let was = json!({
        "revisions": done.revisions, "runs": done.runs, "incidents": done.incidents,
        "curves": done.curves,
    });
    by.did(connection, "branch_deleted", &about(project, branch), (Some(was), None)).await?;
    Ok(done)
}

fn about(project: &Project, branch: &Branch) -> String {
    format!("branch {} of {}", branch.name, project.name)
}
