//! Folders that can be used and folders that are refused, each with what to do about it.

use std::fs;

use scalewatch::postgres::{DataFolder, Embedded};

use super::{ask, cluster_of, lives, reachable_folder, refusal, start};

#[test]
fn a_folder_in_use_is_refused_naming_its_holder() {
    let folder = reachable_folder();
    let held = DataFolder::hold(folder.path()).unwrap();
    let refused = DataFolder::hold(folder.path()).unwrap_err().to_string();
    assert!(refused.contains(&format!("in use by process {}", std::process::id())), "{refused}");
    assert!(refused.contains("SCALEWATCH_DATA"), "{refused}");
    drop(held);
    DataFolder::hold(folder.path()).expect("a released folder can be held");
}

#[test]
fn a_cluster_of_another_major_version_is_refused_and_left_alone() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    server.stop().unwrap();
    drop(data);
    let version = cluster_of(folder.path()).join("PG_VERSION");
    fs::write(&version, "9.6\n").unwrap();
    let refused = refusal(folder.path());
    assert!(refused.contains("made by PostgreSQL 9,"), "{refused}");
    assert!(refused.contains(&folder.path().display().to_string()), "{refused}");
    assert_eq!(fs::read_to_string(&version).unwrap(), "9.6\n");
}

#[test]
fn a_folder_that_is_no_cluster_is_refused_and_left_alone() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    server.stop().unwrap();
    drop(data);
    let cluster = cluster_of(folder.path());
    fs::remove_file(cluster.join("PG_VERSION")).unwrap();
    let refused = refusal(folder.path());
    assert!(refused.contains("not a Postgres data directory"), "{refused}");
    assert!(cluster.join("global").exists());
}

#[test]
fn an_initialisation_that_never_completed_is_cleared_and_done_again() {
    let folder = reachable_folder();
    let (data, server) = start(folder.path());
    server.stop().unwrap();
    let attempt = folder.path().join("postgres/new-1");
    fs::rename(cluster_of(folder.path()), &attempt).unwrap();
    fs::remove_file(attempt.join("PG_VERSION")).unwrap();
    let server = Embedded::start(&data).expect("a half-made cluster is made again");
    assert!(lives(server.process_id()));
    assert!(!attempt.exists());
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_gets_one_elsewhere() {
    let folder = reachable_folder();
    let long = folder.path().join("long path ".repeat(9)).join("even, longer".repeat(4));
    fs::create_dir_all(&long).unwrap();
    let (_data, server) = start(&long);
    let socket = ask(server.address(), "show unix_socket_directories").await.unwrap();
    let socket = socket.trim_matches('"').to_owned();
    assert!(!socket.starts_with(&long.display().to_string()), "{socket}");
    server.stop().unwrap();
    assert!(!fs::exists(&socket).unwrap(), "nothing is left in {socket}");
}

#[test]
fn root_is_told_which_folder_the_servers_user_may_not_pass() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let folder = reachable_folder();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        // Whoever runs the server as oneself passes every folder one could make.
        return;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let refused = refusal(&folder.path().join("data"));
    assert!(refused.contains(&format!("may not pass {}", folder.path().display())), "{refused}");
    assert!(refused.contains("SCALEWATCH_DATA"), "{refused}");
}
