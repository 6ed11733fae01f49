//! How good the alerts are, measured by what people decided about them.

use serde::Serialize;

/// Fewest decisions that a share is told of.
pub const LEAST_DECIDED: i64 = 5;

/// Quantile of the normal distribution of a 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// What alerts are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// All together.
    All,
    /// The line of the evidence that decided.
    Rule,
    /// The machine that showed it.
    Machine,
    /// The workload that showed it.
    Workload,
}

impl Grouping {
    /// Every one, as pages show them.
    pub const EVERY: [Grouping; 4] =
        [Grouping::All, Grouping::Rule, Grouping::Machine, Grouping::Workload];

    /// The word in the database and in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Grouping::All => "all",
            Grouping::Rule => "rule",
            Grouping::Machine => "machine",
            Grouping::Workload => "workload",
        }
    }

    /// The grouping with this word.
    pub fn parse(word: &str) -> Option<Grouping> {
        Grouping::EVERY.into_iter().find(|grouping| grouping.word() == word)
    }
}

/// The incidents of one group, by what was decided about them. An incident counts once in each
/// group that has a standing step of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quality {
    /// What the group is of.
    pub grouping: Grouping,
    /// Rule, machine or workload; empty where all are together.
    pub name: String,
    /// Real changes: confirmed, fixed, not to be fixed, intended.
    pub real: i64,
    /// False alarms: invalid for noise, environment, workload or measurement.
    pub false_alarms: i64,
    /// Not decided yet, those that went away by themselves included.
    pub open: i64,
}

impl Quality {
    /// Share of real changes among the decided, with its 95 % interval (Wilson 1927); none below
    /// [`LEAST_DECIDED`] decisions.
    pub fn precision(&self) -> Option<(f64, f64, f64)> {
        let decided = self.real + self.false_alarms;
        if decided < LEAST_DECIDED {
            return None;
        }
        let (n, share) = (decided as f64, self.real as f64 / decided as f64);
        let over = 1.0 + Z * Z / n;
        let middle = (share + Z * Z / (2.0 * n)) / over;
        let half = Z / over * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some((share, (middle - half).max(0.0), (middle + half).min(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality(real: i64, false_alarms: i64) -> Quality {
        Quality { grouping: Grouping::All, name: String::new(), real, false_alarms, open: 9 }
    }

    #[test]
    fn a_share_has_wilsons_interval_and_few_decisions_have_none() {
        assert_eq!(quality(3, 1).precision(), None, "what is open decides nothing");
        let (share, low, high) = quality(8, 2).precision().unwrap();
        // Newcombe 1998: 8 of 10 has 0.4902 to 0.9433.
        assert_eq!(share, 0.8);
        assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4, "{low} {high}");
        let (share, low, high) = quality(5, 0).precision().unwrap();
        assert!(share == 1.0 && low > 0.56 && high == 1.0, "{low} {high}");
    }
}
