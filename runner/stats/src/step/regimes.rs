//! Regimes: a series that wanders rather than scatters has no levels, and yet its course changes in
//! ways people see. There, where two levels instead of one explain a visible share of all variation,
//! is a change of regime: shown, never alerted.

use super::course::{self, Course, Grid};
use super::density::Density;
use super::series::Series;
use super::{Policy, noise};
use crate::order;

/// Least share of the series' squared variation that a change of regime explains.
pub(super) const LEAST_SHARE: f64 = 0.08;

/// A stretch wanders when neighbours' squared difference, halved, is at most this share of its
/// variance (von Neumann's ratio ÷ 2: 1 for independent values, 1 − φ for autocorrelated ones).
pub(super) const LARGEST_ROUGHNESS: f64 = 0.3;

/// … and that by at least this many standard errors, 1 / √n, below what independent values have.
pub(super) const LEAST_ERRORS: f64 = 3.0;

/// A change is at least this many times the scale of one value that its own samples allow.
const LEAST_WITHIN: f64 = 2.0;

/// A regime lasts at least this many values; fewer are spikes.
const LEAST_STAY: usize = 3;

/// Cells of the grid of levels.
const CELLS: f64 = 100.0;

/// A change of regime.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Regime {
    /// First position of the new regime.
    pub split: usize,
    /// Start of the regime before and end of the one after.
    pub bounds: (usize, usize),
    /// Means before and after.
    pub means: (f64, f64),
    /// Share of the series' squared variation that the change explains.
    pub share: f64,
    /// Half of von Neumann's ratio of the stretch it lies in.
    pub roughness: f64,
    /// How far that lies below 1, in standard errors.
    pub errors: f64,
}

impl Regime {
    fn shift(&self) -> f64 {
        (self.means.1 - self.means.0).abs()
    }

    /// Relative change.
    pub(super) fn relative(&self) -> f64 {
        let level = self.means.0.abs().max(self.means.1.abs());
        if level == 0.0 { 0.0 } else { self.shift() / level }
    }
}

/// Changes of regime between the series' steps. O(n · levels).
pub(super) fn find(series: &Series, steps: &[usize], policy: &Policy) -> Vec<Regime> {
    let n = series.len();
    let total = squares(&series.values);
    let mut found = Vec::new();
    if !(total > 0.0 && total.is_finite()) {
        return found;
    }
    for (start, end) in noise::segments(steps, n) {
        let values = &series.values[start..end];
        let roughness = roughness(values);
        let errors = (1.0 - roughness) * (values.len() as f64).sqrt();
        if !(roughness <= LARGEST_ROUGHNESS && errors >= LEAST_ERRORS) {
            continue;
        }
        let scale = (total / n as f64).sqrt();
        let splits = splits(values, scale, n, |t| series.splits_at(start + t));
        for (i, &k) in splits.iter().enumerate() {
            let (a, _, b) = super::segments::bounds(&splits, i, values.len());
            let explained =
                squares(&values[a..b]) - squares(&values[a..k]) - squares(&values[k..b]);
            let regime = Regime {
                split: start + k,
                bounds: (start + a, start + b),
                means: (mean(&values[a..k]), mean(&values[k..b])),
                share: explained / total,
                roughness,
                errors,
            };
            let lasts = (k - a).min(b - k) >= LEAST_STAY;
            let matters = regime.relative() >= policy.floor()
                && regime.shift() >= LEAST_WITHIN * series.within;
            if lasts && matters && regime.share >= LEAST_SHARE {
                found.push(regime);
            }
        }
    }
    found
}

/// The least squares course of levels in which every change saves its share.
fn splits(values: &[f64], scale: f64, n: usize, may_begin: impl Fn(usize) -> bool) -> Vec<usize> {
    let sorted = order::sorted(values);
    let (low, high) = (sorted[1], sorted[sorted.len() - 2]);
    let Some(grid) = Grid::new(low, high, course::CELLS_PER_SCALE * (high - low) / CELLS) else {
        return Vec::new();
    };
    let density = Density::squares(scale, grid.width);
    // All values about one level cost n / 2.
    let price = LEAST_SHARE * n as f64 / 2.0;
    course::path(values, Course::new(grid, price, 0), &density, may_begin).splits
}

fn mean(values: &[f64]) -> f64 {
    values.iter().map(|v| v / values.len() as f64).sum()
}

/// Sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// Half of von Neumann's ratio.
fn roughness(values: &[f64]) -> f64 {
    let differences: f64 = values.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
    let variance = squares(values) / values.len() as f64;
    differences / 2.0 / (values.len() as f64 - 1.0) / variance
}
