//! The judgement of one point: every inequality in order, the first that fails decides.

use super::builds::LEAST_BUILDS;
use super::doubt::{Doubt, doubt};
use super::interval::{Estimate, Method, level};
use super::units::{Prepared, Unit, Units};
use super::{History, LEAST_UNITS, PointJudgement, Policy, Sides};
use crate::{Direction, Evidence, Verdict, interval, words};

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
    let mut judged = PointJudgement {
        tasks: sides.tasks,
        verdict: refusal,
        unconfirmed: false,
        base,
        head,
        ratio: None,
        level: 1.0 - alpha,
        interval_95: None,
        evidence: Evidence { used, set_aside, notes, ..Evidence::default() },
    };
    let Some(units) = units else { return judged };
    judged.level = level(&units, alpha);
    let method = Method::choose(&units, alpha, typical);
    let found = method.and_then(|method| {
        let wide = method.estimate(&units, judged.level)?;
        let narrow = method.estimate(&units, 0.95)?;
        let typical = typical.filter(|_| units.logarithmic);
        Some(Found { method, units, wide, narrow, typical })
    });
    let Some(found) = found else {
        judged.verdict = Verdict::NotComparable;
        return judged;
    };
    found.fill_ratio(&mut judged);
    let level = judged.level;
    found.note(&mut judged.evidence.notes, level);
    judged.verdict = found.verdict(sides, &mut judged, direction, policy);
    judged
}

/// A point's estimate and what it was made of.
struct Found {
    method: Method,
    units: Units,
    /// At the corrected level.
    wide: Estimate,
    /// At 95 %.
    narrow: Estimate,
    /// Deviation of runs typical of the curve.
    typical: Option<f64>,
}

impl Found {
    fn fill_ratio(&self, judged: &mut PointJudgement) {
        if self.units.logarithmic {
            let (wide, narrow) = (self.wide, self.narrow);
            judged.ratio = Some((wide.shift.exp(), wide.low.exp(), wide.high.exp()));
            judged.interval_95 = Some((narrow.low.exp(), narrow.high.exp()));
        }
    }

    fn note(&self, notes: &mut Vec<String>, level: f64) {
        notes.push(self.method.note().to_owned());
        let units = &self.units;
        notes.extend(self.method.figures(units.logarithmic, level));
        match self.method {
            Method::Builds(builds) => notes.extend(builds.notes(units.logarithmic)),
            _ if units.unit == Unit::Run && units.base.len().min(units.head.len()) < 5 => {
                notes.push("fewer than 5 runs a side: two modes cannot be ruled out".into());
            }
            _ => {}
        }
    }

    fn verdict(
        &self,
        sides: &Sides,
        judged: &mut PointJudgement,
        direction: Direction,
        policy: &Policy,
    ) -> Verdict {
        self.require_enough(&mut judged.evidence);
        if !self.differs(sides, judged, policy) {
            return self.unless_wide(judged, policy);
        }
        judged.unconfirmed = !self.is_confirmed(sides, judged);
        match (self.wide.shift > 0.0) == (direction == Direction::Higher) {
            true => Verdict::Improvement,
            false => Verdict::Regression,
        }
    }

    fn require_enough(&self, evidence: &mut Evidence) {
        if let Method::Builds(builds) = self.method {
            evidence.require("earlier builds", builds.count as f64, ">=", LEAST_BUILDS as f64);
            return;
        }
        let count = self.units.base.len().min(self.units.head.len());
        let counted = match self.units.unit {
            Unit::Run => "runs of the smaller side",
            Unit::Sample => "samples of the smaller side",
        };
        evidence.require(counted, count as f64, ">=", LEAST_UNITS as f64);
    }

    fn differs(&self, sides: &Sides, judged: &mut PointJudgement, policy: &Policy) -> bool {
        let (floor, floor_name) = if sides.noise_floor > policy.least_effect {
            (sides.noise_floor, "noise floor")
        } else {
            (policy.least_effect, "least effect")
        };
        let effect = self.relative_effect(judged);
        let level = 100.0 * judged.level;
        let evidence = &mut judged.evidence;
        evidence.require(
            format!("nearer end of the {level:.1} % interval, away from no change"),
            self.wide.nearer(),
            ">",
            0.0,
        ) & evidence.require(
            format!("relative change, against the {floor_name}"),
            effect,
            ">",
            floor,
        ) && match self.method {
            Method::Builds(builds) => evidence.require(
                "head − base alone, its way, against the end of its 90 % interval",
                builds.direct * self.wide.shift.signum(),
                ">",
                builds.least_direct(),
            ),
            _ => self.medians_agree(sides, evidence, policy.seed),
        }
    }

