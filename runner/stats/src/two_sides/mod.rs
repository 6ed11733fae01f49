//! Base against head, over a curve: one judgement a point, never collapsed into one number.
//!
//! A point's unit is the run when both sides have three or more: then runs vary as builds and boots
//! do, and only that variation counts. With fewer runs the unit is the sample, the error is widened
//! for the variation that was not seen, and the evidence says so. A change is named when the
//! interval at the level corrected for the curve (Bonferroni: alpha ÷ points that have data)
//! excludes no change, and the change exceeds both the noise floor and the least effect.

mod interval;
mod point;
mod units;
mod words;

use crate::{Direction, Evidence, Verdict};

/// Runs of one side of one point; each run is its samples.
pub type Runs = Vec<Vec<f64>>;

/// Fewest units (runs, or samples where runs are fewer) a side must have.
pub const LEAST_UNITS: usize = 3;

/// Two builds differ by about this many times the standard error within one run: measured over the
/// benchmark histories that the detector is judged by. Widens the error where only within-run
/// samples are there.
pub const BETWEEN_TO_WITHIN: f64 = 4.0;

/// Below this many degrees of freedom a point's deviation leans on the rest of its curve: a few
/// runs may sit in one of two modes by chance, and then vary too little.
pub const LEAN_BELOW_DF: f64 = 8.0;

/// One point of a curve, both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// Task count.
    pub tasks: u32,
    /// Runs of the base.
    pub base: Runs,
    /// Runs of the head.
    pub head: Runs,
    /// Noise floor, relative, of machine × workload × metric; 0 when unknown.
    pub noise_floor: f64,
}

/// Limits of the two-sided judgement; pages print them from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Family-wise error over the curve, e.g. 0.01.
    pub alpha: f64,
    /// Least relative change worth a name, e.g. 0.005.
    pub least_effect: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { alpha: 0.01, least_effect: 0.005, seed: 1 }
    }
}

/// Verdict of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointJudgement {
    /// Task count.
    pub tasks: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Median of each side (of its runs' medians); none where a side is empty.
    pub base: Option<f64>,
    /// See `base`.
    pub head: Option<f64>,
    /// head ÷ base with its interval at the corrected level; none where a value is not positive.
    pub ratio: Option<(f64, f64, f64)>,
    /// Level of that interval, e.g. 0.99875 for eight points at alpha 0.01.
    pub level: f64,
    /// 95 % interval of head ÷ base, for display; none where `ratio` is.
    pub interval_95: Option<(f64, f64)>,
    /// Why.
    pub evidence: Evidence,
}

/// Verdict of a curve: never collapsed into one number.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveJudgement {
    /// One per point, in the order given.
    pub points: Vec<PointJudgement>,
    /// In words: `+16.3 % at 1, −2.6 % at 80`, `no change, within ±1.2 %` …
    pub words: String,
}

impl CurveJudgement {
    /// Whether any point has this verdict.
    pub fn any(&self, verdict: Verdict) -> bool {
        self.points.iter().any(|p| p.verdict == verdict)
    }
}

/// Judges every point of a curve with the error rate corrected for the number of points.
/// O(samples · log samples) a point, and 500 resamplings for a point that is about to be named.
pub fn judge(points: &[Sides], direction: Direction, policy: &Policy) -> CurveJudgement {
    let prepared: Vec<units::Prepared> = points.iter().map(units::prepare).collect();
    let tested = prepared.iter().filter(|p| p.units.is_some()).count().max(1);
    let alpha = policy.alpha / tested as f64;
    let typical = units::typical_sd(&prepared);
    let judged: Vec<PointJudgement> = points
        .iter()
        .zip(prepared)
        .map(|(sides, prepared)| point::judge(sides, prepared, direction, policy, (alpha, typical)))
        .collect();
    CurveJudgement { words: words::curve(&judged), points: judged }
}
