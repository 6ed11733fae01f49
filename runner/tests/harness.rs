//! The harness on real workloads: shapes, failures, and what must not be left behind. No rate of
//! this machine is asserted.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use scalewatch_runner::harness::{self, Manner, Mode, Placement, PointPlan};
use support::points::{failed, is_empty, measured, plan, processes_in, until};

#[test]
fn a_point_that_is_not_through_in_its_time_fails_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let window = Duration::from_secs(600);
    let limit = Some(Duration::from_millis(300));
    for (mode, workload) in [(Mode::Process, "file/open"), (Mode::Thread, "orphan/unlink-open")] {
        let plan = PointPlan { mode, window, ..plan(workload, dir.path()) };
        let manner = Manner { limit, ..Manner::default() };
        let point = harness::measure_as(&plan, &manner, &mut |_, _| {}).expect("the plan is good");
        let failure = failed(point);
        assert_eq!(failure.call, "time-out", "{failure:?}");
        assert!(failure.detail.contains("300ms"), "{failure:?}");
        assert!(is_empty(dir.path()));
        assert_eq!(processes_in(dir.path()), Vec::<u32>::new());
    }
}

#[test]
fn a_point_has_every_window_of_every_task_with_its_cpu_time() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for mode in [Mode::Process, Mode::Thread] {
        let mut seen = vec![];
        let window = Duration::from_millis(100);
        let plan = PointPlan { mode, window, ..plan("file/open", dir.path()) };
        let point = harness::measure(&plan, &mut |done, w| seen.push((done, w.clone())))
            .expect("the plan is good");
        assert_eq!(point.parameters["mode"], mode.word());
        assert_eq!(point.parameters["placement"], "core");
        assert_eq!(point.parameters["layout"], "shared-dir");
        let measured = measured(point);
        assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let heard: Vec<_> = seen.into_iter().skip(1).map(|s| s.1).collect();
        assert_eq!(heard, measured.windows, "each window is heard as it ends");
        assert_eq!(measured.windows.len(), 3);
        for window in &measured.windows {
            assert!(window.dt_ns >= 100_000_000);
            assert_eq!((window.ops.len(), window.cpu_ns.len()), (2, 2));
        }
        let names: Vec<&str> = measured.metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["ops_per_s_total", "ops_per_cpu_s", "task_fairness"]);
        let (ops, cpu): (u64, u64) = measured.windows.iter().fold((0, 0), |(ops, cpu), w| {
            (ops + w.ops.iter().sum::<u64>(), cpu + w.cpu_ns.iter().sum::<u64>())
        });
        assert!(ops > 0 && cpu > 0, "{ops} operations in {cpu} ns of CPU time");
        assert_eq!(measured.placement.len(), 2);
        assert!(measured.disturbance.voluntary_switches.is_some());
        assert!(is_empty(dir.path()));
    }
}

#[test]
fn a_point_says_what_an_operation_cost_in_either_mode() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for mode in [Mode::Process, Mode::Thread] {
        let window = Duration::from_millis(100);
        let plan = PointPlan { mode, window, ..plan("sys/getppid", dir.path()) };
        let measured = measured(harness::measure(&plan, &mut |_, _| {}).expect("the plan is good"));
        let counters = &measured.counters;
        let kept = ["rusage.user_ns", "rusage.system_ns", "rusage.minor_faults"];
        let kept = kept.into_iter().chain(["rusage.involuntary_switches", "vmstat.pgfault"]);
        for name in kept.chain(["stat.context_switches"]) {
            assert!(counters.contains_key(name), "no {name} in {counters:?}");
        }
        let ops: u64 = measured.windows.iter().flat_map(|w| &w.ops).sum();
        let cpu: u64 = measured.windows.iter().flat_map(|w| &w.cpu_ns).sum();
        let told = (counters["rusage.user_ns"] + counters["rusage.system_ns"]) * ops as f64;
        // Read a little before and after the windows' own clocks.
        let share = told / cpu as f64;
        assert!((0.5..2.0).contains(&share), "{told} ns told, {cpu} ns received");
    }
}

