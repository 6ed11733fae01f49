//! Jobs: stored once whatever the client repeats, read by pages and API. How agents take them is
//! [`live`], what suspects ask for is [`confirmation`].

pub mod agent;
pub mod confirmation;
pub mod live;

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Failure};
use crate::model::job::{Job, JobState};
use crate::model::revision::parse_subject;
use crate::model::{IncidentId, JobId, MachineId, ProjectId, RunId, SubmissionId, Visible};

/// A job to be stored.
#[derive(Debug)]
pub struct New<'a> {
    /// Whose code.
    pub project: ProjectId,
    /// The request it is part of, where that carried a key.
    pub submission: Option<SubmissionId>,
    /// The incident whose suspect it measures again.
    pub incident: Option<IncidentId>,
    /// Who asked for it.
    pub submitted_by: &'a str,
    /// What to measure.
    pub plan: &'a wire::Plan,
    /// Revisions; of two the first is the base.
    pub revisions: &'a [wire::Revision],
    /// Index of the revision of each turn.
    pub turns: &'a [i32],
    /// The machine it is for; this or `label`.
    pub machine: Option<MachineId>,
    /// Label of the machines it is for.
    pub label: Option<&'a str>,
    /// The higher goes first within the project.
    pub priority: i32,
    /// Of no use later.
    pub deadline: Option<OffsetDateTime>,
    /// Longest time from claim to end, seconds.
    pub limit_s: i32,
    /// Now.
    pub created_at: OffsetDateTime,
}

/// Stores a job; it waits from then on.
///
/// # Errors
/// When the database refuses.
pub async fn insert(connection: &mut Connection, new: &New<'_>) -> Result<JobId, Failure> {
    let commits: Vec<String> = new.revisions.iter().map(|one| one.commit.clone()).collect();
    sqlx::query_scalar!(
        r#"insert into job (project_id, submission_id, incident_id, submitted_by, plan, revisions,
               commits, turns, wanted_machine_id, wanted_label, priority, deadline, limit_s, state,
               created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'queued', $14)
           returning id as "id: JobId""#,
        new.project as ProjectId,
        new.submission as Option<SubmissionId>,
        new.incident as Option<IncidentId>,
        new.submitted_by,
        Json(new.plan) as _,
        Json(new.revisions) as _,
        &commits,
        new.turns,
        new.machine as Option<MachineId>,
        new.label,
        new.priority,
        new.deadline,
        new.limit_s,
        new.created_at
    )
    .fetch_one(connection)
    .await
}

/// Stores that a request came under this key, or reads the one that did: its row, the digest it
/// came with, and whether it is new. Of two at once the second waits for the first.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_or_find_submission(
    connection: &mut Connection,
    project: ProjectId,
    key: &str,
    digest: &[u8],
    now: OffsetDateTime,
) -> Result<(SubmissionId, Vec<u8>, bool), Failure> {
    let new = sqlx::query_scalar!(
        r#"insert into job_submission (project_id, key, digest, created_at)
           values ($1, $2, $3, $4)
           on conflict on constraint job_submission_key_is_unique_in_project do nothing
           returning id as "id: SubmissionId""#,
        project as ProjectId,
        key,
        digest,
        now
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(id) = new {
        return Ok((id, digest.to_vec(), true));
    }
    let row = sqlx::query!(
        r#"select id as "id: SubmissionId", digest from job_submission
           where project_id = $1 and key = $2"#,
        project as ProjectId,
        key
    )
    .fetch_one(connection)
    .await?;
    Ok((row.id, row.digest, false))
}

/// Which jobs a list holds; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// On this machine, or for it.
    pub machine: Option<MachineId>,
    /// In one of these states.
    pub states: Option<Vec<JobState>>,
    /// Of a commit that starts so.
    pub commit: Option<String>,
    /// Of this request.
    pub submission: Option<SubmissionId>,
    /// Before this one: the last of the page before.
    pub before: Option<JobId>,
}

/// Jobs of what is visible, the newest first; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    executor: impl PgExecutor<'_>,
    visible: &Visible,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Job>, Failure> {
    read(executor, visible, None, filter, limit).await
}

/// The job of this number.
///
/// # Errors
/// When the database does not answer.
pub async fn find(executor: impl PgExecutor<'_>, id: JobId) -> Result<Option<Job>, Failure> {
    Ok(read(executor, &Visible::ALL, Some(id), &Filter::default(), 1).await?.pop())
}

/// The end of a job's log.
///
/// # Errors
/// When the database does not answer.
pub async fn find_log(executor: impl PgExecutor<'_>, id: JobId) -> Result<String, Failure> {
    let log = sqlx::query_scalar!("select log from job where id = $1", id as JobId);
    Ok(log.fetch_optional(executor).await?.unwrap_or_default())
}

