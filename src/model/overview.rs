//! What only pages read: counts, stretches of an environment, failed points in the order of
//! revisions.

use time::OffsetDateTime;

use super::{BranchId, EnvironmentId, RunId};

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Registered machines.
    pub machines: i64,
    /// Curves.
    pub curves: i64,
    /// Runs.
    pub runs: i64,
    /// Curves that wait to be judged.
    pub due: i64,
}

/// An unbroken stretch of runs of one machine in one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentUse {
    /// The environment.
    pub environment: EnvironmentId,
    /// When its first run began.
    pub since: OffsetDateTime,
    /// Number of runs.
    pub runs: i64,
}

/// A point that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPoint {
    /// Task count.
    pub tasks: i32,
    /// Run.
    pub run: RunId,
    /// Branch of the revision.
    pub branch: BranchId,
    /// Commit of the revision.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Order within the branch.
    pub rank: i64,
    /// When the run ended.
    pub finished_at: OffsetDateTime,
}
