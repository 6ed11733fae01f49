//! How well a point is known, and whether that is as well as was asked for.

use std::time::Duration;

use stats::two_sides::{History, Policy, Sides};
use wire::{Direction, Outcome, Point};

use crate::harness::{Until, half_width};
use crate::show::figures::counted;

/// Fewest pairs before a budget that has run out ends a point: fewer give no verdict.
const LEAST_PAIRS: u32 = 3;

/// The runs of one point of a paired run, as they come in.
#[derive(Debug, Clone, Default)]
pub struct PairedPoint {
    base: Vec<Vec<f64>>,
    head: Vec<Vec<f64>>,
    direction: Option<Direction>,
    /// Time spent on it.
    pub spent: Duration,
}

impl PairedPoint {
    /// Adds a pair, by the metric people look at first; one with a failed side gives no values.
    pub fn add(&mut self, base: &Point, head: &Point) {
        let (Outcome::Measured(base), Outcome::Measured(head)) = (&base.outcome, &head.outcome)
        else {
            return;
        };
        let metric = &base.metrics[0];
        self.direction = Some(metric.direction);
        self.base.push(base.values(metric));
        self.head.push(head.values(&head.metrics[0]));
    }

    /// Half the width of the 95 % interval of head ÷ base, relative to its middle.
    pub fn half_width(&self) -> Option<f64> {
        let direction = match self.direction? {
            Direction::Higher => stats::Direction::Higher,
            Direction::Lower => stats::Direction::Lower,
        };
        let (base, head) = (self.base.clone(), self.head.clone());
        let sides = Sides { history: History::OneBuild, paired: true, ..Sides::new(1, base, head) };
        let judged = stats::two_sides::judge(&[sides], direction, &Policy::default());
        let (low, high) = judged.points[0].interval_95?;
        Some((high - low) / (high + low))
    }

    /// Whether `pairs` pairs are enough, `least` being asked for at least.
    pub fn is_enough(&self, until: &Until, pairs: u32, least: u32) -> bool {
        let known = || self.half_width().is_some_and(|half| half <= until.half_width);
        (pairs >= LEAST_PAIRS && self.spent >= until.budget) || (pairs >= least && known())
    }

    /// How well the ratio is known, and what ended the measuring.
    pub fn in_words(&self, until: &Until) -> String {
        let pairs = counted(self.base.len().min(self.head.len()) as u32, "pair");
        sentence("head ÷ base", self.half_width(), until, &pairs)
    }
}

/// The same for a point of a plain run, whose mean counts.
pub fn of_point(point: &Point, until: &Until) -> Option<String> {
    let Outcome::Measured(measured) = &point.outcome else { return None };
    let windows = counted(measured.windows.len() as u32, "window");
    Some(sentence("mean", half_width(&measured.windows), until, &windows))
}

fn sentence(what: &str, half: Option<f64>, until: &Until, after: &str) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    match half {
        Some(half) if half <= until.half_width => {
            format!("{what} known to ±{} after {after}", percent(half))
        }
        half => {
            let known =
                half.map_or_else(|| "not known".into(), |h| format!("known to ±{}", percent(h)));
            let (budget, asked) = (until.budget, percent(until.half_width));
            format!("the budget of {budget:?} ended after {after}: {what} {known}, not to ±{asked}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(n: usize, noise: f64) -> PairedPoint {
        // What falls on both sides of a pair alike is no noise.
        let runs = |level: f64, shift: usize| -> Vec<Vec<f64>> {
            (0..n).map(|i| vec![level * (1.0 + noise * ((i + shift) % 3) as f64); 3]).collect()
        };
        PairedPoint {
            base: runs(100.0, 0),
            head: runs(110.0, 1),
            direction: Some(Direction::Higher),
            spent: Duration::from_secs(9),
        }
    }

    #[test]
    fn a_ratio_is_enough_when_it_is_narrow_or_when_the_time_is_up() {
        let until = Until { half_width: 0.01, budget: Duration::from_secs(10) };
        assert!(pairs(6, 0.0001).is_enough(&until, 6, 5));
        assert!(!pairs(6, 0.0001).is_enough(&until, 4, 5), "fewer pairs than asked for");
        assert!(!pairs(6, 0.05).is_enough(&until, 6, 5), "wide, and there is time");
        let late = PairedPoint { spent: until.budget, ..pairs(6, 0.05) };
        assert!(late.is_enough(&until, 3, 5));
        assert!(late.in_words(&until).starts_with("the budget of 10s ended after 6 pairs"));
        assert!(pairs(6, 0.0001).in_words(&until).starts_with("head ÷ base known to ±0.0"));
    }

    #[test]
    fn a_point_that_only_fails_is_never_known() {
        let nothing = PairedPoint::default();
        assert_eq!(nothing.half_width(), None);
        let until = Until { half_width: 0.01, budget: Duration::from_secs(10) };
        assert!(nothing.in_words(&until).contains("not known"));
    }
}
