//! Student's and Welch's intervals: for data without wild values, and to compare with.

use super::Interval;
use crate::{Sample, special, summary};

/// mean ± t(1 − (1 − level)/2; n − 1) · sd/√n. None for one value. O(n).
pub fn student(sample: Sample<'_>, level: f64) -> Option<Interval> {
    let n = sample.values().len() as f64;
    let half =
        special::student_quantile(0.5 + level / 2.0, n - 1.0) * summary::sd(sample)? / n.sqrt();
    let mean = summary::mean(sample);
    Some(Interval { low: mean - half, high: mean + half, level })
}

/// Welch's comparison of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// (mean head − mean base) ÷ its standard error.
    pub t: f64,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub df: f64,
    /// Two-sided p.
    pub p: f64,
    /// Interval of mean head − mean base.
    pub difference: Interval,
}

/// Welch's t-test (Welch 1947, Satterthwaite 1946): unequal variances allowed. None when a side has
/// one value or neither side varies. O(n + m).
pub fn welch(base: Sample<'_>, head: Sample<'_>, level: f64) -> Option<Welch> {
    let part = |s: Sample<'_>| {
        let n = s.values().len() as f64;
        summary::sd(s).map(|sd| (sd * sd / n, n))
    };
    let ((vb, nb), (vh, nh)) = (part(base)?, part(head)?);
    let error = (vb + vh).sqrt();
    if error == 0.0 || !error.is_finite() {
        return None;
    }
    // In shares of the variance, so that squares neither overflow nor vanish.
    let (sb, sh) = (vb / (vb + vh), vh / (vb + vh));
    let df = 1.0 / (sb * sb / (nb - 1.0) + sh * sh / (nh - 1.0));
    let distance = summary::mean(head) - summary::mean(base);
    let t = distance / error;
    let p = (2.0 * special::student_cdf(-t.abs(), df)).min(1.0);
    let half = special::student_quantile(0.5 + level / 2.0, df) * error;
    let difference = Interval { low: distance - half, high: distance + half, level };
    Some(Welch { t, df, p, difference })
}
