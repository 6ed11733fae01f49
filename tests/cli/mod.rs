//! The service's program as people type it.

mod backup;
mod check_config;
mod logs;
mod units;
mod webhook;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use scalewatch::db::{self, Pool};

use crate::support::processes::{ServiceProcess, database_url};
use crate::support::{Service, a_report, noon};

fn scalewatch(pool: &Pool, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    command.args(arguments).env("DATABASE_URL", database_url(pool)).stdin(Stdio::null());
    command.env("SCALEWATCH_LISTEN", "127.0.0.1:0");
    command
}

fn done(pool: &Pool, arguments: &[&str]) -> String {
    let output = scalewatch(pool, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", words(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(pool: &Pool, arguments: &[&str]) -> String {
    let output = scalewatch(pool, arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?} is accepted");
    words(&output)
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_is_shown_once_and_good_until_it_is_revoked(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    let create = ["admin", "token", "create", "--name", "ci", "--scope", "upload", "--machine"];
    let token = done(&pool, &[&create[..], &[&enrolled.machine.id]].concat());
    let token = token.trim();
    assert!(token.starts_with("sw_") && !token.contains(char::is_whitespace), "{token}");
    let upload = async || {
        let report = serde_json::to_vec(&a_report().on(&enrolled.machine).build()).unwrap();
        service.post("/api/v1/runs", token, report).await.status.as_u16()
    };
    assert_eq!(upload().await, 201);
    let listed = done(&pool, &["admin", "token", "list"]);
    assert!(!listed.contains(&token[3..]), "{listed}");
    let line = listed.lines().find(|line| line.contains("\tci\t")).expect("it is listed");
    assert!(line.contains("upload") && line.contains("never expires"), "{line}");
    let id = line.split('\t').next().unwrap();
    done(&pool, &["admin", "token", "revoke", id]);
    assert_eq!(upload().await, 401);
    assert!(done(&pool, &["admin", "token", "list"]).contains("revoked"));
    assert!(refused(&pool, &["admin", "token", "revoke", id]).contains("not revoked yet"));
    let machines = done(&pool, &["admin", "machine", "list"]);
    assert!(machines.contains(&enrolled.machine.id) && machines.contains("box-a"), "{machines}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_token_that_makes_no_sense_is_refused_and_not_stored(pool: Pool) {
    let create = ["admin", "token", "create", "--name", "ci", "--scope"];
    for (rest, why) in [
        (&["everything"][..], "read, upload, register, triage, submit, admin"),
        (&["upload"], "--machine"),
        (&["upload", "--machine", "0123456789abcdef"], "no machine has the id"),
        (&["read", "--machine", "0123456789abcdef"], "--scope upload"),
        (&["read", "--expires-days", "0"], "expires-days"),
    ] {
        let said = refused(&pool, &[&create[..], rest].concat());
        assert!(said.contains(why), "{rest:?}: {said}");
    }
    assert!(db::token::list(&pool).await.unwrap().is_empty());
    done(&pool, &[&create[..], &["read", "--expires-days", "1"]].concat());
    let token = db::token::list(&pool).await.unwrap().pop().unwrap();
    assert!(token.expires_at > Some(noon()));
}

#[sqlx::test(migrations = false)]
async fn serve_refuses_a_database_without_its_schema_unless_told_to_bring_it(pool: Pool) {
    let said = refused(&pool, &["serve"]);
    assert!(said.contains("migration 1") && said.contains("scalewatch migrate"), "{said}");
    assert!(refused(&pool, &["admin", "machine", "list"]).contains("scalewatch migrate"));
    assert!(done(&pool, &["migrate"]).contains("applied migration 1"));
    assert_eq!(done(&pool, &["migrate"]).trim(), "the schema is up to date");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn serve_says_that_its_port_is_taken(pool: Pool) {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = scalewatch(&pool, &["serve"]).env("SCALEWATCH_LISTEN", &address).output().unwrap();
    assert!(!output.status.success());
    let port = taken.local_addr().unwrap().port().to_string();
    let said = words(&output);
    assert!(said.contains(&port) && said.contains("taken"), "{said}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_service_told_to_stop_ends_well(pool: Pool) {
    let data = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let service = ServiceProcess::start(&pool, data.path(), "127.0.0.1:0", &[]);
        assert!(service.get("/health").contains("\"ok\""));
        let status = service.stop(signal);
        assert!(status.success(), "{signal}: {status}");
    }
}

#[test]
fn serve_without_a_database_says_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .arg("serve")
        .env_remove("DATABASE_URL")
        .env("SCALEWATCH_DATA", Path::new(data.path()))
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = words(&output);
    assert!(said.contains("DATABASE_URL") && said.contains("scalewatch up"), "{said}");
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn a_retired_machine_is_refused_until_it_registers_again(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    let id = enrolled.machine.id.as_str();
    done(&pool, &["admin", "machine", "rename", id, "rack 3, left"]);
    assert!(service.get("/").await.text().contains("rack 3, left"));
    done(&pool, &["admin", "machine", "retire", id]);
    assert!(refused(&pool, &["admin", "machine", "retire", id]).contains("retired already"));
    assert!(refused(&pool, &["admin", "machine", "retire", "ffff"]).contains("`ffff`"));
    assert!(done(&pool, &["admin", "machine", "list"]).contains("retired 20"));
    assert!(!service.get("/").await.text().contains("rack 3, left"));
    let report = a_report().on(&enrolled.machine).build();
    let refusal = service.upload(&enrolled, &report).await.refusal();
    assert_eq!(refusal, (422, "machine_retired".into(), Some("machine.id".into())));
    let again = service.registered("box-a").await;
    assert_eq!(service.upload(&again, &report).await.status, 201);
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn retention_is_set_shown_and_done_from_the_command_line(pool: Pool) {
    let service = Service::on(pool.clone());
    let enrolled = service.registered("box-a").await;
    service.accept(&enrolled, &a_report().on(&enrolled.machine).build()).await;
    let list = || done(&pool, &["admin", "retention", "list"]);
    assert_eq!(list(), "linux\traw samples for ever\t1 runs whole\t0 runs thinned\n");
    assert!(refused(&pool, &["admin", "retention", "set", "unix", "5"]).contains("`unix`"));
    assert!(refused(&pool, &["admin", "retention", "set", "linux", "0"]).contains("36500"));
    done(&pool, &["admin", "retention", "set", "linux", "1"]);
    // The report is of the past, by the clock of the machine.
    assert_eq!(done(&pool, &["admin", "retention", "run"]), "1 runs thinned\n");
    assert_eq!(list(), "linux\traw samples 1 days\t0 runs whole\t1 runs thinned\n");
    done(&pool, &["admin", "retention", "keep", "linux"]);
    assert!(list().contains("for ever"));
}