/// Takes a job that is not over to its end, for a reason. False when it was over already.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_cancelled(
    executor: impl PgExecutor<'_>,
    id: JobId,
    reason: &str,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "update job set state = 'cancelled', reason = $2, ended_at = $3, lease_until = null
         where id = $1 and state in ('queued', 'claimed', 'preparing', 'running')",
        id as JobId,
        reason,
        now
    );
    Ok(done.execute(executor).await?.rows_affected() == 1)
}

/// Puts a job that came to nothing back into the queue, with all its attempts; a deadline that has
/// passed is dropped. False when it is not failed, cancelled or timed out.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_queued_again(
    executor: impl PgExecutor<'_>,
    id: JobId,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "update job set state = 'queued', reason = null, ended_at = null, lease = null,
                attempts = 0, progress = '{}', machine_id = null,
                deadline = case when deadline > $2 then deadline end
         where id = $1 and state in ('failed', 'cancelled', 'timed_out') and incident_id is null",
        id as JobId,
        now
    );
    Ok(done.execute(executor).await?.rows_affected() == 1)
}

async fn read(
    executor: impl PgExecutor<'_>,
    visible: &Visible,
    id: Option<JobId>,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Job>, Failure> {
    let states: Option<Vec<String>> = filter
        .states
        .as_ref()
        .map(|states| states.iter().map(|state| state.word().to_owned()).collect());
    let rows = sqlx::query_as!(
        Row,
        r#"select j.id as "id: JobId", j.project_id as "project: ProjectId",
               p.name as project_name, p.subject, j.plan as "plan: Json<wire::Plan>",
               j.revisions as "revisions: Json<Vec<wire::Revision>>", j.turns,
               m.id as "machine?: MachineId", m.public_id as "machine_public_id?",
               m.name as "machine_name?", j.wanted_label as label, j.priority, j.deadline,
               j.limit_s, j.state, j.reason, j.attempts,
               j.progress as "progress: Json<wire::Progress>",
               j.incident_id as "incident: IncidentId", j.submitted_by, j.created_at,
               j.claimed_at, j.ended_at,
               array(select r.run_id from job_run r where r.job_id = j.id order by r.turn)
                   as "runs!: Vec<RunId>"
           from job j
           join project p on p.id = j.project_id
           left join machine m on m.id = coalesce(j.machine_id, j.wanted_machine_id)
           where ($1::bigint is null or j.id = $1)
             and ($2::bigint is null or j.project_id = $2)
             and ($3::bigint is null or m.id = $3)
             and ($4::text[] is null or j.state = any($4))
             and ($5::text is null
                  or exists (select from unnest(j.commits) c where starts_with(c, $5)))
             and ($6::bigint is null or j.submission_id = $6)
             and ($7::bigint is null or j.id < $7)
             and ($9::bigint[] is null or j.project_id = any($9))
           order by j.id desc limit $8"#,
        id as Option<JobId>,
        filter.project as Option<ProjectId>,
        filter.machine as Option<MachineId>,
        states.as_deref(),
        filter.commit,
        filter.submission as Option<SubmissionId>,
        filter.before as Option<JobId>,
        limit,
        visible.projects() as Option<&[ProjectId]>
    );
    rows.fetch_all(executor).await?.into_iter().map(Job::try_from).collect()
}

struct Row {
    id: JobId,
    project: ProjectId,
    project_name: String,
    subject: String,
    plan: Json<wire::Plan>,
    revisions: Json<Vec<wire::Revision>>,
    turns: Vec<i32>,
    machine: Option<MachineId>,
    machine_public_id: Option<String>,
    machine_name: Option<String>,
    label: Option<String>,
    priority: i32,
    deadline: Option<OffsetDateTime>,
    limit_s: i32,
    state: String,
    reason: Option<String>,
    attempts: i32,
    progress: Json<wire::Progress>,
    incident: Option<IncidentId>,
    submitted_by: String,
    created_at: OffsetDateTime,
    claimed_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
    runs: Vec<RunId>,
}

impl TryFrom<Row> for Job {
    type Error = Failure;

    fn try_from(row: Row) -> Result<Job, Failure> {
        Ok(Job {
            id: row.id,
            project: row.project,
            project_name: row.project_name,
            subject: word("subject", &row.subject, parse_subject)?,
            plan: row.plan.0,
            revisions: row.revisions.0,
            turns: row.turns,
            machine: row.machine,
            machine_public_id: row.machine_public_id,
            machine_name: row.machine_name,
            label: row.label,
            priority: row.priority,
            deadline: row.deadline,
            limit_s: row.limit_s,
            state: word("state", &row.state, JobState::parse)?,
            reason: row.reason,
            attempts: row.attempts,
            progress: row.progress.0,
            incident: row.incident,
            submitted_by: row.submitted_by,
            created_at: row.created_at,
            claimed_at: row.claimed_at,
            ended_at: row.ended_at,
            runs: row.runs,
        })
    }
}
