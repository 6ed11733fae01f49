//! Base against head, over a curve: one judgement a point, never collapsed into one number.
//!
//! Two builds of the same code differ by more than two runs of one build. With [`LEAST_BUILDS`]
//! earlier builds of a point the head is held against their level, on the scale they show: the
//! larger of what builds differ by and what their runs allow, within ÷ √runs. Without them only the
//! runs of the two sides are there: the unit is the run when both sides have three or more, else
//! the sample, widened for the variation that was not seen; and a change that builds of one code
//! might show as well is named *unconfirmed*. Runs of two sides that took turns are compared in
//! pairs: their differences know nothing of the machine's drift.
//!
//! A change is named when the interval at the level corrected for the curve (Bonferroni: alpha ÷
//! points that have data) excludes no change, and the change exceeds both the noise floor and the
//! least effect. No change is named only where the interval says something.

mod builds;
mod doubt;
mod interval;
mod point;
mod units;
mod words;

pub use builds::LEAST_BUILDS;

use crate::{Direction, Evidence, Verdict};

/// Runs of one side of one point; each run is its samples.
pub type Runs = Vec<Vec<f64>>;

/// Fewest units (runs, or samples where runs are fewer) a side must have without history.
pub const LEAST_UNITS: usize = 3;

/// Two builds differ by about this many times the standard error within one run: measured over the
/// benchmark histories that the detector is judged by. Widens the error where only within-run
/// samples are there.
pub const BETWEEN_TO_WITHIN: f64 = 4.0;

/// Below this many degrees of freedom a point's deviation leans on the rest of its curve: a few
/// runs may sit in one of two modes by chance, and then vary too little.
pub const LEAN_BELOW_DF: f64 = 8.0;

/// A change is confirmed without history when it would be one even if builds of the same code
/// differed by this many times the deviation of their runs.
pub const DOUBTED_BETWEEN: f64 = 1.5;

/// What is known of how builds of one code differ at a point.
#[derive(Debug, Clone, PartialEq)]
pub enum History {
    /// Both sides are the same build, a parameter is compared: they differ by nothing else.
    OneBuild,
    /// Earlier builds on the level of the base, each as one value a run; may be empty.
    Builds(Vec<Vec<f64>>),
}

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
    /// Earlier builds.
    pub history: History,
    /// Whether run i of the base and run i of the head were measured in turn: what drifts on the
    /// machine falls on both alike, and their difference does not show it. Counts only where both
    /// have the same number of runs, none of them empty.
    pub paired: bool,
}

impl Sides {
    /// Two sides of which nothing else is known.
    pub const fn new(tasks: u32, base: Runs, head: Runs) -> Sides {
        let history = History::Builds(Vec::new());
        Sides { tasks, base, head, noise_floor: 0.0, history, paired: false }
    }
}

/// Limits of the two-sided judgement; pages print them from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Family-wise error over the curve, e.g. 0.01.
    pub alpha: f64,
    /// Least relative change worth a name, e.g. 0.005.
    pub least_effect: f64,
    /// Widest half of a 95 % interval, relative, that still says *no change*; beyond it there is
    /// not enough data.
    pub widest: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { alpha: 0.01, least_effect: 0.005, widest: 0.25, seed: 1 }
    }
}

/// Verdict of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointJudgement {
    /// Task count.
    pub tasks: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict names a change of these two builds that two builds of one code might show too.
    pub unconfirmed: bool,
    /// Median of each side (of its runs' medians); none where a side is empty.
    pub base: Option<f64>,
    /// See `base`.
    pub head: Option<f64>,
    /// head ÷ base with its interval at the corrected level; none where a value is not positive.
    /// With history the base is taken with the builds it stands with.
    pub ratio: Option<(f64, f64, f64)>,
    /// Level of that interval, e.g. 0.999 for eight points at alpha 0.01.
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
    /// Whether any point has this verdict, confirmed or not.
    pub fn any(&self, verdict: Verdict) -> bool {
        self.points.iter().any(|p| p.verdict == verdict)
    }

    /// Whether any point has this verdict beyond doubt.
    pub fn any_confirmed(&self, verdict: Verdict) -> bool {
        self.points.iter().any(|p| p.verdict == verdict && !p.unconfirmed)
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
