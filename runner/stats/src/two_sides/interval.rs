//! The interval of a point's shift, on the scale of its units.

use super::units::{Unit, Units, pooled_sd};
use super::{BETWEEN_TO_WITHIN, LEAN_BELOW_DF};
use crate::interval::hodges_lehmann;
use crate::{Sample, special, summary};

/// How the interval of a point is made; chosen once, so that every level of it agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Inverts the Mann–Whitney test: no assumption on the noise, needs enough runs.
    Rank,
    /// Student's t with the pooled deviation: for few runs.
    Student,
}

impl Method {
    /// Rank where the smallest p it can give, 2 / C(n + m, n), is twenty times below alpha: with
    /// fewer runs hardly any interval of it would be narrower than everything.
    pub(super) fn choose(units: &Units, alpha: f64) -> Method {
        let (n, m) = (units.base.len() as f64, units.head.len() as f64);
        let ln_ways = special::ln_gamma(n + m + 1.0)
            - special::ln_gamma(n + 1.0)
            - special::ln_gamma(m + 1.0);
        let enough = 2f64.ln() - ln_ways < (alpha / 20.0).ln();
        if units.unit == Unit::Run && enough { Method::Rank } else { Method::Student }
    }

    pub(super) const fn note(self) -> &'static str {
        match self {
            Method::Rank => "interval: inverted Mann–Whitney test",
            Method::Student => "interval: Student's t, pooled deviation",
        }
    }
}

/// Estimate and interval of head − base on the scale of the units.
pub(super) struct Estimate {
    pub shift: f64,
    pub low: f64,
    pub high: f64,
}

/// None when the numbers overflow.
pub(super) fn estimate(
    units: &Units,
    method: Method,
    typical: Option<f64>,
    level: f64,
) -> Option<Estimate> {
    let (base, head) = (Sample::new(&units.base)?, Sample::new(&units.head)?);
    let (shift, low, high) = match method {
        Method::Rank => {
            let found = hodges_lehmann(base, head, level);
            let interval = found.interval?;
            (found.shift, interval.low, interval.high)
        }
        Method::Student => {
            let shift = summary::mean(head) - summary::mean(base);
            let (error, df) = error(units, typical)?;
            let half = special::student_quantile(0.5 + level / 2.0, df) * error;
            (shift, shift - half, shift + half)
        }
    };
    [shift, low, high].iter().all(|v| v.is_finite()).then_some(Estimate { shift, low, high })
}

/// Standard error of the shift and its degrees of freedom. Runs: their pooled deviation, never less
/// than the samples within them allow, and with few runs never less than sqrt((2·typical² +
/// df·sd²) / (2 + df)), typical being the curve's. Samples: widened by the variation between builds
/// that a single build cannot show, and never less than what the runs show.
pub(super) fn error(units: &Units, typical: Option<f64>) -> Option<(f64, f64)> {
    let (own, df) = pooled_sd(&units.base, &units.head)?;
    let lean = |typical: f64| ((2.0 * typical.powi(2) + df * own.powi(2)) / (2.0 + df)).sqrt();
    let sd = match typical {
        Some(typical) if df < LEAN_BELOW_DF && units.unit == Unit::Run => own.max(lean(typical)),
        _ => own,
    };
    let seen = sd * (1.0 / units.base.len() as f64 + 1.0 / units.head.len() as f64).sqrt();
    let error = match units.unit {
        Unit::Run => seen.max(units.within_error),
        Unit::Sample => {
            let widened = seen * (1.0 + BETWEEN_TO_WITHIN * BETWEEN_TO_WITHIN).sqrt();
            widened.max(units.between_error.unwrap_or(0.0))
        }
    };
    Some((error, df))
}
