//! The noise floor: both sides measure the same, and what they seem to differ by is noise.

use std::collections::BTreeMap;

use stats::Sample;
use wire::{Outcome, Point};

use super::measure::PairedRuns;
use super::table::median;

/// The floor of each workload and metric, the widest of its points; relative.
///
/// For each point: the end of the 95 % interval (Student) of the mean of ln(head ÷ base) over the
/// pairs that is further from no change. Points with fewer than three pairs give none.
pub fn floors(paired: &PairedRuns) -> BTreeMap<(String, String), f64> {
    let mut moves: BTreeMap<(String, String, String), Vec<f64>> = BTreeMap::new();
    for (base, head) in &paired.runs {
        for (base, head) in base.points.iter().zip(&head.points) {
            for (metric, moved) in moves_of(base, head) {
                let point = format!("{:?} {}", base.parameters, base.tasks);
                moves.entry((base.workload.clone(), metric, point)).or_default().push(moved);
            }
        }
    }
    let mut floors = BTreeMap::new();
    for ((workload, metric, _), moves) in moves {
        if let Some(floor) = further_end(&moves) {
            let widest: &mut f64 = floors.entry((workload, metric)).or_insert(0.0);
            *widest = widest.max(floor);
        }
    }
    floors
}

/// ln(head ÷ base) of every metric's median.
fn moves_of(base: &Point, head: &Point) -> Vec<(String, f64)> {
    let (Outcome::Measured(base), Outcome::Measured(head)) = (&base.outcome, &head.outcome) else {
        return vec![];
    };
    let moved = |metric: &wire::Metric| {
        let same = head.metrics.iter().find(|other| other.name == metric.name)?;
        let (base, head) = (median(&base.values(metric))?, median(&head.values(same))?);
        let moved = (head / base).ln();
        (base > 0.0 && moved.is_finite()).then(|| (metric.name.clone(), moved))
    };
    base.metrics.iter().filter_map(moved).collect()
}

fn further_end(moves: &[f64]) -> Option<f64> {
    if moves.len() < stats::two_sides::LEAST_UNITS {
        return None;
    }
    let interval = stats::interval::student(Sample::new(moves)?, 0.95)?;
    Some(interval.low.abs().max(interval.high.abs()).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_the_further_end_of_what_nothing_seemed_to_change() {
        assert_eq!(further_end(&[0.01, -0.01]), None);
        let even = further_end(&[0.01, -0.01, 0.0]).expect("three pairs");
        // t(0.975; 2) · 0.01 ÷ √3 = 0.02484.
        assert!((even - 0.02515).abs() < 1e-4, "{even}");
        let biased = further_end(&[0.02, 0.0, 0.01]).expect("three pairs");
        assert!((biased - 0.03546).abs() < 1e-4, "{biased}");
    }
}
