//! The physical limit of ingest: rows that were just stored, taken out and put back by `COPY`.

use std::time::Instant;

use anyhow::{Context as _, Result};
use futures_util::TryStreamExt as _;
use sqlx::postgres::PgPoolCopyExt as _;
use sqlx::{AssertSqlSafe, PgPool};

/// Tables whose rows come with every run, parents first, and the column that names the run.
const TABLES: [(&str, &str); 3] = [("run", "id"), ("point", "run_id"), ("measurement", "run_id")];

/// Takes the rows of the runs that `which` is true for out of the tables, and puts them back by
/// `COPY` in one transaction. Seconds of the putting back, commit included.
pub async fn copy(pool: &PgPool, which: &str) -> Result<f64> {
    let runs = format!("select id from run where {which}");
    let mut rows = Vec::new();
    for (table, run) in TABLES {
        let statement = format!(
            "copy (select * from {table} where {run} in ({runs})) to stdout (format binary)"
        );
        let out = pool.copy_out_raw(&statement).await?;
        rows.push(out.try_collect::<Vec<_>>().await?.concat());
    }
    let delete = format!(
        "create temp table taken as {runs};
         delete from measurement where run_id in (select id from taken);
         delete from point where run_id in (select id from taken);
         delete from run where id in (select id from taken);
         drop table taken"
    );
    sqlx::raw_sql(AssertSqlSafe(delete)).execute(pool).await?;
    for (table, _) in TABLES {
        sqlx::raw_sql(AssertSqlSafe(format!("vacuum {table}"))).execute(pool).await?;
    }
    sqlx::raw_sql("checkpoint").execute(pool).await?;
    let mut transaction = pool.begin().await?;
    let began = Instant::now();
    for ((table, _), bytes) in TABLES.iter().zip(&rows) {
        let statement = format!("copy {table} from stdin (format binary)");
        let mut into = transaction.copy_in_raw(&statement).await?;
        into.send(bytes.as_slice()).await?;
        into.finish().await.with_context(|| format!("COPY into {table}"))?;
    }
    transaction.commit().await?;
    Ok(began.elapsed().as_secs_f64())
}
