//! Two modes: a series of runs whose values stand at one of two levels and switch between them, as
//! a page cache that is or is not kept, or memory that is or is not local. Not a step: it goes back.

use crate::{order, robust};

/// Fewest values that can tell two modes.
pub const LEAST_VALUES: usize = 20;

/// Least share of the values in either mode.
pub const LEAST_SHARE: f64 = 0.15;

/// Fewest switches: one is a step, two are a step and its revert.
pub const LEAST_SWITCHES: usize = 3;

/// Least distance of the modes, in robust scales of the values about their own mode. The halves of
/// one normal distribution are less than 4 apart, but by chance more where values are few.
pub const LEAST_DISTANCE: f64 = 7.0;

/// Least empty room between the modes, as a share of their distance: skewed noise thins out, and
/// leaves no room.
pub const LEAST_GAP: f64 = 0.3;

/// One of two modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Median of its values.
    pub value: f64,
    /// Number of its values.
    pub runs: usize,
    /// Mean length of an unbroken stay in it, in values.
    pub dwell: f64,
}

/// Two modes of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// The lower one.
    pub low: Mode,
    /// The higher one.
    pub high: Mode,
    /// How often the series goes from one to the other.
    pub switches: usize,
}

/// The two modes of values in order; none where they do not fall apart clearly, or do not go back
/// and forth. The parting is Otsu's: of all partings of the sorted values the one with the largest
/// variance between the two groups. Values that are not finite are left out. O(n log n).
pub fn two_modes(values: &[f64]) -> Option<Modes> {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if values.len() < LEAST_VALUES {
        return None;
    }
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let k = parting(&sorted)?;
    let (below, above) = sorted.split_at(k);
    let fewest = (LEAST_SHARE * values.len() as f64).max(3.0);
    if (below.len().min(above.len()) as f64) < fewest {
        return None;
    }
    let (low, high) = (order::median(below)?, order::median(above)?);
    let scale = scale(below, low, above, high);
    let gap = above[0] - below[k - 1];
    // Written so that a scale of 0, of two values that repeat exactly, passes.
    if high - low < LEAST_DISTANCE * scale || gap < LEAST_GAP * (high - low) {
        return None;
    }
    let is_high: Vec<bool> = values.iter().map(|value| *value >= above[0]).collect();
    let switches = is_high.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if switches < LEAST_SWITCHES {
        return None;
    }
    let mode = |value, runs: usize, high: bool| {
        let stays = is_high.chunk_by(|a, b| a == b).filter(|stay| stay[0] == high).count();
        Mode { value, runs, dwell: runs as f64 / stays as f64 }
    };
    Some(Modes {
        low: mode(low, below.len(), false),
        high: mode(high, above.len(), true),
        switches,
    })
}

/// Number of values below the parting; none where all are equal.
fn parting(sorted: &[f64]) -> Option<usize> {
    let n = sorted.len() as f64;
    // About the middle, so that large values of small spread keep their digits.
    let centre = sorted[sorted.len() / 2];
    let total: f64 = sorted.iter().map(|value| value - centre).sum();
    let (mut sum, mut best) = (0.0, (0.0, None));
    for (i, pair) in sorted.windows(2).enumerate() {
        sum += pair[0] - centre;
        let below = (i + 1) as f64;
        let distance = (total - sum) / (n - below) - sum / below;
        let between = below * (n - below) * distance * distance;
        if pair[0] < pair[1] && between > best.0 {
            best = (between, Some(i + 1));
        }
    }
    best.1
}

/// Robust scale of both groups about their own medians, or their mean distance where most values
/// are equal.
fn scale(below: &[f64], low: f64, above: &[f64], high: f64) -> f64 {
    let below = below.iter().map(|value| (value - low).abs());
    let distances: Vec<f64> = below.chain(above.iter().map(|value| (value - high).abs())).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let mad = order::median(&distances).unwrap_or(0.0);
    if mad > 0.0 { robust::MAD_TO_SD * mad } else { mean }
}
