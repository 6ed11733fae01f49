//! Where a run stands: project, branch, revision, environment.

use std::collections::BTreeMap;

use sqlx::types::Json;
use time::OffsetDateTime;

use crate::db::{Connection, Failure, project, revision};
use crate::model::revision::subject_word;
use crate::model::{Branch, BranchId, EnvironmentId, OrderBy, Project, ProjectId, Revision};

/// Stores a project, or reads the one of this name.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_or_find_project(
    tx: &mut Connection,
    wanted: &wire::Project,
    now: OffsetDateTime,
) -> Result<Project, Failure> {
    sqlx::query!(
        "insert into project (name, subject, created_at) values ($1, $2, $3)
         on conflict on constraint project_name_is_unique do nothing",
        wanted.name,
        subject_word(wanted.subject),
        now
    )
    .execute(&mut *tx)
    .await?;
    project::find_by_name(tx, &wanted.name).await?.ok_or(Failure::RowNotFound)
}

/// Stores a branch ordered by `order`, or reads the one of this name, whatever its order.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_or_find_branch(
    tx: &mut Connection,
    project: ProjectId,
    name: &str,
    order: OrderBy,
) -> Result<Branch, Failure> {
    sqlx::query!(
        "insert into branch (project_id, name, order_by) values ($1, $2, $3)
         on conflict on constraint branch_name_is_unique_in_project do nothing",
        project as ProjectId,
        name,
        order.word()
    )
    .execute(&mut *tx)
    .await?;
    project::find_branch(tx, project, name).await?.ok_or(Failure::RowNotFound)
}

/// A revision to be stored.
#[derive(Debug)]
pub struct NewRevision<'a> {
    /// Where it lies.
    pub branch: BranchId,
    /// As reported.
    pub revision: &'a wire::Revision,
    /// Its committer time, read.
    pub committed_at: Option<OffsetDateTime>,
    /// Its place within the branch.
    pub rank: i64,
}

/// Stores a revision, or reads the one with this commit, whatever its place.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_or_find_revision(
    tx: &mut Connection,
    new: &NewRevision<'_>,
) -> Result<Revision, Failure> {
    sqlx::query!(
        "insert into revision (branch_id, commit_id, position, committed_at, rank, parents, subject)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict on constraint revision_is_unique_in_branch do nothing",
        new.branch as BranchId,
        new.revision.commit,
        new.revision.position,
        new.committed_at,
        new.rank,
        &new.revision.parents,
        new.revision.subject
    )
    .execute(&mut *tx)
    .await?;
    let found = revision::find_by_commit(tx, new.branch, &new.revision.commit).await?;
    found.ok_or(Failure::RowNotFound)
}

/// The environment with this digest.
///
/// # Errors
/// When the database does not answer.
pub async fn find_environment(
    tx: &mut Connection,
    digest: &[u8; 32],
) -> Result<Option<EnvironmentId>, Failure> {
    sqlx::query_scalar!(
        r#"select id as "id: EnvironmentId" from environment where digest = $1"#,
        digest.as_slice()
    )
    .fetch_optional(tx)
    .await
}

/// Stores an environment, or reads the one with this digest.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_or_find_environment(
    tx: &mut Connection,
    digest: &[u8; 32],
    facts: &BTreeMap<String, String>,
    now: OffsetDateTime,
) -> Result<EnvironmentId, Failure> {
    sqlx::query!(
        "insert into environment (digest, facts, first_seen_at) values ($1, $2, $3)
         on conflict on constraint environment_digest_is_unique do nothing",
        digest.as_slice(),
        Json(facts) as _,
        now
    )
    .execute(&mut *tx)
    .await?;
    find_environment(tx, digest).await?.ok_or(Failure::RowNotFound)
}
