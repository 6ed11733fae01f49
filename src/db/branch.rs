//! What branches go through: other names, other orders, and their end. Each is set by set, in the
//! caller's transaction.

use time::OffsetDateTime;

use super::{Connection, Failure};
use crate::model::revision::OFF_BRANCH;
use crate::model::{BranchId, JobId, ProjectId, RevisionId};

/// A revision's place in a history that was written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Commit id, as reported.
    pub commit: String,
    /// First-parent position, where the branch is ordered by it.
    pub position: Option<i64>,
    /// Committer time, where the branch is ordered by it.
    pub committed_at: Option<OffsetDateTime>,
    /// Order within the branch.
    pub rank: i64,
}

/// What became of the known revisions of a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reordered {
    /// Have another place now.
    pub moved: i64,
    /// Are on the branch again.
    pub returned: i64,
    /// Are not on the branch any more.
    pub left: i64,
    /// Curves that will be judged anew.
    pub curves: i64,
}

/// Waits for reports that are being stored, and keeps new ones waiting. It comes before every other
/// lock: a report takes hold of its revision and machine first and of due marks last, a judgement the
/// other way round.
///
/// # Errors
/// When the database does not answer.
pub async fn hold_reports(connection: &mut Connection) -> Result<(), Failure> {
    sqlx::query!("lock table run in share row exclusive mode").execute(connection).await.map(drop)
}

/// Of these commits those that are known on the branch, or were.
///
/// # Errors
/// When the database does not answer.
pub async fn count_known(
    connection: &mut Connection,
    branch: BranchId,
    commits: &[String],
) -> Result<i64, Failure> {
    sqlx::query_scalar!(
        r#"select count(*) as "known!" from revision
           where branch_id = $1 and commit_id = any($2)"#,
        branch as BranchId,
        commits
    )
    .fetch_one(connection)
    .await
}

/// Gives the known revisions of a branch these places, takes those without one off the branch, and
/// marks the curves that were measured at them as due. Measurements carry a copy of their place.
///
/// # Errors
/// When the database does not answer.
pub async fn reorder(
    connection: &mut Connection,
    branch: BranchId,
    places: &[Place],
    now: OffsetDateTime,
) -> Result<Reordered, Failure> {
    let commits: Vec<String> = places.iter().map(|place| place.commit.clone()).collect();
    let positions: Vec<Option<i64>> = places.iter().map(|place| place.position).collect();
    let times: Vec<Option<OffsetDateTime>> =
        places.iter().map(|place| place.committed_at).collect();
    let ranks: Vec<i64> = places.iter().map(|place| place.rank).collect();
    sqlx::query_as!(
        Reordered,
        r#"with wanted as (
               select * from unnest($2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[])
                   as w (commit_id, position, committed_at, rank)
           ),
           moved as (
               select v.id, v.rank as old_rank, v.off_branch_at is not null as was_off,
                      w.commit_id is null as is_off, w.position, w.committed_at,
                      coalesce(w.rank, v.rank - $6::bigint) as rank
               from revision v left join wanted w on w.commit_id = v.commit_id
               where v.branch_id = $1
                 and case when w.commit_id is null then v.off_branch_at is null
                          else v.off_branch_at is not null or w.rank <> v.rank end
           ),
           measured as (
               select r.machine_id, r.id, r.finished_at, m.*
               from run r join (select id as revision_id, old_rank, was_off, is_off, rank from moved) m
                   on m.revision_id = r.revision_id
           ),
           copied as (
               update measurement m
               set rank = o.rank, branch_id = case when o.is_off then -$1::bigint else $1 end
               from measured o
               join point p on p.machine_id = o.machine_id and p.run_id = o.id
               join series s on s.machine_id = p.machine_id and s.curve_id = p.curve_id
                   and s.tasks = p.tasks
               where m.machine_id = o.machine_id and m.series_id = s.id
                 and m.branch_id = case when o.was_off then -$1::bigint else $1 end
                 and m.rank = o.old_rank and m.finished_at = o.finished_at and m.run_id = o.id
           ),
           renewed as (
               update revision v
               set rank = m.rank, position = coalesce(m.position, v.position),
                   committed_at = coalesce(m.committed_at, v.committed_at),
                   off_branch_at = case when m.is_off then $7::timestamptz end
               from moved m where m.id = v.id
           ),
           marked as (
               insert into due (machine_id, curve_id, marked_at)
               select p.machine_id, p.curve_id, $7
               from measured o
               join point p on p.machine_id = o.machine_id and p.run_id = o.id
               group by p.machine_id, p.curve_id
               order by p.machine_id, p.curve_id
               on conflict (machine_id, curve_id) do update
                   set marked_at = least(due.marked_at, excluded.marked_at), whole = true
               returning 1
           )
           select count(*) filter (where not was_off and not is_off) as "moved!",
                  count(*) filter (where was_off) as "returned!",
                  count(*) filter (where is_off) as "left!",
                  (select count(*) from marked) as "curves!"
           from moved"#,
        branch as BranchId,
        &commits,
        &positions as &[Option<i64>],
        &times as &[Option<OffsetDateTime>],
        &ranks,
        OFF_BRANCH,
        now
    )
    .fetch_one(connection)
    .await
}

