//! What an address or a parameter names, found or refused. What somebody may not read is not found.

use crate::account::Viewer;
use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::model::incident::Incident;
use crate::model::{
    Branch, BranchId, Curve, CurveId, IncidentId, Machine, MachineId, Project, ProjectId, Revision,
    Run, RunId,
};

/// The machine with this id, or the one that it was merged into.
pub async fn machine(app: &App, id: &str) -> Result<Machine> {
    let found = match id.contains('\0') {
        // Postgres keeps no text with it.
        true => None,
        false => db::machine::find_by_public_id(&app.db, id).await?,
    };
    let found = found.ok_or(Error::NotFound("machine"))?;
    if found.public_id == id {
        return Ok(found);
    }
    // It was merged into this one, which has an identity of its own.
    db::machine::find(&app.db, found.id).await?.ok_or(Error::NotFound("machine"))
}

/// The project of this name.
pub async fn project(app: &App, viewer: &Viewer, name: &str) -> Result<Project> {
    let found = match name.contains('\0') {
        true => None,
        false => db::project::find_by_name(&app.db, name).await?,
    };
    let project = found.ok_or(Error::NotFound("project"))?;
    viewer.sees(project.id, "project")?;
    Ok(project)
}

/// The branch of this name.
pub async fn branch(app: &App, project: ProjectId, name: &str) -> Result<Branch> {
    db::project::find_branch(&app.db, project, name).await?.ok_or(Error::NotFound("branch"))
}

/// The curve with this number.
pub async fn curve(app: &App, viewer: &Viewer, id: CurveId) -> Result<Curve> {
    let curve = db::curve::find(&app.db, id).await?.ok_or(Error::NotFound("curve"))?;
    viewer.sees(curve.project, "curve")?;
    Ok(curve)
}

/// The incident with this number.
pub async fn incident(app: &App, viewer: &Viewer, id: &str) -> Result<Incident> {
    let id: IncidentId = id.parse().map_err(|_| Error::NotFound("incident"))?;
    let incident = db::incident::find(&app.db, id).await?.ok_or(Error::NotFound("incident"))?;
    viewer.sees(incident.project, "incident")?;
    Ok(incident)
}

/// The run with this UUID.
pub async fn run(app: &App, viewer: &Viewer, id: &str) -> Result<Run> {
    let id: RunId = id.parse().map_err(|_| Error::NotFound("run"))?;
    let run = db::run::find(&app.db, id).await?.ok_or(Error::NotFound("run"))?;
    viewer.sees(run.project, "run")?;
    Ok(run)
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

/// The machine that a filter names, where one is given.
pub async fn machine_filter(app: &App, id: Option<&str>) -> Result<Option<MachineId>> {
    match id {
        None => Ok(None),
        Some(id) => Ok(Some(machine(app, id).await?.id)),
    }
}

/// The project, and the branch of it, that filters name, where they are given.
///
/// # Errors
/// A branch without a project: its name says nothing then.
pub async fn project_filter(
    app: &App,
    viewer: &Viewer,
    name: Option<&str>,
    branch_name: Option<&str>,
) -> Result<(Option<ProjectId>, Option<BranchId>)> {
    match (name, branch_name) {
        (None, None) => Ok((None, None)),
        (None, Some(_)) => Err(Error::query("branch", "takes a project")),
        (Some(name), branch_name) => {
            let project = project(app, viewer, name).await?.id;
            let branch = match branch_name {
                None => None,
                Some(name) => Some(branch(app, project, name).await?.id),
            };
            Ok((Some(project), branch))
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

/// One side of a comparison, as asked for.
#[derive(Debug, Clone)]
pub struct Side {
    /// The words it was asked with.
    pub asked: String,
    /// Its revisions, in order.
    pub revisions: Vec<Revision>,
    /// The runs that make it.
    pub runs: db::sides::Runs,
}

/// Most revisions of a range, and most runs that are named.
const LARGEST_SIDE: usize = 500;

/// A side: a commit by its first digits; a range `A..B`, the revisions after A up to B on a branch;
/// or runs, `run:UUID,UUID`.
pub async fn side(
    app: &App,
    project: ProjectId,
    (parameter, asked): (&'static str, &str),
    branch: Option<&str>,
) -> Result<Side> {
    let (revisions, runs) = if let Some(list) = asked.strip_prefix("run:") {
        runs(app, project, parameter, list).await?
    } else if let Some((after, upto)) = asked.split_once("..") {
        (range(app, project, parameter, (after, upto), branch).await?, Vec::new())
    } else {
        (commit(app, project, parameter, asked).await?, Vec::new())
    };
    let ids = revisions.iter().map(|revision| revision.id).collect();
    let runs = db::sides::Runs { revisions: ids, runs };
    Ok(Side { asked: asked.to_owned(), revisions, runs })
}

async fn runs(
    app: &App,
    project: ProjectId,
    parameter: &'static str,
    list: &str,
) -> Result<(Vec<Revision>, Vec<RunId>)> {
    let (mut revisions, mut runs): (Vec<Revision>, Vec<RunId>) = (Vec::new(), Vec::new());
    for text in list.split(',') {
        let id = text.trim().parse::<RunId>();
        let id =
            id.map_err(|_| Error::query(parameter, format!("`{text}` is no UUID of a run")))?;
        let run = db::run::find(&app.db, id).await?.ok_or(Error::NotFound("run"))?;
        if run.project != project {
            return Err(Error::query(parameter, format!("run {id} is of another project")));
        }
        if !revisions.iter().any(|known| known.id == run.revision) {
            let found = db::revision::find(&app.db, run.revision).await?;
            revisions.extend(found);
        }
        runs.push(id);
        if runs.len() > LARGEST_SIDE {
            return Err(Error::query(parameter, format!("names more than {LARGEST_SIDE} runs")));
        }
    }
    revisions.sort_by_key(|revision| (revision.branch, revision.rank));
    Ok((revisions, runs))
}

async fn range(
    app: &App,
    project: ProjectId,
    parameter: &'static str,
    (after, upto): (&str, &str),
    branch: Option<&str>,
) -> Result<Vec<Revision>> {
    let after = commit(app, project, parameter, after).await?;
    let upto = commit(app, project, parameter, upto).await?;
    let named = match branch {
        Some(name) => Some(self::branch(app, project, name).await?.id),
        None => None,
    };
    let both = after
        .iter()
        .flat_map(|a| upto.iter().map(move |b| (a, b)))
        .filter(|(a, b)| a.branch == b.branch && named.is_none_or(|branch| a.branch == branch));
    let both: Vec<_> = both.collect();
    let (after, upto) = match both.as_slice() {
        [one] => *one,
        [] => return Err(Error::query(parameter, "the two commits share no branch")),
        _ => return Err(Error::query("branch", "must be given: several have both commits")),
    };
    let limit = LARGEST_SIDE as i64 + 1;
    let found =
        db::revision::list_between(&app.db, after.branch, after.rank, upto.rank, limit).await?;
    if found.is_empty() || found.len() > LARGEST_SIDE {
        let problem = format!("must hold 1 to {LARGEST_SIDE} revisions, the earlier commit first");
        return Err(Error::query(parameter, problem));
    }
    Ok(found)
}
