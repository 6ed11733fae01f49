//! The gate: waits for the jobs it needs, or asks for them, has the service judge, and says one thing.
//!
//! [`wait`] speaks with the service and decides how it ends where there is no verdict; [`text`],
//! [`markdown`] and [`junit`] are the forms of a verdict for people and for CI.

pub mod junit;
pub mod markdown;
pub mod text;
pub mod wait;

use wire::{CurveComparison, GateOutcome, PointComparison};

use crate::exit::Exit;

/// The exit code of an outcome.
pub const fn exit_of(outcome: GateOutcome) -> Exit {
    match outcome {
        GateOutcome::NoRegression => Exit::Done,
        GateOutcome::Regression => Exit::Regression,
        GateOutcome::Undecided => Exit::NotEnoughData,
        GateOutcome::MeasurementFailed => Exit::MeasurementFailed,
    }
}

/// `−34.6 % [−35.1, −34.0]`; a dash where there is no ratio.
pub fn change(point: &PointComparison) -> String {
    match (point.ratio, point.low, point.high) {
        (Some(ratio), Some(low), Some(high)) => {
            stats::words::change_with_interval(ratio, low, high)
        }
        _ => "—".into(),
    }
}

/// `regression`, `regression, unconfirmed`.
pub fn verdict(point: &PointComparison) -> String {
    match point.unconfirmed {
        true => format!("{}, unconfirmed", point.verdict),
        false => point.verdict.clone(),
    }
}

/// `mode process, size 4096`.
pub fn parameters(curve: &CurveComparison) -> String {
    let words: Vec<String> =
        curve.parameters.iter().map(|(key, value)| format!("{key} {value}")).collect();
    words.join(", ")
}

/// The rank of a verdict among the rows of a table: what needs a look comes first.
pub fn rank(point: &PointComparison) -> u8 {
    match (point.verdict.as_str(), point.unconfirmed) {
        ("regression", false) => 0,
        ("regression", true) => 1,
        ("no change", _) => 4,
        ("improvement", _) => 3,
        _ => 2,
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use std::collections::BTreeMap;

    use wire::{ComparedSide, Direction, FailedAt, ProjectComparison, Unit, UnpairedCurve};

    use super::*;

    pub fn point(tasks: u32, verdict: &str, ratio: f64) -> PointComparison {
        PointComparison {
            tasks,
            verdict: verdict.into(),
            unconfirmed: false,
            base: Some(100_000.0),
            head: Some(100_000.0 * ratio),
            ratio: Some(ratio),
            low: Some(ratio - 0.01),
            high: Some(ratio + 0.01),
        }
    }

    pub fn curve(workload: &str, points: Vec<PointComparison>) -> CurveComparison {
        CurveComparison {
            curve: 3,
            machine: "5f1d7a84db00d2fc".into(),
            machine_name: "box-a".into(),
            workload: workload.into(),
            version: 1,
            parameters: BTreeMap::from([("mode".into(), "process".into())]),
            metric: "ops_per_s_total".into(),
            unit: Unit::OpsPerSecond,
            direction: Direction::Higher,
            words: "−34.6 % at 16".into(),
            points,
            failed: Vec::new(),
            set_aside: Vec::new(),
            why: Some("ops_per_s_total: −34.6 % at 16\n  1. a line\n".into()),
            url: "http://watch/compare?curve=3&base=a&head=b".into(),
        }
    }

    pub fn comparison(outcome: GateOutcome, curves: Vec<CurveComparison>) -> ProjectComparison {
        let side = |commit: &str| ComparedSide {
            asked: commit.into(),
            commits: vec![commit.into()],
            subject: "ext4: do <less> | more".into(),
            runs: 5,
        };
        ProjectComparison {
            project: "linux".into(),
            base: side("aaaaaaaaaaaaaaaa"),
            head: side("bbbbbbbbbbbbbbbb"),
            outcome,
            words: "regression on 1 curve".into(),
            rule: "A point is called when …".into(),
            curves,
            unpaired: vec![UnpairedCurve {
                curve: 9,
                machine_name: "box-a".into(),
                workload: "file/dup".into(),
                parameters: BTreeMap::new(),
                why: "not measured at the head".into(),
            }],
            url: "http://watch/projects/linux/compare?base=a&head=b".into(),
        }
    }

    pub fn mixed() -> ProjectComparison {
        let mut failing = curve("file/open", vec![point(1, "no change", 1.0)]);
        failing.failed = vec![FailedAt { tasks: 4, detail: "no space <left> & \u{1}more".into() }];
        let points = vec![
            point(1, "no change", 1.001),
            point(16, "regression", 0.654),
            point(32, "not enough data", 1.0),
        ];
        let moved = curve("fallocate/append-truncate", points);
        comparison(GateOutcome::Regression, vec![moved, failing])
    }
}
