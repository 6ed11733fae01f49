//! Which migrations the database has.

use anyhow::{Context as _, Result};

use super::Pool;
use crate::MIGRATOR;

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