/// Incidents of which no step stands follow the revisions of their last one, so that they are found
/// again where a revision comes back. Ranges of the others are their steps'.
///
/// # Errors
/// When the database does not answer.
pub async fn follow(connection: &mut Connection, branch: BranchId) -> Result<(), Failure> {
    sqlx::query!(
        "update incident i
         set good_rank = case when last.fits then last.good_rank else last.bad_rank - 1 end,
             bad_rank = last.bad_rank
         from (
             select distinct on (t.incident_id) t.incident_id, g.rank as good_rank,
                    b.rank as bad_rank,
                    (g.off_branch_at is null) = (b.off_branch_at is null) and g.rank < b.rank as fits
             from step t
             join revision g on g.id = t.good_revision_id
             join revision b on b.id = t.bad_revision_id
             where b.branch_id = $1 and t.incident_id is not null
             order by t.incident_id, t.retracted_at desc nulls first, t.id desc
         ) last
         where last.incident_id = i.id and i.branch_id = $1
           and not exists (select from step where incident_id = i.id and retracted_at is null)",
        branch as BranchId
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Gives a branch another name; the old one leads to it, and no longer to another that had the new.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_renamed(
    connection: &mut Connection,
    (project, branch): (ProjectId, BranchId),
    (from, to): (&str, &str),
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "delete from branch_alias where project_id = $1 and name = $2",
        project as ProjectId,
        to
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("update branch set name = $2 where id = $1", branch as BranchId, to)
        .execute(&mut *connection)
        .await?;
    sqlx::query!(
        "insert into branch_alias (project_id, name, branch_id, renamed_at)
         values ($1, $2, $3, $4)
         on conflict (project_id, name) do update
             set branch_id = excluded.branch_id, renamed_at = excluded.renamed_at",
        project as ProjectId,
        from,
        branch as BranchId,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Revisions that were taken off a branch, the last to go first; at most 1000.
///
/// # Errors
/// When the database does not answer.
pub async fn list_off(
    pool: &super::Pool,
    branch: BranchId,
) -> Result<Vec<(RevisionId, String, String)>, Failure> {
    let rows = sqlx::query!(
        r#"select id as "id: RevisionId", commit_id, subject from revision
           where branch_id = $1 and off_branch_at is not null
           order by off_branch_at desc, rank desc limit 1000"#,
        branch as BranchId
    );
    let rows = rows.fetch_all(pool).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.commit_id, row.subject)).collect())
}

/// A job that is not over and measures a revision of this branch.
///
/// # Errors
/// When the database does not answer.
pub async fn find_live_job(
    connection: &mut Connection,
    project: ProjectId,
    name: &str,
) -> Result<Option<JobId>, Failure> {
    sqlx::query_scalar!(
        r#"select id as "id: JobId" from job
           where project_id = $1 and state in ('queued', 'claimed', 'preparing', 'running')
             and exists (select from jsonb_array_elements(revisions) r where r->>'branch' = $2)
           order by id limit 1"#,
        project as ProjectId,
        name
    )
    .fetch_optional(connection)
    .await
}

/// How much went with a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Revisions.
    pub revisions: u64,
    /// Runs with all that was measured in them.
    pub runs: u64,
    /// Incidents with their history.
    pub incidents: u64,
    /// Curves that nothing is left of.
    pub curves: u64,
}

/// Removes a branch with its revisions, runs, measurements, steps and incidents, and curves that
/// held nothing else. Nothing of another branch goes; curves that stay are judged anew.
///
/// # Errors
/// When the database does not answer.
pub async fn delete(
    connection: &mut Connection,
    (project, branch): (ProjectId, BranchId),
    now: OffsetDateTime,
) -> Result<Deleted, Failure> {
    // Judgements that are under way hold their marks, then the project.
    mark_due(connection, branch, now).await?;
    super::incident::lock_project(connection, project).await?;
    let incidents = delete_incidents(connection, branch).await?;
    let runs = delete_runs(connection, branch).await?;
    sqlx::query!(
        "delete from scaling s using revision v where v.id = s.revision_id and v.branch_id = $1",
        branch as BranchId
    )
    .execute(&mut *connection)
    .await?;
    let revisions = sqlx::query!("delete from revision where branch_id = $1", branch as BranchId);
    let revisions = revisions.execute(&mut *connection).await?.rows_affected();
    sqlx::query!("delete from branch where id = $1", branch as BranchId)
        .execute(&mut *connection)
        .await?;
    let curves = delete_empty_curves(connection, project).await?;
    Ok(Deleted { revisions, runs, incidents, curves })
}

