//! The test of one split between two neighbouring segments: the numbers, and the lines they must
//! satisfy. The same numbers decide and explain.

use super::Policy;
use super::noise;
use crate::{order, rank, robust, special};

/// At most this many values on either side of a split enter its test: the nearest ones.
pub(super) const REACH: usize = 256;

/// Below this many values on both sides together the scale also leans on the whole series.
const SHORT: usize = 20;

/// Largest chance that a few points beyond a large shift are spikes of the kind seen before.
pub(super) const SPIKES_P: f64 = 2e-6;

/// Of a few points one in this many may lie on the near side of the halfway line.
const APART: usize = 6;

/// An alert cannot be taken back. While fewer other values than this are known, nobody knows how
/// often a few points lie apart …
pub(super) const KNOWN: usize = 30;

/// … and a few of them must lie at least this many scales away.
pub(super) const UNKNOWN_SCALES: f64 = 20.0;

/// A step must be this much likelier than a drift: the best of many places is compared.
pub(super) const OVER_LINE: f64 = 7.0;

/// A shift this near the gap of two modes, relative to it, may be a visit to the other mode.
pub(super) const NEAR_GAP: f64 = 0.15;

/// Everything the decision looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    /// Values on each side.
    pub n: usize,
    pub m: usize,
    /// Values known besides the shorter side's; none where the whole series is judged, which later
    /// values may judge anew.
    pub known: Option<usize>,
    /// Medians.
    pub before: f64,
    pub after: f64,
    /// Robust scale of both sides about their medians.
    pub scale: f64,
    /// What that is.
    pub scale_of: &'static str,
    /// Student's statistic of the shift and its degrees of freedom, and the error it divides by.
    pub student: (f64, f64, f64),
    /// ln p of the rank statistic, divided by the deflation.
    pub ln_p_rank: f64,
    /// ln p of Student's statistic with the robust scale, deflated.
    pub ln_p_shift: f64,
    /// Chance that the shorter side's points are all spikes.
    pub spikes_p: f64,
    /// Points of the shorter side beyond the halfway line.
    pub beyond: usize,
    /// Where the shift is about the gap of two modes: ln p of the rank statistic of the values as
    /// they were before modes were taken out, deflated by their own autocorrelation.
    pub ln_p_modes: Option<f64>,
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

    /// How many scales a few points must lie away.
    fn large_shift(&self, policy: &Policy) -> f64 {
        if self.known.is_none_or(|known| known >= KNOWN) {
            policy.large_shift_scales
        } else {
            policy.large_shift_scales.max(UNKNOWN_SCALES)
        }
    }

    /// Whether the few points of the shorter side decide, by Student's t.
    pub(super) fn is_of_few_points(&self, policy: &Policy) -> bool {
        self.ln_p_rank > policy.largest_p.ln() && self.few_points_suffice(policy)
    }

    fn few_points_suffice(&self, policy: &Policy) -> bool {
        self.beyond >= policy.few_points
            && self.apart() <= self.most_apart()
            && self.scales() >= self.large_shift(policy)
            && self.spikes_p <= SPIKES_P
            && self.ln_p_shift <= policy.largest_p.ln()
    }

    /// Points of the shorter side that do not lie beyond the halfway line.
    fn apart(&self) -> usize {
        self.n.min(self.m) - self.beyond
    }

    fn most_apart(&self) -> usize {
        self.n.min(self.m) / APART
    }

    /// The lines of the judgement, in order: what, left, relation, right.
    pub(super) fn lines(&self, policy: &Policy) -> Vec<(&'static str, f64, &'static str, f64)> {
        let floor = policy.floor();
        let log10 = std::f64::consts::LN_10.recip();
        let limit = policy.largest_p.log10();
        let mut lines = vec![
            ("relative change of level", self.relative(), ">=", floor),
            ("change in robust scales", self.scales(), ">=", policy.least_scales),
            ("2 ln likelihood of a step, over a straight line's", self.over_line, ">=", OVER_LINE),
        ];
        if self.is_of_few_points(policy) {
            let beyond = "values of the shorter side beyond halfway to the other level";
            let spikes = "chance that spikes are all there is, 0 while too few values tell";
            let scales = self.large_shift(policy);
            lines.extend([
                (beyond, self.beyond as f64, ">=", policy.few_points as f64),
                (
                    "values of the shorter side that are not",
                    self.apart() as f64,
                    "<=",
                    self.most_apart() as f64,
                ),
                ("change in robust scales, for so few values", self.scales(), ">=", scales),
                (spikes, self.spikes_p, "<=", SPIKES_P),
                ("log10 p of the shift by Student's t", self.ln_p_shift * log10, "<=", limit),
            ]);
        } else {
            let p = self.ln_p_rank * log10;
            lines.push(("log10 p of the rank statistic, deflated", p, "<=", limit));
        }
        if let Some(ln_p) = self.ln_p_modes {
            let what = "log10 p of the rank statistic with both modes left in, deflated";
            lines.push((what, ln_p * log10, "<=", limit));
        }
        lines
    }

    pub(super) fn passes(&self, policy: &Policy) -> bool {
        self.relative() >= policy.floor()
            && self.scales() >= policy.least_scales
            && self.over_line >= OVER_LINE
            && (self.ln_p_rank <= policy.largest_p.ln() || self.few_points_suffice(policy))
    }

    /// Whether a shift about the gap of two modes is more than a visit to the other mode.
    pub(super) fn is_no_visit(&self, policy: &Policy) -> bool {
        self.ln_p_modes.is_none_or(|p| p <= policy.largest_p.ln())
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

/// Values before two modes were taken out of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'a> {
    pub values: &'a [f64],
    pub gap: f64,
    pub deflation: f64,
}

