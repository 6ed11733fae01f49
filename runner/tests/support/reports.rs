//! Reports made of given rates.

use std::collections::BTreeMap;

use wire::{Disturbance, Failure, Measured, Metric, Outcome, Point, Report, Window};

/// A report of one run at one commit with no points yet.
pub fn a_report(n: u32, commit: &str) -> Report {
    let mut report = super::report(n);
    report.revision.commit = commit.into();
    report.revision.subject = format!("change {commit}");
    report.artefacts.clear();
    report.points.clear();
    report
}

/// A measured point of `file/open` whose windows have these operations per second. The tasks got
/// a whole CPU together.
pub fn a_point(tasks: u32, rates: &[f64]) -> Point {
    let window = |rate: &f64| {
        // A window of 1000 s holds a rate to a thousandth.
        let total = (rate * 1000.0).round() as u64;
        let mut ops = vec![0; tasks as usize];
        ops[0] = total;
        let mut cpu_ns = vec![0; tasks as usize];
        cpu_ns[0] = 1_000_000_000_000;
        Window { dt_ns: 1_000_000_000_000, ops, cpu_ns }
    };
    Point {
        workload: "file/open".into(),
        version: 1,
        parameters: BTreeMap::from([
            ("layout".into(), "own-dir".into()),
            ("mode".into(), "process".into()),
        ]),
        tasks,
        outcome: Outcome::Measured(Measured {
            placement: Vec::new(),
            start_skew_ns: 0,
            warmup_windows: 0,
            windows: rates.iter().map(window).collect(),
            metrics: vec![Metric::ops_per_s_total(), Metric::ops_per_cpu_s()],
            disturbance: Disturbance::default(),
            counters: BTreeMap::new(),
        }),
    }
}

/// The same point, failed.
pub fn a_failure(tasks: u32) -> Point {
    let mut point = a_point(tasks, &[1.0]);
    point.outcome = Outcome::Failed(Failure {
        call: "open".into(),
        errno: Some(24),
        task: Some(0),
        detail: "task 0: open: too many open files".into(),
    });
    point
}

/// Runs `first..first + runs` at a commit, each with these points; every run is off by its own
/// small, known share, as runs are.
pub fn runs(first: u32, runs: u32, commit: &str, points: &[(u32, f64)]) -> Vec<Report> {
    (0..runs)
        .map(|run| {
            let mut report = a_report(first + run, commit);
            let share = [0.0, 0.004, -0.003, 0.002, -0.001][run as usize % 5];
            for &(tasks, rate) in points {
                let centre = rate * (1.0 + share);
                let windows: Vec<f64> = [0.0, 0.002, -0.002, 0.001, -0.001]
                    .iter()
                    .map(|d| centre * (1.0 + d))
                    .collect();
                report.points.push(a_point(tasks, &windows));
            }
            report
        })
        .collect()
}

/// The reports as a result file.
pub fn as_file(reports: &[Report]) -> String {
    reports.iter().map(|report| serde_json::to_string(report).unwrap() + "\n").collect()
}
