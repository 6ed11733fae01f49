//! What crosses the network between `scalewatch-runner` and the service: serde types and their
//! limits, nothing else.
//!
//! A [`Report`] holds one run. Every type of it refuses unknown fields, so a misspelt key is an
//! error with its path and never a silently missing fact; answers may gain fields, so that a runner
//! outlives a newer service. Shapes are versioned by [`Report::format`];
//! each released shape stands in `tests/golden/` and must parse for ever.
#![forbid(unsafe_code)]

mod check;
mod check_job;
mod compare;
mod derive;
mod job;
mod machine;
mod metric;
mod noise;
mod point;
mod report;

pub use check::{Invalid, limits};
pub use check_job::limits as job_limits;
pub use compare::{
    ComparedSide, CurveComparison, FailedAt, GateOutcome, PointComparison, ProjectComparison,
    UnpairedCurve,
};
pub use job::{
    AskedRange, AskedRevision, Assignment, Claim, Claimed, Finish, Heartbeat, HeartbeatAnswer, Job,
    JobRequest, JobState, Plan, Progress, Submitted,
};
pub use machine::{Cache, Environment, Identity, Machine};
pub use metric::{Direction, Metric, Source, Unit};
pub use noise::{FloorsKept, NoiseFloor, NoiseFloors};
pub use point::{
    Disturbance, DisturbedWindow, Failure, Imported, Measured, Outcome, Point, Spread, Window,
    profile_name,
};
pub use report::{Artefact, FORMAT, Project, Report, Revision, Subject};

/// Answer to `POST /api/v1/machines`: the machine as stored, and the upload token, shown once.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Registered {
    /// [`Machine::id`] as the service stored it.
    pub machine: String,
    /// Bearer token of scope `upload`, bound to this machine. The service keeps only its hash.
    pub token: String,
}

/// Answer to `POST /api/v1/runs`, with status 201 when the run is new and 200 when it was known.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Accepted {
    /// UUID of the run.
    pub run: String,
    /// False when the same report had arrived before; nothing was changed then.
    pub new: bool,
    /// Points stored, failed ones included.
    pub points: usize,
    /// Sampled windows stored.
    pub windows: usize,
}

/// Body of every API error answer: a problem as RFC 9457 has it, of type [`Problem::MEDIA_TYPE`],
/// with a stable code for programs and a sentence for people.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Problem {
    /// Where the code is explained, below the service's address.
    #[serde(rename = "type")]
    pub kind: String,
    /// The code in words; the same for every problem of this code.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Stable snake-case code, e.g. `invalid_field`.
    pub code: String,
    /// What happened, what was kept, what to do.
    pub detail: String,
    /// Path of the offending field, e.g. `points[0].outcome.measured.windows[2].dt_ns`, or name of
    /// the parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The most there may be, where one number says what was broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl Problem {
    /// Its media type.
    pub const MEDIA_TYPE: &str = "application/problem+json";
}