/// What a test reads: values in order and what is known of their noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    /// Values seen so far where points are judged as they come; none for a whole series.
    pub known: Option<usize>,
    /// Where two modes were taken out: the values before.
    pub modes: Option<Raw<'a>>,
    pub values: &'a [f64],
    /// Number of the revision of each value; none where each is a revision of its own.
    pub group: Option<&'a [usize]>,
    /// Least scale of one value that its own samples allow; 0 when unknown.
    pub within: f64,
    /// Robust scale of the first differences.
    pub local_scale: f64,
    /// Divides every ln p: autocorrelation, see [`deflation`].
    pub deflation: f64,
}

/// Buffers of the tests, kept from one to the next.
#[derive(Debug, Default, Clone)]
pub(super) struct Scratch {
    left: Vec<f64>,
    right: Vec<f64>,
    distances: Vec<f64>,
}

/// Tests the split at `k` of `start..end`. O(L log L), L at most 2 · [`REACH`].
pub(super) fn numbers(of: Values, at: (usize, usize, usize), scratch: &mut Scratch) -> Numbers {
    let (start, k, end) = at;
    let (a, b) = (start.max(k.saturating_sub(REACH)), end.min(k + REACH));
    let Scratch { left, right, distances } = scratch;
    sort_into(left, &of.values[a..k]);
    sort_into(right, &of.values[k..b]);
    let level = |side: &[f64]| order::median_of_sorted(side).unwrap_or(f64::NAN);
    let (before, after) = (level(left), level(right));
    distances.clear();
    distances.extend(left.iter().map(|v| (v - before).abs()));
    distances.extend(right.iter().map(|v| (v - after).abs()));
    let squares: f64 = distances.iter().map(|d| d * d).sum();
    let (scale, scale_of) = scale(of, distances);
    let mut numbers = Numbers {
        known: of.known.map(|known| known - left.len().min(right.len())),
        n: left.len(),
        m: right.len(),
        before,
        after,
        scale,
        scale_of,
        student: (0.0, 0.0, 0.0),
        ln_p_rank: rank::ln_p_of_sorted(left, right) / of.deflation,
        ln_p_shift: 0.0,
        spikes_p: 0.0,
        beyond: 0,
        ln_p_modes: None,
        over_line: over_line(of, (a, k, b), (before, after), scale),
    };
    numbers.ln_p_shift = ln_p_shift(&mut numbers, squares) / of.deflation;
    spikes_p(&mut numbers, left, right);
    if let Some(modes) = of.modes
        && (numbers.shift() - modes.gap).abs() < NEAR_GAP * modes.gap
    {
        sort_into(left, &modes.values[a..k]);
        sort_into(right, &modes.values[k..b]);
        numbers.ln_p_modes = Some(rank::ln_p_of_sorted(left, right) / modes.deflation);
    }
    numbers
}

fn sort_into(sorted: &mut Vec<f64>, values: &[f64]) {
    sorted.clear();
    sorted.extend_from_slice(values);
    sorted.sort_unstable_by(f64::total_cmp);
}

/// 1.4826 · MAD of the deviations, or their mean distance where most are equal; never less than the
/// runs' own samples allow, and on short sides not much less than the series' local scale.
fn scale(of: Values, distances: &mut [f64]) -> (f64, &'static str) {
    let n = distances.len();
    let mean = distances.iter().sum::<f64>() / n as f64;
    let mad = order::median_in_place(distances).unwrap_or(0.0) * robust::MAD_TO_SD;
    let own = match mad > 0.0 {
        true => (mad, "1.4826 times the median distance of the values from their side's median"),
        false => (
            mean * (std::f64::consts::PI / 2.0).sqrt(),
            "1.2533 times the mean distance of the values from their side's median",
        ),
    };
    let lean = if n < SHORT { 0.7 * of.local_scale } else { 0.0 };
    let others = [
        (of.within, "what the samples within runs allow one value, more than the values differ by"),
        (lean, "0.7 times that of neighbouring values, for sides so short"),
    ];
    others.into_iter().fold(own, |most, other| if other.0 > most.0 { other } else { most })
}

