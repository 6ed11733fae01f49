//! A whole service into a file and back: every row, every page, and nothing half-done.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use scalewatch::MIGRATOR;
use scalewatch::db::{self, Pool};
use scalewatch::model::{Role, Scope};
use serde_json::json;

use super::words;
use crate::support::cluster::Cluster;
use crate::support::history::{upload_regression, work};
use crate::support::processes::{ServiceProcess, database_url, eventually};
use crate::support::rows::all_rows;
use crate::support::{Service, a_profile, a_report};

/// A service in use: runs of two machines, an incident and what was decided of it, people, tokens, a
/// job, a webhook.
async fn in_use(pool: Pool) -> Service {
    let service = Service::on(pool);
    let (box_a, box_b) = (service.registered("box-a").await, service.registered("box-b").await);
    upload_regression(&service, &box_a).await;
    let profile = a_profile("one.folded".into(), "main;loop 3\n");
    let report = a_report().on(&box_b.machine).at(12).with(|it| it.artefacts = vec![profile]);
    service.accept(&box_b, &report.build()).await;
    work(&service.app).await;
    let ada = service.person_with_password("ada").await;
    service.role(&ada, "linux", Role::Triager).await;
    service.browser_of(&ada).await;
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let triage = service.token(Scope::Triage).await;
    let decided = json!({ "from": "new", "to": "acknowledged", "note": "ünïcode\tand 'quotes'\\" });
    let path = format!("/api/v1/incidents/{id}/state");
    let answer = service.post(&path, &triage, decided.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let job = json!({
        "project": "linux", "machine": box_a.machine.id, "plan": { "workloads": ["sys/getppid"] },
        "revision": { "commit": "ab".repeat(20), "branch": "main", "position": 13 },
    });
    let submit = service.token(Scope::Submit).await;
    let answer = service.post("/api/v1/jobs", &submit, job.to_string()).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let linux = db::project::find_by_name(&service.app.db, "linux").await.unwrap().unwrap();
    let (url, now) = ("https://example.org/hook", service.app.clock.now());
    db::webhook::insert(&service.app.db, linux.id, url, "secret", now).await.unwrap();
    service
}

fn run(database: Option<&str>, data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    command.arg("admin").args(arguments).stdin(Stdio::null()).env("SCALEWATCH_DATA", data);
    match database {
        Some(url) => command.env("DATABASE_URL", url),
        None => command.env_remove("DATABASE_URL"),
    };
    command.output().unwrap()
}

fn done(database: Option<&str>, data: &Path, arguments: &[&str]) -> String {
    let output = run(database, data, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", words(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(database: &str, data: &Path, arguments: &[&str]) -> String {
    let output = run(Some(database), data, arguments);
    assert!(!output.status.success(), "{arguments:?} is accepted");
    words(&output)
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_backup_restored_into_an_empty_cluster_is_the_same_service(pool: Pool) {
    let service = in_use(pool.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scalewatch.dump");
    let name = file.to_str().unwrap();
    let said = done(Some(&database_url(&pool)), folder.path(), &["backup", name]);
    assert!(said.contains("wrote") && said.contains(name), "{said}");
    assert_eq!(names(folder.path()), ["scalewatch.dump"], "no draft is left");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "it holds hashes of passwords");

    let cluster = Cluster::start();
    let said = done(Some(cluster.address()), folder.path(), &["restore", name]);
    assert!(said.contains("restored") && !said.contains("older version"), "{said}");
    let restored = cluster.pool().await;
    let (before, after) = (all_rows(&pool).await, all_rows(&restored).await);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (table, rows) in &before {
        assert_eq!(rows, &after[table], "{table}");
    }
    let filled =
        ["run", "point", "measurement", "incident", "person", "role", "session", "job", "webhook"];
    for table in filled.into_iter().chain(["token", "artefact", "incident_event", "outbox"]) {
        assert!(!before[table].is_empty(), "{table} was tested by rows");
    }

    // The same addresses, read from each at the same time by its clock.
    let twin = Service::on(restored.clone());
    let id = service.get("/api/v1/incidents").await.json()["items"][0]["id"].clone();
    let incident = format!("/incidents/{id}");
    for path in ["/", "/curves", "/incidents", "/curves/1", &incident, "/jobs", "/api/v1/runs"]
        .into_iter()
        .chain(["/api/v1/curves/1", "/api/v1/incidents", "/api/v1/series/1", "/api/v1/machines"])
    {
        let (one, other) = (service.get(path).await, twin.get(path).await);
        assert_eq!((one.status.as_u16(), one.text()), (200, other.text()), "{path}");
    }

    // And the program serves it, with a worker that finds nothing amiss and runs that go on coming.
    let data = tempfile::tempdir().unwrap();
    let process = ServiceProcess::start_on(cluster.address(), data.path(), "127.0.0.1:0", &[]);
    assert!(process.get("/health").contains("\"ok\""));
    assert!(process.get("/incidents").contains("box-a"));
    assert!(process.stop("TERM").success());
    let box_c = twin.registered("box-c").await;
    twin.accept(&box_c, &a_report().on(&box_c.machine).build()).await;
    restored.close().await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_restore_goes_into_an_empty_database_alone(pool: Pool) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.dump");
    let name = file.to_str().unwrap();
    let here = database_url(&pool);
    done(Some(&here), folder.path(), &["backup", name]);
    let before = all_rows(&pool).await;
    let said = refused(&here, folder.path(), &["restore", name]);
    assert!(said.contains("is not empty") && said.contains("nothing was changed"), "{said}");
    assert!(said.contains("artefact") && said.contains("more"), "{said}");
    assert_eq!(all_rows(&pool).await, before);

    let cluster = Cluster::start();
    let other = cluster.pool().await;
    sqlx::raw_sql("create table somebody_elses (x int)").execute(&other).await.unwrap();
    let said = refused(cluster.address(), folder.path(), &["restore", name]);
    assert!(said.contains("it holds somebody_elses;"), "{said}");
    assert_eq!(all_rows(&other).await.len(), 1);
    other.close().await;
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_backup_leaves_a_whole_file_or_none(pool: Pool) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.dump");
    let name = file.to_str().unwrap();
    let here = database_url(&pool);
    // What a killed one left is in nobody's way.
    fs::write(folder.path().join("one.dump.part"), "half of it").unwrap();
    done(Some(&here), folder.path(), &["backup", name]);
    let first = fs::read(&file).unwrap();
    let said = refused(&here, folder.path(), &["backup", name]);
    assert!(said.contains("is there already") && said.contains("--replace"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), first);
    Service::on(pool.clone()).registered("box-a").await;
    done(Some(&here), folder.path(), &["backup", "--replace", name]);
    assert_ne!(fs::read(&file).unwrap(), first);

    let said = refused(&here, folder.path(), &["backup", "--replace", "/nowhere/one.dump"]);
    assert!(said.contains("/nowhere/one.dump.part"), "{said}");
    let said = refused(&here, folder.path(), &["backup", folder.path().to_str().unwrap()]);
    assert!(said.contains("is a folder"), "{said}");
}

/// The process id of the server's side of a `pg_dump` of this database that waits for a lock.
async fn waiting_dump(pool: &Pool) -> i32 {
    eventually("a dump that waits", async || {
        sqlx::query_scalar(
            "select pid from pg_stat_activity where datname = current_database()
                 and application_name = 'pg_dump' and wait_event_type = 'Lock'",
        )
        .fetch_optional(pool)
        .await
        .unwrap()
    })
    .await
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_backup_that_fails_or_is_stopped_half_way_leaves_the_last_one_alone(pool: Pool) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.dump");
    let here = database_url(&pool);
    done(Some(&here), folder.path(), &["backup", file.to_str().unwrap()]);
    let whole = fs::read(&file).unwrap();
    let mut locked = pool.begin().await.unwrap();
    sqlx::raw_sql("lock table run in access exclusive mode").execute(&mut *locked).await.unwrap();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_scalewatch"))
            .args(["admin", "backup", "--replace"])
            .arg(&file)
            .env("DATABASE_URL", &here)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };

    let failing = start();
    let server_side = waiting_dump(&pool).await;
    let said = refused(&here, folder.path(), &["backup", "--replace", file.to_str().unwrap()]);
    assert!(said.contains("another backup is writing"), "{said}");
    sqlx::query("select pg_terminate_backend($1)").bind(server_side).execute(&pool).await.unwrap();
    let output = failing.wait_with_output().unwrap();
    assert!(!output.status.success() && words(&output).contains("nothing was written"));
    assert_eq!(
        (fs::read(&file).unwrap(), names(folder.path())),
        (whole.clone(), vec!["one.dump".into()])
    );

    let stopped = start();
    waiting_dump(&pool).await;
    let id = stopped.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = stopped.wait_with_output().unwrap();
    assert!(!output.status.success() && words(&output).contains("stopped"), "{}", words(&output));
    assert_eq!((fs::read(&file).unwrap(), names(folder.path())), (whole, vec!["one.dump".into()]));
    locked.rollback().await.unwrap();
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn what_is_no_whole_backup_of_a_known_version_is_refused_and_leaves_the_target_empty(
    pool: Pool,
) {
    let service = Service::on(pool.clone());
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let here = database_url(&pool);
    done(Some(&here), folder.path(), &["backup", &file("whole.dump")]);
    let whole = fs::read(file("whole.dump")).unwrap();
    fs::write(file("text"), "no dump at all").unwrap();
    fs::write(file("head"), &whole[..100]).unwrap();
    fs::write(file("cut"), &whole[..whole.len() - 2000]).unwrap();
    let newer =
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (9999, 'future', true, '', 0)";
    sqlx::raw_sql(newer).execute(&pool).await.unwrap();
    done(Some(&here), folder.path(), &["backup", &file("newer.dump")]);
    let changed = "delete from _sqlx_migrations where version = 9999;
                   update _sqlx_migrations set checksum = 'x' where version = 1";
    sqlx::raw_sql(changed).execute(&pool).await.unwrap();
    done(Some(&here), folder.path(), &["backup", &file("other.dump")]);

    let cluster = Cluster::start();
    for (name, why) in [
        ("missing", "missing"),
        ("text", "is no backup that can be read"),
        ("head", "is no backup that can be read"),
        ("cut", "pg_restore"),
        ("other.dump", "its migration 1 is another one than ours"),
        ("newer.dump", "migration 9999"),
    ] {
        let said = refused(cluster.address(), folder.path(), &["restore", &file(name)]);
        assert!(said.contains(why), "{name}: {said}");
        let target = cluster.pool().await;
        assert_eq!(db::schema::list_occupants(&target).await.unwrap(), [""; 0], "{name}");
        target.close().await;
    }
    let elsewhere = Cluster::start();
    let said = refused(elsewhere.address(), folder.path(), &["backup", &file("nothing.dump")]);
    assert!(said.contains("no schema of scalewatch"), "{said}");
    assert!(!Path::new(&file("nothing.dump")).exists());
}

#[sqlx::test(migrations = false)]
async fn a_backup_of_an_older_version_is_restored_and_then_migrated(pool: Pool) {
    let all: Vec<_> = MIGRATOR.iter().cloned().collect();
    let older = sqlx::migrate::Migrator::with_migrations(all[..3].to_vec());
    older.run(&pool).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("old.dump").to_str().unwrap().to_owned();
    done(Some(&database_url(&pool)), folder.path(), &["backup", &name]);
    let cluster = Cluster::start();
    let said = done(Some(cluster.address()), folder.path(), &["restore", &name]);
    assert!(said.contains("older version") && said.contains("scalewatch migrate"), "{said}");
    let restored = cluster.pool().await;
    assert!(!db::schema::migrate(&restored).await.unwrap().is_empty());
    assert_eq!(db::schema::problem(&restored).await.unwrap(), None);
    restored.close().await;
}

#[test]
fn without_an_address_the_private_postgres_of_the_data_folder_is_meant() {
    let folder = crate::postgres::reachable_folder();
    let (from, into) = (folder.path().join("from"), folder.path().join("into"));
    let name = folder.path().join("one.dump").to_str().unwrap().to_owned();
    let output = run(None, &from, &["backup", &name]);
    assert!(words(&output).contains("DATABASE_URL is not set"), "{}", words(&output));
    let mut up = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    up.args(["up", "--no-measure", "--listen", "127.0.0.1:0"]).env("SCALEWATCH_DATA", &from);
    let mut up = crate::up::started_until(up.env_remove("DATABASE_URL"), "http://127.0.0.1:");
    done(None, &from, &["backup", &name]);
    let id = up.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(up.wait().unwrap().success());
    done(None, &from, &["backup", "--replace", &name]);
    done(None, &into, &["restore", &name]);
    let output = run(None, &into, &["restore", &name]);
    assert!(words(&output).contains("is not empty"), "{}", words(&output));
}
