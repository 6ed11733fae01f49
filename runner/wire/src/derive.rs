//! The values of a metric, computed from raw windows by both sides with the same code.

use crate::{Measured, Metric, Source, Window};

impl Measured {
    /// Values of `metric`, one a window (or one in all for [`Source::Values`] of length 1). Windows
    /// in which the value is not defined (no CPU time received, no task did anything) give none.
    pub fn values(&self, metric: &Metric) -> Vec<f64> {
        match &metric.source {
            Source::OpsPerSecond => self.windows.iter().map(Window::ops_per_s).collect(),
            Source::OpsPerCpuSecond => {
                self.windows.iter().filter_map(Window::ops_per_cpu_s).collect()
            }
            Source::TaskFairness => self.windows.iter().filter_map(Window::fairness).collect(),
            Source::Values(values) => values.clone(),
        }
    }
}

impl Window {
    /// Operations per second over all tasks.
    pub fn ops_per_s(&self) -> f64 {
        self.total_ops() as f64 / (self.dt_ns as f64 / 1e9)
    }

    /// Operations per second of CPU time received; none when no CPU time was received.
    pub fn ops_per_cpu_s(&self) -> Option<f64> {
        let cpu_ns: u64 = self.cpu_ns.iter().sum();
        (cpu_ns > 0).then(|| self.total_ops() as f64 / (cpu_ns as f64 / 1e9))
    }

    /// Fewest ops of a task ÷ most ops of a task; none when no task did anything.
    pub fn fairness(&self) -> Option<f64> {
        let most = *self.ops.iter().max()?;
        let fewest = *self.ops.iter().min()?;
        (most > 0).then(|| fewest as f64 / most as f64)
    }

    fn total_ops(&self) -> u64 {
        self.ops.iter().sum()
    }
}
