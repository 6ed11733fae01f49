//! Points measured in folders of a test's own, and what processes they left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use scalewatch_runner::harness::{self, Mode, Placement, PointPlan};
use wire::{Failure, Measured, Outcome, Point};

/// A short point of two processes.
pub fn plan(workload: &str, dir: &Path) -> PointPlan {
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    PointPlan {
        workload: workload.into(),
        parameters: BTreeMap::new(),
        mode: Mode::Process,
        tasks: 2,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: 3,
        window: Duration::from_millis(20),
        dir: dir.into(),
    }
}

/// What was measured.
pub fn measured(point: Point) -> Measured {
    match point.outcome {
        Outcome::Measured(measured) => measured,
        other => panic!("{} was not measured: {other:?}", point.workload),
    }
}

/// Why nothing was.
pub fn failed(point: Point) -> Failure {
    match point.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("{} did not fail: {other:?}", point.workload),
    }
}

/// Whether nothing lies in the folder.
pub fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).expect("the directory is readable").next().is_none()
}

/// Processes with `dir` (or a folder below it) as working directory.
pub fn processes_in(dir: &Path) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let pids = numbers.filter_map(|e| e.file_name().to_string_lossy().parse::<u32>().ok());
    let inside =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
    pids.filter(inside).collect()
}

/// Looks until `what` holds; the tests' only way to wait for another process.
pub fn until(what: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be");
        std::thread::yield_now();
    }
}
