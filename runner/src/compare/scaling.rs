//! How a curve scales, one line under its table: the law of each side, and what differs.

use std::fmt::Write;

use stats::curve::{Fit, Point, Policy, Refusal, change, fit};
use wire::{Direction, Unit};

use super::curves::Curve;
use super::files::Column;
use super::judge::{Against, Judged};

/// Whether a metric counts work of all tasks together, so that a law of scaling applies.
pub fn applies(unit: Unit, direction: Direction) -> bool {
    use Unit::{JobsPerMinute, LoopsPerSecond, MebibytesPerSecond, OpsPerSecond};
    direction == Direction::Higher
        && matches!(unit, OpsPerSecond | JobsPerMinute | LoopsPerSecond | MebibytesPerSecond)
}

/// Fewer task counts are no sweep: nobody asked how it scales.
const LEAST_SWEEP: usize = 3;

/// The law through points, in words: `contention 3.1 % (2.8–3.5), …`, or why there is none; nothing
/// where the points are no sweep.
pub fn in_words(points: &[Point]) -> Option<String> {
    (points.len() >= LEAST_SWEEP).then(|| match fit(points, &Policy::default()) {
        Ok(fit) => fit.words(),
        Err(refusal) => format!("no law of scaling fitted: {}", refusal.words()),
    })
}

/// The lines of one head against the base; empty where no law applies.
pub fn lines(columns: &[Column], judged: &Judged, against: &Against) -> String {
    let Some(fits) = fits(&judged.curve, against.column) else { return String::new() };
    let mut out = String::new();
    match &fits {
        [Err(base), Err(head)] if base == head => {
            let _ = writeln!(out, "no law of scaling fitted: {}", base.words());
        }
        [base, head] => {
            let _ = writeln!(out, "{}: {}", columns[0].name, of_side(base));
            let _ = writeln!(out, "{}: {}", columns[against.column].name, of_side(head));
        }
    }
    if let [Ok(base), Ok(head)] = &fits {
        for one in change(base, head).iter().filter(|one| one.verdict.is_change()) {
            let _ = writeln!(out, "{}", one.words());
        }
    }
    out
}

/// The law of the base and of a head, or why there is none; nothing where no law applies.
pub fn fits(curve: &Curve, column: usize) -> Option<[Result<Fit, Refusal>; 2]> {
    let law_applies =
        curve.primary && applies(curve.unit, curve.direction) && curve.points.len() >= LEAST_SWEEP;
    let of = |column| fit(&points(curve, column), &Policy::default());
    law_applies.then(|| [0, column].map(of))
}

fn of_side(fitted: &Result<Fit, Refusal>) -> String {
    match fitted {
        Ok(fit) => fit.words(),
        Err(refusal) => format!("no law of scaling fitted: {}", refusal.words()),
    }
}

fn points(curve: &Curve, column: usize) -> Vec<Point> {
    let runs = |at: usize| curve.points[at].cells[column].runs.iter().map(|run| run.values.clone());
    (0..curve.points.len())
        .map(|at| Point { tasks: curve.points[at].tasks, runs: runs(at).collect() })
        .collect()
}
