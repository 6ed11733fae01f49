//! The test of one split between two neighbouring segments: the numbers, and the lines they must
//! satisfy. The same numbers decide and explain.

use super::Policy;
use super::series::Series;
use crate::{order, rank, robust, special};

/// At most this many values on either side of a split enter its test: the nearest ones.
pub(super) const REACH: usize = 256;

/// Below this many values on both sides together the scale also leans on the whole series.
const SHORT: usize = 20;

/// Largest chance that a few points beyond a large shift are spikes of the kind seen before.
const SPIKES_P: f64 = 2e-6;

/// A step must be this much likelier than a drift: the best of many places is compared.
const OVER_LINE: f64 = 4.0;

/// Everything the decision looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub n: usize,
    pub m: usize,
    pub before: f64,
    pub after: f64,
    /// Robust scale of both sides about their medians.
    pub scale: f64,
    /// ln p of the rank statistic, divided by the deflation.
    pub ln_p_rank: f64,
    /// ln p of Student's statistic with the robust scale, deflated.
    pub ln_p_shift: f64,
    /// Chance that the shorter side's points are all spikes.
    pub spikes_p: f64,
    /// Twice the log likelihood ratio of two levels over a straight line, wild values pulled in.
    pub over_line: f64,
}

impl Numbers {
    pub(super) fn shift(&self) -> f64 {
        (self.after - self.before).abs()
    }

    pub(super) fn scales(&self) -> f64 {
        if self.shift() == 0.0 { 0.0 } else { self.shift() / self.scale }
    }

    pub(super) fn relative(&self) -> f64 {
        let level = self.before.abs().max(self.after.abs());
        if level == 0.0 { 0.0 } else { self.shift() / level }
    }

    fn few_points_suffice(&self, policy: &Policy) -> bool {
        self.n.min(self.m) >= policy.few_points
            && self.scales() >= policy.large_shift_scales
            && self.spikes_p <= SPIKES_P
            && self.ln_p_shift <= policy.largest_p.ln()
    }

    /// The lines of the judgement, in order: what, left, relation, right.
    pub(super) fn lines(&self, policy: &Policy) -> Vec<(&'static str, f64, &'static str, f64)> {
        let floor = policy.least_effect.max(policy.noise_floor);
        let log10 = std::f64::consts::LN_10.recip();
        let limit = policy.largest_p.log10();
        let mut lines = vec![
            ("relative change of level", self.relative(), ">=", floor),
            ("change in robust scales", self.scales(), ">=", policy.least_scales),
            ("2 ln likelihood of a step, over a straight line's", self.over_line, ">=", OVER_LINE),
        ];
        let shorter = self.n.min(self.m) as f64;
        if self.ln_p_rank > policy.largest_p.ln() && self.few_points_suffice(policy) {
            let scales = policy.large_shift_scales;
            lines.extend([
                ("points of the shorter side", shorter, ">=", policy.few_points as f64),
                ("large change in robust scales", self.scales(), ">=", scales),
                ("chance that the points are spikes", self.spikes_p, "<=", SPIKES_P),
                ("log10 p of the shift by Student's t", self.ln_p_shift * log10, "<=", limit),
            ]);
        } else {
            let p = self.ln_p_rank * log10;
            lines.push(("log10 p of the rank statistic, deflated", p, "<=", limit));
        }
        lines
    }

    pub(super) fn passes(&self, policy: &Policy) -> bool {
        self.relative() >= policy.least_effect.max(policy.noise_floor)
            && self.scales() >= policy.least_scales
            && self.over_line >= OVER_LINE
            && (self.ln_p_rank <= policy.largest_p.ln() || self.few_points_suffice(policy))
    }

    /// ln p by which splits are compared: the better of the two tests.
    pub(super) fn strength(&self, policy: &Policy) -> f64 {
        if self.few_points_suffice(policy) {
            self.ln_p_rank.min(self.ln_p_shift)
        } else {
            self.ln_p_rank
        }
    }
}

/// Tests the split at `k` of `start..end`; `deflation` ≥ 1 divides every ln p. O(L log L).
pub(super) fn numbers(series: &Series, at: (usize, usize, usize), deflation: f64) -> Numbers {
    let (start, k, end) = at;
    let (a, b) = (start.max(k.saturating_sub(REACH)), end.min(k + REACH));
    let (left, right) = (&series.values[a..k], &series.values[k..b]);
    let (before, after) = (median(left), median(right));
    let residual: Vec<f64> =
        left.iter().map(|v| v - before).chain(right.iter().map(|v| v - after)).collect();
    let scale = scale(series, &residual);
    let (n, m) = (left.len(), right.len());
    let mut numbers = Numbers {
        n,
        m,
        before,
        after,
        scale,
        ln_p_rank: rank::ln_p(left, right) / deflation,
        ln_p_shift: 0.0,
        spikes_p: 0.0,
        over_line: over_line(series, (a, k, b), (before, after), scale),
    };
    numbers.ln_p_shift = ln_p_shift(&numbers, &residual) / deflation;
    numbers.spikes_p = spikes_p(series, (a, k, b), &numbers);
    numbers
}