#[test]
fn a_partners_switches_and_cpu_time_are_its_tasks() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for mode in [Mode::Process, Mode::Thread] {
        let placement = Placement::List(vec![first_cpu()]);
        let plan =
            PointPlan { mode, tasks: 1, placement, ..plan("sched/pipe-pingpong", dir.path()) };
        let measured = measured(harness::measure(&plan, &mut |_, _| {}).expect("the plan is good"));
        let ops: u64 = measured.windows.iter().flat_map(|w| &w.ops).sum();
        let told = |count: Option<u64>| count.expect("this kernel counts them");
        let switches = told(measured.disturbance.voluntary_switches)
            + told(measured.disturbance.involuntary_switches);
        // On one CPU a byte passes only by a switch, whether its sender went to sleep or the woken
        // one took the CPU; one of the pair makes half of them.
        assert!(switches > ops / 4 * 3, "{switches} switches in {ops} operations");
    }
}

fn first_cpu() -> u32 {
    scalewatch_runner::machine::Topology::of_this_machine().allowed[0]
}

#[test]
fn no_task_receives_more_cpu_time_than_the_window_is_long() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = PointPlan {
        placement: Placement::None,
        window: Duration::from_millis(200),
        ..plan("ctl/int-loop", dir.path())
    };
    let measured = measured(harness::measure(&plan, &mut |_, _| {}).expect("the plan is good"));
    assert!(measured.placement.is_empty());
    let (longest, wall) = measured.windows.iter().fold((0, 0), |(cpu, wall), w| {
        (cpu + w.cpu_ns.iter().max().copied().unwrap_or(0), wall + w.dt_ns as u64)
    });
    // Clocks are read one after the other, and the reader may be put aside in between.
    assert!(longest <= wall + wall / 5, "{longest} ns of CPU time in {wall} ns");
}

#[test]
fn more_tasks_than_cpus_wrap_around_and_all_of_them_count() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let tasks = 4 * std::thread::available_parallelism().expect("CPUs").get() as u32;
    let plan = PointPlan { tasks, placement: Placement::Pu, ..plan("sys/getppid", dir.path()) };
    let measured = measured(harness::measure(&plan, &mut |_, _| {}).expect("the plan is good"));
    assert_eq!(measured.placement.len(), tasks as usize);
    assert_eq!(measured.placement[0], measured.placement[tasks as usize / 2]);
    assert!(measured.windows.iter().all(|w| w.ops.len() == tasks as usize));
}

#[test]
fn bad_plans_are_refused_with_the_field_its_value_and_what_is_allowed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let good = plan("file/open", dir.path());
    let given = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let cases = [
        (
            PointPlan { workload: "file/opn".into(), ..good.clone() },
            "workload: \"file/opn\" is not",
        ),
        (
            PointPlan { parameters: given("depth", "3"), ..good.clone() },
            "parameter depth: file/open",
        ),
        (
            PointPlan { parameters: given("layout", "flat"), ..good.clone() },
            "parameter layout: \"flat\" is not one of shared-dir, own-dir, same-file",
        ),
        (
            PointPlan {
                workload: "fallocate/append-truncate".into(),
                parameters: given("chunk", "8k"),
                ..good.clone()
            },
            "parameter chunk: \"8k\" is not a whole number from 512",
        ),
        (PointPlan { tasks: 0, ..good.clone() }, "tasks: 0 is not in 1..=4096"),
        (PointPlan { tasks: 4097, ..good.clone() }, "tasks: 4097 is not in 1..=4096"),
        (PointPlan { windows: 0, ..good.clone() }, "windows: 0"),
        (PointPlan { window: Duration::ZERO, ..good.clone() }, "window: 0ns is not between"),
        (
            PointPlan { placement: Placement::List(vec![9999]), ..good.clone() },
            "placement: CPU 9999 is not one of those",
        ),
        (PointPlan { placement: Placement::List(vec![]), ..good }, "placement: list: names no CPU"),
    ];
    for (plan, message) in cases {
        let error = harness::measure(&plan, &mut |_, _| {}).expect_err(message);
        assert!(error.to_string().contains(message), "{error} lacks {message:?}");
    }
    assert!(is_empty(dir.path()));
}

#[test]
fn a_parameter_has_one_spelling_however_it_was_given() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let parameters = BTreeMap::from([("chunk".to_owned(), "0004096".to_owned())]);
    let plan = PointPlan { parameters, ..plan("fallocate/append-truncate", dir.path()) };
    let point = harness::measure(&plan, &mut |_, _| {}).expect("the plan is good");
    assert_eq!(point.parameters["chunk"], "4096");
    assert_eq!(point.parameters["file"], "1048576");
}

