//! Noise floors: what identical code differs by, on one machine, for one workload and metric.

use serde::Serialize;
use time::OffsetDateTime;

/// Where a floor was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, utoipa::ToSchema)]
#[schema(as = NoiseSource)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A/A runs of `calibrate`: both sides are the same.
    Calibrated,
    /// Neighbouring builds of a history, within its levels.
    Builds,
    /// Steps that people marked as noise.
    Refuted,
}

impl Source {
    const ALL: [Source; 3] = [Source::Calibrated, Source::Builds, Source::Refuted];

    /// As stored.
    pub const fn word(self) -> &'static str {
        match self {
            Source::Calibrated => "calibrated",
            Source::Builds => "builds",
            Source::Refuted => "refuted",
        }
    }

    /// As said to people.
    pub const fn title(self) -> &'static str {
        match self {
            Source::Calibrated => "A/A runs",
            Source::Builds => "history between builds",
            Source::Refuted => "refuted suspects",
        }
    }

    /// What its observations are, one of them.
    pub const fn observation(self) -> &'static str {
        match self {
            Source::Calibrated | Source::Builds => "pair",
            Source::Refuted => "step",
        }
    }

    /// The source with this word.
    pub fn parse(word: &str) -> Option<Source> {
        Source::ALL.into_iter().find(|source| source.word() == word)
    }
}

/// One floor from one source.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseFloor {
    /// Workload id.
    pub workload: String,
    /// Metric.
    pub metric: String,
    /// Where it was seen.
    pub source: Source,
    /// Relative, 0.01 is 1 %.
    pub relative: f64,
    /// How many observations it rests on.
    pub observations: i64,
    /// When the newest of them was made.
    pub at: OffsetDateTime,
}
