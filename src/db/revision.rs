//! Revisions, found by commit or by their place in a branch.

use sqlx::PgExecutor;

use super::{Failure, Pool};
use crate::model::{BranchId, ProjectId, Revision, RevisionId};

/// The revision of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: RevisionId) -> Result<Option<Revision>, Failure> {
    sqlx::query_as!(
        Revision,
        r#"select id as "id: RevisionId", branch_id as "branch: BranchId", commit_id as commit,
               position, committed_at, rank, parents, subject
           from revision where id = $1"#,
        id as RevisionId
    )
    .fetch_optional(pool)
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
    pool: &Pool,
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
    .fetch_all(pool)
    .await
}

/// The revisions of a branch whose rank lies after `after`, up to and including `upto`, in order;
/// at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_between(
    pool: &Pool,
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
    .fetch_all(pool)
    .await
}