#[test]
fn a_missing_directory_makes_a_failed_point_with_its_errno() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = plan("file/open", &dir.path().join("gone"));
    let failure = failed(harness::measure(&plan, &mut |_, _| {}).expect("failure is data"));
    assert_eq!((failure.call.as_str(), failure.errno), ("mkdir", Some(libc::ENOENT)));
}

#[test]
fn a_child_that_is_killed_makes_a_failed_point_and_takes_its_tasks_along() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let plan = PointPlan { window: Duration::from_secs(30), ..plan("file/open", &home) };
    let failure = std::thread::scope(|scope| {
        let point = scope.spawn(|| harness::measure(&plan, &mut |_, _| {}));
        // The child and its two tasks; the child is the one with the lowest number that has them.
        until(|| processes_in(&home).len() == 3);
        let child = child_of_this_process_in(&home);
        // SAFETY: a process this test started.
        unsafe { libc::kill(child as libc::pid_t, libc::SIGKILL) };
        failed(point.join().expect("measure does not panic").expect("failure is data"))
    });
    assert_eq!((failure.call.as_str(), failure.errno), ("child", None));
    assert!(failure.detail.contains("signal 9"), "{failure:?}");
    until(|| processes_in(&home).is_empty());
    assert!(is_empty(&home));
}

fn child_of_this_process_in(dir: &Path) -> u32 {
    let parent = format!("\nPPid:\t{}\n", std::process::id());
    let ours = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|s| s.contains(&parent))
    };
    processes_in(dir).into_iter().find(ours).expect("the child runs")
}

#[test]
fn a_task_process_that_is_killed_fails_the_point_and_names_the_task() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let plan = PointPlan { warmup_windows: 0, windows: 2000, ..plan("file/open", &home) };
    let failure = std::thread::scope(|scope| {
        let point = scope.spawn(|| harness::measure(&plan, &mut |_, _| {}));
        until(|| processes_in(&home).len() == 3);
        let child = child_of_this_process_in(&home);
        let task = processes_in(&home).into_iter().find(|pid| *pid != child).expect("a task");
        // SAFETY: a process this test started.
        unsafe { libc::kill(task as libc::pid_t, libc::SIGKILL) };
        failed(point.join().expect("measure does not panic").expect("failure is data"))
    });
    assert_eq!(failure.call, "task", "{failure:?}");
    assert!(failure.task.is_some() && failure.detail.contains("its process ended"));
    assert!(processes_in(&home).is_empty() && is_empty(&home));
}

#[test]
fn threads_share_one_table_of_open_files_and_processes_have_their_own() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    for (mode, processes, own_files) in [(Mode::Process, 3, 1), (Mode::Thread, 1, 2)] {
        let plan = PointPlan { mode, windows: 100, ..plan("file/dup", &home) };
        std::thread::scope(|scope| {
            // The files are unlinked: only descriptors hold them. A duplicate may be open as well.
            let holds_own_files = |pid: &u32| distinct_unlinked_files(*pid).len() == own_files;
            let expected = if mode == Mode::Process { 2 } else { 1 };
            let point = scope.spawn(|| harness::measure(&plan, &mut |_, _| {}));
            until(|| {
                let pids = processes_in(&home);
                let holders = pids.iter().filter(|pid| holds_own_files(pid)).count();
                pids.len() == processes && holders == expected
            });
            measured(point.join().expect("measure does not panic").expect("the plan is good"));
        });
    }
}

fn distinct_unlinked_files(pid: u32) -> std::collections::BTreeSet<std::path::PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let targets = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.filter(|t| t.to_string_lossy().contains("/file")).collect()
}

#[test]
fn what_tasks_hold_is_what_is_live_and_a_little_more_under_every_allocator_in_both_modes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for allocator in ["glibc", "jemalloc", "mimalloc"] {
        for mode in [Mode::Process, Mode::Thread] {
            let window = Duration::from_millis(100);
            let mut plan = PointPlan { mode, window, ..plan("alloc/malloc", dir.path()) };
            plan.parameters = BTreeMap::from(
                [("allocator", allocator), ("size", "65536"), ("live", "64")]
                    .map(|(name, value)| (name.into(), value.into())),
            );
            let point = harness::measure(&plan, &mut |_, _| {}).expect("the plan is sound");
            let measured = measured(point);
            let values = |name: &str| {
                let metric = measured.metrics.iter().find(|m| m.name == name);
                measured.values(metric.unwrap_or_else(|| panic!("{name} of {allocator}")))
            };
            // Two tasks with 4 MiB each; an allocator may begin with as much again.
            let (peak, fragmentation) = (values("peak_rss"), values("fragmentation"));
            assert!(peak.iter().all(|kib| (1_000.0..40_000.0).contains(kib)), "{peak:?}");
            let sound = fragmentation.iter().all(|ratio| (0.9..4.0).contains(ratio));
            assert!(sound, "{allocator} {mode:?}: {fragmentation:?}");
        }
    }
}

