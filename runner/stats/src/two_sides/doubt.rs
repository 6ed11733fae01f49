//! How wide the interval would be if builds of one code differed as they well may: what a change
//! must exceed to be confirmed where no history tells.

use super::DOUBTED_BETWEEN;
use super::interval::Estimate;
use super::units::{Unit, Units, pooled_sd};
use crate::{special, words};

/// Standard deviations of a difference that a noise floor, a 95 % limit, stands for.
const FLOOR_IN_DEVIATIONS: f64 = 1.96;

/// Half of the widened interval, and what it was widened for.
pub(super) struct Doubt {
    pub half: f64,
    pub why: String,
}

/// Runs: the floor where it was measured, else the deviation of runs, or that typical of the curve
/// where larger, times [`DOUBTED_BETWEEN`], on each side. Samples of one build are widened already, and here by twice as much again.
pub(super) fn doubt(
    units: &Units,
    found: &Estimate,
    typical: Option<f64>,
    (level, noise_floor, larger): (f64, f64, f64),
) -> Doubt {
    let (own, df) = pooled_sd(&units.base, &units.head).unwrap_or((0.0, 1.0));
    let quantile = special::student_quantile(0.5 + level / 2.0, df);
    let half = found.half();
    let (added, why) = if noise_floor > 0.0 {
        let floor = if units.logarithmic { noise_floor.ln_1p() } else { noise_floor * larger };
        let why = format!("by the noise floor, {}", words::share(noise_floor));
        (quantile * floor / FLOOR_IN_DEVIATIONS, why)
    } else if units.unit == Unit::Run {
        let deviation = DOUBTED_BETWEEN * typical.unwrap_or(0.0).max(own);
        (quantile * deviation * 2f64.sqrt(), format!("{DOUBTED_BETWEEN} times as their runs do"))
    } else {
        (2.0 * half, "twice as much again as was allowed for".to_owned())
    };
    Doubt { half: half.hypot(added), why }
}
