//! How a curve scales, revision by revision: the law through the points of one revision in one
//! environment, and the figures of it that have a history of their own.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{BranchId, EnvironmentId, RevisionId, RunId};

/// A figure with its 95 % interval; an end is none where it lies beyond any number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = OpenEstimate)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// The Universal Scalability Law through the points of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FittedLaw {
    /// Throughput of one task by the law.
    pub one: f64,
    /// σ: share of the work that is serial.
    pub contention: Estimate,
    /// κ: cost of each pair of tasks agreeing, as a share of the work.
    pub coherency: Estimate,
    /// Task count at which perfect scaling would reach the greatest throughput; none where scaling
    /// is perfect.
    pub knee: Option<Estimate>,
    /// Task count of the greatest throughput; none where it only levels off.
    pub peak: Option<Estimate>,
    /// `linear`, `bending` or `retrograde`, up to the largest task count.
    pub shape: String,
    /// Relative deviation of the points from the law.
    pub misfit: f64,
    /// Task counts left out, being far off.
    pub outliers: Vec<u32>,
    /// Largest task count.
    pub largest: u32,
}

/// The law of one revision in one environment, or why there is none. A gap is a gap: no figure of
/// it is 0 for that.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Revision.
    pub revision: RevisionId,
    /// Its commit.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Its branch.
    pub branch: BranchId,
    /// Its order within the branch.
    pub rank: i64,
    /// Environment of the runs.
    pub environment: EnvironmentId,
    /// The last of the runs.
    pub run: RunId,
    /// When it ended.
    pub finished_at: OffsetDateTime,
    /// Task counts the law goes through, ascending.
    pub tasks: Vec<i32>,
    /// How many measurements, of all runs at those task counts.
    pub measurements: i32,
    /// The law, or the reason why there is none.
    pub law: Result<FittedLaw, String>,
}

/// A figure of the law that is judged over revisions as a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// σ.
    Contention,
    /// κ.
    Coherency,
    /// Where the curve bends.
    Knee,
    /// Where it is highest.
    Peak,
}

impl Figure {
    /// Every figure, the two coefficients first: the others follow from them.
    pub const ALL: [Figure; 4] =
        [Figure::Contention, Figure::Coherency, Figure::Knee, Figure::Peak];

    /// The word in the database and shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Figure::Contention => "contention",
            Figure::Coherency => "coherency",
            Figure::Knee => "knee",
            Figure::Peak => "peak",
        }
    }

    /// The figure with this word.
    pub fn parse(word: &str) -> Option<Figure> {
        Figure::ALL.into_iter().find(|figure| figure.word() == word)
    }

    /// Whether it is one of the law's own coefficients; the others only follow from them.
    pub const fn is_coefficient(self) -> bool {
        matches!(self, Figure::Contention | Figure::Coherency)
    }

    /// A share of the work, or a number of tasks.
    pub const fn unit(self) -> wire::Unit {
        match self {
            Figure::Contention | Figure::Coherency => wire::Unit::Ratio,
            Figure::Knee | Figure::Peak => wire::Unit::Count,
        }
    }

    /// More contention and coherency cost are worse; bending and peaking later is better.
    pub const fn direction(self) -> wire::Direction {
        match self {
            Figure::Contention | Figure::Coherency => wire::Direction::Lower,
            Figure::Knee | Figure::Peak => wire::Direction::Higher,
        }
    }

    /// Its value by a law. A knee or peak beyond the largest task count was not seen, only
    /// extrapolated, and is none.
    pub fn of(self, law: &FittedLaw) -> Option<Estimate> {
        let measured = |at: Option<Estimate>| at.filter(|at| at.value <= f64::from(law.largest));
        match self {
            Figure::Contention => Some(law.contention),
            Figure::Coherency => Some(law.coherency),
            Figure::Knee => measured(law.knee),
            Figure::Peak => measured(law.peak),
        }
    }
}

/// What a step of a coefficient does to the curve; stored with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Bend {
    /// Task counts of the curves, ascending.
    pub tasks: Vec<i32>,
    /// Throughput at the largest of them after ÷ before, by this figure alone.
    pub throughput: f64,
    /// Task count of the knee before and after; none where it lies beyond the largest.
    #[schema(value_type = [Option<f64>; 2])]
    pub knee: (Option<f64>, Option<f64>),
    /// Task count of the peak before and after, likewise.
    #[schema(value_type = [Option<f64>; 2])]
    pub peak: (Option<f64>, Option<f64>),
}

impl Bend {
    /// Largest task count.
    pub fn largest(&self) -> i32 {
        self.tasks.last().copied().unwrap_or(1)
    }

    /// `knee 14 → 9 tasks, peak beyond 64 → 31 tasks`.
    pub fn words(&self) -> String {
        let at = |tasks: Option<f64>| match tasks {
            Some(tasks) => format!("{tasks:.0}"),
            None => format!("beyond {}", self.largest()),
        };
        let moved = |(before, after): (Option<f64>, Option<f64>)| match (before, after) {
            (None, None) => at(None),
            _ => format!("{} → {}", at(before), at(after)),
        };
        format!("knee {} tasks, peak {} tasks", moved(self.knee), moved(self.peak))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_says_where_knee_and_peak_went_and_what_was_never_seen() {
        let mut bend = Bend {
            tasks: vec![1, 8, 64],
            throughput: 0.7,
            knee: (Some(14.2), Some(9.4)),
            peak: (None, Some(31.0)),
        };
        assert_eq!(bend.words(), "knee 14 → 9 tasks, peak beyond 64 → 31 tasks");
        bend.peak = (None, None);
        assert_eq!(bend.words(), "knee 14 → 9 tasks, peak beyond 64 tasks");
    }

    #[test]
    fn every_figure_is_found_by_its_word() {
        for figure in Figure::ALL {
            assert_eq!(Figure::parse(figure.word()), Some(figure));
        }
        assert_eq!(Figure::parse("ops_per_s_total"), None);
    }
}
