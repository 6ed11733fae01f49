//! Which migrations the database has.

use anyhow::{Context as _, Result, ensure};

use super::Pool;
use crate::MIGRATOR;

/// A migration that was applied to a database of which there is a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Its number.
    pub version: i64,
    /// Whether it went through.
    pub success: bool,
    /// Of its text.
    pub checksum: Vec<u8>,
}

/// Applies every pending migration and returns their names.
///
/// # Errors
/// When one cannot be applied, or one that was applied differs from ours.
pub async fn migrate(pool: &Pool) -> Result<Vec<String>> {
    let before = applied(pool).await?;
    MIGRATOR.run(pool).await.context("cannot migrate the database")?;
    Ok(names().filter(|(version, _)| !before.contains(version)).map(|(_, name)| name).collect())
}

/// Why this program cannot work on the database's schema; none when it can.
///
/// # Errors
/// When the database does not answer.
pub async fn problem(pool: &Pool) -> Result<Option<String>, sqlx::Error> {
    let applied = applied(pool).await?;
    let pending: Vec<String> =
        names().filter(|(version, _)| !applied.contains(version)).map(|(_, name)| name).collect();
    let unknown = applied.iter().find(|version| !MIGRATOR.version_exists(**version));
    Ok(match (pending.as_slice(), unknown) {
        ([], None) => None,
        ([], Some(version)) => Some(format!(
            "the database has migration {version}, which this version of scalewatch does not \
             know: it was migrated by a newer one"
        )),
        (pending, _) => Some(format!(
            "the database lacks {}; run `scalewatch migrate`, or serve with --migrate",
            pending.join(", ")
        )),
    })
}

/// Why this program cannot work with a copy of a database to which these migrations were applied; else
/// whether some of ours are still to be applied to it.
///
/// # Errors
/// The reason, in words.
pub fn fits(copied: &[Applied]) -> Result<bool> {
    for one in copied {
        let version = one.version;
        ensure!(one.success, "migration {version} had failed half-way when it was made");
        let known = MIGRATOR.iter().find(|migration| migration.version == version);
        let known = known.with_context(|| {
            format!("it has migration {version}, which this version of scalewatch does not know: a newer one made it")
        })?;
        ensure!(
            known.checksum.as_ref() == one.checksum,
            "its migration {version} is another one than ours of that number"
        );
    }
    Ok(names().any(|(version, _)| !copied.iter().any(|one| one.version == version)))
}

/// Major version of the server. Asked before there is a schema, so this and the next query are not
/// checked at compile time.
///
/// # Errors
/// When the database does not answer.
pub async fn server_major(pool: &Pool) -> Result<u32> {
    let number: i32 = sqlx::query_scalar("select current_setting('server_version_num')::int")
        .fetch_one(pool)
        .await?;
    u32::try_from(number / 10_000).context("the server tells no version")
}

/// What stands in the database beside what Postgres and its extensions brought.
///
/// # Errors
/// When the database does not answer.
pub async fn list_occupants(pool: &Pool) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "with own as (
             select 'pg_class'::regclass as kind, c.oid, c.relnamespace as namespace, c.relname as name
             from pg_class c where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
             union all
             select 'pg_proc'::regclass, p.oid, p.pronamespace, p.proname from pg_proc p
             union all
             select 'pg_type'::regclass, t.oid, t.typnamespace, t.typname
             from pg_type t where t.typtype in ('e', 'd', 'r')
         )
         select distinct own.name::text from own
         join pg_namespace n on n.oid = own.namespace
         where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
           and not exists (select from pg_depend d where d.classid = own.kind and d.objid = own.oid
                               and d.deptype = 'e')
         order by 1",
    )
    .fetch_all(pool)
    .await
}

/// Lets the planner see what was brought in.
///
/// # Errors
/// When the database does not answer.
pub async fn analyse(pool: &Pool) -> Result<(), sqlx::Error> {
    sqlx::query("analyze").execute(pool).await.map(drop)
}

fn names() -> impl Iterator<Item = (i64, String)> {
    MIGRATOR.iter().map(|m| (m.version, format!("migration {} ({})", m.version, m.description)))
}

/// Versions applied. The migrator makes its table at run time, so these queries are not checked at
/// compile time.
async fn applied(pool: &Pool) -> Result<Vec<i64>, sqlx::Error> {
    let begun: bool = sqlx::query_scalar("select to_regclass('_sqlx_migrations') is not null")
        .fetch_one(pool)
        .await?;
    if !begun {
        return Ok(Vec::new());
    }
    sqlx::query_scalar("select version from _sqlx_migrations where success order by version")
        .fetch_all(pool)
        .await
}