#[test]
fn tasks_that_want_more_memory_than_there_is_are_refused_before_they_start() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for memory in ["anon", "file-private", "file-shared"] {
        let mut plan = plan("mm/fault", dir.path());
        plan.parameters = BTreeMap::from([
            ("memory".into(), memory.into()),
            ("mib".into(), (1 << 20).to_string()),
        ]);
        let failure = failed(harness::measure(&plan, &mut |_, _| {}).expect("failure is data"));
        assert_eq!((failure.call.as_str(), failure.errno), ("memory", Some(libc::ENOMEM)));
        assert!(failure.detail.contains("2 tasks"), "{}", failure.detail);
        assert!(is_empty(dir.path()));
    }
}

#[test]
fn a_full_file_system_makes_a_failed_point_with_its_errno() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    // A mount of a namespace of its own goes with its last process.
    let script = "mount -t tmpfs -o size=64k tmpfs \"$SCALEWATCH_TEST_DIR\" && exec \"$@\"";
    let namespace = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]);
        command.env("SCALEWATCH_TEST_DIR", dir.path());
        command
    };
    if !namespace().arg("true").output().is_ok_and(|answer| answer.status.success()) {
        eprintln!("skipped: no namespace to mount a small tmpfs in");
        return;
    }
    let answer = namespace()
        .arg(std::env::current_exe().expect("this test's executable"))
        .args(["--exact", "measures_on_a_full_file_system", "--ignored", "--nocapture"])
        .output()
        .expect("unshare runs");
    let said = String::from_utf8_lossy(&answer.stdout);
    let why = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success() && said.contains("1 passed"), "{said}{why}");
}

#[test]
#[ignore = "runs where another test mounted a tiny tmpfs"]
fn measures_on_a_full_file_system() {
    let Some(dir) = std::env::var_os("SCALEWATCH_TEST_DIR") else { return };
    for mode in [Mode::Process, Mode::Thread] {
        // As long as it takes on a busy machine: the failure ends it.
        let plan = |workload| PointPlan { mode, windows: 1000, ..plan(workload, dir.as_ref()) };
        let filling = plan("fallocate/append-truncate");
        let failure = failed(harness::measure(&filling, &mut |_, _| {}).expect("failure is data"));
        assert_eq!((failure.call.as_str(), failure.errno), ("fallocate", Some(libc::ENOSPC)));
        assert!(is_empty(dir.as_ref()));
        // A mapping of a file that may be filled is refused; one that fills it in passing is told of.
        for (memory, call) in [("file-shared", "space"), ("file-private", "page fault")] {
            let mut mapping = plan("mm/fault");
            mapping.parameters.insert("memory".into(), memory.into());
            let failure =
                failed(harness::measure(&mapping, &mut |_, _| {}).expect("failure is data"));
            assert_eq!(failure.call, call, "{failure:?}");
            assert!(failure.detail.contains("file system") || failure.errno == Some(libc::ENOSPC));
            assert!(is_empty(dir.as_ref()));
        }
    }
}

#[test]
fn when_the_caller_dies_the_child_ends_its_tasks_and_removes_its_folder() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = fs::canonicalize(dir.path()).expect("the folder exists");
    let mut caller = Command::new(std::env::current_exe().expect("this test's executable"))
        .args(["--exact", "measures_in_a_process_of_its_own", "--ignored", "--nocapture"])
        .env("SCALEWATCH_TEST_DIR", &home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test runs itself");
    until(|| processes_in(&home).len() == 3);
    caller.kill().expect("it runs");
    caller.wait().expect("it was started");
    until(|| processes_in(&home).is_empty() && is_empty(&home));
}

#[test]
#[ignore = "the caller that another test kills"]
fn measures_in_a_process_of_its_own() {
    let Some(dir) = std::env::var_os("SCALEWATCH_TEST_DIR") else { return };
    let plan = PointPlan { window: Duration::from_secs(600), ..plan("file/open", dir.as_ref()) };
    harness::measure(&plan, &mut |_, _| {}).expect("the plan is good");
}
