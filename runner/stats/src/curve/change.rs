//! Two laws compared: each coefficient is a number of its own, with a verdict of its own.

use super::{Fit, Law};
use crate::interval::Interval;
use crate::{Evidence, Verdict, order};

/// Family-wise error over both coefficients.
const ALPHA: f64 = 0.01;

/// Least loss or gain of throughput at the largest common task count, relative, that a change of a
/// coefficient must make to be worth a name.
pub const LEAST_EFFECT: f64 = 0.02;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    /// σ.
    Contention,
    /// κ.
    Coherency,
}

impl Coefficient {
    /// `contention`, `coherency`.
    pub const fn word(self) -> &'static str {
        match self {
            Coefficient::Contention => "contention",
            Coefficient::Coherency => "coherency",
        }
    }

    const fn of(self, law: &Law) -> f64 {
        match self {
            Coefficient::Contention => law.contention,
            Coefficient::Coherency => law.coherency,
        }
    }

    fn replaced(self, law: Law, value: f64) -> Law {
        match self {
            Coefficient::Contention => Law { contention: value, ..law },
            Coefficient::Coherency => Law { coherency: value, ..law },
        }
    }
}

/// One coefficient of two curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which.
    pub coefficient: Coefficient,
    /// Of the base.
    pub base: f64,
    /// Of the head.
    pub head: f64,
    /// Interval of head − base at the level corrected for two coefficients.
    pub difference: Interval,
    /// More contention or coherency cost is a regression: the curve bends earlier.
    pub verdict: Verdict,
    /// Why.
    pub evidence: Evidence,
}

/// Compares both coefficients. O(replicates · log replicates).
pub fn change(base: &Fit, head: &Fit) -> [Change; 2] {
    [Coefficient::Contention, Coefficient::Coherency].map(|which| one(base, head, which))
}

fn one(base: &Fit, head: &Fit, which: Coefficient) -> Change {
    let (before, after) = (which.of(&base.law), which.of(&head.law));
    let difference = difference(base, head, which);
    let mut evidence = Evidence { used: vec![before, after], ..Evidence::default() };
    let more = after > before;
    let level = 100.0 * difference.level;
    let nearer = if more { difference.low } else { -difference.high };
    let tasks = base.largest.min(head.largest);
    let with = |value| which.replaced(base.law, value).throughput(f64::from(tasks));
    let effect = (with(after) / with(before) - 1.0).abs();
    let holds = evidence.require(
        format!("nearer end of the {level:.1} % interval of head − base, away from no change"),
        nearer,
        ">",
        0.0,
    ) & evidence.require(
        format!("relative change of throughput at {tasks} tasks by this alone"),
        effect,
        ">",
        LEAST_EFFECT,
    );
    let verdict = match (holds, more) {
        (false, _) => Verdict::NoChange,
        (true, true) => Verdict::Regression,
        (true, false) => Verdict::Improvement,
    };
    Change { coefficient: which, base: before, head: after, difference, verdict, evidence }
}

/// Percentile interval of the differences of drawn laws, pair by pair: the draws are independent.
fn difference(base: &Fit, head: &Fit, which: Coefficient) -> Interval {
    let level = 1.0 - ALPHA / 2.0;
    let differences: Vec<f64> = base
        .replicates
        .iter()
        .zip(head.replicates.iter().rev())
        .map(|(base, head)| which.of(head) - which.of(base))
        .collect();
    let sorted = order::sorted(&differences);
    let last = sorted.len().saturating_sub(1) as f64;
    let at = |p: f64| sorted.get((p * last).round() as usize).copied().unwrap_or(f64::NAN);
    let tail = (1.0 - level) / 2.0;
    Interval { low: at(tail), high: at(1.0 - tail), level }
}
