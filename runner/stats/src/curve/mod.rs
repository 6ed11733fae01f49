//! How a curve scales: the Universal Scalability Law through its points, with intervals.
//!
//! In: the runs of each task count of a metric that counts work of all tasks together, more being
//! better. Out: the law, where it bends and where it peaks, each with its interval; or why no law
//! can be fitted. Two fits are compared coefficient by coefficient in [`change()`].

mod change;
mod fit;
mod law;
mod replicate;
mod words;

pub use change::{Change, Coefficient, LEAST_EFFECT, change};
pub use law::Law;

use crate::interval::Interval;
use crate::{Sample, order, summary};
use fit::Measured;

/// Fewest task counts: one more than the law has coefficients.
pub const LEAST_POINTS: usize = 4;

/// Least ratio of the largest task count to the smallest: over less, both coefficients look alike.
pub const LEAST_SPAN: f64 = 4.0;

/// Points lying further than this from the best law, in relative deviation, do not follow one.
pub const LARGEST_MISFIT: f64 = 0.25;

/// Scalability at the largest task count from which on a curve counts as linear.
pub const LINEAR_FROM: f64 = 0.95;

/// One task count of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Task count.
    pub tasks: u32,
    /// Runs, each its samples.
    pub runs: Vec<Vec<f64>>,
}

/// What a curve does up to its largest task count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As good as perfect scaling.
    Linear,
    /// Grows, ever less.
    Bending,
    /// Falls after its peak: the peak's whole interval lies below the largest task count.
    Retrograde,
}

impl Shape {
    /// `linear`, `bending`, `retrograde`.
    pub const fn word(self) -> &'static str {
        match self {
            Shape::Linear => "linear",
            Shape::Bending => "bending",
            Shape::Retrograde => "retrograde",
        }
    }
}

/// Why no law was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// So many task counts with positive values.
    FewPoints(usize),
    /// Smallest and largest task count.
    NarrowSpan(u32, u32),
    /// Relative deviation of the points, or of the first of them, from the best law.
    Misfit(f64),
    /// The numbers overflow.
    Overflow,
}

/// A law with its intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Interval of σ.
    pub contention: Interval,
    /// Interval of κ.
    pub coherency: Interval,
    /// Interval of the task count of the peak; none where the law has no peak. Its upper end is
    /// infinite where the peak may lie anywhere.
    pub peak: Option<Interval>,
    /// Interval of the knee; none where the law has none.
    pub knee: Option<Interval>,
    /// Relative deviation of the points from the law.
    pub misfit: f64,
    /// Largest task count measured.
    pub largest: u32,
    /// What the curve does up to there.
    pub shape: Shape,
    /// Task counts that were left out of the fit, being far off it.
    pub outliers: Vec<u32>,
    replicates: Vec<Law>,
}

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Level of the intervals, e.g. 0.95.
    pub level: f64,
    /// Laws drawn for them.
    pub replicates: usize,
    /// Seed of the drawing.
    pub seed: u64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { level: 0.95, replicates: 200, seed: 1 }
    }
}

/// Fits the law to the points, in any order; points without a positive value are left out.
/// O(replicates · points), and O(points³) once.
///
/// # Errors
/// Why no law can be fitted.
pub fn fit(points: &[Point], policy: &Policy) -> Result<Fit, Refusal> {
    let mut measured: Vec<Measured> = points.iter().filter_map(measured).collect();
    measured.sort_unstable_by(|a, b| a.tasks.total_cmp(&b.tasks));
    measured.dedup_by_key(|point| point.tasks);
    if measured.len() < LEAST_POINTS {
        return Err(Refusal::FewPoints(measured.len()));
    }
    let (smallest, largest) = (measured[0].tasks, measured[measured.len() - 1].tasks);
    if largest < LEAST_SPAN * smallest {
        return Err(Refusal::NarrowSpan(smallest as u32, largest as u32));
    }
    let (law, out) = fit::fit(&measured).ok_or(Refusal::Overflow)?;
    let spread = replicate::Spread::of(&measured, &law, &out);
    // The smallest task count anchors the law: where that is far off, the rest follows another one.
    let off = (measured[0].throughput / law.throughput(smallest)).ln().abs();
    let begins_off = spread.outliers.first().is_some_and(|&tasks| f64::from(tasks) == smallest);
    let misfit = if begins_off { spread.deviation.max(off) } else { spread.deviation };
    if misfit > LARGEST_MISFIT {
        return Err(Refusal::Misfit(misfit));
    }
    let replicates = replicate::laws(&measured, &law, &spread, policy);
    let interval = |of: &dyn Fn(&Law) -> Option<f64>| interval(&replicates, of, policy.level);
    let contention = interval(&|law| Some(law.contention)).ok_or(Refusal::Overflow)?;
    let coherency = interval(&|law| Some(law.coherency)).ok_or(Refusal::Overflow)?;
    let peak = law.peak().and_then(|_| interval(&Law::peak));
    let knee = law.knee().and_then(|_| interval(&Law::knee));
    let shape = match peak {
        _ if law.scalability(largest) >= LINEAR_FROM => Shape::Linear,
        Some(peak) if peak.high < largest => Shape::Retrograde,
        _ => Shape::Bending,
    };
    let outliers = spread.outliers;
    let largest = largest as u32;
    Ok(Fit { law, contention, coherency, peak, knee, misfit, largest, shape, outliers, replicates })
}

/// Median of the runs' medians with its relative error; none where a value is not positive.
fn measured(point: &Point) -> Option<Measured> {
    let runs: Vec<&Vec<f64>> = point.runs.iter().filter(|run| !run.is_empty()).collect();
    let sound = |v: &f64| v.is_finite() && *v > 0.0;
    if point.tasks == 0 || runs.is_empty() || !runs.iter().all(|run| run.iter().all(sound)) {
        return None;
    }
    let medians: Vec<f64> = runs.iter().filter_map(|run| order::median(run)).collect();
    let pooled: Vec<f64> = runs.iter().flat_map(|run| run.iter().copied()).collect();
    // Three runs tell how runs vary; with fewer their samples have to do.
    let values = if medians.len() >= 3 { &medians } else { &pooled };
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let sd = Sample::new(&logs).and_then(summary::sd).unwrap_or(0.0);
    Some(Measured {
        tasks: f64::from(point.tasks),
        throughput: order::median(&medians)?,
        error: sd / (values.len() as f64).sqrt(),
    })
}

/// Percentile interval of what follows from the drawn laws; those from which it does not follow
/// count as infinite. None when there are no laws.
fn interval(laws: &[Law], of: &dyn Fn(&Law) -> Option<f64>, level: f64) -> Option<Interval> {
    let values: Vec<f64> = laws.iter().map(|law| of(law).unwrap_or(f64::INFINITY)).collect();
    let sorted = order::sorted(&values);
    let last = sorted.len().checked_sub(1)? as f64;
    let at = |p: f64| sorted[(p * last).round() as usize];
    let tail = (1.0 - level) / 2.0;
    Some(Interval { low: at(tail), high: at(1.0 - tail), level })
}
