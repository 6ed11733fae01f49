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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_constants_are_those_in_force() {
        let policy = Policy::default();
        let in_force: [(&str, f64); 19] = [
            ("Policy::least_effect", policy.least_effect),
            ("Policy::least_scales", policy.least_scales),
            ("Policy::largest_p", policy.largest_p),
            ("Policy::large_shift_scales", policy.large_shift_scales),
            ("Policy::few_points", policy.few_points as f64),
            ("test::SPIKES_P", test::SPIKES_P),
            ("test::OVER_LINE", test::OVER_LINE),
            ("test::KNOWN", test::KNOWN as f64),
            ("test::UNKNOWN_SCALES", test::UNKNOWN_SCALES),
            ("test::NEAR_GAP", test::NEAR_GAP),
            ("test::REACH", test::REACH as f64),
            ("course::PRICE", course::PRICE),
            ("course::CELLS_PER_SCALE", course::CELLS_PER_SCALE),
            ("returns::LONGEST_STAY", returns::LONGEST_STAY as f64),
            ("regimes::LEAST_SHARE", regimes::LEAST_SHARE),
            ("regimes::LARGEST_ROUGHNESS", regimes::LARGEST_ROUGHNESS),
            ("regimes::LEAST_ERRORS", regimes::LEAST_ERRORS),
            ("online::WINDOW", online::WINDOW as f64),
            ("online::LEARN_EVERY", f64::from(online::LEARN_EVERY)),
        ];
        let text = include_str!("../../../../docs/detection.md");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), in_force.len(), "{rows:#?}");
        for (row, (name, value)) in rows.iter().zip(in_force) {
            assert!(
                row.starts_with(&format!("| `{name}` | {value} | ")),
                "{row}: {name} is {value}"
            );
        }
    }
}
