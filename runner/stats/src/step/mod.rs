//! Steps in a history: where a series changed level, by how much, how sure.
//!
//! How it works: (1) rank statistics over windows of many lengths propose splits; (2) each split is
//! tested against its neighbours and the weakest that fails is removed, until all pass; (3) places
//! are refined by absolute error about medians; (4) every segment left is searched once more; (5) a
//! series that toggles between known levels must show more. The test is in `test`, the same for all.

mod candidates;
mod modes;
mod report;
mod segments;
mod series;
mod test;

use crate::{Direction, Evidence, Verdict};
use series::Series;

/// One run of a series, in revision order.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Order of the revision within its branch; equal for runs of one revision.
    pub rank: i64,
    /// Centre of the run: its median.
    pub value: f64,
    /// Robust scale of the run's own samples, same unit as `value`; none for one sample.
    pub within: Option<f64>,
    /// Number of samples in the run.
    pub n: usize,
}

/// Limits of the step test. The defaults are the rule; pages print them from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Least relative change of level, e.g. 0.005.
    pub least_effect: f64,
    /// Least change of level in robust scales of the segments.
    pub least_scales: f64,
    /// Largest p of the rank statistic.
    pub largest_p: f64,
    /// A shift this many scales large needs only `few_points` points a side.
    pub large_shift_scales: f64,
    /// See `large_shift_scales`.
    pub few_points: usize,
    /// Noise floor, relative, of machine × workload × metric; 0 when unknown.
    pub noise_floor: f64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            least_effect: 0.005,
            least_scales: 0.5,
            largest_p: 1e-5,
            large_shift_scales: 5.0,
            few_points: 3,
            noise_floor: 0.0,
        }
    }
}

/// A change of level between two neighbouring observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Index of the first observation of the new level.
    pub index: usize,
    /// Regression or improvement, by the series' direction.
    pub verdict: Verdict,
    /// Median before, of the segment that ends at `index`.
    pub before: f64,
    /// Median after, of the segment that starts at `index`.
    pub after: f64,
    /// after ÷ before with its 95 % interval; none where `before` is not positive.
    pub ratio: Option<(f64, f64, f64)>,
    /// Why.
    pub evidence: Evidence,
}

/// All steps of a history given in revision order. Pure: the same observations give the same steps
/// whatever the order they arrived in, runs of one revision (equal rank) in any order among
/// themselves. Values that are not finite are set aside. O(n log² n).
pub fn detect(history: &[Observation], direction: Direction, policy: &Policy) -> Vec<Step> {
    let series = Series::new(history);
    let steps = segments::find(&series, policy);
    report::steps(&series, &steps, direction, policy)
}

/// Indices at which a plain series changes level, in order, with the default policy: what
/// [`detect`] finds when every value is a run of a revision of its own.
pub fn detect_values(values: &[f64]) -> Vec<usize> {
    let series = Series::of_values(values);
    let found = segments::find(&series, &Policy::default());
    found.into_iter().map(|k| series.index[k]).collect()
}
