//! How a point is measured, beyond what decides what it is.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stats::Sample;
use wire::Window;

/// What is done to get a point right. The default: this program, every window once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manner {
    /// The runner whose child measures; none is this program.
    pub executable: Option<PathBuf>,
    /// Most disturbed windows that are thrown away and measured again.
    pub remeasure: u32,
    /// Goes on beyond the windows of the plan until the mean is known this well.
    pub until: Option<Until>,
    /// Lets the tasks run on for so long, recorded by perf.
    pub profile: Option<Duration>,
    /// Longest time for all of it; a point that takes longer fails, and is left behind where the
    /// kernel does not let go of it.
    pub limit: Option<Duration>,
}

/// When there are enough windows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the 95 % interval, relative, e.g. 0.01.
    pub half_width: f64,
    /// Longest time spent on it.
    pub budget: Duration,
}

impl Until {
    /// Whether the mean rate of these windows is known well enough, or the time is up.
    pub(crate) fn is_enough(&self, windows: &[Window], elapsed: Duration) -> bool {
        let known = half_width(windows).is_some_and(|half| half <= self.half_width);
        known || elapsed >= self.budget || windows.len() >= wire::limits::WINDOWS
    }
}

/// Half the width of the 95 % interval of the mean of the windows' operations per second, relative
/// to it (Student). None for fewer than two windows.
pub fn half_width(windows: &[Window]) -> Option<f64> {
    let rates: Vec<f64> = windows.iter().map(Window::ops_per_s).collect();
    let sample = Sample::new(&rates)?;
    let interval = stats::interval::student(sample, 0.95)?;
    let mean = stats::summary::mean(sample);
    (mean > 0.0).then(|| (interval.high - interval.low) / 2.0 / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(ops: &[u64]) -> Vec<Window> {
        let window = |&n: &u64| Window { dt_ns: 1_000_000_000, ops: vec![n], cpu_ns: vec![1] };
        ops.iter().map(window).collect()
    }

    #[test]
    fn enough_is_a_narrow_interval_or_the_end_of_the_budget() {
        let until = Until { half_width: 0.01, budget: Duration::from_secs(10) };
        let (wild, calm) = (windows(&[90, 110, 100]), windows(&[1000, 1001, 999, 1000]));
        assert!(!until.is_enough(&wild, Duration::from_secs(9)));
        assert!(until.is_enough(&wild, Duration::from_secs(10)));
        assert!(until.is_enough(&calm, Duration::ZERO));
        assert!(!until.is_enough(&calm[..1], Duration::ZERO));
        // t(0.975; 2) · 10 ÷ √3 ÷ 100.
        let half = half_width(&wild).expect("three windows");
        assert!((half - 0.2484).abs() < 1e-3, "{half}");
    }
}
