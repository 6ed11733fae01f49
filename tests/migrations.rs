//! Migrations apply from nothing, and keep their rules.

use std::fs;
use std::path::Path;

use scalewatch::MIGRATOR;
use scalewatch::db::{self, Pool, schema};

/// Tables that grow with every run: a cluster would shard them by machine.
const GROWING: [&str; 6] = ["run", "point", "measurement", "due", "run_artefact", "series"];

#[sqlx::test(migrations = false)]
async fn an_empty_database_is_migrated_once(pool: Pool) {
    let lacking = schema::problem(&pool).await.unwrap().expect("nothing is applied yet");
    assert!(lacking.contains("migration 1 (core)") && lacking.contains("scalewatch migrate"));
    let applied = schema::migrate(&pool).await.unwrap();
    assert_eq!(applied.len(), MIGRATOR.iter().count());
    assert_eq!(schema::problem(&pool).await.unwrap(), None);
    assert!(schema::migrate(&pool).await.unwrap().is_empty(), "a second time changes nothing");
}

#[sqlx::test(migrations = false)]
async fn two_programs_may_migrate_at_once(pool: Pool) {
    let (one, other) = tokio::join!(schema::migrate(&pool), schema::migrate(&pool));
    one.unwrap();
    other.unwrap();
    assert_eq!(schema::problem(&pool).await.unwrap(), None);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_database_of_a_newer_version_is_told_from_a_pending_one(pool: Pool) {
    sqlx::query(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (9999, 'future', true, '', 0)",
    )
    .execute(&pool)
    .await
    .unwrap();
    let problem = schema::problem(&pool).await.unwrap().expect("9999 is not ours");
    assert!(problem.contains("9999") && problem.contains("newer"), "{problem}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn every_unique_key_of_a_growing_table_starts_with_its_machine(pool: Pool) {
    let keys: Vec<(String, String, String)> = sqlx::query_as(
        "select t.relname::text, i.indexrelid::regclass::text, a.attname::text
         from pg_index i
         join pg_class t on t.oid = i.indrelid and t.relnamespace = 'public'::regnamespace
         join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
         where i.indisunique and t.relname = any($1)",
    )
    .bind(GROWING)
    .fetch_all(&pool)
    .await
    .unwrap();
    for table in GROWING {
        assert!(keys.iter().any(|(of, ..)| of == table), "{table} has no unique key");
    }
    for (table, key, first) in keys {
        // A generated number alone is unique by its making, over all machines.
        if key != format!("{table}_pkey") || first != "id" {
            assert_eq!(first, "machine_id", "{key} of {table}");
        }
    }
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn constraints_are_named_for_what_they_forbid(pool: Pool) {
    let unnamed: Vec<String> = sqlx::query_scalar(
        "select conname::text from pg_constraint
         where contype = 'c' and connamespace = 'public'::regnamespace and conname like '%\\_check'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

/// Statements of a migration after the first that old programs, still running, could not live with.
fn breaking(sql: &str) -> Vec<String> {
    let sql = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let sql = sql.collect::<Vec<_>>().join(" ").to_lowercase();
    let added = |statement: &str| {
        statement.contains("alter table")
            && statement.contains("add column")
            && statement.contains("not null")
            && !statement.contains("default")
    };
    let statements = sql.split(';').map(str::trim);
    statements.filter(|one| added(one) || one.contains("set not null")).map(Into::into).collect()
}

#[test]
fn a_column_that_old_rows_lack_is_nullable_or_has_a_default() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    assert_eq!(files.len(), MIGRATOR.iter().count());
    for path in &files[1..] {
        let found = breaking(&fs::read_to_string(path).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn the_reader_of_migrations_sees_what_it_looks_for() {
    let bad = "alter table run\n add column kind text not null -- default\n;";
    assert_eq!(breaking(bad).len(), 1);
    assert_eq!(breaking("alter table run alter column kind set not null;").len(), 1);
    assert!(breaking("alter table run add column kind text not null default 'a';").is_empty());
    assert!(breaking("alter table run add column kind text;").is_empty());
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_named_without_its_password() {
    let refused = db::connect("postgres://ada:secret@127.0.0.1:1/x", 1).await.unwrap_err();
    let words = format!("{refused:#}");
    assert!(words.contains("127.0.0.1:1") && !words.contains("secret"), "{words}");
}
