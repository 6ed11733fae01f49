//! Histories: one report a revision, levels as given, with the small noise that real runs have.

use scalewatch::app::App;
use scalewatch::worker::{Did, Worker};
use wire::{Disturbance, Outcome, Point};

use super::{Enrolled, ReportBuilder, Service, a_point, a_report};

/// Task counts of a history's curve.
pub const TASKS: [u32; 3] = [1, 2, 4];

/// Ops per second before a regression.
pub const FAST: f64 = 100_000.0;

/// Ops per second after it.
pub const SLOW: f64 = 65_000.0;

/// A report at this position whose points run at `level` ops per second and task, within 1 %.
pub fn a_run(enrolled: &Enrolled, position: i64, level: f64) -> ReportBuilder {
    let points = TASKS.map(|tasks| a_point(tasks, &noisy(position, tasks, level)));
    a_report().on(&enrolled.machine).at(position).with_points(points.to_vec())
}

/// Five windows around `level × tasks`; the same for the same arguments.
pub fn noisy(position: i64, tasks: u32, level: f64) -> Vec<f64> {
    let wobble = |i: u64| {
        let seed = (position.unsigned_abs() * 31 + u64::from(tasks) * 7 + i) * 2_654_435_761;
        ((seed >> 7) % 1000) as f64 / 1000.0 - 0.5
    };
    (0..5).map(|i| level * f64::from(tasks) * (1.0 + 0.01 * wobble(i))).collect()
}

/// Uploads one run a position at this level.
pub async fn upload(
    service: &Service,
    enrolled: &Enrolled,
    positions: impl IntoIterator<Item = i64>,
    level: f64,
) {
    for position in positions {
        service.accept(enrolled, &a_run(enrolled, position, level).build()).await;
    }
}

/// Six fast revisions, then five slow ones: a regression at position 7.
pub async fn upload_regression(service: &Service, enrolled: &Enrolled) {
    upload(service, enrolled, 1..=6, FAST).await;
    upload(service, enrolled, 7..=11, SLOW).await;
}

/// Three more runs at each revision of [`upload_regression`], so that all show both levels alike:
/// what looked like a step was two modes.
pub async fn upload_two_modes(service: &Service, enrolled: &Enrolled) {
    for position in 1..=11 {
        let (seen, other) = if position < 7 { (FAST, SLOW) } else { (SLOW, FAST) };
        for level in [other, seen, other] {
            service.accept(enrolled, &a_run(enrolled, position, level).build()).await;
        }
    }
}

/// What a worker does until it is idle; nothing may fail to be judged.
pub async fn work(app: &App) -> Vec<Did> {
    let worker = Worker::new(app.clone()).expect("the mail settings are good");
    let done = worker.run_until_idle().await.expect("the database answers");
    assert!(!done.iter().any(|did| matches!(did, Did::Postponed(..))), "{done:?}");
    done
}

/// The point with everything every task received scaled by `share`, and `taken_ns` of CPU time that
/// went to others in each window.
pub fn with_cpu_share(mut point: Point, share: f64, taken_ns: u64) -> Point {
    if let Outcome::Measured(measured) = &mut point.outcome {
        let windows = measured.windows.len() as u64;
        for cpu_ns in measured.windows.iter_mut().flat_map(|window| &mut window.cpu_ns) {
            *cpu_ns = (*cpu_ns as f64 * share) as u64;
        }
        measured.disturbance =
            Disturbance { other_cpu_ns: Some(taken_ns * windows), ..Disturbance::default() };
    }
    point
}
