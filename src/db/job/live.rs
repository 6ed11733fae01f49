//! Jobs in the hands of agents: claimed, kept alive, finished, taken back. A claim is named by its
//! lease; whoever writes names the lease it holds, so an agent that lost its job changes nothing.

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::db::types::word;
use crate::db::{Connection, Failure};
use crate::model::job::{JobState, MOST_ATTEMPTS};
use crate::model::{JobId, MachineId, RunId};

/// The constraint that a second live job of a machine breaks.
const ONE_LIVE_JOB: &str = "job_machine_has_one_live_job";

/// What an agent takes a job by.
#[derive(Debug)]
pub struct Taker<'a> {
    /// Where it runs.
    pub machine: MachineId,
    /// Labels the machine carries.
    pub labels: &'a [String],
    /// Projects whose revisions it can prepare.
    pub projects: &'a [String],
    /// Names the claim.
    pub lease: Uuid,
    /// When the lease runs out.
    pub lease_until: OffsetDateTime,
}

/// Claims the job that is next for a machine: of the project it served longest ago, then by
/// priority, deadline and age. None where nothing waits that it can do, or where it has a live job.
///
/// # Errors
/// When the database does not answer.
pub async fn claim_next(
    connection: &mut Connection,
    taker: &Taker<'_>,
    now: OffsetDateTime,
) -> Result<Option<JobId>, Failure> {
    let claimed = sqlx::query!(
        r#"update job set state = 'claimed', machine_id = $1, lease = $4, lease_until = $5,
               attempts = attempts + 1, claimed_at = $6, reason = null, progress = '{}', log = ''
           where id = (
               select j.id from job j
               join project p on p.id = j.project_id
               left join project_served s on s.machine_id = $1 and s.project_id = j.project_id
               where j.state = 'queued' and (j.deadline is null or j.deadline > $6)
                 and (j.wanted_machine_id = $1
                      or (j.wanted_machine_id is null and j.wanted_label = any($2)))
                 and p.name = any($3)
                 and not exists (select from job l where l.machine_id = $1
                                 and l.state in ('claimed', 'preparing', 'running'))
               order by s.served_at nulls first, j.priority desc, j.deadline nulls last, j.id
               limit 1
               for update of j skip locked)
           returning id as "id: JobId", project_id"#,
        taker.machine as MachineId,
        taker.labels,
        taker.projects,
        taker.lease,
        taker.lease_until,
        now
    )
    .fetch_optional(&mut *connection)
    .await;
    let Some(job) = claimed? else { return Ok(None) };
    sqlx::query!(
        "insert into project_served (machine_id, project_id, served_at) values ($1, $2, $3)
         on conflict (machine_id, project_id) do update set served_at = excluded.served_at",
        taker.machine as MachineId,
        job.project_id,
        now
    )
    .execute(connection)
    .await?;
    Ok(Some(job.id))
}

/// Whether a claim failed because the machine has a live job by now: two agents of it asked at once.
pub fn is_second_live_job(failure: &Failure) -> bool {
    failure.as_database_error().and_then(|error| error.constraint()) == Some(ONE_LIVE_JOB)
}

/// Keeps a claim alive and notes how far the job is. A job that went back into the queue because
/// its agent was out of reach is its agent's again. False when this lease does not hold the job.
///
/// # Errors
/// When the database does not answer; see [`is_second_live_job`].
pub async fn mark_alive(
    connection: &mut Connection,
    job: JobId,
    machine: MachineId,
    lease: Uuid,
    beat: &wire::Heartbeat,
    lease_until: OffsetDateTime,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "update job set state = $4, progress = $5, log = coalesce($6, log), lease_until = $7,
                reason = null
         where id = $1 and machine_id = $2 and lease = $3
               and state in ('queued', 'claimed', 'preparing', 'running')",
        job as JobId,
        machine as MachineId,
        lease,
        beat.state.word(),
        Json(&beat.progress) as _,
        beat.log,
        lease_until
    );
    Ok(done.execute(connection).await?.rows_affected() == 1)
}

