//! Revisions, found by commit or by their place in a branch.

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::{Failure, Pool};
use crate::model::revision::is_off_branch;
use crate::model::{BranchId, NamedRevision, ProjectId, Revision, RevisionId};

/// The revision of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    executor: impl PgExecutor<'_>,
    id: RevisionId,
) -> Result<Option<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision where id = $1"#,
        id as RevisionId
    )
    .fetch_optional(executor)
    .await
}

/// The revision with exactly this commit id on a branch.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_commit(
    executor: impl PgExecutor<'_>,
    branch: BranchId,
    commit: &str,
) -> Result<Option<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision where branch_id = $1 and commit_id = $2"#,
        branch as BranchId,
        commit
    )
    .fetch_optional(executor)
    .await
}

/// The revisions of a branch whose commit starts with these hex digits; at most two, which is one
/// too many.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_branch_by_prefix(
    executor: impl PgExecutor<'_>,
    branch: BranchId,
    prefix: &str,
) -> Result<Vec<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision where branch_id = $1 and starts_with(commit_id, $2)
           order by commit_id limit 2"#,
        branch as BranchId,
        prefix
    )
    .fetch_all(executor)
    .await
}

/// The revisions of a project, on any branch, whose commit starts with these hex digits; at most
/// ten, newest first.
///
/// # Errors
/// When the database does not answer.
pub async fn list_by_prefix(
    executor: impl PgExecutor<'_>,
    project: ProjectId,
    prefix: &str,
) -> Result<Vec<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select r.id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision r join branch b on b.id = r.branch_id
           where b.project_id = $1 and starts_with(commit_id, $2)
           order by rank desc, commit_id limit 10"#,
        project as ProjectId,
        prefix
    )
    .fetch_all(executor)
    .await
}

/// The revisions of a branch whose rank lies after `after`, up to and including `upto`, in order;
/// at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_between(
    executor: impl PgExecutor<'_>,
    branch: BranchId,
    after: i64,
    upto: i64,
    limit: i64,
) -> Result<Vec<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision where branch_id = $1 and rank > $2 and rank <= $3
           order by rank, commit_id limit $4"#,
        branch as BranchId,
        after,
        upto,
        limit
    )
    .fetch_all(executor)
    .await
}

/// The revision of this row, with its names.
///
/// # Errors
/// When the database does not answer.
pub async fn find_named(pool: &Pool, id: RevisionId) -> Result<Option<NamedRevision>, Failure> {
    let row = sqlx::query_as!(
        NamedRow,
        r#"select r.id as "id: RevisionId", r.branch_id as "branch: BranchId",
               r.commit_id as commit, r.position, r.committed_at, r.rank, r.parents, r.subject,
               p.id as "project: ProjectId", p.name as project_name, b.name as branch_name
           from revision r
           join branch b on b.id = r.branch_id
           join project p on p.id = b.project_id
           where r.id = $1"#,
        id as RevisionId
    );
    Ok(row.fetch_optional(pool).await?.map(NamedRevision::from))
}

/// The measured revisions next before and next after this one on its branch; none where it left it.
///
/// # Errors
/// When the database does not answer.
pub async fn find_neighbours(
    pool: &Pool,
    of: &Revision,
) -> Result<(Option<Revision>, Option<Revision>), Failure> {
    if is_off_branch(of.rank) {
        return Ok((None, None));
    }
    let before = sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision v
           where branch_id = $1 and off_branch_at is null and (rank, commit_id) < ($2, $3)
             and exists (select from run where revision_id = v.id)
           order by rank desc, commit_id desc limit 1"#,
        of.branch as BranchId,
        of.rank,
        of.commit
    );
    let after = sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision v
           where branch_id = $1 and off_branch_at is null and (rank, commit_id) > ($2, $3)
             and exists (select from run where revision_id = v.id)
           order by rank, commit_id limit 1"#,
        of.branch as BranchId,
        of.rank,
        of.commit
    );
    Ok((before.fetch_optional(pool).await?, after.fetch_optional(pool).await?))
}

/// A revision joined with its branch and project.
pub(super) struct NamedRow {
    pub id: RevisionId,
    pub branch: BranchId,
    pub commit: String,
    pub position: Option<i64>,
    pub committed_at: Option<OffsetDateTime>,
    pub rank: i64,
    pub parents: Vec<String>,
    pub subject: String,
    pub project: ProjectId,
    pub project_name: String,
    pub branch_name: String,
}

impl From<NamedRow> for NamedRevision {
    fn from(row: NamedRow) -> NamedRevision {
        NamedRevision {
            revision: Revision {
                id: row.id,
                branch: row.branch,
                commit: row.commit,
                position: row.position,
                committed_at: row.committed_at,
                rank: row.rank,
                parents: row.parents,
                subject: row.subject,
            },
            project: row.project,
            project_name: row.project_name,
            branch_name: row.branch_name,
        }
    }
}

/// A revision as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Commit id.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Order within the branch.
    pub rank: i64,
    /// Commit ids of its parents.
    pub parents: Vec<String>,
    /// First-parent position, when reported.
    pub position: Option<i64>,
    /// Committer time, when reported.
    pub committed_at: Option<OffsetDateTime>,
    /// Runs at this revision.
    pub runs: i64,
}

/// Revisions of a branch, the newest first, those behind rank and commit `after`; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_branch(
    pool: &Pool,
    branch: BranchId,
    after: Option<(i64, &str)>,
    limit: i64,
) -> Result<Vec<Listed>, Failure> {
    let (rank, commit) = after.unzip();
    sqlx::query_as!(
        Listed,
        r#"select v.commit_id as commit, v.subject, v.rank, v.parents, v.position, v.committed_at,
               (select count(*) from run r where r.revision_id = v.id) as "runs!"
           from revision v
           where v.branch_id = $1 and v.off_branch_at is null and ($2::bigint is null or (v.rank, v.commit_id) < ($2, $3))
           order by v.rank desc, v.commit_id desc limit $4"#,
        branch as BranchId,
        rank,
        commit,
        limit
    )
    .fetch_all(pool)
    .await
}
