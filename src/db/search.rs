//! Searching: by first digits, by words of a subject, by parts of names.

use super::revision::NamedRow;
use super::{Failure, Pool};
use crate::model::search::{Found, FoundWorkload, Query};
use crate::model::{BranchId, IncidentId, NamedRevision, ProjectId, RevisionId, RunId, Visible};

/// Everything visible that fits `query`; at most `limit` of each kind.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    pool: &Pool,
    visible: &Visible,
    query: &Query,
    limit: i64,
) -> Result<Found, Failure> {
    let mut found = Found {
        revisions: list_revisions(pool, visible, query, limit).await?,
        workloads: list_workloads(pool, visible, &query.text, limit).await?,
        ..Found::default()
    };
    for id in list_incidents(pool, visible, query, limit).await? {
        found.incidents.extend(super::incident::find(pool, id).await?);
    }
    let fits = query.text.to_lowercase();
    found.machines = super::machine::list(pool).await?;
    found.machines.retain(|machine| {
        machine.name.to_lowercase().contains(&fits) || machine.public_id.starts_with(&fits)
    });
    found.machines.truncate(usize::try_from(limit).unwrap_or(0));
    for id in list_runs(pool, visible, query, limit).await? {
        found.runs.extend(super::run::find(pool, id).await?);
    }
    Ok(found)
}

async fn list_revisions(
    pool: &Pool,
    visible: &Visible,
    query: &Query,
    limit: i64,
) -> Result<Vec<NamedRevision>, Failure> {
    let words = query.words.iter().map(|word| format!("'{word}':*"));
    let rows = sqlx::query_as!(
        NamedRow,
        r#"select r.id as "id!: RevisionId", r.branch_id as "branch!: BranchId",
               r.commit_id as "commit!", r.position, r.committed_at, r.rank as "rank!",
               r.parents as "parents!", r.subject as "subject!",
               p.id as "project: ProjectId", p.name as project_name, b.name as branch_name
           from (select * from revision where commit_id collate "C" ^@ $1
                 union
                 select * from revision
                 where $2 <> '' and to_tsvector('simple',
                           regexp_replace(subject, '[^[:alnum:]]+', ' ', 'g'))
                       @@ to_tsquery('simple', $2)) r
           join branch b on b.id = r.branch_id
           join project p on p.id = b.project_id
           where $4::bigint[] is null or p.id = any($4)
           order by r.commit_id collate "C" ^@ $1 desc nulls last, r.id desc limit $3"#,
        query.commit,
        words.collect::<Vec<_>>().join(" & "),
        limit,
        visible.projects() as Option<&[ProjectId]>
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(NamedRevision::from).collect())
}

async fn list_workloads(
    pool: &Pool,
    visible: &Visible,
    text: &str,
    limit: i64,
) -> Result<Vec<FoundWorkload>, Failure> {
    sqlx::query_as!(
        FoundWorkload,
        r#"select workload, count(*) as "curves!", count(distinct machine_id) as "machines!"
           from curve where position(lower($1) in lower(workload)) > 0
             and ($3::bigint[] is null or project_id = any($3))
           group by workload order by workload limit $2"#,
        text,
        limit,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await
}

async fn list_incidents(
    pool: &Pool,
    visible: &Visible,
    query: &Query,
    limit: i64,
) -> Result<Vec<IncidentId>, Failure> {
    sqlx::query_scalar!(
        r#"select i.id as "id: IncidentId" from incident i
           where (i.id = $1 or exists (
               select from step t join series s on s.id = t.series_id join curve c on c.id = s.curve_id
               where t.incident_id = i.id and position(lower($2) in lower(c.workload)) > 0))
             and ($4::bigint[] is null or i.project_id = any($4))
           order by i.id = $1 desc nulls last, i.id desc limit $3"#,
        query.incident,
        query.text,
        limit,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await
}

async fn list_runs(
    pool: &Pool,
    visible: &Visible,
    query: &Query,
    limit: i64,
) -> Result<Vec<RunId>, Failure> {
    let Some((first, last)) = query.runs else { return Ok(vec![]) };
    sqlx::query_scalar!(
        r#"select id as "id: RunId" from run r where id between $1 and $2
             and ($4::bigint[] is null or exists (
                 select from revision v join branch b on b.id = v.branch_id
                 where v.id = r.revision_id and b.project_id = any($4)))
           order by received_at desc, id limit $3"#,
        first,
        last,
        limit,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await
}