/// Student's t of the shift. On few values their plain deviation counts where it is larger.
fn ln_p_shift(numbers: &mut Numbers, squares: f64) -> f64 {
    let (n, m) = (numbers.n as f64, numbers.m as f64);
    let df = n + m - 2.0;
    if df < 1.0 || numbers.shift() == 0.0 {
        return 0.0;
    }
    let sd = if numbers.n + numbers.m < SHORT { (squares / df).sqrt() } else { 0.0 };
    let error = numbers.scale.max(sd) * (1.0 / n + 1.0 / m).sqrt();
    // The median's error exceeds the mean's by about a quarter.
    let error = 1.25 * error;
    let t = numbers.shift() / error;
    numbers.student = (t, df.min(60.0), error);
    let p = 2.0 * special::student_cdf(-t, df.min(60.0));
    if p.is_nan() { 0.0 } else { p.max(f64::MIN_POSITIVE).ln() }
}

/// The longer side says how often single points lie out by half the shift that way; the shorter
/// side's points must not be explained by as many of them in a row. Up to 20 values say nothing.
fn spikes_p(numbers: &mut Numbers, left: &[f64], right: &[f64]) {
    let ((long, centre), (short, _)) = if left.len() >= right.len() {
        ((left, numbers.before), (right, numbers.after))
    } else {
        ((right, numbers.after), (left, numbers.before))
    };
    let half = numbers.shift() / 2.0;
    let up = (numbers.after > numbers.before) == (left.len() >= right.len());
    let beyond = |side: &[f64]| {
        let first =
            side.partition_point(|v| if up { v - centre <= half } else { centre - v > half });
        if up { side.len() - first } else { first }
    };
    numbers.beyond = beyond(short);
    if long.len() >= SHORT {
        let share = (beyond(long) as f64 + 0.25) / (long.len() as f64 + 1.0);
        numbers.spikes_p = share.powi(numbers.beyond.min(1000) as i32);
    }
}

/// n · ln(squared error about a straight line ÷ that about two levels) over the same values, each
/// first pulled to within three scales of its level, so that spikes count little. Time is the
/// revision's number. Above 0 the step explains more than a drift; infinite when it explains all
/// or when two revisions are all there is.
fn over_line(of: Values, at: (usize, usize, usize), levels: (f64, f64), scale: f64) -> f64 {
    let (a, k, b) = at;
    let time = |i: usize| of.group.map_or(i - a, |group| group[i] - group[a]) as f64;
    if time(b - 1) < 2.0 {
        return f64::INFINITY;
    }
    let n = (b - a) as f64;
    let reach = 3.0 * scale;
    let pulled = |i: usize| {
        let level = if i < k { levels.0 } else { levels.1 };
        level + (of.values[i] - level).clamp(-reach, reach)
    };
    let (mut mean_t, mut mean_y, mut sums) = (0.0, 0.0, [0.0; 2]);
    for i in a..b {
        mean_t += time(i) / n;
        mean_y += pulled(i) / n;
        sums[usize::from(i >= k)] += pulled(i);
    }
    let means = [sums[0] / (k - a) as f64, sums[1] / (b - k) as f64];
    let (mut tt, mut ty, mut yy, mut step) = (0.0, 0.0, 0.0, 0.0);
    for i in a..b {
        let (t, y) = (time(i) - mean_t, pulled(i) - mean_y);
        tt += t * t;
        ty += t * y;
        yy += y * y;
        step += (pulled(i) - means[usize::from(i >= k)]).powi(2);
    }
    let line = if tt > 0.0 { yy - ty * ty / tt } else { yy };
    if step <= 0.0 { f64::INFINITY } else { n * (line / step).max(f64::MIN_POSITIVE).ln() }
}

/// How much every ln p must be divided by: (1 + φ) / (1 − φ), φ the lag-one correlation of the
/// deviations from the segments' medians, wild ones pulled in, less its standard error; never below
/// 1. O(n).
pub(super) fn deflation(values: &[f64], splits: &[usize], scratch: &mut Scratch) -> f64 {
    let Scratch { left: residuals, distances, .. } = scratch;
    residuals.clear();
    for (start, end) in noise::segments(splits, values.len()) {
        distances.clear();
        distances.extend_from_slice(&values[start..end]);
        let centre = order::median_in_place(distances).unwrap_or(0.0);
        residuals.extend(values[start..end].iter().map(|v| v - centre));
    }
    distances.clear();
    distances.extend(residuals.iter().map(|r| r.abs()));
    let reach = 2.5 * order::median_in_place(distances).unwrap_or(0.0) * robust::MAD_TO_SD;
    residuals.iter_mut().for_each(|r| *r = r.clamp(-reach, reach));
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    if residuals.len() < 10 || squares <= 0.0 {
        return 1.0;
    }
    let products: f64 = residuals.windows(2).map(|w| w[0] * w[1]).sum();
    // Less its own standard error: a dozen values say little about their correlation.
    let phi = (products / squares - (residuals.len() as f64).sqrt().recip()).clamp(0.0, 0.95);
    (1.0 + phi) / (1.0 - phi)
}
