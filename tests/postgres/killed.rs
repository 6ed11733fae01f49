//! `kill -9` of the server, and the locks it leaves.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use scalewatch::postgres::Embedded;

use super::{WORD, ask, cluster_of, kill, lives, reachable_folder, start, write_word};

/// Waits for something that other processes are about to do.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} within a minute");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_killed_server_is_started_again_with_all_that_was_committed() {
    let folder = reachable_folder();
    let (_data, server) = start(folder.path());
    write_word(server.address()).await;
    let first = server.process_id();
    kill(first);
    wait_until("another server runs", || server.process_id() != first);
    assert_eq!(ask(server.address(), WORD).await.unwrap(), "kept");
    let second = server.process_id();
    server.stop().unwrap();
    assert!(!lives(second));
}

#[test]
fn locks_that_name_some_other_living_process_do_not_stop_a_start() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    server.stop().unwrap();
    let stale = format!("{}\n{}\n", std::process::id(), cluster_of(folder.path()).display());
    fs::write(cluster_of(folder.path()).join("postmaster.pid"), &stale).unwrap();
    fs::write(folder.path().join("postgres/socket/.s.PGSQL.5432.lock"), &stale).unwrap();
    let server = Embedded::start(&data).expect("a stale lock is no obstacle");
    assert!(lives(server.process_id()));
}

#[test]
fn locks_of_a_dead_server_do_not_stop_a_start() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    server.stop().unwrap();
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let stale = format!("{}\n{}\n", dead.id(), cluster_of(folder.path()).display());
    fs::write(cluster_of(folder.path()).join("postmaster.pid"), &stale).unwrap();
    fs::write(folder.path().join("postgres/socket/.s.PGSQL.5432.lock"), &stale).unwrap();
    Embedded::start(&data).expect("a stale lock is no obstacle").stop().unwrap();
}
