//! Noise with two modes: values lie at one of two levels a fixed gap apart and go to and fro. The
//! differences of neighbours show it whatever the steps: most lie about 0, the rest about ± the gap.

use crate::order;

/// Two modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Modes {
    /// Distance of the upper mode from the lower.
    pub gap: f64,
    /// Scale of one value about its mode.
    pub scale: f64,
}

/// Fewest differences beyond those about 0.
const LEAST_CROSSINGS: usize = 4;

/// A series shorter than this shows no modes.
const SHORTEST: usize = 24;

/// The gap is at least this many scales of the differences about 0.
const LEAST_GAP: f64 = 4.0;

/// Differences up to this many scales lie about 0, larger ones beyond.
const ABOUT_ZERO: f64 = 3.3;

/// Share of the differences beyond that lie about the gap, at least.
const ABOUT_GAP: f64 = 0.75;

/// Share of the crossings that turn back the one before, at least.
const TURNS: f64 = 0.8;

impl Modes {
    /// The two modes of a series, if it has them. O(n log n).
    pub(super) fn find(values: &[f64]) -> Option<Modes> {
        if values.len() <= SHORTEST {
            return None;
        }
        let distances = values.windows(2).map(|w| (w[1] - w[0]).abs());
        let distances = order::sorted_of(distances);
        let scale = scale_about_zero(&distances)?;
        let beyond = &distances[distances.partition_point(|&d| d <= ABOUT_ZERO * scale)..];
        if beyond.len() < LEAST_CROSSINGS {
            return None;
        }
        let gap = order::median_of_sorted(beyond)?;
        let count = |low: f64, high: f64| {
            distances.partition_point(|&d| d <= high) - distances.partition_point(|&d| d < low)
        };
        let about = |reach: f64| count(gap - reach * scale, gap + reach * scale) as f64;
        // Tails fall off; a second mode stands out from the valley before it.
        let valley = count(3.0 * scale, 4.0 * scale) as f64;
        let stands_out = about(0.75) >= 1.5 * valley + 3.0;
        let is_narrow = about(2.5) >= ABOUT_GAP * beyond.len() as f64;
        (gap >= LEAST_GAP * scale && stands_out && is_narrow && turns(values, gap, 2.5 * scale))
            .then_some(Modes { gap, scale: scale / std::f64::consts::SQRT_2 })
    }

    /// Whether a deviation from the lower mode's level is nearer the upper.
    pub(super) fn is_upper(&self, deviation: f64) -> bool {
        deviation > self.gap / 2.0
    }

    /// The value as it would be in the lower mode, given that mode's level.
    pub(super) fn unfold(&self, value: f64, level: f64) -> f64 {
        if self.is_upper(value - level) { value - self.gap } else { value }
    }

    /// Weights of residuals in the lower and in the upper mode. How often a mode is visited counts
    /// only as far as neighbours' modes are independent: long stays in one are no evidence.
    pub(super) fn weights(&self, residuals: &[f64]) -> [f64; 2] {
        let n = residuals.len() as f64;
        let upper = residuals.iter().filter(|r| self.is_upper(**r)).count() as f64;
        let p = (upper + 1.0) / (n + 2.0);
        let crosses = |w: &&[f64]| self.is_upper(w[0]) != self.is_upper(w[1]);
        let crossings = residuals.windows(2).filter(crosses).count() as f64;
        let independent = 2.0 * p * (1.0 - p) * (n - 1.0).max(1.0);
        let rho = (1.0 - crossings / independent).clamp(0.0, 0.95);
        let odds = (p / (1.0 - p)).powf((1.0 - rho) / (1.0 + rho));
        let q = odds / (1.0 + odds);
        [(1.0 - q) / (1.0 - p), q / p]
    }
}

/// Scale of the distances about 0, as of a normal cut off at 2.8 scales: a fixed point reached from below.
fn scale_about_zero(sorted: &[f64]) -> Option<f64> {
    // Between the thirds: half of those about 0 in independent modes, fewer in lasting ones.
    let mut scale = sorted[sorted.len() * 31 / 100] / 0.5;
    for _ in 0..12 {
        let inner = &sorted[..sorted.partition_point(|&d| d <= 2.8 * scale)];
        let squares: f64 = inner.iter().map(|d| d * d).sum();
        // A normal cut off at ± 2.8 has this share of its deviation.
        let next = (squares / inner.len().max(1) as f64).sqrt() / 0.974;
        if (next - scale).abs() <= 1e-3 * scale {
            break;
        }
        scale = next;
    }
    (scale > 0.0 && scale.is_finite()).then_some(scale)
}

/// Whether differences within `reach` of ± `gap` go up and down in turn.
fn turns(values: &[f64], gap: f64, reach: f64) -> bool {
    let (mut turns, mut crossings, mut up_before) = (0usize, 0usize, None);
    for w in values.windows(2) {
        let difference = w[1] - w[0];
        if (difference.abs() - gap).abs() <= reach {
            let up = difference > 0.0;
            turns += usize::from(up_before == Some(!up));
            crossings += 1;
            up_before = Some(up);
        }
    }
    turns as f64 >= TURNS * (crossings as f64 - 1.0)
}
