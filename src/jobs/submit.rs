//! A request → jobs. Everything it names is looked up first; the jobs are stored in one transaction
//! with the key that the request came under.

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::{AskedRange, AskedRevision, JobRequest, Revision, job_limits};

use crate::app::App;
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::job::{self, Job};
use crate::model::{Branch, JobId, MachineId, Project, SubmissionId, Visible};

/// Longest key, bytes.
pub const KEY_BYTES: usize = 200;

/// Stores the jobs of a request, unless the same request came under this key before; answers them
/// and whether they are new.
///
/// # Errors
/// `Invalid` names the field that is wrong or not known here; `Conflict` `key_reused` when another
/// request came under this key.
pub async fn submit(
    app: &App,
    request: &JobRequest,
    key: Option<&str>,
    by: &str,
) -> Result<(bool, Vec<Job>)> {
    request.check()?;
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let project = project(&mut tx, request, now).await?;
    let submission = match key {
        None => None,
        Some(key) => match under_key(&mut tx, &project, request, key, now).await? {
            (id, true) => Some(id),
            (id, false) => {
                let filter = db::job::Filter { submission: Some(id), ..Default::default() };
                let limit = job_limits::JOBS as i64;
                let jobs = db::job::list(&mut *tx, &Visible::ALL, &filter, limit).await?;
                return Ok((false, in_order(jobs)));
            }
        },
    };
    let deadline = deadline(request, now)?;
    let machine = machine(&mut tx, request).await?;
    let each = revisions(&mut tx, &project, request).await?;
    let mut jobs = Vec::new();
    for revisions in &each {
        let new = db::job::New {
            project: project.id,
            submission,
            incident: None,
            submitted_by: by,
            plan: &request.plan,
            revisions,
            turns: &job::turns(revisions.len(), request.runs.unwrap_or(1)),
            machine,
            label: request.label.as_deref(),
            priority: request.priority.unwrap_or(0),
            deadline,
            limit_s: request.limit_s.unwrap_or(job::USUAL_LIMIT_S) as i32,
            created_at: now,
        };
        let id = db::job::insert(&mut tx, &new).await?;
        jobs.push(stored(&mut tx, id).await?);
    }
    tx.commit().await?;
    tracing::info!(project = project.name, jobs = jobs.len(), by, "jobs submitted");
    Ok((true, jobs))
}

async fn stored(connection: &mut Connection, id: JobId) -> Result<Job> {
    let job = db::job::find(connection, id).await?;
    Ok(job.context("a job is gone after its insert")?)
}

fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| job.id);
    jobs
}

/// The project, stored where it is new.
async fn project(
    connection: &mut Connection,
    request: &JobRequest,
    now: OffsetDateTime,
) -> Result<Project> {
    let known = db::project::find_by_name(&mut *connection, &request.project).await?;
    match (known, request.subject) {
        (Some(known), Some(subject)) if known.subject != subject => {
            Err(Error::invalid("subject", "differs from what this project is known to test"))
        }
        (Some(known), _) => Ok(known),
        (None, Some(subject)) => {
            let new = wire::Project { name: request.project.clone(), subject };
            Ok(db::store::insert_or_find_project(connection, &new, now).await?)
        }
        (None, None) => {
            Err(Error::invalid("subject", "must be given: this project is not known yet"))
        }
    }
}

/// The row of this key, and whether it is new.
async fn under_key(
    connection: &mut Connection,
    project: &Project,
    request: &JobRequest,
    key: &str,
    now: OffsetDateTime,
) -> Result<(SubmissionId, bool)> {
    let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
    if key.is_empty() || key.len() > KEY_BYTES || !visible {
        let problem = format!("must be 1 to {KEY_BYTES} visible ASCII characters");
        return Err(Error::invalid("Idempotency-Key", problem));
    }
    let canonical = serde_json::to_vec(request).context("a request serialises")?;
    let digest = Sha256::digest(canonical);
    let (id, kept, new) =
        db::job::insert_or_find_submission(connection, project.id, key, &digest, now).await?;
    if kept[..] == digest[..] {
        return Ok((id, new));
    }
    Err(Error::Conflict {
        code: "key_reused",
        field: "Idempotency-Key".into(),
        detail: "another request came under this key; take a new key for a new request".into(),
    })
}

fn deadline(request: &JobRequest, now: OffsetDateTime) -> Result<Option<OffsetDateTime>> {
    let Some(text) = &request.deadline else { return Ok(None) };
    let at = time_of("deadline", text)?;
    if at <= now {
        return Err(Error::invalid("deadline", "has passed already"));
    }
    Ok(Some(at))
}

fn time_of(field: &str, text: &str) -> Result<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| Error::invalid(field, "must be RFC 3339 with an offset"))
}

/// The machine by its id or, where one only is called so, its name.
async fn machine(connection: &mut Connection, request: &JobRequest) -> Result<Option<MachineId>> {
    let Some(asked) = &request.machine else { return Ok(None) };
    if let Some(found) = db::machine::find_by_public_id(&mut *connection, asked).await? {
        return Ok(Some(found.id));
    }
    let unknown = |problem: &str| Error::Invalid {
        code: "unknown_machine",
        field: "machine".into(),
        problem: problem.into(),
    };
    match db::machine::list_by_name(connection, asked).await?.as_slice() {
        [one] => Ok(Some(one.id)),
        [] => Err(unknown("no machine has this id or name")),
        _ => Err(unknown("several machines are called so: give the id")),
    }
}

