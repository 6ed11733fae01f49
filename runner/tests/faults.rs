//! What goes wrong while measuring, made to happen by real means: the point says what it was, and
//! nothing stays behind.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::points::{processes_in, until};

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
            policy == i64::from(libc::SCHED_FIFO) || nice < other
        })
    };
    until(precedes);
    parent.kill().expect("it runs");
    parent.wait().expect("it was started");
    until(|| processes_in(&home).is_empty());
}

#[test]
fn tasks_have_the_nice_value_that_the_runner_was_started_with() {
    // SAFETY: a plain system call.
    let wanted = (unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) } + 3).min(19);
    for mode in ["process", "thread"] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = fs::canonicalize(dir.path()).expect("the folder exists");
        let run = ["run", "ctl/int-loop", "--tasks", "1", "--mode", mode, "--window", "600s"];
        let plain = runner(&home, &run);
        let mut command = Command::new("nice");
        command.args(["-n", "3"]).arg(plain.get_program()).args(plain.get_args());
        command.current_dir(&home).env("SCALEWATCH_RUNNER_STATE", home.join("state"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut parent = command.spawn().expect("nice starts the runner");
        // The task: the child's own child, or its second thread.
        let nice_of_task = || {
            let child = child_of(parent.id())?;
            let threads = fs::read_dir(format!("/proc/{child}/task")).ok()?.flatten();
            let mut tids = threads.filter_map(|e| e.file_name().to_string_lossy().parse().ok());
            match mode {
                "process" => child_of(child).and_then(|task| stat_field(task, task, NICE)),
                _ => tids.find(|t| *t != child).and_then(|tid| stat_field(child, tid, NICE)),
            }
        };
        until(|| nice_of_task() == Some(i64::from(wanted)));
        parent.kill().expect("it runs");
        parent.wait().expect("it was started");
        until(|| processes_in(&home).is_empty());
    }
}

#[test]
fn two_thousand_tasks_on_a_few_cpus_are_all_counted_and_all_gone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let run = ["run", "sys/getppid", "--tasks", "2048", "--windows", "1", "--window", "10ms"];
    let code = ["--warmup", "0", "--no-controls", "--commit", "0a1b2c3d4e", "--position", "1"];
    let json = ["--json", "r.json"];
    let output = runner(&home, &[&run[..], &code, &json].concat()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let report = fs::read_to_string(home.join("r.json")).expect("a report");
    let report: wire::Report = serde_json::from_str(&report).expect("a report");
    match &report.points[0].outcome {
        wire::Outcome::Measured(measured) => {
            assert_eq!(measured.windows.len(), 1);
            let window = &measured.windows[0];
            assert_eq!((window.ops.len(), window.cpu_ns.len()), (2048, 2048));
            assert!(output.status.success(), "{said}");
        }
        wire::Outcome::Failed(failure) if failure.call == "fork" => {
            assert_eq!(failure.errno, Some(libc::EAGAIN), "{failure:?}");
            eprintln!("skipped: this user may not have so many processes");
        }
        other => panic!("{other:?}"),
    }
    assert!(processes_in(&home).is_empty());
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

#[test]
fn a_call_that_fails_in_the_loop_is_recorded_with_errno_and_task_in_both_modes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    // A limit of file size makes fallocate fail; its signal must not kill the task first.
    let limited = "trap '' XFSZ && ulimit -f 2048 && exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_scalewatch-runner"), "run"]);
    command.args(["fallocate/append-truncate", "-p", "chunk=1073741824", "-p"]);
    command.args(["file=1099511627776", "--mode", "both", "--tasks", "2", "--no-controls"]);
    command.args(["--commit", "0a1b2c3d4e", "--position", "1", "--json", "r.json"]);
    command.env("SCALEWATCH_RUNNER_STATE", home.join("state")).current_dir(&home);
    let output = command.stdin(Stdio::null()).output().expect("sh runs");
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    let report = fs::read_to_string(home.join("r.json")).expect("a report of the failure");
    let report: wire::Report = serde_json::from_str(&report).expect("a report");
    assert_eq!(report.points.len(), 2);
    for point in report.points {
        let wire::Outcome::Failed(failure) = point.outcome else { panic!("it was measured") };
        assert_eq!((failure.call.as_str(), failure.errno), ("fallocate", Some(libc::EFBIG)));
        assert!(failure.task.is_some_and(|task| task < 2), "{failure:?}");
    }
    assert_eq!(scratch_folders(&home), 0);
}

/// Folders that runs leave in `dir`.
fn scratch_folders(dir: &Path) -> usize {
    let names = fs::read_dir(dir).expect("readable").flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".scalewatch-")).count()
}

