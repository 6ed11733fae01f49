//! Environments.

use std::collections::BTreeMap;

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::{Failure, Pool};
use crate::model::{Environment, EnvironmentId, MachineId};

/// The environments with these ids, by id.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    database: impl PgExecutor<'_>,
    ids: &[EnvironmentId],
) -> Result<Vec<Environment>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: EnvironmentId", facts as "facts: Json<BTreeMap<String, String>>",
               first_seen_at
           from environment where id = any($1) order by id"#,
        ids as &[EnvironmentId]
    );
    Ok(rows.fetch_all(database).await?.into_iter().map(Environment::from).collect())
}

/// The environment of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: EnvironmentId) -> Result<Option<Environment>, Failure> {
    Ok(list(pool, &[id]).await?.pop())
}

/// The environments a machine's runs came from, the one last used first; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_machine(
    pool: &Pool,
    machine: MachineId,
    limit: i64,
) -> Result<Vec<Environment>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select e.id as "id: EnvironmentId", e.facts as "facts: Json<BTreeMap<String, String>>",
               e.first_seen_at
           from environment e
           join (select environment_id, max(finished_at) as last_used_at from run
                 where machine_id = $1 group by environment_id) used on used.environment_id = e.id
           order by used.last_used_at desc, e.id desc limit $2"#,
        machine as MachineId,
        limit
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(Environment::from).collect())
}

struct Row {
    id: EnvironmentId,
    facts: Json<BTreeMap<String, String>>,
    first_seen_at: OffsetDateTime,
}

impl From<Row> for Environment {
    fn from(row: Row) -> Environment {
        Environment { id: row.id, facts: row.facts.0, first_seen_at: row.first_seen_at }
    }
}
