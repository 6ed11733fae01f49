//! Projects and their branches.

use sqlx::PgExecutor;
use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Failure, Pool};
use crate::model::revision::{parse_subject, subject_word};
use crate::model::{Branch, BranchId, OrderBy, Project, ProjectId, Visible};

/// All projects, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool) -> Result<Vec<Project>, Failure> {
    let rows = sqlx::query_as!(
        ProjectRow,
        r#"select id as "id: ProjectId", name, subject, is_public from project order by name"#
    );
    rows.fetch_all(pool).await?.into_iter().map(Project::try_from).collect()
}

/// Projects in the order they were first seen, those after `after`; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_after(
    pool: &Pool,
    visible: &Visible,
    after: Option<ProjectId>,
    limit: i64,
) -> Result<Vec<Project>, Failure> {
    let rows = sqlx::query_as!(
        ProjectRow,
        r#"select id as "id: ProjectId", name, subject, is_public from project
           where ($1::bigint is null or id > $1)
             and ($3::bigint[] is null or id = any($3))
           order by id limit $2"#,
        after as Option<ProjectId>,
        limit,
        visible.projects() as Option<&[ProjectId]>
    );
    rows.fetch_all(pool).await?.into_iter().map(Project::try_from).collect()
}

/// The project of this name.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_name(
    executor: impl PgExecutor<'_>,
    name: &str,
) -> Result<Option<Project>, Failure> {
    let row = sqlx::query_as!(
        ProjectRow,
        r#"select id as "id: ProjectId", name, subject, is_public from project where name = $1"#,
        name
    );
    row.fetch_optional(executor).await?.map(Project::try_from).transpose()
}

/// The project of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: ProjectId) -> Result<Option<Project>, Failure> {
    let row = sqlx::query_as!(
        ProjectRow,
        r#"select id as "id: ProjectId", name, subject, is_public from project where id = $1"#,
        id as ProjectId
    );
    row.fetch_optional(pool).await?.map(Project::try_from).transpose()
}

/// The projects that somebody who has a role in those of `held` may read.
///
/// # Errors
/// When the database does not answer.
pub async fn find_visible(pool: &Pool, held: &[ProjectId]) -> Result<Visible, Failure> {
    let row = sqlx::query!(
        r#"select coalesce(bool_and(is_public or id = any($1)), true) as "all!",
               coalesce(array_agg(id) filter (where is_public or id = any($1)), '{}')
                   as "some!: Vec<ProjectId>"
           from project"#,
        held as &[ProjectId]
    );
    let row = row.fetch_one(pool).await?;
    Ok(if row.all { Visible::ALL } else { Visible::only(row.some) })
}

/// Lets everybody read a project, or those alone who have a role in it. Whether that changed it.
///
/// # Errors
/// When the database does not answer.
pub async fn set_public(
    connection: &mut Connection,
    project: ProjectId,
    is_public: bool,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "update project set is_public = $2 where id = $1 and is_public <> $2",
        project as ProjectId,
        is_public
    );
    Ok(done.execute(connection).await?.rows_affected() == 1)
}

/// Adds a project before its first report; false where the name is known.
///
/// # Errors
/// When the database does not answer.
pub async fn insert(
    connection: &mut Connection,
    name: &str,
    subject: wire::Subject,
    is_public: bool,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let done = sqlx::query!(
        "insert into project (name, subject, is_public, created_at) values ($1, $2, $3, $4)
         on conflict (name) do nothing",
        name,
        subject_word(subject),
        is_public,
        now
    );
    Ok(done.execute(connection).await?.rows_affected() == 1)
}

/// The branches of a project, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn list_branches(
    executor: impl PgExecutor<'_>,
    project: ProjectId,
) -> Result<Vec<Branch>, Failure> {
    let rows = sqlx::query_as!(
        BranchRow,
        r#"select id as "id: BranchId", project_id as "project: ProjectId", name, order_by
           from branch where project_id = $1 order by name"#,
        project as ProjectId
    );
    rows.fetch_all(executor).await?.into_iter().map(Branch::try_from).collect()
}

/// The branch of this name, or the one that had it.
///
/// # Errors
/// When the database does not answer.
pub async fn find_branch(
    executor: impl PgExecutor<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Option<Branch>, Failure> {
    let row = sqlx::query_as!(
        BranchRow,
        r#"select id as "id!: BranchId", project_id as "project!: ProjectId", name as "name!",
               order_by as "order_by!"
           from branch where project_id = $1 and name = $2
           union all
           select b.id, b.project_id, b.name, b.order_by
           from branch_alias a join branch b on b.id = a.branch_id
           where a.project_id = $1 and a.name = $2
             and not exists (select from branch where project_id = $1 and name = $2)"#,
        project as ProjectId,
        name
    );
    row.fetch_optional(executor).await?.map(Branch::try_from).transpose()
}

struct ProjectRow {
    id: ProjectId,
    name: String,
    subject: String,
    is_public: bool,
}

impl TryFrom<ProjectRow> for Project {
    type Error = Failure;

    fn try_from(row: ProjectRow) -> Result<Project, Failure> {
        let subject = word("subject", &row.subject, parse_subject)?;
        Ok(Project { id: row.id, name: row.name, subject, is_public: row.is_public })
    }
}

struct BranchRow {
    id: BranchId,
    project: ProjectId,
    name: String,
    order_by: String,
}

impl TryFrom<BranchRow> for Branch {
    type Error = Failure;

    fn try_from(row: BranchRow) -> Result<Branch, Failure> {
        let order_by = word("order_by", &row.order_by, OrderBy::parse)?;
        Ok(Branch { id: row.id, project: row.project, name: row.name, order_by })
    }
}