/// The task processes of a runner, in the order of their start.
fn tasks_of(runner: u32) -> Vec<u32> {
    let Some(child) = child_of(runner) else { return vec![] };
    let path = format!("/proc/{child}/task/{child}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

const LONG: [&str; 6] = ["run", "file/open", "--windows", "1000", "--warmup", "0"];

const ROUNDS: [&str; 8] =
    ["run", "aim/creat-close-fixed", "-p", "jobs=1", "--windows", "100000", "--warmup", "0"];

/// Ends a runner by this signal to its whole group, as a terminal does, once `when` holds.
fn ended_by(signal: libc::c_int, tasks: &str, when: impl Fn(u32) -> bool) {
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let mut command = runner(&home, &[&LONG[..], &["--tasks", tasks, "--no-controls"]].concat());
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    // Who starts these tests in the background may have told them to ignore interrupts.
    let heed = || {
        // SAFETY: a plain system call between fork and exec.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(heed) };
    let mut parent = command.spawn().expect("the runner starts");
    until(|| when(parent.id()));
    let group = if signal == libc::SIGKILL { 1 } else { -1 };
    // SAFETY: a process, or a group, that this test started.
    unsafe { libc::kill(group * parent.id() as libc::pid_t, signal) };
    parent.wait().expect("it was started");
    until(|| processes_in(&home).is_empty());
    // A folder whose child was never born goes at the next start.
    let next = ["run", "file/open", "--windows", "1", "--window", "5ms", "--tasks", "1"];
    let output = runner(&home, &next).output().expect("the runner starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scratch_folders(&home), 0);
}

#[test]
fn whenever_a_run_is_killed_or_interrupted_nothing_stays_behind() {
    for signal in [libc::SIGKILL, libc::SIGINT, libc::SIGTERM] {
        ended_by(signal, "2", |_| true);
        ended_by(signal, "2", |runner| child_of(runner).is_some());
        ended_by(signal, "8", |runner| !tasks_of(runner).is_empty());
        ended_by(signal, "2", |runner| tasks_of(runner).len() == 2);
    }
}

#[test]
fn task_7_of_8_that_dies_fails_the_point_of_windows_or_of_rounds_and_is_named() {
    task_7_of_8_that_dies_is_named(&LONG);
    task_7_of_8_that_dies_is_named(&ROUNDS);
}

fn task_7_of_8_that_dies_is_named(run: &[&str]) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let code = ["--commit", "0a1b2c3d4e", "--position", "1", "--json", "r.json"];
    let arguments = [run, &["--tasks", "8", "--no-controls"], &code].concat();
    let mut parent = started(&home, &arguments);
    until(|| tasks_of(parent.id()).len() == 8);
    // SAFETY: a process that this test's runner started.
    unsafe { libc::kill(tasks_of(parent.id())[6] as libc::pid_t, libc::SIGKILL) };
    let ended = parent.wait().expect("it was started");
    assert_eq!(ended.code(), Some(6));
    let report = fs::read_to_string(home.join("r.json")).expect("a report of the failure");
    let report: wire::Report = serde_json::from_str(&report).expect("a report");
    match &report.points[0].outcome {
        wire::Outcome::Failed(failure) => assert_eq!(failure.task, Some(6), "{failure:?}"),
        other => panic!("it did not fail: {other:?}"),
    }
    assert!(processes_in(&home).is_empty());
    assert_eq!(scratch_folders(&home), 0);
}

#[test]
fn a_task_that_is_moved_to_another_cpu_fails_the_point_of_windows_or_of_rounds() {
    moved_task_fails_the_point(&LONG);
    moved_task_fails_the_point(&ROUNDS);
}

fn moved_task_fails_the_point(run: &[&str]) {
    if scalewatch_runner::harness::allowed_cpus().expect("some").len() < 2 {
        eprintln!("skipped: there is no other CPU");
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let arguments = ["--tasks", "1", "--window", "20ms", "--no-controls"];
    let mut command = runner(&home, &[run, &arguments].concat());
    let parent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let parent = parent.expect("the runner starts");
    // Placed: it has fewer CPUs than its parent.
    until(|| {
        tasks_of(parent.id()).first().is_some_and(|task| {
            let status = fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default();
            status.contains("\nCpus_allowed_list:\t0\n")
        })
    });
    let task = tasks_of(parent.id())[0];
    // To and fro: wherever it was when its windows began, an edge finds it elsewhere.
    let to = |mask: u64| {
        let words = [mask, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: a process that this test's runner started; words live for the call.
        unsafe {
            libc::sched_setaffinity(task as libc::pid_t, size_of_val(&words), words.as_ptr().cast())
        };
    };
    until(|| {
        to(0b10);
        std::thread::yield_now();
        to(0b01);
        fs::metadata(format!("/proc/{task}/status")).is_err()
    });
    let output = parent.wait_with_output().expect("it was started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("placement: task 0 was moved from CPUs "), "{said}");
}

#[test]
fn a_limit_of_open_files_that_is_too_low_is_said_with_its_errno() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let script = "ulimit -n 24; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_scalewatch-runner")])
        .args(["run", "file/dup", "--mode", "thread", "--tasks", "64", "--no-controls"])
        .args(["--windows", "1", "--window", "5ms"])
        .current_dir(&home)
        .env("SCALEWATCH_RUNNER_STATE", home.join("state"))
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(6));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Too many open files"), "{said}");
    assert_eq!(scratch_folders(&home), 0);
}

#[test]
fn a_read_only_file_system_is_said() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    fs::create_dir(home.join("fs")).expect("a folder");
    let script = "mount -t tmpfs -o ro tmpfs fs && exec \"$@\"";
    let inside = |program: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]).args(program);
        command.current_dir(&home).env("SCALEWATCH_RUNNER_STATE", home.join("state"));
        command.output()
    };
    if !inside(&["true"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no namespace to mount a read-only tmpfs in");
        return;
    }
    let run = ["run", "file/open", "--dir", "fs", "--tasks", "1", "--no-controls"];
    let runner = env!("CARGO_BIN_EXE_scalewatch-runner");
    let output = inside(&[&[runner], &run[..]].concat()).expect("unshare runs");
    assert_eq!(output.status.code(), Some(6));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 task failed: mkdir: mkdir: Read-only file system"), "{said}");
}
