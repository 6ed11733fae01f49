//! The interval of a point's shift, on the scale of its units.

use super::builds::Builds;
use super::units::{Unit, Units};
use super::{BETWEEN_TO_WITHIN, LEAN_BELOW_DF};
use crate::interval::{Shift, hodges_lehmann, signed_rank};
use crate::{Sample, order, robust, special, summary, words};

/// A run further than this many robust deviations from its side's median is wild: it would carry
/// the mean, and the deviation with it.
const WILD: f64 = 7.0;

/// Share of alpha that is spent; the rest pays for noise with heavier tails than Student's t allows
/// for. At 1 % the rank test can still tell five runs from five: 2 / C(10, 5) = 0.8 %.
const SPENT: f64 = 0.8;

/// The same with history, whose scale and level are learnt from few builds: over curves of many
/// points that costs more than one test shows.
const SPENT_WITH_HISTORY: f64 = 0.6;

/// How the interval of a point is made; chosen once, so that every level of it agrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Method {
    /// Against the level and the scale of earlier builds.
    Builds(Builds),
    /// Inverts the Mann–Whitney test: no assumption on the noise, needs enough runs.
    Rank,
    /// Inverts the signed-rank test of runs that took turns; needs enough pairs.
    SignedRank,
    /// Shift ± Student's t · error.
    Student { shift: f64, error: f64, df: f64, of: &'static str },
}

/// Estimate and interval of head − base on the scale of the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub shift: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// Distance of the interval's nearer end from no change; negative when no change is inside.
    pub fn nearer(&self) -> f64 {
        if self.shift >= 0.0 { self.low } else { -self.high }
    }

    /// Distance of the shift from that end.
    pub fn half(&self) -> f64 {
        self.shift.abs() - self.nearer()
    }

    fn of(found: Shift) -> Option<Estimate> {
        let interval = found.interval?;
        Some(Estimate { shift: found.shift, low: interval.low, high: interval.high })
    }

    fn around(shift: f64, half: f64) -> Estimate {
        Estimate { shift, low: shift - half, high: shift + half }
    }
}

/// The level whose interval decides at an error rate of `alpha`.
pub(super) const fn level(units: &Units, alpha: f64) -> f64 {
    let spent = if units.builds.is_some() { SPENT_WITH_HISTORY } else { SPENT };
    1.0 - spent * alpha
}

impl Method {
    /// A rank test where the smallest p it can give, 2 / C(n + m, n) or of n pairs 2 / 2ⁿ, is twenty
    /// times below alpha, for with fewer runs hardly any interval of it would be narrower than
    /// everything; or below alpha where a run is wild. None when the numbers overflow.
    pub fn choose(units: &Units, alpha: f64, typical: Option<f64>) -> Option<Method> {
        if let Some(builds) = units.builds {
            return Some(Method::Builds(builds));
        }
        let (n, m) = (units.base.len() as f64, units.head.len() as f64);
        let ln_ways = match &units.pairs {
            Some(pairs) => pairs.len() as f64 * 2f64.ln(),
            None => {
                special::ln_gamma(n + m + 1.0)
                    - special::ln_gamma(n + 1.0)
                    - special::ln_gamma(m + 1.0)
            }
        };
        let ln_least = 2f64.ln() - ln_ways;
        let enough = ln_least < (alpha / 20.0).ln();
        let possible = ln_least < (SPENT * alpha).ln();
        if units.unit == Unit::Run && (enough || (possible && has_wild_run(units))) {
            return Some(if units.pairs.is_some() { Method::SignedRank } else { Method::Rank });
        }
        let (base, head) = (Sample::new(&units.base)?, Sample::new(&units.head)?);
        let (error, df, of) = error(units, typical)?;
        Some(Method::Student { shift: summary::mean(head) - summary::mean(base), error, df, of })
    }

