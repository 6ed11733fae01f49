//! From values to positions: ticks of an axis of values and the log₂ axis of task counts.

/// An axis of values over round ticks: linear, or logarithmic where it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
    pub(super) is_log: bool,
}

impl Values {
    /// log₁₀ around the positive values, ends and ticks at 1, 2 and 5 times powers of ten, at most
    /// six ticks; linear from 0 where none is positive.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Values {
        let (low, high) = extent(values.filter(|value| *value > 0.0));
        if high <= 0.0 {
            return Values::from_zero(std::iter::empty());
        }
        let powers = (low.log10().floor() as i32 - 1)..=(high.log10().ceil() as i32 + 1);
        let round: Vec<f64> =
            powers.flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(power))).collect();
        let slack = 1e-9;
        let first = round.iter().rposition(|tick| *tick <= low * (1.0 + slack)).unwrap_or(0);
        let last = round.iter().position(|tick| *tick >= high * (1.0 - slack));
        let last = last.unwrap_or(round.len() - 1).max(first + 1).min(round.len() - 1);
        let all = &round[first..=last];
        let every = all.len().div_ceil(6);
        let ticks = all.iter().copied().step_by(every).collect();
        Values { low: all[0], high: all[all.len() - 1], ticks, is_log: true }
    }

    /// From 0 (or below it, where values are negative) to the first tick past the largest value.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Values {
        let (low, high) = extent(values);
        Values::over(low.min(0.0), high.max(0.0))
    }

    /// Around the values, at least a tenth of the largest magnitude wide; from 0 where the values
    /// reach into the lowest quarter anyway.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Values {
        let (low, high) = extent(values);
        let span = (high - low).max(0.1 * high.abs().max(low.abs()));
        let middle = (low + high) / 2.0;
        let (from, to) = (middle - span * 0.6, middle + span * 0.6);
        if low >= 0.0 && from < 0.25 * to {
            return Values::over(0.0, to);
        }
        Values::over(from, to)
    }

    fn over(low: f64, high: f64) -> Values {
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / 4.0);
        let first = (low / step).floor() as i64;
        let last = (high / step).ceil() as i64;
        let ticks: Vec<f64> = (first..=last).map(|i| i as f64 * step).collect();
        Values { low: first as f64 * step, high: last as f64 * step, ticks, is_log: false }
    }

    /// Whether a value has a place: all finite ones, on a logarithmic axis the positive ones.
    pub(super) fn has_place(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_log || value > 0.0)
    }

    /// Share of the axis below `value`, 0 to 1 for values on it; 0 for what has no place.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.is_log {
            return match value > 0.0 {
                true => (value / self.low).log10() / (self.high / self.low).log10(),
                false => 0.0,
            };
        }
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
            let axis = Values::from_zero([top].into_iter());
            assert!(axis.ticks.len() <= 6 && axis.low == 0.0 && axis.high >= top, "{axis:?}");
        }
        let axis = Values::around([100.0, 103.0].into_iter());
        assert!(axis.low > 80.0 && axis.low <= 100.0 && axis.high >= 103.0, "{axis:?}");
    }

    #[test]
    fn constant_empty_and_negative_values_have_an_axis_too() {
        assert!(Values::from_zero(std::iter::empty()).high > 0.0);
        assert!(Values::around([0.0, 0.0].into_iter()).share(0.0).is_finite());
        let negative = Values::from_zero([-3.0, -1.0].into_iter());
        assert!(negative.low <= -3.0 && negative.high == 0.0);
    }

    #[test]
    fn a_logarithmic_axis_has_few_round_ticks_and_equal_steps_for_equal_ratios() {
        for (low, high) in [(3.0, 3.0), (0.002, 0.9), (1.0, 1e9), (170e3, 295e3), (99.0, 101.0)] {
            let axis = Values::log([low, high].into_iter());
            assert!(axis.low <= low && axis.high >= high && axis.low < axis.high, "{axis:?}");
            assert!((2..=6).contains(&axis.ticks.len()), "{axis:?}");
            let step = axis.share(2.0 * low) - axis.share(low);
            assert!((axis.share(8.0 * low) - axis.share(4.0 * low) - step).abs() < 1e-9);
        }
        let axis = Values::log([0.0, -1.0, f64::NAN].into_iter());
        assert!(!axis.is_log && axis.share(0.0).is_finite());
        let axis = Values::log([0.0, 10.0].into_iter());
        assert!(!axis.has_place(0.0) && axis.has_place(10.0) && axis.share(0.0) == 0.0);
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