/// The revisions of each job.
async fn revisions(
    connection: &mut Connection,
    project: &Project,
    request: &JobRequest,
) -> Result<Vec<Vec<Revision>>> {
    if let Some(range) = &request.range {
        let range = in_range(connection, project, range).await?;
        return Ok(range.into_iter().map(|revision| vec![revision]).collect());
    }
    let mut both = Vec::new();
    for (field, asked) in [("base", &request.base), ("revision", &request.revision)] {
        if let Some(asked) = asked {
            both.push(revision(connection, project, field, asked).await?);
        }
    }
    if let [base, head] = both.as_slice()
        && base.commit == head.commit
    {
        return Err(Error::invalid("base.commit", "must not be the revision's own"));
    }
    Ok(vec![both])
}

/// A revision as a report will say it: what is asked for, filled with what is known of the commit.
async fn revision(
    connection: &mut Connection,
    project: &Project,
    field: &str,
    asked: &AskedRevision,
) -> Result<Revision> {
    let known = match known(connection, project, field, asked).await? {
        Some(known) => known,
        None => return fresh(field, asked),
    };
    if let Some(at) = &asked.committed_at {
        time_of(&format!("{field}.committed_at"), at)?;
    }
    Ok(known)
}

async fn known(
    connection: &mut Connection,
    project: &Project,
    field: &str,
    asked: &AskedRevision,
) -> Result<Option<Revision>> {
    let commit = format!("{field}.commit");
    let found = db::revision::list_by_prefix(&mut *connection, project.id, &asked.commit).await?;
    let branches = db::project::list_branches(&mut *connection, project.id).await?;
    let name = |id| branches.iter().find(|branch| branch.id == id).map(|branch| &branch.name);
    let on_branch = |one: &&crate::model::Revision| {
        asked.branch.as_ref().is_none_or(|branch| name(one.branch) == Some(branch))
    };
    let found: Vec<_> = found.iter().filter(on_branch).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => {
            let branch = name(one.branch).context("a revision's branch is gone")?;
            Ok(Some(as_reported((*one).clone(), branch)?))
        }
        [one, rest @ ..] if rest.iter().all(|other| other.commit == one.commit) => {
            Err(Error::invalid(format!("{field}.branch"), "must be given: several have the commit"))
        }
        _ => Err(Error::invalid(commit, "fits several commits: give more digits")),
    }
}

/// A revision that nothing is known of: it must say its place.
fn fresh(field: &str, asked: &AskedRevision) -> Result<Revision> {
    if asked.position.is_none() && asked.committed_at.is_none() {
        let problem = "must be given where committed_at is not: this commit is not known yet";
        return Err(Error::invalid(format!("{field}.position"), problem));
    }
    if let Some(at) = &asked.committed_at {
        time_of(&format!("{field}.committed_at"), at)?;
    }
    Ok(Revision {
        commit: asked.commit.clone(),
        branch: asked.branch.clone().unwrap_or_else(|| "main".into()),
        parents: asked.parents.clone(),
        position: asked.position,
        committed_at: asked.committed_at.clone(),
        subject: asked.subject.clone().unwrap_or_else(|| asked.commit.clone()),
    })
}

/// The known revisions of a range, in order.
async fn in_range(
    connection: &mut Connection,
    project: &Project,
    range: &AskedRange,
) -> Result<Vec<Revision>> {
    let end = |commit: &String| AskedRevision {
        commit: commit.clone(),
        branch: range.branch.clone(),
        ..AskedRevision::default()
    };
    let unknown = |field: &str| Error::Invalid {
        code: "unknown_commit",
        field: field.into(),
        problem: "is not known here: a range is of revisions that were measured before".into(),
    };
    let after = known(connection, project, "range.after", &end(&range.after)).await?;
    let after = after.ok_or_else(|| unknown("range.after"))?;
    let upto = known(connection, project, "range.upto", &end(&range.upto)).await?;
    let upto = upto.ok_or_else(|| unknown("range.upto"))?;
    if after.branch != upto.branch {
        return Err(Error::invalid("range.branch", "the two commits are on different branches"));
    }
    let branch = db::project::find_branch(&mut *connection, project.id, &after.branch).await?;
    let branch = branch.context("a revision's branch is gone")?;
    let between = between(connection, &branch, &after, &upto).await?;
    if between.is_empty() {
        return Err(Error::invalid("range.upto", "does not come after range.after"));
    }
    let most = job_limits::JOBS;
    if between.len() > most {
        let problem = format!("makes more than {most} jobs: ask for a part of it");
        return Err(Error::invalid("range", problem));
    }
    Ok(between)
}

async fn between(
    connection: &mut Connection,
    branch: &Branch,
    after: &Revision,
    upto: &Revision,
) -> Result<Vec<Revision>> {
    let mut ranks = [0; 2];
    for (rank, end) in ranks.iter_mut().zip([after, upto]) {
        let found = db::revision::find_by_commit(&mut *connection, branch.id, &end.commit).await?;
        *rank = found.context("a revision is gone")?.rank;
    }
    let [good, bad] = ranks;
    let limit = job_limits::JOBS as i64 + 1;
    let rows = db::revision::list_between(&mut *connection, branch.id, good, bad, limit).await?;
    rows.into_iter().map(|row| as_reported(row, &branch.name)).collect()
}

/// A stored revision as reports say it.
pub(super) fn as_reported(row: crate::model::Revision, branch: &str) -> Result<Revision> {
    let committed_at = row.committed_at.map(|at| at.format(&Rfc3339)).transpose();
    Ok(Revision {
        commit: row.commit,
        branch: branch.to_owned(),
        parents: row.parents,
        position: row.position,
        committed_at: committed_at.context("a stored time formats")?,
        subject: row.subject,
    })
}
