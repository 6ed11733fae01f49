//! Base against head, over a curve: one judgement a point, one verdict for the curve.

use crate::{Direction, Evidence, Verdict};

/// Runs of one side of one point; each run is its samples.
pub type Runs = Vec<Vec<f64>>;

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
    /// Median of each side; none where a side is empty.
    pub base: Option<f64>,
    /// See `base`.
    pub head: Option<f64>,
    /// head ÷ base with its interval at the corrected level; none where base is not positive.
    pub ratio: Option<(f64, f64, f64)>,
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

/// Judges every point of a curve with the error rate corrected for the number of points.
pub fn judge(points: &[Sides], direction: Direction, policy: &Policy) -> CurveJudgement {
    let _ = (points, direction, policy);
    CurveJudgement { points: Vec::new(), words: String::new() }
}
