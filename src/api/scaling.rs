//! The law of scaling through a curve's points at one revision.

use serde::Serialize;
use stats::interval::Interval;

use super::values::Estimate;
use crate::detect::scaling::{Change, Fit, Refusal, change, law};
use crate::model::scaling::{FittedLaw, Scaling};
use crate::model::step::Evidence;
use crate::model::{EnvironmentId, Measurement};

/// The Universal Scalability Law, or why there is none.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Scaling)]
pub struct ScalingView {
    commit: String,
    /// `contention 3.1 % (2.8–3.5), …`, or the reason.
    words: String,
    law: Option<LawView>,
}

/// Throughput of n tasks: one × n ÷ (1 + contention × (n − 1) + coherency × n × (n − 1)).
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ScalingLaw)]
struct LawView {
    /// Throughput of one task by the law.
    one: f64,
    /// σ with its 95 % interval.
    contention: Estimate,
    /// κ with its 95 % interval.
    coherency: Estimate,
    /// Task count at which perfect scaling would reach the greatest throughput; null where scaling
    /// is perfect. An end of an interval is null where it is beyond any task count.
    knee: Option<Estimate>,
    /// Task count of the greatest throughput; null where it only levels off.
    peak: Option<Estimate>,
    /// `linear`, `bending` or `retrograde`, up to the largest task count measured.
    shape: &'static str,
    /// Relative deviation of the points from the law.
    misfit: f64,
    /// Task counts left out, being far off.
    outliers: Vec<u32>,
}

/// How a curve scales at two revisions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ScalingComparison)]
pub struct ScalingCompared {
    base: SideView,
    head: SideView,
    /// Contention and coherency, each with a verdict of its own; empty where a side has no law.
    changes: Vec<CoefficientView>,
}

/// The law of one side, or why there is none.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ScalingSide)]
struct SideView {
    /// `contention 3.1 % (2.8–3.5), …`, or the reason.
    words: String,
    law: Option<LawView>,
}

/// One coefficient of both sides.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ScalingChange)]
struct CoefficientView {
    /// `contention` or `coherency`.
    coefficient: &'static str,
    verdict: &'static str,
    /// `regression: contention 3.1 % → 5.0 %`.
    words: String,
    base: f64,
    head: f64,
    evidence: Evidence,
}

impl ScalingCompared {
    /// Of the measurements of one metric at both revisions.
    pub fn of(base: &[Measurement], head: &[Measurement]) -> ScalingCompared {
        let (base, head) = (law(base), law(head));
        let changes = match (&base, &head) {
            (Ok(base), Ok(head)) => change(base, head).iter().map(CoefficientView::from).collect(),
            _ => Vec::new(),
        };
        ScalingCompared { base: base.into(), head: head.into(), changes }
    }
}

impl From<Result<Fit, Refusal>> for SideView {
    fn from(fitted: Result<Fit, Refusal>) -> SideView {
        match fitted {
            Ok(fit) => SideView { words: fit.words(), law: Some(LawView::from(fit)) },
            Err(refusal) => SideView { words: refusal.words(), law: None },
        }
    }
}

impl From<&Change> for CoefficientView {
    fn from(one: &Change) -> CoefficientView {
        CoefficientView {
            coefficient: one.coefficient.word(),
            verdict: one.verdict.words(),
            words: one.words(),
            base: one.base,
            head: one.head,
            evidence: (&one.evidence).into(),
        }
    }
}

/// The law at one revision in one environment.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = LawAtRevision)]
pub struct LawAt {
    commit: String,
    subject: String,
    rank: i64,
    environment: EnvironmentId,
    /// Task counts it goes through.
    tasks: Vec<i32>,
    /// Measurements of all runs at those.
    measurements: i32,
    /// Null where there is none; an end of an interval is null where it is beyond any number.
    law: Option<FittedLaw>,
    /// Why there is none.
    refusal: Option<String>,
}

impl From<Scaling> for LawAt {
    fn from(one: Scaling) -> LawAt {
        let (law, refusal) = match one.law {
            Ok(law) => (Some(law), None),
            Err(refusal) => (None, Some(refusal)),
        };
        LawAt {
            commit: one.commit,
            subject: one.subject,
            rank: one.rank,
            environment: one.environment,
            tasks: one.tasks,
            measurements: one.measurements,
            law,
            refusal,
        }
    }
}

impl ScalingView {
    /// Of the revision with the highest rank; none without measurements.
    pub fn of_newest(measurements: &[Measurement]) -> Option<ScalingView> {
        let newest = measurements.iter().max_by_key(|one| (one.rank, &one.commit))?;
        let of_newest: Vec<Measurement> =
            measurements.iter().filter(|one| one.revision == newest.revision).cloned().collect();
        let (words, law) = match law(&of_newest) {
            Ok(fit) => (fit.words(), Some(LawView::from(fit))),
            Err(refusal) => (refusal.words(), None),
        };
        Some(ScalingView { commit: newest.commit.clone(), words, law })
    }
}

impl From<Fit> for LawView {
    fn from(fit: Fit) -> LawView {
        let estimate =
            |value: f64, interval: Interval| Estimate::from((value, interval.low, interval.high));
        let maybe = |value: Option<f64>, interval: Option<Interval>| {
            value.zip(interval).map(|(value, interval)| estimate(value, interval))
        };
        LawView {
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
}
