//! The judgement of one point: every inequality in order, the first that fails decides.

use super::interval::{Estimate, Method, estimate};
use super::units::{Prepared, Unit, Units};
use super::{LEAST_UNITS, PointJudgement, Policy, Sides};
use crate::{Direction, Evidence, Verdict, interval};

/// Resamplings behind the check on medians.
const RESAMPLES: usize = 500;

pub(super) fn judge(
    sides: &Sides,
    prepared: Prepared,
    direction: Direction,
    policy: &Policy,
    (alpha, typical): (f64, Option<f64>),
) -> PointJudgement {
    let Prepared { base, head, used, set_aside, units, refusal, notes } = prepared;
    let mut evidence = Evidence { used, set_aside, notes, ..Evidence::default() };
    let mut judged = PointJudgement {
        tasks: sides.tasks,
        verdict: refusal,
        base,
        head,
        ratio: None,
        level: 1.0 - alpha,
        interval_95: None,
        evidence: Evidence::default(),
    };
    if let Some(units) = units {
        let method = Method::choose(&units, alpha);
        evidence.notes.push(method.note().to_owned());
        if units.unit == Unit::Run && units.base.len().min(units.head.len()) < 5 {
            evidence.notes.push("fewer than 5 runs a side: two modes cannot be ruled out".into());
        }
        let found = estimate(&units, method, typical, judged.level);
        let verdict = match &found {
            Some(found) => {
                fill_ratio(&mut judged, &units, found, estimate(&units, method, typical, 0.95));
                decide(sides, &units, found, &judged, policy, &mut evidence, direction)
            }
            None => Verdict::NotComparable,
        };
        judged.verdict = verdict;
    }
    judged.evidence = evidence;
    judged
}

fn fill_ratio(
    judged: &mut PointJudgement,
    units: &Units,
    found: &Estimate,
    narrow: Option<Estimate>,
) {
    if units.logarithmic {
        judged.ratio = Some((found.shift.exp(), found.low.exp(), found.high.exp()));
        judged.interval_95 = narrow.map(|narrow| (narrow.low.exp(), narrow.high.exp()));
    }
}

fn decide(
    sides: &Sides,
    units: &Units,
    found: &Estimate,
    judged: &PointJudgement,
    policy: &Policy,
    evidence: &mut Evidence,
    direction: Direction,
) -> Verdict {
    let count = units.base.len().min(units.head.len());
    let counted = match units.unit {
        Unit::Run => "runs of the smaller side",
        Unit::Sample => "samples of the smaller side",
    };
    evidence.require(counted, count as f64, ">=", LEAST_UNITS as f64);
    let effect = relative_effect(units, found, judged);
    let (floor, floor_name) = if sides.noise_floor > policy.least_effect {
        (sides.noise_floor, "noise floor")
    } else {
        (policy.least_effect, "least effect")
    };
    let nearer = if found.shift >= 0.0 { found.low } else { -found.high };
    let level = 100.0 * judged.level;
    let holds = evidence.require(
        format!("nearer end of the {level:.3} % interval, away from no change"),
        nearer,
        ">",
        0.0,
    ) & evidence.require(
        format!("relative change, against the {floor_name}"),
        effect,
        ">",
        floor,
    ) && medians_agree(sides, units, found, policy, evidence);
    match (holds, (found.shift > 0.0) == (direction == Direction::Higher)) {
        (false, _) => Verdict::NoChange,
        (true, true) => Verdict::Improvement,
        (true, false) => Verdict::Regression,
    }
}

/// |head ÷ base − 1|; where a value is not positive, |head − base| by the larger of the medians.
fn relative_effect(units: &Units, found: &Estimate, judged: &PointJudgement) -> f64 {
    if units.logarithmic {
        return found.shift.exp_m1().abs();
    }
    let level = |m: Option<f64>| m.map_or(0.0, f64::abs);
    let level = level(judged.base).max(level(judged.head));
    if found.shift == 0.0 { 0.0 } else { found.shift.abs() / level }
}

/// One wild run can carry a mean but no median: the resampled ratio of medians must lie on the same
/// side of 1. Where there is no ratio, the medians themselves must.
fn medians_agree(
    sides: &Sides,
    units: &Units,
    found: &Estimate,
    policy: &Policy,
    evidence: &mut Evidence,
) -> bool {
    let up = found.shift > 0.0;
    let relation = if up { ">" } else { "<" };
    let filled = |runs: &[Vec<f64>]| -> Vec<Vec<f64>> {
        runs.iter().filter(|r| !r.is_empty()).cloned().collect()
    };
    let resampled = interval::ratio_of_medians(
        &filled(&sides.base),
        &filled(&sides.head),
        0.9,
        RESAMPLES,
        policy.seed,
    );
    match resampled.filter(|_| units.logarithmic) {
        Some(found) => {
            let end = if up { found.low } else { found.high };
            evidence.require("nearer end of the resampled ratio of medians", end, relation, 1.0)
        }
        None => {
            let median = |v: &[f64]| crate::order::median(v).unwrap_or(f64::NAN);
            let (base, head) = (median(&units.base), median(&units.head));
            evidence.require("median of head, against base", head, relation, base)
        }
    }
}
