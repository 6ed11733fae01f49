//! Runs: their heads for lists, and what one run recorded.

use time::OffsetDateTime;

use super::{Failure, Pool};
use crate::model::{
    Artefact, BranchId, EnvironmentId, MachineId, ProjectId, RevisionId, Run, RunId, Visible,
};

/// Which runs a list holds; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this machine.
    pub machine: Option<MachineId>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// At one of these revisions.
    pub revisions: Option<Vec<RevisionId>>,
    /// On this branch.
    pub branch: Option<BranchId>,
    /// With a point of this workload.
    pub workload: Option<String>,
    /// That arrived then or later.
    pub since: Option<OffsetDateTime>,
    /// That arrived earlier.
    pub until: Option<OffsetDateTime>,
    /// That stand behind this run: the last one of the page before.
    pub after: Option<(OffsetDateTime, RunId)>,
}

/// Runs of what is visible, the last to arrive first; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    visible: &Visible,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Run>, Failure> {
    read(pool, visible, None, filter, limit).await
}

/// The run with this UUID.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: RunId) -> Result<Option<Run>, Failure> {
    Ok(read(pool, &Visible::ALL, Some(id), &Filter::default(), 1).await?.pop())
}

async fn read(
    pool: &Pool,
    visible: &Visible,
    id: Option<RunId>,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Run>, Failure> {
    let (after_at, after_id) = filter.after.unzip();
    sqlx::query_as!(
        Run,
        r#"select r.id, r.machine_id as "machine: MachineId", m.public_id as machine_public_id,
               m.name as machine_name, p.id as "project: ProjectId", p.name as project_name,
               b.id as "branch: BranchId", b.name as branch_name, v.id as "revision: RevisionId",
               v.commit_id as commit, v.subject, r.environment_id as "environment: EnvironmentId",
               r.started_at, r.finished_at, r.received_at,
               (select count(*) from point t where t.machine_id = r.machine_id and t.run_id = r.id)
                   as "points!",
               (select count(*) from point t where t.machine_id = r.machine_id and t.run_id = r.id
                   and t.failure is not null) as "failed_points!"
           from run r
           join machine m on m.id = r.machine_id
           join revision v on v.id = r.revision_id
           join branch b on b.id = v.branch_id
           join project p on p.id = b.project_id
           where ($1::bigint is null or r.machine_id = $1)
             and ($2::bigint is null or p.id = $2)
             and ($3::bigint[] is null or r.revision_id = any($3))
             and ($4::timestamptz is null or (r.received_at, r.id) < ($4, $5))
             and ($7::uuid is null or r.id = $7)
             and ($8::bigint is null or v.branch_id = $8)
             and ($9::text is null or exists (
                 select from point t join curve c on c.id = t.curve_id
                 where t.machine_id = r.machine_id and t.run_id = r.id and c.workload = $9))
             and ($10::timestamptz is null or r.received_at >= $10)
             and ($11::timestamptz is null or r.received_at < $11)
             and ($12::bigint[] is null or p.id = any($12))
           order by r.received_at desc, r.id desc limit $6"#,
        filter.machine as Option<MachineId>,
        filter.project as Option<ProjectId>,
        filter.revisions.as_deref() as Option<&[RevisionId]>,
        after_at,
        after_id,
        limit,
        id,
        filter.branch as Option<BranchId>,
        filter.workload,
        filter.since,
        filter.until,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await
}

/// The evidence kept with a run, by name; contents left out.
///
/// # Errors
/// When the database does not answer.
pub async fn list_artefacts(pool: &Pool, run: &Run) -> Result<Vec<Artefact>, Failure> {
    sqlx::query_as!(
        Artefact,
        r#"select r.name, a.media_type, a.size_bytes, encode(a.digest, 'hex') as "digest!"
           from run_artefact r join artefact a on a.digest = r.digest
           where r.machine_id = $1 and r.run_id = $2 order by r.name"#,
        run.machine as MachineId,
        run.id
    )
    .fetch_all(pool)
    .await
}

/// Media type and content of one piece of evidence, compressed by gzip.
///
/// # Errors
/// When the database does not answer.
pub async fn find_artefact(
    pool: &Pool,
    run: RunId,
    name: &str,
) -> Result<Option<(String, Vec<u8>)>, Failure> {
    let row = sqlx::query!(
        "select a.media_type, a.content from run_artefact r join artefact a on a.digest = r.digest
         where r.run_id = $1 and r.name = $2
           and r.machine_id = (select machine_id from run where id = $1)",
        run,
        name
    );
    Ok(row.fetch_optional(pool).await?.map(|row| (row.media_type, row.content)))
}

/// The last run to arrive of a revision on a machine that keeps evidence of this name.
///
/// # Errors
/// When the database does not answer.
pub async fn find_with_artefact(
    pool: &Pool,
    machine: MachineId,
    revision: RevisionId,
    name: &str,
) -> Result<Option<RunId>, Failure> {
    sqlx::query_scalar!(
        "select r.id from run r
         join run_artefact a on a.machine_id = r.machine_id and a.run_id = r.id and a.name = $3
         where r.machine_id = $1 and r.revision_id = $2
         order by r.received_at desc, r.id limit 1",
        machine as MachineId,
        revision as RevisionId,
        name
    )
    .fetch_optional(pool)
    .await
}
