//! Work that is done now and then: partitions ahead of need, raw samples that had their time.

use time::OffsetDateTime;

use super::{Connection, Failure, Pool};

/// Machines for which there is room ahead of those that registered.
const AHEAD: i64 = 16;

/// Whether this piece of work is due, last begun at or before `before`; if so it counts as begun now
/// and no other service begins it.
///
/// # Errors
/// When the database refuses.
pub async fn claim(
    pool: &Pool,
    name: &str,
    before: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let begun = sqlx::query!(
        "insert into chore (name, begun_at) values ($1, $3)
         on conflict (name) do update set begun_at = $3 where chore.begun_at <= $2",
        name,
        before,
        now
    );
    Ok(begun.execute(pool).await?.rows_affected() == 1)
}

/// Makes room for machines to come; how many partitions were made.
///
/// # Errors
/// When the database refuses.
pub async fn partition_ahead(pool: &Pool) -> Result<i32, Failure> {
    sqlx::query_scalar!(
        r#"select partition_machines((select coalesce(max(id), 0) + $1 from machine)) as "made!""#,
        AHEAD
    )
    .fetch_one(pool)
    .await
}

/// Takes windows and samples away from at most `most` runs whose project does not keep them any
/// longer, the oldest first; how many runs that were. Summaries stay.
///
/// # Errors
/// When the database refuses.
pub async fn thin(
    connection: &mut Connection,
    now: OffsetDateTime,
    most: i64,
) -> Result<i64, Failure> {
    sqlx::query_scalar!(
        r#"with old as (
               select r.machine_id, r.id, r.finished_at, v.branch_id, v.rank
               from run r
               join revision v on v.id = r.revision_id
               join branch b on b.id = v.branch_id
               join project p on p.id = b.project_id
               where r.thinned_at is null and p.raw_days is not null
                 and r.finished_at < $1::timestamptz - p.raw_days * interval '1 day'
               order by r.finished_at limit $2
               for update of r skip locked
           ),
           emptied as (
               update point p set packed = ''
               from old
               where p.machine_id = old.machine_id and p.run_id = old.id and p.packed <> ''
           ),
           dropped as (
               update measurement m set samples = null
               from old
               join point p on p.machine_id = old.machine_id and p.run_id = old.id
               join series s on s.machine_id = p.machine_id and s.curve_id = p.curve_id
                   and s.tasks = p.tasks
               where m.machine_id = old.machine_id and m.series_id = s.id
                 and m.branch_id = any(array[old.branch_id, -old.branch_id]) and m.rank = old.rank
                 and m.finished_at = old.finished_at and m.run_id = old.id
                 and m.samples is not null
           ),
           marked as (
               update run r set thinned_at = $1
               from old where r.machine_id = old.machine_id and r.id = old.id
               returning 1
           )
           select count(*) as "runs!" from marked"#,
        now,
        most
    )
    .fetch_one(connection)
    .await
}

/// How long a project keeps raw samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Whose.
    pub project: String,
    /// Days after a run; none for ever.
    pub raw_days: Option<i32>,
    /// Runs that still have their windows.
    pub whole: i64,
    /// Runs whose windows are gone.
    pub thinned: i64,
}

/// What every project keeps, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn list_retention(pool: &Pool) -> Result<Vec<Retention>, Failure> {
    sqlx::query_as!(
        Retention,
        r#"select p.name as project, p.raw_days,
               count(r.id) filter (where r.thinned_at is null) as "whole!",
               count(r.thinned_at) as "thinned!"
           from project p
           left join branch b on b.project_id = p.id
           left join revision v on v.branch_id = b.id
           left join run r on r.revision_id = v.id
           group by p.id order by p.name"#
    )
    .fetch_all(pool)
    .await
}

/// Sets how long a project keeps raw samples; whether there is such a project.
///
/// # Errors
/// When the database refuses.
pub async fn set_retention(
    pool: &Pool,
    project: &str,
    raw_days: Option<i32>,
) -> Result<bool, Failure> {
    let set = sqlx::query!("update project set raw_days = $2 where name = $1", project, raw_days);
    Ok(set.execute(pool).await?.rows_affected() == 1)
}
