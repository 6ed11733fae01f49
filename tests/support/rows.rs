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

/// Table → its rows as text, in a fixed order; of partitioned tables through their parents. Sequences
/// are in it by their last value.
pub async fn all_rows(pool: &Pool) -> BTreeMap<String, Vec<String>> {
    let tables: Vec<(String, bool)> = sqlx::query_as(
        "select relname::text, relkind = 'S' from pg_class
         where relkind in ('r', 'p', 'S') and not relispartition
           and relnamespace = 'public'::regnamespace",
    )
    .fetch_all(pool)
    .await
    .expect("the catalogue answers");
    let mut all = BTreeMap::new();
    for (table, is_sequence) in tables {
        let row = if is_sequence { "(last_value, is_called)" } else { "t" };
        let query = format!("select {row}::text from \"{table}\" t order by 1");
        let rows = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_all(pool).await;
        all.insert(table, rows.expect("the table is there"));
    }
    all
}