async fn delete_incidents(connection: &mut Connection, branch: BranchId) -> Result<u64, Failure> {
    let branch = branch.0;
    sqlx::query!(
        "delete from refuted_suspect r using step t, revision v
         where t.id = r.step_id and v.id = t.bad_revision_id and v.branch_id = $1",
        branch
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from step t using revision v where v.id = t.bad_revision_id and v.branch_id = $1",
        branch
    )
    .execute(&mut *connection)
    .await?;
    for table in [
        sqlx::query!(
            "delete from webhook_delivery d using incident i where i.id = d.incident_id and i.branch_id = $1",
            branch
        ),
        sqlx::query!(
            "delete from outbox o using incident i where i.id = o.incident_id and i.branch_id = $1",
            branch
        ),
        sqlx::query!(
            "delete from confirmation c using incident i where i.id = c.incident_id and i.branch_id = $1",
            branch
        ),
        sqlx::query!(
            "delete from incident_event e using incident i where i.id = e.incident_id and i.branch_id = $1",
            branch
        ),
        sqlx::query!(
            "update job j set incident_id = null from incident i where i.id = j.incident_id and i.branch_id = $1",
            branch
        ),
    ] {
        table.execute(&mut *connection).await?;
    }
    let gone = sqlx::query!("delete from incident where branch_id = $1", branch);
    Ok(gone.execute(connection).await?.rows_affected())
}

async fn mark_due(
    connection: &mut Connection,
    branch: BranchId,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into due (machine_id, curve_id, marked_at)
         select p.machine_id, p.curve_id, $2
         from revision v
         join run r on r.revision_id = v.id
         join point p on p.machine_id = r.machine_id and p.run_id = r.id
         where v.branch_id = $1
         group by p.machine_id, p.curve_id
         order by p.machine_id, p.curve_id
         on conflict (machine_id, curve_id) do update
             set marked_at = least(due.marked_at, excluded.marked_at), whole = true",
        branch as BranchId,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Runs with their points, measurements and what came with them.
async fn delete_runs(connection: &mut Connection, branch: BranchId) -> Result<u64, Failure> {
    let branch = branch.0;
    sqlx::query!(
        "delete from measurement m
         using revision v, run r, point p, series s
         where v.branch_id = $1 and r.revision_id = v.id
           and p.machine_id = r.machine_id and p.run_id = r.id
           and s.machine_id = p.machine_id and s.curve_id = p.curve_id and s.tasks = p.tasks
           and m.machine_id = r.machine_id and m.series_id = s.id
           and m.branch_id = case when v.off_branch_at is null then $1 else -$1 end
           and m.rank = v.rank and m.finished_at = r.finished_at and m.run_id = r.id",
        branch
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "delete from job_run j using revision v, run r
         where v.branch_id = $1 and r.revision_id = v.id
           and j.machine_id = r.machine_id and j.run_id = r.id",
        branch
    )
    .execute(&mut *connection)
    .await?;
    let digests: Vec<Vec<u8>> = sqlx::query_scalar!(
        "select distinct a.digest from revision v
         join run r on r.revision_id = v.id
         join run_artefact a on a.machine_id = r.machine_id and a.run_id = r.id
         where v.branch_id = $1",
        branch
    )
    .fetch_all(&mut *connection)
    .await?;
    let gone = sqlx::query!(
        "delete from run r using revision v where v.id = r.revision_id and v.branch_id = $1",
        branch
    );
    let gone = gone.execute(&mut *connection).await?.rows_affected();
    sqlx::query!(
        "delete from artefact a
         where a.digest = any($1) and not exists (select from run_artefact r where r.digest = a.digest)",
        &digests
    )
    .execute(connection)
    .await?;
    Ok(gone)
}

async fn delete_empty_curves(
    connection: &mut Connection,
    project: ProjectId,
) -> Result<u64, Failure> {
    let empty: Vec<i64> = sqlx::query_scalar!(
        "select c.id from curve c
         where c.project_id = $1
           and not exists (
               select from series s join measurement m
                   on m.machine_id = s.machine_id and m.series_id = s.id
               where s.machine_id = c.machine_id and s.curve_id = c.id)
           and not exists (
               select from point p where p.machine_id = c.machine_id and p.curve_id = c.id
                     and p.failure is not null)
           and not exists (
               select from step t join series s on s.id = t.series_id where s.curve_id = c.id)",
        project as ProjectId
    )
    .fetch_all(&mut *connection)
    .await?;
    for table in [
        sqlx::query!("delete from due where curve_id = any($1)", &empty),
        sqlx::query!("delete from due_range where curve_id = any($1)", &empty),
        sqlx::query!("delete from judged where curve_id = any($1)", &empty),
        sqlx::query!("delete from scaling where curve_id = any($1)", &empty),
        sqlx::query!("delete from build_noise where curve_id = any($1)", &empty),
        sqlx::query!("delete from environment_effect where curve_id = any($1)", &empty),
        sqlx::query!(
            "delete from series_alias a using series s where s.id = a.series_id and s.curve_id = any($1)",
            &empty
        ),
        sqlx::query!("delete from series where curve_id = any($1)", &empty),
        sqlx::query!("delete from curve_alias where curve_id = any($1)", &empty),
    ] {
        table.execute(&mut *connection).await?;
    }
    let gone = sqlx::query!("delete from curve where id = any($1)", &empty);
    Ok(gone.execute(connection).await?.rows_affected())
}
