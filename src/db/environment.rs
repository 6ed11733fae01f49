//! Environments.

use std::collections::BTreeMap;

use sqlx::PgExecutor;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::{Connection, Failure, Pool};
use crate::model::environment::Effect;
use crate::model::{CurveId, Environment, EnvironmentId, MachineId, ProjectId, SeriesId, Visible};

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
    visible: &Visible,
    machine: MachineId,
    limit: i64,
) -> Result<Vec<Environment>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select e.id as "id: EnvironmentId", e.facts as "facts: Json<BTreeMap<String, String>>",
               e.first_seen_at
           from environment e
           join (select environment_id, max(finished_at) as last_used_at from run r
                 where machine_id = $1
                   and ($3::bigint[] is null or exists (
                       select from revision v join branch b on b.id = v.branch_id
                       where v.id = r.revision_id and b.project_id = any($3)))
                 group by environment_id) used on used.environment_id = e.id
           order by used.last_used_at desc, e.id desc limit $2"#,
        machine as MachineId,
        limit,
        visible.projects() as Option<&[ProjectId]>
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(Environment::from).collect())
}

/// Keeps what changes of environment did to the series of some curves in the place of what was
/// known.
///
/// # Errors
/// When the database refuses.
pub async fn replace_effects(
    connection: &mut Connection,
    machine: MachineId,
    curves: &[CurveId],
    effects: &[(CurveId, &Effect)],
) -> Result<(), Failure> {
    sqlx::query!(
        "delete from environment_effect where machine_id = $1 and curve_id = any($2)",
        machine as MachineId,
        curves as &[CurveId]
    )
    .execute(&mut *connection)
    .await?;
    for (curve, effect) in effects {
        sqlx::query!(
            "insert into environment_effect (machine_id, series_id, from_environment_id,
                                             to_environment_id, curve_id, moved)
             values ($1, $2, $3, $4, $5, $6)",
            machine as MachineId,
            effect.series as SeriesId,
            effect.from as EnvironmentId,
            effect.to as EnvironmentId,
            *curve as CurveId,
            effect.moved
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// For each of these fields: changes of it that histories crossed, on every machine, and after how
/// many of them the level was another one. A change of several fields counts for each.
///
/// # Errors
/// When the database does not answer.
pub async fn count_effects(
    pool: &Pool,
    fields: &[String],
) -> Result<BTreeMap<String, (i64, i64)>, Failure> {
    let rows = sqlx::query!(
        r#"select field as "field!", count(*) as "changes!",
               count(*) filter (where e.moved) as "moved!"
           from environment_effect e
           join environment f on f.id = e.from_environment_id
           join environment t on t.id = e.to_environment_id
           cross join unnest($1::text[]) as w (field)
           where f.facts->>field is distinct from t.facts->>field
           group by field"#,
        fields
    );
    let rows = rows.fetch_all(pool).await?;
    Ok(rows.into_iter().map(|row| (row.field, (row.changes, row.moved))).collect())
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