fn median(values: &[f64]) -> f64 {
    order::median(values).unwrap_or(f64::NAN)
}

/// 1.4826 · MAD of the residuals, or their mean distance where most are equal; never less than the
/// runs' own samples allow, and on short sides not much less than the series' local scale.
fn scale(series: &Series, residual: &[f64]) -> f64 {
    let mut distances: Vec<f64> = residual.iter().map(|r| r.abs()).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let mad = order::median_in_place(&mut distances).unwrap_or(0.0) * robust::MAD_TO_SD;
    let own = if mad > 0.0 { mad } else { mean * (std::f64::consts::PI / 2.0).sqrt() };
    let lean = if residual.len() < SHORT { 0.7 * series.local_scale } else { 0.0 };
    own.max(series.within).max(lean)
}

/// Student's t of the shift. On few values their plain deviation counts where it is larger.
fn ln_p_shift(numbers: &Numbers, residual: &[f64]) -> f64 {
    let (n, m) = (numbers.n as f64, numbers.m as f64);
    let df = n + m - 2.0;
    if df < 1.0 || numbers.shift() == 0.0 {
        return 0.0;
    }
    let squares: f64 = residual.iter().map(|r| r * r).sum();
    let sd = if residual.len() < SHORT { (squares / df).sqrt() } else { 0.0 };
    let error = numbers.scale.max(sd) * (1.0 / n + 1.0 / m).sqrt();
    // The median's error exceeds the mean's by about a quarter.
    let t = numbers.shift() / (1.25 * error);
    let p = 2.0 * special::student_cdf(-t, df.min(60.0));
    if p.is_nan() { 0.0 } else { p.max(f64::MIN_POSITIVE).ln() }
}

/// The longer side says how often single points lie out by half the shift that way; the shorter
/// side's points must not be explained by as many of them in a row. Up to 20 values say nothing.
fn spikes_p(series: &Series, at: (usize, usize, usize), numbers: &Numbers) -> f64 {
    let (a, k, b) = at;
    let ((long, centre), short) = if k - a >= b - k {
        ((&series.values[a..k], numbers.before), numbers.m)
    } else {
        ((&series.values[k..b], numbers.after), numbers.n)
    };
    if long.len() < SHORT {
        return 0.0;
    }
    let half = numbers.shift() / 2.0;
    let up = (numbers.after > numbers.before) == (k - a >= b - k);
    let out = long.iter().filter(|&&v| if up { v - centre > half } else { centre - v > half });
    let share = (out.count() as f64 + 0.25) / (long.len() as f64 + 1.0);
    share.powi(short.min(1000) as i32)
}

/// n · ln(squared error about a straight line ÷ that about two levels) over the same values, each
/// first pulled to within three scales of its level, so that spikes count little. Time is the
/// revision's number. Above 0 the step explains more than a drift; infinite when it explains all
/// or when two revisions are all there is.
fn over_line(series: &Series, at: (usize, usize, usize), levels: (f64, f64), scale: f64) -> f64 {
    let (a, k, b) = at;
    if series.group[b - 1] - series.group[a] < 2 {
        return f64::INFINITY;
    }
    let n = (b - a) as f64;
    let reach = 3.0 * scale;
    let pulled = |i: usize| {
        let level = if i < k { levels.0 } else { levels.1 };
        level + (series.values[i] - level).clamp(-reach, reach)
    };
    let (mut mean_t, mut mean_y, mut sums) = (0.0, 0.0, [0.0; 2]);
    for i in a..b {
        mean_t += series.group[i] as f64 / n;
        mean_y += pulled(i) / n;
        sums[usize::from(i >= k)] += pulled(i);
    }
    let means = [sums[0] / (k - a) as f64, sums[1] / (b - k) as f64];
    let (mut tt, mut ty, mut yy, mut step) = (0.0, 0.0, 0.0, 0.0);
    for i in a..b {
        let (t, y) = (series.group[i] as f64 - mean_t, pulled(i) - mean_y);
        tt += t * t;
        ty += t * y;
        yy += y * y;
        step += (pulled(i) - means[usize::from(i >= k)]).powi(2);
    }
    let line = if tt > 0.0 { yy - ty * ty / tt } else { yy };
    if step <= 0.0 { f64::INFINITY } else { n * (line / step).max(f64::MIN_POSITIVE).ln() }
}
