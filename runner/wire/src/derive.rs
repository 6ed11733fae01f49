//! The values of a metric, computed from raw windows by both sides with the same code.

use crate::{Measured, Metric, Source, Window};

impl Measured {
    /// Values of `metric`, one a window (or one in all for [`Source::Values`] of length 1). Windows
    /// in which the value is not defined (no CPU time received, no task did anything) give none.
    pub fn values(&self, metric: &Metric) -> Vec<f64> {
        metric.source.values(&self.windows)
    }
}

impl Source {
    /// The values that follow from these windows; given values as they are.
    pub fn values(&self, windows: &[Window]) -> Vec<f64> {
        match self {
            Source::OpsPerSecond => windows.iter().map(Window::ops_per_s).collect(),
            Source::OpsPerCpuSecond => windows.iter().filter_map(Window::ops_per_cpu_s).collect(),
            Source::TaskFairness => windows.iter().filter_map(Window::fairness).collect(),
            Source::Values(values) => values.clone(),
        }
    }
}

impl Window {
    /// Operations per second over all tasks.
    pub fn ops_per_s(&self) -> f64 {
        sum(&self.ops) / (self.dt_ns as f64 / 1e9)
    }

    /// Operations per second of CPU time received; none when no CPU time was received.
    pub fn ops_per_cpu_s(&self) -> Option<f64> {
        let cpu_ns = sum(&self.cpu_ns);
        (cpu_ns > 0.0).then(|| sum(&self.ops) / (cpu_ns / 1e9))
    }

    /// Fewest ops of a task ÷ most ops of a task; none when no task did anything.
    pub fn fairness(&self) -> Option<f64> {
        let most = *self.ops.iter().max()?;
        let fewest = *self.ops.iter().min()?;
        (most > 0).then(|| fewest as f64 / most as f64)
    }
}

/// The sum over tasks; exact up to 2^53, and no number of tasks overflows it.
fn sum(counts: &[u64]) -> f64 {
    counts.iter().map(|count| u128::from(*count)).sum::<u128>() as f64
}
