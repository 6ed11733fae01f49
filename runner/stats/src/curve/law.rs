//! The Universal Scalability Law and what follows from its two coefficients.

/// X(n) = one · n / (1 + contention·(n − 1) + coherency·n·(n − 1)) (Gunther 1993): throughput of n
/// tasks, of which a part waits for what only one can hold, and each talks with all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Throughput of one task.
    pub one: f64,
    /// σ: share of the work that is serial, 0 or more; 0.03 is 3 %.
    pub contention: f64,
    /// κ: cost of each pair of tasks agreeing, as a share of the work, 0 or more.
    pub coherency: f64,
}

impl Law {
    /// Throughput of so many tasks.
    pub fn throughput(&self, tasks: f64) -> f64 {
        self.one * tasks / self.cost(tasks)
    }

    /// Throughput ÷ (tasks × throughput of one): 1 is ideal.
    pub fn scalability(&self, tasks: f64) -> f64 {
        1.0 / self.cost(tasks)
    }

    fn cost(&self, tasks: f64) -> f64 {
        1.0 + (self.contention + self.coherency * tasks) * (tasks - 1.0)
    }

    /// Task count of the greatest throughput, √((1 − σ) / κ), at least 1; none without coherency
    /// cost, for then it only levels off.
    pub fn peak(&self) -> Option<f64> {
        if self.contention >= 1.0 {
            return Some(1.0);
        }
        let peak = ((1.0 - self.contention) / self.coherency).sqrt();
        peak.is_finite().then_some(peak.max(1.0))
    }

    /// Task count at which perfect scaling would reach the greatest throughput, 1 ÷ σ without
    /// coherency cost: up to there tasks are worth adding. None where scaling is perfect.
    pub fn knee(&self) -> Option<f64> {
        let knee = match self.peak() {
            Some(peak) => peak * self.scalability(peak),
            None => 1.0 / self.contention,
        };
        knee.is_finite().then_some(knee.max(1.0))
    }
}
