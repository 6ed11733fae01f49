//! What a user without privileges cannot have: it is said, and nothing less is measured in its place.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::points::processes_in;

const QUICK: [&str; 9] =
    ["--tasks", "1", "--windows", "1", "--window", "5ms", "--warmup", "0", "--no-controls"];

/// The runner at work in `home` as a user without privileges; none where there is no way to be one.
fn as_nobody(home: &Path) -> Option<impl Fn(&[&str]) -> Output> {
    // Where anyone may read it.
    let program = home.join("runner");
    fs::copy(env!("CARGO_BIN_EXE_scalewatch-runner"), &program).unwrap();
    for path in [home, &program] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let home = home.to_owned();
    let command = move |program: &Path, arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
        command.args(arguments).current_dir(&home).stdin(Stdio::null());
        command.env("SCALEWATCH_RUNNER_STATE", home.join("state"));
        command.output()
    };
    let can = command(Path::new("true"), &[]).is_ok_and(|output| output.status.success());
    can.then_some(move |arguments: &[&str]| command(&program, arguments).unwrap())
}

#[test]
fn what_needs_privileges_is_refused_with_its_errno_and_nothing_stays_behind() {
    let dir = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(dir.path()).unwrap();
    let Some(run) = as_nobody(&home) else {
        eprintln!("skipped: this user cannot become one without privileges");
        return;
    };
    let measures = run(&[&["run", "file/open"], &QUICK[..]].concat());
    assert!(measures.status.success(), "{measures:?}");
    let locked = home.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o700)).unwrap();
    for (arguments, code, words) in [
        (&["run", "file/open", "--dir", "locked"][..], 6, "mkdir: Permission denied"),
        (&["run", "fallocate/containers", "-p", "isolation=cgroup"], 6, "control groups"),
        (
            &["run", "sys/getppid", "--commit", "abcdef1", "--position", "1", "--json", "locked/r"],
            2,
            "cannot write locked/r: Permission denied",
        ),
    ] {
        let output = run(&[arguments, &QUICK].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{words}: {said}");
        assert!(processes_in(&home).is_empty());
        let mut left = fs::read_dir(&home).unwrap().chain(fs::read_dir(&locked).unwrap());
        let is_scratch = |name: &str| name.starts_with(".scalewatch-");
        assert!(!left.any(|entry| is_scratch(&entry.unwrap().file_name().to_string_lossy())));
    }
}

#[test]
fn a_state_folder_that_cannot_be_is_said_before_anything_is_measured() {
    let output = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"))
        .args(["run", "sys/getppid", "--commit", "abcdef1", "--position", "1", "--json", "-"])
        .args(QUICK)
        .env("SCALEWATCH_RUNNER_STATE", "/proc/no-such-folder")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot make the folder /proc/no-such-folder"), "{said}");
    assert!(!said.contains("[1/1]"), "{said}");
}
