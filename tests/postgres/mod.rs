//! Real private servers in throw-away folders: made, killed, left over, refused. Run as root they
//! cover the drop to an unprivileged user, as anyone else the server that runs as oneself.

mod folders;
mod killed;
mod service;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use scalewatch::postgres::{DataFolder, Embedded, running_address};
use sqlx::{Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

/// A folder that the server's own user can reach, gone with the test.
pub fn reachable_folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("ours to change");
    folder
}

fn start(path: &Path) -> (DataFolder, Embedded) {
    let data = DataFolder::hold(path).expect("nobody holds a fresh folder");
    let server = Embedded::start(&data).expect("Postgres is installed where tests run");
    (data, server)
}

fn refusal(path: &Path) -> String {
    let data = DataFolder::hold(path).expect("nobody holds the folder");
    format!("{:#}", Embedded::start(&data).expect_err("the folder cannot be used"))
}

/// Answer of the server to one query, as text.
async fn ask(address: &str, query: &'static str) -> Result<String, sqlx::Error> {
    let mut connection = PgConnection::connect(address).await?;
    let row = sqlx::query(query).fetch_one(&mut connection).await?;
    let answer = row.try_get(0)?;
    connection.close().await?;
    Ok(answer)
}

/// Leaves a committed word, which `ask(address, WORD)` finds again.
async fn write_word(address: &str) {
    let mut connection = PgConnection::connect(address).await.expect("the server answers");
    let written = "create table kept as select 'kept' as word";
    sqlx::raw_sql(written).execute(&mut connection).await.expect("a new table");
    connection.close().await.expect("an open connection");
}

const WORD: &str = "select word from kept";

/// `kill -9`.
pub fn kill(process: u32) {
    let killed = Command::new("sh").args(["-c", &format!("kill -9 {process}")]).status();
    assert!(killed.expect("a shell").success(), "{process} was there to be killed");
}

/// Whether the process runs; one that ended and waits for its parent to look does not.
fn lives(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with('Z'))
}

fn cluster_of(path: &Path) -> PathBuf {
    path.join("postgres/cluster")
}

#[tokio::test]
async fn a_new_folder_gets_a_server_that_listens_on_its_socket_alone() {
    let folder = reachable_folder();
    let (_data, server) = start(folder.path());
    let address = server.address().to_owned();
    assert_eq!(ask(&address, "show listen_addresses").await.unwrap(), "");
    assert_eq!(ask(&address, "show data_checksums").await.unwrap(), "on");
    assert_eq!(ask(&address, "select pg_encoding_to_char(6)").await.unwrap(), "UTF8");
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("postgres") & 0o777, 0o700, "others may not reach the socket");
    assert_eq!(running_address(folder.path()), Some(address.clone()));
    let process = server.process_id();
    server.stop().unwrap();
    assert!(!lives(process));
    assert_eq!(running_address(folder.path()), None);
    assert!(ask(&address, "select 'still there'").await.is_err());
}

#[tokio::test]
async fn what_was_written_is_there_after_a_stop_and_a_start() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    write_word(server.address()).await;
    server.stop().unwrap();
    let server = Embedded::start(&data).unwrap();
    assert_eq!(ask(server.address(), WORD).await.unwrap(), "kept");
}

#[test]
fn a_dropped_server_is_stopped() {
    let folder = reachable_folder();
    let (_data, server) = start(folder.path());
    let process = server.process_id();
    drop(server);
    assert!(!lives(process));
    assert!(!cluster_of(folder.path()).join("postmaster.pid").exists());
}
