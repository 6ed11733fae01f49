//! What goes wrong while measuring, made to happen by real means: the point says what it was, and
//! nothing stays behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Processes with `dir` (or a folder below it) as working directory.
fn processes_in(dir: &Path) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let pids = numbers.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
    let inside =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
    pids.filter(inside).collect()
}

/// Looks until `what` holds; the tests' only way to wait for another process.
fn until(what: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be");
        std::thread::yield_now();
    }
}

/// The runner, at work in `home`.
fn runner(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalewatch-runner"));
    command.args(arguments).current_dir(home).stdin(Stdio::null());
    command.env("SCALEWATCH_RUNNER_STATE", home.join("state"));
    command
}

fn started(home: &Path, arguments: &[&str]) -> Child {
    let mut command = runner(home, arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the runner starts")
}

/// The child in which `parent` measures.
fn child_of(parent: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A field of `/proc/PID/task/TID/stat`, counted from the process's state, which is 0.
fn stat_field(pid: u32, tid: u32, field: usize) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    after_name.split_whitespace().nth(field)?.parse().ok()
}

const NICE: usize = 16;
const POLICY: usize = 38;

#[test]
fn a_runner_that_is_killed_takes_thousands_of_busy_tasks_with_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let run = ["run", "ctl/int-loop", "--tasks", "1024", "--mode", "thread", "--window", "600s"];
    let mut parent = started(&home, &run);
    let threads = |pid: u32| {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let numbers = tasks.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
        numbers.collect::<Vec<_>>()
    };
    until(|| child_of(parent.id()).is_some_and(|child| threads(child).len() == 1025));
    let child = child_of(parent.id()).expect("it was there");
    // The sampler is the first thread: it goes before the others, by its own priority or theirs.
    let precedes = || {
        let own = stat_field(child, child, POLICY).zip(stat_field(child, child, NICE));
        let busy = threads(child).into_iter().find(|tid| *tid != child);
        let other = busy.and_then(|tid| stat_field(child, tid, NICE));
        own.zip(other).is_some_and(|((policy, nice), other)| {
            (policy == i64::from(libc::SCHED_FIFO) && other == 0) || nice < other
        })
    };
    until(precedes);
    parent.kill().expect("it runs");
    parent.wait().expect("it was started");
    until(|| processes_in(&home).is_empty());
}

/// The processes that a runner at [`PAIRS`] consists of: itself, its child, the tasks and their
/// partners, who are the ones without children.
fn partners_in(home: &Path) -> Option<Vec<u32>> {
    let all = processes_in(home);
    let partners = all.iter().copied().filter(|pid| child_of(*pid).is_none());
    Some(partners.collect()).filter(|partners: &Vec<u32>| (all.len(), partners.len()) == (6, 2))
}

const PAIRS: [&str; 6] = ["run", "sched/pipe-pingpong", "--tasks", "2", "--window", "600s"];

#[test]
fn a_partner_that_is_killed_fails_the_point_of_its_task() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let mut command = runner(&home, &PAIRS);
    let parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(|| partners_in(&home).is_some());
    let partner = partners_in(&home).expect("they were there")[0];
    // SAFETY: a process that this test's runner started.
    unsafe { libc::kill(partner as libc::pid_t, libc::SIGKILL) };
    let output = parent.wait_with_output().expect("it was started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(
        said.contains("the other one of the pair is gone") || said.contains("Broken pipe"),
        "{said}"
    );
    assert!(processes_in(&home).is_empty(), "partners go with their tasks");
}

#[test]
fn partners_are_gone_when_their_runner_is_killed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let mut parent = started(&home, &PAIRS);
    until(|| partners_in(&home).is_some());
    parent.kill().expect("it runs");
    parent.wait().expect("it was started");
    until(|| processes_in(&home).is_empty());
}

#[test]
fn too_low_a_limit_of_open_files_is_said_with_what_is_needed_and_allowed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let limited = "ulimit -n 200 && exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_scalewatch-runner"), "run", "poll/128"]);
    command.args(["--mode", "thread", "--tasks", "1,2", "--windows", "1", "--window", "5ms"]);
    command.env("SCALEWATCH_RUNNER_STATE", home.join("state")).current_dir(&home);
    let output = command.stdin(Stdio::null()).output().expect("sh runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{said}");
    let failed = "2 tasks failed: setrlimit: 276 open files are needed, 200 are allowed";
    assert!(said.contains(failed), "{said}");
    assert!(!said.contains("1 task failed"), "138 are enough for one: {said}");
}
