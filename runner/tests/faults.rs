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
