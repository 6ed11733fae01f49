//! Bytes on disk, all tables and indexes together, against 16 bytes raw (Δops, Δt).

use anyhow::Result;

use crate::fill::Lab;

/// Prints them, largest tables first.
pub async fn measure(lab: &Lab<'_>) -> Result<()> {
    let tables: Vec<(String, i64)> = sqlx::query_as(
        "select coalesce(parent.relname, own.relname)::text as name,
                sum(pg_total_relation_size(own.oid))::bigint
         from pg_class own
         left join pg_inherits on inhrelid = own.oid
         left join pg_class parent on parent.oid = inhparent
         where own.relkind = 'r' and own.relnamespace = 'public'::regnamespace
         group by name order by 2 desc",
    )
    .fetch_all(&lab.pool)
    .await?;
    let total: i64 = tables.iter().map(|(_, bytes)| bytes).sum();
    let (samples, readings): (f64, f64) =
        sqlx::query_as("select sum(windows)::float8, sum(windows::float8 * tasks) from point")
            .fetch_one(&lab.pool)
            .await?;
    println!(
        "disk: {:.1} bytes a reading (one task, one window; {:.2}× of 16, goal: 2.0), {:.1} bytes a \
         window of {:.1} tasks",
        total as f64 / readings,
        total as f64 / readings / 16.0,
        total as f64 / samples,
        readings / samples
    );
    for (name, bytes) in tables.iter().filter(|(_, bytes)| bytes * 50 > total) {
        println!("  {name}: {:.1} MiB", *bytes as f64 / f64::from(1 << 20));
    }
    Ok(())
}
