//! Controls: what no change of the code may move, measured before and after everything else. Where
//! one moves, the machine moved, and the run is not to be trusted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use wire::{Outcome, Source};

use super::table::median;
use crate::harness::{self, Mode, Placement, PointPlan};

/// The workloads, whose operations per CPU-second are compared.
pub const WORKLOADS: [&str; 2] = ["ctl/int-loop", "sys/getppid"];
/// Largest relative move of a control in a run that is stable.
pub const LIMIT: f64 = 0.01;
/// Windows of a control, and the longest one.
const WINDOWS: u32 = 5;
const LONGEST: Duration = Duration::from_millis(200);

/// One reading of all controls: operations per CPU-second, none where it could not be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Controls(pub [Option<f64>; 2]);

impl Controls {
    /// Measures them with one task, in windows of at most this length.
    pub fn measure(window: Duration, dir: &Path) -> Controls {
        Controls(WORKLOADS.map(|workload| one(workload, window, dir)))
    }
}

fn one(workload: &str, window: Duration, dir: &Path) -> Option<f64> {
    let plan = PointPlan {
        workload: workload.into(),
        parameters: BTreeMap::new(),
        mode: Mode::Process,
        tasks: 1,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: WINDOWS,
        window: window.min(LONGEST),
        dir: dir.into(),
    };
    let Outcome::Measured(measured) = harness::measure(&plan, &mut |_, _| {}).ok()?.outcome else {
        return None;
    };
    let metric = measured.metrics.iter().find(|m| m.source == Source::OpsPerCpuSecond)?;
    median(&measured.values(metric))
}

/// What the controls say about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Whether none moved; none where a control could not be measured.
    pub stable: Option<bool>,
    /// A sentence.
    pub words: String,
}

/// Compares two readings, before and after a run.
pub fn compare(before: &Controls, after: &Controls) -> Stability {
    let moves: Vec<(&str, Option<f64>)> = WORKLOADS
        .into_iter()
        .zip(before.0.iter().zip(&after.0))
        .map(|(id, (before, after))| (id, before.zip(*after).map(|(b, a)| a / b - 1.0)))
        .collect();
    let words: Vec<String> = moves
        .iter()
        .map(|(id, moved)| match moved {
            Some(moved) => {
                let sign = if *moved < 0.0 { '−' } else { '+' };
                format!("{id} {sign}{:.1} %", moved.abs() * 100.0)
            }
            None => format!("{id} not measured"),
        })
        .collect();
    let known = moves.iter().all(|(_, moved)| moved.is_some());
    let stable = known.then(|| moves.iter().all(|(_, m)| m.is_some_and(|m| m.abs() <= LIMIT)));
    let words = words.join(", ");
    let words = match stable {
        Some(true) => format!("stable: the controls moved by no more than 1 % ({words})"),
        Some(false) => format!(
            "unstable: the machine itself moved, so no difference of this run is evidence ({words})"
        ),
        None => format!("not known to be stable: a control could not be measured ({words})"),
    };
    Stability { stable, words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_that_moves_by_more_than_a_hundredth_makes_the_run_unstable() {
        let at = |loops, calls| Controls([Some(loops), Some(calls)]);
        let stable = compare(&at(100.0, 50.0), &at(100.9, 49.6));
        assert_eq!(stable.stable, Some(true));
        assert!(stable.words.contains("ctl/int-loop +0.9 %, sys/getppid −0.8 %"), "{stable:?}");
        let moved = compare(&at(100.0, 50.0), &at(100.0, 49.0));
        assert_eq!(moved.stable, Some(false));
        assert!(moved.words.starts_with("unstable") && moved.words.contains("−2.0 %"), "{moved:?}");
    }

    #[test]
    fn a_control_that_could_not_run_leaves_it_open() {
        let found = compare(&Controls([Some(1.0), None]), &Controls([Some(1.0), Some(1.0)]));
        assert_eq!(found.stable, None);
        assert!(found.words.contains("sys/getppid not measured"), "{found:?}");
    }
}
