//! Intervals: of a median, of a shift between two sides, of anything by resampling.
//!
//! An [`Interval`] carries the level it really has: exact methods on few values can only offer
//! certain levels, and answer `None` rather than an interval that promises more than it holds.

mod bootstrap;
mod mean;
mod median;
mod pairs;
mod shift;

pub use bootstrap::{bootstrap, ratio_of_medians};
pub use mean::{Welch, student, welch};
pub use median::median_interval;
pub use pairs::signed_rank;
pub use shift::{Shift, hodges_lehmann};

/// A two-sided interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability with which such intervals cover, e.g. 0.957; nominal for resampled ones.
    pub level: f64,
}
