//! Laws that the same curve might have given: a parametric bootstrap around the fitted law.

use super::fit::{Measured, nearest, residuals};
use super::{Law, Policy};
use crate::random::Random;

/// How far points lie from the law.
pub(super) struct Spread {
    /// Relative deviation, outliers left out, three degrees of freedom spent.
    pub deviation: f64,
    /// Degrees of freedom it rests on.
    pub df: usize,
    /// Task counts far off.
    pub outliers: Vec<u32>,
}

impl Spread {
    /// Of a law to which the points at `out` were not fitted.
    pub fn of(points: &[Measured], law: &Law, out: &[usize]) -> Spread {
        let off = residuals(points, law);
        let kept = (0..points.len()).filter(|i| !out.contains(i));
        let squares: f64 = kept.map(|i| off[i] * off[i]).sum();
        let df = points.len().saturating_sub(out.len() + 3).max(1);
        let outliers = out.iter().map(|&i| points[i].tasks as u32).collect();
        Spread { deviation: (squares / df as f64).sqrt(), df, outliers }
    }
}

/// Each law is fitted to the points of the first, moved by normal noise of its deviation, or of the
/// point's own error where that is larger. The deviation itself is drawn as it is known, from
/// `df` degrees of freedom, so that intervals are those of Student's t.
pub(super) fn laws(points: &[Measured], law: &Law, spread: &Spread, policy: &Policy) -> Vec<Law> {
    let mut random = Random::new(policy.seed);
    let kept: Vec<&Measured> =
        points.iter().filter(|p| !spread.outliers.contains(&(p.tasks as u32))).collect();
    (0..policy.replicates)
        .filter_map(|_| {
            let chi_squared: f64 = (0..spread.df).map(|_| random.normal().powi(2)).sum();
            let deviation = spread.deviation * (spread.df as f64 / chi_squared).sqrt();
            let moved: Vec<Measured> = kept
                .iter()
                .map(|point| {
                    let noise = deviation.max(point.error) * random.normal();
                    let throughput = law.throughput(point.tasks) * noise.exp();
                    Measured { throughput, ..**point }
                })
                .collect();
            nearest(&moved)
        })
        .collect()
}
