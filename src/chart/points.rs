//! From samples to marks: medians with their exact 95 % intervals, and levels between steps.

use stats::Sample;
use stats::interval::median_interval;
use stats::summary::median;

use super::{CurvePoint, HistoryColumn, HistoryDot, Level};

impl CurvePoint {
    /// Median and interval of the samples; none when there is no finite one.
    pub fn of(tasks: u32, samples: &[f64]) -> Option<CurvePoint> {
        let (value, interval) = middle(samples)?;
        Some(CurvePoint { tasks, value, interval })
    }
}

impl HistoryDot {
    /// Median and interval of the samples; none when there is no finite one.
    pub fn of(samples: &[f64]) -> Option<HistoryDot> {
        let (value, interval) = middle(samples)?;
        Some(HistoryDot { value, interval })
    }
}

fn middle(samples: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
    let finite: Vec<f64> = samples.iter().copied().filter(|v| v.is_finite()).collect();
    let sample = Sample::new(&finite)?;
    let interval = median_interval(sample, 0.95).map(|interval| (interval.low, interval.high));
    Some((median(sample), interval))
}

/// The levels of a history that changes before each of the columns in `changes`: the median of the
/// runs between two changes. Segments without runs have no level.
pub fn levels(columns: &[HistoryColumn], changes: &[usize]) -> Vec<Level> {
    let mut starts: Vec<usize> = changes.iter().copied().filter(|at| *at < columns.len()).collect();
    starts.push(0);
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).copied().chain([columns.len()]);
    let level = |(from, end): (usize, usize)| {
        let segment = columns.get(from..end)?;
        let values: Vec<f64> =
            segment.iter().flat_map(|column| &column.dots).map(|dot| dot.value).collect();
        let value = median(Sample::new(&values)?);
        Some(Level { from, to: end - 1, value })
    };
    starts.iter().copied().zip(ends).filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> HistoryColumn {
        let dots = values.iter().filter_map(|value| HistoryDot::of(&[*value])).collect();
        HistoryColumn { dots, ..HistoryColumn::default() }
    }

    #[test]
    fn levels_are_medians_between_changes_and_skip_what_was_not_measured() {
        let columns = [column(&[1.0, 3.0]), column(&[2.0]), column(&[9.0]), column(&[11.0])];
        let found = levels(&columns, &[2]);
        let level = |from, to, value| Level { from, to, value };
        assert_eq!(found, [level(0, 1, 2.0), level(2, 3, 10.0)]);
        assert_eq!(levels(&columns, &[]).len(), 1);
        assert_eq!(levels(&[column(&[])], &[]), []);
        assert_eq!(levels(&[], &[7]), []);
    }

    #[test]
    fn few_samples_have_a_median_and_no_interval() {
        assert_eq!(CurvePoint::of(4, &[f64::NAN]), None);
        let few = CurvePoint::of(4, &[3.0, 1.0, 2.0]);
        assert_eq!(few, Some(CurvePoint { tasks: 4, value: 2.0, interval: None }));
        let many: Vec<f64> = (1..=9).map(f64::from).collect();
        let interval = CurvePoint::of(4, &many).and_then(|point| point.interval);
        assert_eq!(interval, Some((2.0, 8.0)));
    }
}
