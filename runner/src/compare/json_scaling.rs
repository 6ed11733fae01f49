//! The law of scaling of both sides and its change, as JSON.

use serde::Serialize;
use stats::curve::{Change, Fit, Refusal, change};
use stats::interval::Interval;

use super::curves::Curve;
use super::json::EvidenceOut;
use super::scaling::fits;

/// How a curve scales on both sides.
#[derive(Serialize)]
pub struct ScalingOut {
    base: SideOut,
    head: SideOut,
    /// Contention and coherency, each judged; empty where a side has no law.
    changes: Vec<ChangeOut>,
}

/// The law of one side, or why there is none.
#[derive(Serialize)]
struct SideOut {
    words: String,
    law: Option<LawOut>,
}

#[derive(Serialize)]
struct LawOut {
    /// Throughput of one task by the law.
    one: f64,
    contention: Estimate,
    coherency: Estimate,
    /// Null where scaling is perfect.
    knee: Option<Estimate>,
    /// Null where the throughput only levels off.
    peak: Option<Estimate>,
    shape: &'static str,
    /// Relative deviation of the points from the law.
    misfit: f64,
    /// Task counts left out, being far off.
    outliers: Vec<u32>,
}

/// A figure with its 95 % interval; an end is null where it is beyond any number.
#[derive(Serialize)]
struct Estimate {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct ChangeOut {
    coefficient: &'static str,
    verdict: &'static str,
    words: String,
    base: f64,
    head: f64,
    /// head − base, at the level corrected for two coefficients.
    difference: (f64, f64),
    level: f64,
    evidence: EvidenceOut,
}

/// Of one head; none where no law applies.
pub fn of(curve: &Curve, column: usize) -> Option<ScalingOut> {
    let [base, head] = fits(curve, column)?;
    let changes = match (&base, &head) {
        (Ok(base), Ok(head)) => change(base, head).into_iter().map(changed).collect(),
        _ => Vec::new(),
    };
    Some(ScalingOut { base: side(base), head: side(head), changes })
}

fn side(fitted: Result<Fit, Refusal>) -> SideOut {
    match fitted {
        Ok(fit) => SideOut { words: fit.words(), law: Some(law(fit)) },
        Err(refusal) => SideOut { words: refusal.words(), law: None },
    }
}

fn law(fit: Fit) -> LawOut {
    let estimate = |value: f64, Interval { low, high, .. }| Estimate { value, low, high };
    let maybe = |value: Option<f64>, interval: Option<Interval>| {
        value.zip(interval).map(|(value, interval)| estimate(value, interval))
    };
    LawOut {
        one: fit.law.one,
        contention: estimate(fit.law.contention, fit.contention),
        coherency: estimate(fit.law.coherency, fit.coherency),
        knee: maybe(fit.law.knee(), fit.knee),
        peak: maybe(fit.law.peak(), fit.peak),
        shape: fit.shape.word(),
        misfit: fit.misfit,
        outliers: fit.outliers,
    }
}

fn changed(one: Change) -> ChangeOut {
    ChangeOut {
        coefficient: one.coefficient.word(),
        verdict: one.verdict.words(),
        words: one.words(),
        base: one.base,
        head: one.head,
        difference: (one.difference.low, one.difference.high),
        level: one.difference.level,
        evidence: EvidenceOut::from(&one.evidence),
    }
}
