//! From values to positions: ticks of a linear axis and the log₂ axis of task counts.

/// A linear axis over round ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linear {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
}

impl Linear {
    /// From 0 (or below it, where values are negative) to the first tick past the largest value.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Linear {
        let (low, high) = extent(values);
        Linear::over(low.min(0.0), high.max(0.0))
    }

    /// Around the values, at least a tenth of the largest magnitude wide; from 0 where the values
    /// reach into the lowest quarter anyway.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Linear {
        let (low, high) = extent(values);
        let span = (high - low).max(0.1 * high.abs().max(low.abs()));
        let middle = (low + high) / 2.0;
        let (from, to) = (middle - span * 0.6, middle + span * 0.6);
        if low >= 0.0 && from < 0.25 * to {
            return Linear::over(0.0, to);
        }
        Linear::over(from, to)
    }

    fn over(low: f64, high: f64) -> Linear {
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / 4.0);
        let first = (low / step).floor() as i64;
        let last = (high / step).ceil() as i64;
        let ticks: Vec<f64> = (first..=last).map(|i| i as f64 * step).collect();
        Linear { low: first as f64 * step, high: last as f64 * step, ticks }
    }

    /// Share of the axis below `value`, 0 to 1 for values on it.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// log₂ of task counts, from the least to the greatest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tasks {
    low: f64,
    high: f64,
}

impl Tasks {
    pub(super) fn over(counts: &[u32]) -> Tasks {
        let logs = counts.iter().map(|n| f64::from(*n).log2());
        let (low, high) = extent(logs);
        // A single count stands in the middle.
        if high > low { Tasks { low, high } } else { Tasks { low: low - 1.0, high: low + 1.0 } }
    }

    pub(super) fn share(&self, tasks: f64) -> f64 {
        (tasks.log2() - self.low) / (self.high - self.low)
    }
}

/// Least and greatest of the finite values; 0 and 0 when there are none.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let found = values.filter(|v| v.is_finite()).fold(None, |found: Option<(f64, f64)>, v| {
        Some(found.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    });
    found.unwrap_or((0.0, 0.0))
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `step`.
pub(super) fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0].into_iter().find(|m| m * power >= step * (1.0 - 1e-9));
    round.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_has_at_most_six_round_ticks_around_its_values() {
        for top in [0.003, 1.0, 7.0, 99.0, 295_287.0, 4.2e9] {
            let axis = Linear::from_zero([top].into_iter());
            assert!(axis.ticks.len() <= 6 && axis.low == 0.0 && axis.high >= top, "{axis:?}");
        }
        let axis = Linear::around([100.0, 103.0].into_iter());
        assert!(axis.low > 80.0 && axis.low <= 100.0 && axis.high >= 103.0, "{axis:?}");
    }

    #[test]
    fn constant_empty_and_negative_values_have_an_axis_too() {
        assert!(Linear::from_zero(std::iter::empty()).high > 0.0);
        assert!(Linear::around([0.0, 0.0].into_iter()).share(0.0).is_finite());
        let negative = Linear::from_zero([-3.0, -1.0].into_iter());
        assert!(negative.low <= -3.0 && negative.high == 0.0);
    }

    #[test]
    fn doubling_the_tasks_moves_as_far_everywhere() {
        let axis = Tasks::over(&[1, 2, 64]);
        let step = axis.share(2.0) - axis.share(1.0);
        assert!((axis.share(64.0) - axis.share(32.0) - step).abs() < 1e-12);
        assert_eq!((axis.share(1.0), axis.share(64.0)), (0.0, 1.0));
        assert_eq!(Tasks::over(&[4]).share(4.0), 0.5);
    }
}
