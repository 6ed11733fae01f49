//! A fit in words, as reports and pages print it.

use super::{Change, Fit, LARGEST_MISFIT, LEAST_POINTS, LEAST_SPAN, Refusal, Shape};
use crate::interval::Interval;
use crate::words;

impl Fit {
    /// `contention 3.1 % (2.8–3.5), coherency 0.020 % (0.010–0.031), peak at 14 tasks`.
    pub fn words(&self) -> String {
        format!(
            "contention {}, coherency {}, {}",
            self.contention_in_words(),
            self.coherency_in_words(),
            self.peak_in_words()
        )
    }

    /// `3.1 % (2.8–3.5)`.
    pub fn contention_in_words(&self) -> String {
        share_with_interval(self.law.contention, self.contention)
    }

    /// `0.020 % (0.010–0.031)`.
    pub fn coherency_in_words(&self) -> String {
        share_with_interval(self.law.coherency, self.coherency)
    }

    /// How far the points lie from the law: `1.3 %`.
    pub fn misfit_in_words(&self) -> String {
        words::share(self.misfit)
    }

    /// `peak at 14 tasks (12–17)`; where it lies beyond what was measured, that.
    pub fn peak_in_words(&self) -> String {
        let beyond = || format!("no peak up to {} tasks", self.largest);
        match (self.law.peak(), self.peak) {
            (Some(peak), Some(interval)) if peak <= f64::from(self.largest) => {
                let tasks = if peak.round() == 1.0 { "task" } else { "tasks" };
                let (low, high) = (interval.low.round(), interval.high.round());
                let doubt = match self.shape {
                    Shape::Retrograde if low == high => String::new(),
                    Shape::Retrograde => format!(" ({low}–{high})"),
                    _ => format!(" ({low} or more)"),
                };
                format!("peak at {peak:.0} {tasks}{doubt}")
            }
            _ => beyond(),
        }
    }
}

impl Refusal {
    /// Why, as the end of `no law fitted: …`.
    pub fn words(&self) -> String {
        match self {
            Refusal::FewPoints(points) => {
                let counted = words::counted(*points, "task count");
                format!("{counted} with positive values, {LEAST_POINTS} needed")
            }
            Refusal::NarrowSpan(smallest, largest) => format!(
                "task counts from {smallest} to {largest} only: the largest must be {LEAST_SPAN} \
                 times the smallest"
            ),
            Refusal::Misfit(deviation) => format!(
                "the points lie {} off the best law, more than {}: it does not describe them",
                words::share(*deviation),
                words::share(LARGEST_MISFIT)
            ),
            Refusal::Overflow => "the numbers overflow".to_owned(),
        }
    }
}

impl Change {
    /// `regression: contention 3.1 % → 5.0 %`, `no change: coherency 0.020 % → 0.022 %`.
    pub fn words(&self) -> String {
        format!(
            "{}: {} {} → {}",
            self.verdict.words(),
            self.coefficient.word(),
            words::share(self.base),
            words::share(self.head)
        )
    }
}

/// `3.1 % (2.8–3.5)`; an interval that rounds to the value alone is left out.
fn share_with_interval(value: f64, interval: Interval) -> String {
    let figure = |v: f64| words::share(v).trim_end_matches(" %").to_owned();
    let (low, high) = (figure(interval.low), figure(interval.high));
    match low == high {
        true => words::share(value),
        false => format!("{} ({low}–{high})", words::share(value)),
    }
}
