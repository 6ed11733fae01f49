//! Laws that the same curve might have given: a parametric bootstrap around the fitted law.

use super::fit::{Measured, fit, residuals};
use super::{Law, Policy};
use crate::order;
use crate::random::Random;

/// A point further off than this many deviations of the others is an outlier.
const OUTLIER: f64 = 4.0;

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
    pub fn of(points: &[Measured], law: &Law) -> Spread {
        let off = residuals(points, law);
        let sizes: Vec<f64> = off.iter().map(|r| r.abs()).collect();
        let n = points.len() as f64;
        let typical =
            crate::robust::MAD_TO_SD * order::median(&sizes).unwrap_or(0.0) * n / (n - 3.0);
        // With so few points no one of them can be told from the law.
        let limit = if points.len() < 6 { f64::INFINITY } else { OUTLIER * typical };
        let is_out = |(point, size): &(&Measured, &f64)| **size > limit.max(OUTLIER * point.error);
        let both = || points.iter().zip(&sizes);
        let outliers: Vec<u32> =
            both().filter(is_out).map(|(point, _)| point.tasks as u32).collect();
        let squares: f64 = both().filter(|one| !is_out(one)).map(|(_, s)| s * s).sum();
        let df = points.len().saturating_sub(outliers.len() + 3).max(1);
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
            fit(&moved, Some(*law))
        })
        .collect()
}