/// Ends a job as its agent says. False when this lease does not hold the job.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_finished(
    connection: &mut Connection,
    job: JobId,
    machine: MachineId,
    finish: (Uuid, &wire::Finish),
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let (lease, finish) = finish;
    let state = if finish.failed.is_some() { JobState::Failed } else { JobState::Done };
    let done = sqlx::query!(
        "update job set state = $4, reason = $5, log = coalesce($6, log), ended_at = $7,
                lease_until = null,
                progress = jsonb_set(progress, '{turns_done}', to_jsonb($8::integer))
         where id = $1 and machine_id = $2 and lease = $3
               and state in ('queued', 'claimed', 'preparing', 'running')",
        job as JobId,
        machine as MachineId,
        lease,
        state.word(),
        finish.failed,
        finish.log,
        now,
        i32::try_from(finish.runs.len()).unwrap_or(i32::MAX)
    );
    Ok(done.execute(connection).await?.rows_affected() == 1)
}

/// Where a job stands for whoever holds this lease; none where the job is not this lease's.
///
/// # Errors
/// When the database does not answer.
pub async fn find_standing(
    connection: &mut Connection,
    job: JobId,
    machine: MachineId,
    lease: Uuid,
) -> Result<Option<(JobState, Option<String>)>, Failure> {
    let row = sqlx::query!(
        "select state, reason from job where id = $1 and machine_id = $2 and lease = $3",
        job as JobId,
        machine as MachineId,
        lease
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok((word("state", &row.state, JobState::parse)?, row.reason))).transpose()
}

/// Which of these runs the machine has not uploaded.
///
/// # Errors
/// When the database does not answer.
pub async fn list_missing_runs(
    connection: &mut Connection,
    machine: MachineId,
    runs: &[RunId],
) -> Result<Vec<RunId>, Failure> {
    sqlx::query_scalar!(
        r#"select wanted.id as "id!" from unnest($2::uuid[]) as wanted (id)
           where not exists (select from run r where r.machine_id = $1 and r.id = wanted.id)"#,
        machine as MachineId,
        runs
    )
    .fetch_all(connection)
    .await
}

/// Notes that these runs came of a job, in order of its turns. Runs of another job stay there.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_runs(
    connection: &mut Connection,
    job: JobId,
    machine: MachineId,
    runs: &[RunId],
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into job_run (machine_id, run_id, job_id, turn)
         select $1, run, $2, (turn - 1)::integer
         from unnest($3::uuid[]) with ordinality as came (run, turn)
         on conflict (machine_id, run_id) do nothing",
        machine as MachineId,
        job as JobId,
        runs
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Settles the job whose deadline, limit of time or lease passed first: of a dead agent it goes back
/// into the queue until it was claimed [`MOST_ATTEMPTS`] times, and fails then. A job that another
/// worker settles, or an agent is just speaking about, is passed over. None when there is none.
///
/// # Errors
/// When the database does not answer.
pub async fn settle_next_expired(
    executor: impl PgExecutor<'_>,
    now: OffsetDateTime,
) -> Result<Option<(JobId, JobState)>, Failure> {
    let row = sqlx::query!(
        r#"with late as (
               select id,
                   case when deadline <= $1 then 'deadline'
                        when state <> 'queued' and claimed_at + limit_s * interval '1 second' <= $1
                            then 'limit'
                        when attempts >= $2 then 'given_up'
                        else 'again' end as what
               from job
               where state in ('queued', 'claimed', 'preparing', 'running')
                 and (deadline <= $1 or lease_until <= $1
                      or (state <> 'queued'
                          and claimed_at + limit_s * interval '1 second' <= $1))
               order by id limit 1
               for update skip locked)
           update job set
               state = case what when 'again' then 'queued' when 'given_up' then 'failed'
                                 else 'timed_out' end,
               reason = case what
                   when 'deadline' then 'its deadline passed'
                   when 'limit' then 'it took longer than its limit of ' || limit_s || ' s'
                   when 'given_up' then 'the agent was lost ' || attempts || ' times'
                   else 'the agent was lost; it waits for attempt ' || attempts + 1 end,
               ended_at = case when what <> 'again' then $1 end,
               lease_until = null
           from late where job.id = late.id
           returning job.id as "id: JobId", state"#,
        now,
        MOST_ATTEMPTS
    )
    .fetch_optional(executor)
    .await?;
    row.map(|row| Ok((row.id, word("state", &row.state, JobState::parse)?))).transpose()
}
