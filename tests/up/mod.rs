//! `scalewatch up`, the built programs on a throw-away folder: windows are short, since what is
//! tested is that the main job is done, once, and leaves nothing behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use scalewatch::postgres::{DataFolder, Embedded};
use sqlx::{Connection as _, PgConnection};
use tempfile::TempDir;

use crate::postgres::reachable_folder;

/// The built service on `folder`, on any free port.
fn up(folder: &TempDir, options: &[&str]) -> Command {
    up_on("127.0.0.1:0", folder, options)
}

fn up_on(address: &str, folder: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    command
        .args(["up", "--listen", address])
        .args(options)
        .env("SCALEWATCH_DATA", folder.path())
        .env_remove("DATABASE_URL")
        .env_remove("SCALEWATCH_SMTP_URL")
        .stdin(Stdio::null());
    command
}

fn printed_by(mut command: Command) -> String {
    let ended = command.output().expect("the service is built");
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    let complained = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{printed}\n{complained}", ended.status);
    printed
}

/// What is stored, as names: runs, incidents, messages.
async fn stored(folder: &Path) -> BTreeSet<String> {
    let data = DataFolder::hold(folder).expect("the service has ended");
    let server = Embedded::start(&data).expect("its Postgres starts again");
    let mut connection = PgConnection::connect(server.address()).await.expect("it answers");
    let names: Vec<String> = sqlx::query_scalar(
        "select 'run ' || id from run union all select 'incident ' || id from incident
         union all select event from outbox union all select 'machine ' || id from machine",
    )
    .fetch_all(&mut connection)
    .await
    .expect("the schema is there");
    connection.close().await.expect("an open connection");
    names.into_iter().collect()
}

fn mails(folder: &Path) -> usize {
    fs::read_dir(folder.join("mail")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn the_main_job_is_done_once_however_often_up_is_called() {
    let folder = reachable_folder();
    let short = ["--once", "--windows", "3", "--window-ms", "20"];
    let first = printed_by(up(&folder, &short));
    assert!(first.contains("24 revisions, 24 to be measured"), "{first}");
    let (runs, sent) = (stored(folder.path()).await, mails(folder.path()));
    assert_eq!(runs.iter().filter(|name| name.starts_with("run ")).count(), 24);
    let second = printed_by(up(&folder, &short));
    assert!(second.contains("24 revisions, 0 to be measured"), "{second}");
    assert_eq!(stored(folder.path()).await, runs);
    assert_eq!(mails(folder.path()), sent);
    for printed in [first, second] {
        assert_eq!(printed.matches("%stddev     %change").count(), 2, "{printed}");
        let told = printed.contains("Regression: model/") && printed.contains("/incidents/");
        assert!(told || printed.contains("No regression was found"), "{printed}");
        assert_eq!(told, sent > 0, "{printed}");
    }
}

/// Processes that work for the runner of this folder.
fn working_for(folder: &Path) -> Vec<String> {
    let mark = format!("SCALEWATCH_RUNNER_STATE={}", folder.join("runner").display());
    let named = |entry: fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let ours = environment.split(|byte| *byte == 0).any(|set| set == mark.as_bytes());
        ours.then(|| entry.file_name().to_string_lossy().into_owned())
    };
    fs::read_dir("/proc").expect("a Linux").flatten().filter_map(named).collect()
}

/// Starts `up` and reads on to the line that holds `words`.
pub fn started_until(command: &mut Command, words: &str) -> Child {
    let mut service = command.stdout(Stdio::piped()).spawn().expect("the service is built");
    let output = BufReader::new(service.stdout.take().expect("piped above"));
    if !output.lines().map_while(Result::ok).any(|line| line.contains(words)) {
        panic!("the service ended before it said {words:?}: {:?}", service.wait());
    }
    service
}

#[test]
fn an_interrupted_measurement_leaves_no_process() {
    let folder = reachable_folder();
    let long = ["--windows", "1000", "--window-ms", "60000"];
    let mut service = started_until(&mut up(&folder, &long), "1 of 24");
    let told = Command::new("sh").args(["-c", &format!("kill -TERM {}", service.id())]).status();
    assert!(told.expect("a shell").success());
    assert!(service.wait().expect("our child").success());
    assert_eq!(working_for(&fs::canonicalize(folder.path()).unwrap()), Vec::<String>::new());
    assert_eq!(scalewatch::postgres::running_address(folder.path()), None);
}

#[test]
fn a_port_in_use_is_said_before_anything_is_made() {
    let folder = reachable_folder();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let address = format!("127.0.0.1:{port}");
    let mut command = up_on(&address, &folder, &["--once"]);
    let refused = command.output().expect("the service is built");
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains(&format!("port {port} of 127.0.0.1 is taken")), "{said}");
    assert!(!folder.path().join("postgres").exists());
}
