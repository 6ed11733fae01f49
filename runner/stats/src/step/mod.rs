//! Steps in a history: where a series changed level, by how much, how sure.
//!
//! How it works: (1) the noise is learnt from the series itself, its density and, where it has two,
//! its modes; (2) the likeliest course of levels proposes steps; (3) each is tested against its
//! neighbours and the weakest that fails removed, until all pass; (4) each is placed where the
//! density says; (5) a series that toggles between known levels must show more. What then still
//! wanders may have changes of regime, which are shown and never alerted.

mod course;
mod density;
mod modes;
mod noise;
mod online;
mod regimes;
mod report;
mod returns;
mod segments;
mod series;
mod test;
mod weed;

use crate::{Direction, Evidence, Verdict};
pub use online::{Buffers, Online};
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
            large_shift_scales: 4.0,
            few_points: 3,
            noise_floor: 0.0,
        }
    }
}

impl Policy {
    /// Least relative change that counts.
    fn floor(&self) -> f64 {
        self.least_effect.max(self.noise_floor)
    }
}

/// What kind of change a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A level changed: what alerts rest on.
    Level,
    /// A series that wanders changed its course: shown, never alerted.
    Regime,
}

/// A change between two neighbouring observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Index of the first observation of the new level.
    pub index: usize,
    /// Of level or of regime.
    pub kind: Kind,
    /// Regression or improvement, by the series' direction.
    pub verdict: Verdict,
    /// Median before, of the segment that ends at `index`; of a regime the mean, here and below.
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
/// themselves. Values that are not finite are set aside. O(n log n).
pub fn detect(history: &[Observation], direction: Direction, policy: &Policy) -> Vec<Step> {
    let mut series = Series::new(history);
    let found = segments::find(&mut series, policy);
    report::steps(&series, &found, direction, policy)
}

/// Indices at which a plain series changes level, in order, with the default policy: what
/// [`detect`] finds when every value is a run of a revision of its own.
pub fn detect_values(values: &[f64]) -> Vec<usize> {
    let mut series = Series::of_values(values);
    let found = segments::find(&mut series, &Policy::default());
    let mut splits: Vec<usize> = found
        .splits
        .iter()
        .zip(&found.supported)
        .filter(|(_, s)| **s)
        .map(|(k, _)| *k)
        .chain(found.regimes.iter().map(|r| r.split))
        .collect();
    splits.sort_unstable();
    splits.into_iter().map(|k| series.index[k]).collect()
}
