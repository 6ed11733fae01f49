//! Registered machines.

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::{Connection, Pool};
use crate::model::{Machine, MachineId, ProjectId};

/// All machines, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool) -> Result<Vec<Machine>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: MachineId", public_id, name, identity as "identity: Json<wire::Identity>",
               registered_at, last_seen_at, retired_at
           from machine order by name, id"#
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(Machine::from).collect())
}

/// Machines in the order they registered, those after `after` that have a curve of `project`; at
/// most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_after(
    pool: &Pool,
    project: Option<ProjectId>,
    after: Option<MachineId>,
    limit: i64,
) -> Result<Vec<Machine>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: MachineId", public_id, name, identity as "identity: Json<wire::Identity>",
               registered_at, last_seen_at, retired_at
           from machine m
           where ($1::bigint is null or id > $1)
             and ($2::bigint is null or exists (
                 select from curve c where c.machine_id = m.id and c.project_id = $2))
           order by id limit $3"#,
        after as Option<MachineId>,
        project as Option<ProjectId>,
        limit
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(Machine::from).collect())
}

/// The machine with this id of addresses. One that was merged into another leads to that one, and
/// brings the identity it was registered with, against which its reports are held.
///
/// # Errors
/// When the database does not answer.
pub async fn find_by_public_id(
    executor: impl PgExecutor<'_>,
    public_id: &str,
) -> Result<Option<Machine>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id!: MachineId", public_id as "public_id!", name as "name!",
               identity as "identity!: Json<wire::Identity>", registered_at as "registered_at!",
               last_seen_at, retired_at
           from machine where public_id = $1
           union all
           select m.id, m.public_id, m.name, a.identity, m.registered_at, m.last_seen_at, m.retired_at
           from machine_alias a join machine m on m.id = a.machine_id
           where a.public_id = $1"#,
        public_id
    );
    Ok(row.fetch_optional(executor).await?.map(Machine::from))
}

/// Machines of this name, at most two, which is one too many.
///
/// # Errors
/// When the database does not answer.
pub async fn list_by_name(
    executor: impl PgExecutor<'_>,
    name: &str,
) -> Result<Vec<Machine>, sqlx::Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: MachineId", public_id, name, identity as "identity: Json<wire::Identity>",
               registered_at, last_seen_at, retired_at
           from machine where name = $1 order by id limit 2"#,
        name
    );
    Ok(rows.fetch_all(executor).await?.into_iter().map(Machine::from).collect())
}

/// The machine with this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(
    executor: impl PgExecutor<'_>,
    id: MachineId,
) -> Result<Option<Machine>, sqlx::Error> {
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id: MachineId", public_id, name, identity as "identity: Json<wire::Identity>",
               registered_at, last_seen_at, retired_at
           from machine where id = $1"#,
        id as MachineId
    );
    Ok(row.fetch_optional(executor).await?.map(Machine::from))
}

/// Stores a machine unless its id is known; whether it was stored.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_if_unknown(
    connection: &mut Connection,
    machine: &wire::Machine,
    registered_at: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let stored = sqlx::query!(
        "insert into machine (public_id, name, identity, registered_at)
         select $1, $2, $3, $4
         where not exists (select from machine_alias where public_id = $1)
         on conflict on constraint machine_public_id_is_unique do nothing",
        machine.id,
        machine.name,
        Json(&machine.identity) as _,
        registered_at
    );
    if stored.execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(false);
    }
    // Room for its rows is made ahead of need; this is for those who register very many at once.
    sqlx::query!(
        "select partition_machines((select id from machine where public_id = $1))",
        machine.id
    )
    .fetch_one(connection)
    .await?;
    Ok(true)
}

/// Gives a machine another name.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_renamed(
    connection: &mut Connection,
    id: MachineId,
    name: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!("update machine set name = $2 where id = $1", id as MachineId, name)
        .execute(connection)
        .await
        .map(drop)
}

/// Refuses a machine's reports from now on; whether they were taken until now.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_retired(
    pool: &Pool,
    id: MachineId,
    now: OffsetDateTime,
) -> Result<bool, sqlx::Error> {
    let marked = sqlx::query!(
        "update machine set retired_at = $2 where id = $1 and retired_at is null",
        id as MachineId,
        now
    );
    Ok(marked.execute(pool).await?.rows_affected() == 1)
}

/// Takes a machine's reports again.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_returned(connection: &mut Connection, id: MachineId) -> Result<(), sqlx::Error> {
    sqlx::query!("update machine set retired_at = null where id = $1", id as MachineId)
        .execute(connection)
        .await
        .map(drop)
}

/// Notes that a report of this machine came, at most once a second.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_seen(
    executor: impl PgExecutor<'_>,
    id: MachineId,
    at: OffsetDateTime,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update machine set last_seen_at = $2
         where id = $1 and (last_seen_at is null or last_seen_at + interval '1 second' <= $2)",
        id as MachineId,
        at
    )
    .execute(executor)
    .await
    .map(drop)
}

struct Row {
    id: MachineId,
    public_id: String,
    name: String,
    identity: Json<wire::Identity>,
    registered_at: OffsetDateTime,
    last_seen_at: Option<OffsetDateTime>,
    retired_at: Option<OffsetDateTime>,
}

impl From<Row> for Machine {
    fn from(row: Row) -> Machine {
        Machine {
            id: row.id,
            public_id: row.public_id,
            name: row.name,
            identity: row.identity.0,
            registered_at: row.registered_at,
            last_seen_at: row.last_seen_at,
            retired_at: row.retired_at,
        }
    }
}