    /// None when the numbers overflow.
    pub fn estimate(&self, units: &Units, level: f64) -> Option<Estimate> {
        let quantile = |df| special::student_quantile(0.5 + level / 2.0, df);
        let found = match self {
            Method::Builds(builds) => {
                let error = builds.error().max(units.within_error);
                Estimate::around(builds.shift(), quantile(builds.df()) * error)
            }
            Method::Student { shift, error, df, .. } => {
                Estimate::around(*shift, quantile(*df) * error)
            }
            Method::Rank => {
                let (base, head) = (Sample::new(&units.base)?, Sample::new(&units.head)?);
                Estimate::of(hodges_lehmann(base, head, level))?
            }
            Method::SignedRank => {
                Estimate::of(signed_rank(Sample::new(units.pairs.as_ref()?)?, level))?
            }
        };
        [found.shift, found.low, found.high].iter().all(|v| v.is_finite()).then_some(found)
    }

    /// The figures an interval of Student's t is computed from, to be checked by hand.
    pub fn figures(&self, logarithmic: bool, level: f64) -> Option<String> {
        let Method::Student { shift, error, df, of } = self else { return None };
        let quantile = special::student_quantile(0.5 + level / 2.0, *df);
        Some(format!(
            "{}, means: {}; standard error {} {of}; Student's t at {:.1} %, {df} degrees of freedom: \
             {}",
            if logarithmic { "ln head − ln base" } else { "head − base" },
            words::digits(*shift),
            words::digits(*error),
            100.0 * level,
            words::digits(quantile)
        ))
    }

    pub const fn note(&self) -> &'static str {
        match self {
            Method::Builds(_) => "interval: Student's t, scale of the builds",
            Method::Rank => "interval: inverted Mann–Whitney test",
            Method::SignedRank => "interval: inverted signed-rank test of the pairs",
            Method::Student { .. } => "interval: Student's t, pooled deviation",
        }
    }
}

fn has_wild_run(units: &Units) -> bool {
    let mut distances = Vec::with_capacity(units.base.len() + units.head.len());
    let sides = match &units.pairs {
        Some(pairs) => vec![pairs],
        None => vec![&units.base, &units.head],
    };
    for side in sides {
        let middle = order::median(side).unwrap_or(0.0);
        distances.extend(side.iter().map(|v| (v - middle).abs()));
    }
    let scale = robust::MAD_TO_SD * order::median(&distances).unwrap_or(0.0);
    // Where half of the runs are equal nothing tells what is wild.
    scale > 0.0 && distances.iter().any(|&distance| distance > WILD * scale)
}

/// Standard error of the shift and its degrees of freedom. Runs: their pooled deviation, never less
/// than the samples within them allow, and with few runs never less than sqrt((2·typical² +
/// df·sd²) / (2 + df)), typical being the curve's. Samples: widened by the variation between builds
/// that a single build cannot show, and never less than what the runs show.
fn error(units: &Units, typical: Option<f64>) -> Option<(f64, f64, &'static str)> {
    let (own, df) = units.deviation()?;
    let lean = |typical: f64| ((2.0 * typical.powi(2) + df * own.powi(2)) / (2.0 + df)).sqrt();
    let sd = match typical {
        Some(typical) if df < LEAN_BELOW_DF && units.unit == Unit::Run => own.max(lean(typical)),
        _ => own,
    };
    let seen = sd * (1.0 / units.base.len() as f64 + 1.0 / units.head.len() as f64).sqrt();
    let (error, of) = match units.unit {
        Unit::Run if units.within_error > seen => {
            (units.within_error, "of the samples within runs, more than the runs differ by")
        }
        Unit::Run if units.pairs.is_some() => (seen, "of the pairs"),
        Unit::Run => (seen, "of the runs"),
        Unit::Sample => {
            let widened = seen * (1.0 + BETWEEN_TO_WITHIN * BETWEEN_TO_WITHIN).sqrt();
            match units.between_error.filter(|&between| between > widened) {
                Some(between) => (between, "of the runs' means, more than their samples allow"),
                None => (widened, "of the samples, √17 times for builds that were not seen"),
            }
        }
    };
    Some((error, df, of))
}