    /// |head ÷ base − 1|; where a value is not positive, |head − base| by the larger of the medians.
    fn relative_effect(&self, judged: &PointJudgement) -> f64 {
        match self.units.logarithmic {
            true => self.wide.shift.exp_m1().abs(),
            false => by_level(self.wide.shift.abs(), judged),
        }
    }

    /// One wild run can carry a mean but no median: the resampled ratio of medians must lie on the
    /// same side of 1. Where there is no ratio, the medians themselves must, and of pairs the median
    /// of their differences.
    fn medians_agree(&self, sides: &Sides, evidence: &mut Evidence, seed: u64) -> bool {
        let up = self.wide.shift > 0.0;
        let relation = if up { ">" } else { "<" };
        if let Some(pairs) = &self.units.pairs {
            let median = crate::order::median(pairs).unwrap_or(f64::NAN);
            return evidence.require("median difference of the pairs", median, relation, 0.0);
        }
        let filled = |runs: &[Vec<f64>]| -> Vec<Vec<f64>> {
            runs.iter().filter(|r| !r.is_empty()).cloned().collect()
        };
        let (base, head) = (filled(&sides.base), filled(&sides.head));
        let resampled = interval::ratio_of_medians(&base, &head, 0.9, RESAMPLES, seed);
        match resampled.filter(|_| self.units.logarithmic) {
            Some(found) => {
                let end = if up { found.low } else { found.high };
                evidence.require("nearer end of the resampled ratio of medians", end, relation, 1.0)
            }
            None => {
                let median = |v: &[f64]| crate::order::median(v).unwrap_or(f64::NAN);
                let (base, head) = (median(&self.units.base), median(&self.units.head));
                evidence.require("median of head, against base", head, relation, base)
            }
        }
    }

    /// No change, if the interval is narrow enough to say so; the line that says it is not decides.
    fn unless_wide(&self, judged: &mut PointJudgement, policy: &Policy) -> Verdict {
        let half = match judged.interval_95 {
            Some((low, high)) => (high - low) / 2.0,
            None => by_level((self.narrow.high - self.narrow.low) / 2.0, judged),
        };
        if half <= policy.widest {
            return Verdict::NoChange;
        }
        let evidence = &mut judged.evidence;
        evidence.require("half of the 95 % interval", half, "<=", policy.widest);
        evidence.decided_by = Some(evidence.inequalities.len() - 1);
        evidence.notes.push(match judged.interval_95 {
            Some((low, high)) => format!("known only {}", words::within(low, high)),
            None => format!("known only within {} of the level", words::share(half)),
        });
        Verdict::NotEnoughData
    }

    /// Whether the change stands even if builds of one code differ as they well may.
    fn is_confirmed(&self, sides: &Sides, judged: &mut PointJudgement) -> bool {
        let evidence = &mut judged.evidence;
        if matches!(self.method, Method::Builds(_)) {
            return true;
        }
        let builds = match &sides.history {
            History::OneBuild => return true,
            History::Builds(builds) => builds.len(),
        };
        let level = judged.base.map_or(0.0, f64::abs).max(judged.head.map_or(0.0, f64::abs));
        let Doubt { half, why } =
            doubt(&self.units, &self.wide, self.typical, (judged.level, sides.noise_floor, level));
        let held = evidence.require(
            format!("change, against the interval if two builds of one code differ {why}"),
            self.wide.shift.abs(),
            ">",
            half,
        );
        if !held {
            evidence.notes.push(format!(
                "unconfirmed: {} of history, {LEAST_BUILDS} tell how builds of one code differ",
                words::counted(builds, "build")
            ));
        }
        held
    }
}

/// A difference relative to the larger of the medians; 0 stays 0.
fn by_level(difference: f64, judged: &PointJudgement) -> f64 {
    let level = |median: Option<f64>| median.map_or(0.0, f64::abs);
    let level = level(judged.base).max(level(judged.head));
    if difference == 0.0 { 0.0 } else { difference / level }
}
