//! The noise of a series, learnt from itself: its scale, its modes, how deviations are distributed
//! about the likeliest course of levels.

use super::course::{self, Course, Grid, PRICE, Path};
use super::density::Density;
use super::modes::Modes;
use crate::{order, robust};

/// Rounds of course and density: the first course knows no more than the prior.
const ROUNDS: usize = 2;

/// A level needs more than this many values beyond it for the grid to reach it; fewer are spikes.
const BEYOND: usize = 1;

/// Noise of a stretch of values, the grid it was learnt on and the course that goes with it.
#[derive(Debug)]
pub(super) struct Noise {
    pub grid: Grid,
    pub modes: Option<Modes>,
    pub density: Density,
    pub path: Path,
}

/// Robust scale of the first differences ÷ √2: the noise, whatever the steps. Where most
/// differences are 0, their mean distance stands in.
pub(super) fn local_scale(values: &[f64]) -> f64 {
    let mut distances: Vec<f64> =
        values.windows(2).map(|w| (w[1] / 2.0 - w[0] / 2.0).abs()).collect();
    order::median_in_place(&mut distances).unwrap_or(0.0)
        * robust::MAD_TO_SD
        * std::f64::consts::SQRT_2
}

impl Noise {
    /// Learns from `values` (finite); none where there are too few or all are equal. A segment may
    /// begin only where `may_begin`. O(n log n + n · levels).
    pub(super) fn learn(values: &[f64], may_begin: impl Fn(usize) -> bool) -> Option<Noise> {
        let n = values.len();
        if n <= 2 * BEYOND + 1 {
            return None;
        }
        let modes = Modes::find(values);
        let scale = match modes {
            Some(modes) => modes.scale,
            None => Some(local_scale(values)).filter(|s| *s > 0.0).unwrap_or_else(|| {
                let total: f64 = values.windows(2).map(|w| (w[1] / 2.0 - w[0] / 2.0).abs()).sum();
                total / n as f64
            }),
        };
        let sorted = order::sorted(values);
        // A level stands for its lower mode.
        let low = sorted[BEYOND] - modes.map_or(0.0, |modes| modes.gap);
        let grid = Grid::new(low, sorted[n - 1 - BEYOND], scale)?;
        let mut density = Density::prior(scale, grid.width, modes);
        let mut path = Path::default();
        for round in 0..=ROUNDS {
            if round > 0 {
                let residuals = residuals(values, &path, modes);
                density = Density::learned(&residuals, scale, grid.width, modes);
            }
            path = course::path(values, Course::new(grid, PRICE, 0), &density, &may_begin);
        }
        Some(Noise { grid, modes, density, path })
    }

    /// The density of deviations from the medians of the segments that `splits` make.
    pub(super) fn density_about(&self, values: &[f64], splits: &[usize]) -> Density {
        let path = Path { splits: splits.to_vec(), levels: vec![0.0; splits.len() + 1] };
        let residuals = residuals(values, &path, None);
        Density::learned(&residuals, local_scale(values), self.grid.width, None)
    }

    /// The values as they would be with every one in the lower mode.
    pub(super) fn unfold(&self, values: &[f64]) -> Option<Vec<f64>> {
        let modes = self.modes?;
        let segments = segments(&self.path.splits, values.len()).zip(&self.path.levels);
        let unfolded = segments.flat_map(|((start, end), &level)| {
            values[start..end].iter().map(move |&v| modes.unfold(v, level))
        });
        Some(unfolded.collect())
    }
}

/// Starts and ends of the segments that `splits` make of `n` values.
pub(super) fn segments(splits: &[usize], n: usize) -> impl Iterator<Item = (usize, usize)> {
    let starts = std::iter::once(0).chain(splits.iter().copied());
    let ends = splits.iter().copied().chain(std::iter::once(n));
    starts.zip(ends)
}

/// Deviations from the medians of the segments; from the lower mode's level where there are modes.
fn residuals(values: &[f64], path: &Path, modes: Option<Modes>) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(values.len());
    for ((start, end), &level) in segments(&path.splits, values.len()).zip(&path.levels) {
        let segment = &values[start..end];
        let centre = match modes {
            Some(_) => level,
            None => order::median(segment).unwrap_or(level),
        };
        residuals.extend(segment.iter().map(|v| v - centre));
    }
    residuals
}
