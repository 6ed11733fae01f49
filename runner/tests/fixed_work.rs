//! Rounds of fixed work: the same work each time, and every care that windows of a length get.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use scalewatch_runner::harness::{self, Manner, Mode, PointPlan, Until};
use support::points::{failed, is_empty, measured, plan, processes_in, until};

/// Two tasks that truncate files of so many bytes.
fn truncations(size: u64, dir: &Path) -> PointPlan {
    let parameters = BTreeMap::from([("size".to_owned(), size.to_string())]);
    PointPlan { parameters, ..plan("orphan/truncate-bytes", dir) }
}

#[test]
fn a_window_of_fixed_work_is_the_same_work_each_time_and_ends_with_the_slowest() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for mode in [Mode::Process, Mode::Thread] {
        let plan = PointPlan { mode, ..truncations(300, dir.path()) };
        let mut heard = vec![];
        let point = harness::measure(&plan, &mut |done, w| heard.push((done, w.clone())));
        let measured = measured(point.expect("the plan is good"));
        assert_eq!(heard.iter().map(|h| h.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(heard.iter().all(|h| h.1.ops == [300, 300]), "{heard:?}");
        let elapsed = measured.metrics.iter().find(|m| m.name == "elapsed_s").expect("it has one");
        let windows: Vec<f64> = measured.windows.iter().map(|w| w.dt_ns as f64 / 1e9).collect();
        assert_eq!(measured.values(elapsed), windows);
        assert!(is_empty(dir.path()));
    }
}

#[test]
fn a_fault_in_fixed_work_ends_the_point() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plan = plan("aim/creat-close-fixed", dir.path());
    let point = harness::measure(&plan, &mut |done, _| {
        if done == 1 {
            // Tasks wait for the next release, or are at work: both end without their folder. Who is
            // at work may make a file while its folder is being removed, so that it takes another try.
            let folder = fs::read_dir(dir.path()).expect("readable").flatten().next();
            let folder = folder.expect("the point's folder").path();
            until(|| fs::remove_dir_all(&folder).is_ok() || !folder.exists());
        }
    });
    let failure = failed(point.expect("the plan is good"));
    assert_eq!(failure.errno, Some(2), "{failure:?}");
    assert!(["creat", "unlink"].contains(&failure.call.as_str()), "{failure:?}");
    assert!(processes_in(dir.path()).is_empty());
}

#[test]
fn rounds_go_on_until_the_mean_is_known_or_the_budget_ends() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let rounds = |half_width, budget| {
        let manner = Manner { until: Some(Until { half_width, budget }), ..Manner::default() };
        let plan = PointPlan { windows: 2, ..truncations(300, dir.path()) };
        let point = harness::measure_as(&plan, &manner, &mut |_, _| {});
        measured(point.expect("the plan is good")).windows
    };
    // No two rounds are alike to a billionth, so that only a budget can end it.
    assert_eq!(rounds(1e-9, Duration::ZERO).len(), 2, "those that were asked for, at least");
    assert!(rounds(1e-9, Duration::from_millis(200)).len() > 2);
    let known = rounds(0.5, Duration::from_secs(60));
    assert!(harness::half_width(&known).is_some_and(|half| half <= 0.5), "{known:?}");
}

#[test]
fn a_round_that_others_disturbed_is_measured_again_and_then_kept_with_the_reason() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let enough = AtomicBool::new(false);
    let spinners = std::thread::available_parallelism().map_or(1, usize::from);
    if spinners * 5 < harness::possible_cpus() as usize {
        eprintln!("skipped: the CPUs allowed here are too small a share to disturb the machine");
        return;
    }
    let measured = std::thread::scope(|scope| {
        for _ in 0..spinners {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        // Long enough to be judged: 100 ms at least on any machine.
        let plan = PointPlan { warmup_windows: 0, windows: 2, ..truncations(1 << 18, dir.path()) };
        let manner = Manner { remeasure: 1, ..Manner::default() };
        let point = harness::measure_as(&plan, &manner, &mut |_, _| {});
        enough.store(true, Ordering::Relaxed);
        measured(point.expect("the plan is good"))
    });
    assert!(measured.windows.iter().all(|window| window.ops == [1 << 18, 1 << 18]));
    assert_eq!(measured.windows.len(), 2);
    let disturbance = &measured.disturbance;
    assert_eq!(disturbance.remeasured_windows, 1);
    let marked: Vec<u32> = disturbance.windows.iter().map(|marked| marked.window).collect();
    assert_eq!(marked, [0, 1], "{disturbance:?}");
    assert!(disturbance.windows[0].why.contains("others used"), "{disturbance:?}");
}

#[test]
fn an_operation_of_fixed_work_is_told_what_it_cost_as_any_other_is() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let counters = |plan: &PointPlan| -> BTreeMap<String, f64> {
        let point = harness::measure(plan, &mut |_, _| {}).expect("the plan is good");
        measured(point).counters
    };
    for mode in [Mode::Process, Mode::Thread] {
        let fixed = counters(&PointPlan { mode, ..truncations(3000, dir.path()) });
        let timed = counters(&PointPlan { mode, ..plan("orphan/unlink-open", dir.path()) });
        let of_processor = |all: &BTreeMap<String, f64>| -> BTreeSet<String> {
            all.keys().filter(|name| name.starts_with("perf.")).cloned().collect()
        };
        assert_eq!(of_processor(&fixed), of_processor(&timed));
        // Between its rounds a task writes its file anew and waits until it is on disk. None of
        // that belongs to an operation: a round has 6000, and a handful of switches.
        assert!(fixed["rusage.voluntary_switches"] < 0.1, "{fixed:?}");
        assert_eq!(fixed.contains_key("rusage.system_ns"), timed.contains_key("rusage.system_ns"));
    }
}
