//! How many rows every table has, to see that a refusal left nothing behind.

use std::collections::BTreeMap;

use scalewatch::db::Pool;

/// Table → rows. The tables come from the catalogue, so that a new one is counted too; how often
/// somebody tried is counted whatever became of it, so it is left out.
pub async fn row_counts(pool: &Pool) -> BTreeMap<String, i64> {
    let counts: Vec<(String, i64)> = sqlx::query_as(
        "select relname::text,
             (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I', relname),
                 false, true, '')))[1]::text::bigint
         from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
               and relname <> 'rate'",
    )
    .fetch_all(pool)
    .await
    .expect("the catalogue answers");
    counts.into_iter().collect()
}
