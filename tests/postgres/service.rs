//! `kill -9` of the built service, and telling it to stop.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use scalewatch::postgres::{DataFolder, Embedded};

use super::{cluster_of, lives, reachable_folder};

/// The built service on `folder`, as far as the line that says where it serves.
fn service_on(folder: &Path) -> Child {
    let mut service = Command::new(env!("CARGO_BIN_EXE_scalewatch"))
        .args(["up", "--no-measure", "--listen", "127.0.0.1:0"])
        .env("SCALEWATCH_DATA", folder)
        .env_remove("DATABASE_URL")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the service is built");
    let output = service.stdout.take().expect("piped above");
    let serves = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("http://127.0.0.1:"));
    if !serves {
        let _ = service.kill();
        panic!("the service ended before it served: {:?}", service.wait());
    }
    service
}

fn server_process(folder: &Path) -> u32 {
    let lock =
        fs::read_to_string(cluster_of(folder).join("postmaster.pid")).expect("a server runs");
    lock.lines().next().and_then(|line| line.parse().ok()).expect("a process id comes first")
}

#[test]
fn a_killed_service_leaves_a_server_that_the_next_one_replaces() {
    let folder = reachable_folder();
    let mut service = service_on(folder.path());
    let left = server_process(folder.path());
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(lives(left), "the server outlives its service");
    let data = DataFolder::hold(folder.path()).expect("a killed service holds nothing");
    let server = Embedded::start(&data).unwrap();
    assert_ne!(server.process_id(), left);
    assert!(!lives(left));
    server.stop().unwrap();
}

#[test]
fn a_service_told_to_stop_takes_its_server_along() {
    let folder = reachable_folder();
    let mut service = service_on(folder.path());
    let server = server_process(folder.path());
    let told = Command::new("sh").args(["-c", &format!("kill -INT {}", service.id())]).status();
    assert!(told.unwrap().success());
    assert!(service.wait().unwrap().success());
    assert!(!lives(server));
}
