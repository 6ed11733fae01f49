//! Jobs: what is asked for, what an agent is given, and what it says meanwhile.
//!
//! A job is a [`Plan`] and one revision, or two that take turns, on one machine. What installs a
//! revision is known to the machine alone and never crosses the network.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Project, Revision, Subject};

/// What to measure, as the arguments of `scalewatch-runner run`; what is left out is as there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Workload ids; at least one.
    pub workloads: Vec<String>,
    /// Task counts as `--tasks` takes them: `1,2,max`, `1..64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<String>,
    /// `process`, `thread` or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Where tasks run: `core`, `spread`, `pu`, `none` or `list:0,2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// Parameters of every point.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Parameters that take several values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sweep: BTreeMap<String, Vec<String>>,
    /// Windows measured at each point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<u32>,
    /// Length of a window, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ms: Option<u32>,
    /// Windows thrown away first at each point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u32>,
    /// Whether the controls are measured before and after each run; yes where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controls: Option<bool>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for an agent.
    Queued,
    /// An agent has it.
    Claimed,
    /// The machine's prepare command is at work.
    Preparing,
    /// It is measured.
    Running,
    /// Every turn was measured and its run is stored.
    Done,
    /// It cannot be done; the reason says why.
    Failed,
    /// Somebody does not want it any more.
    Cancelled,
    /// Its deadline or its limit of time passed.
    TimedOut,
}

impl JobState {
    /// Every state.
    pub const ALL: [JobState; 8] = [
        JobState::Queued,
        JobState::Claimed,
        JobState::Preparing,
        JobState::Running,
        JobState::Done,
        JobState::Failed,
        JobState::Cancelled,
        JobState::TimedOut,
    ];

    /// The states in which an agent has it.
    pub const LIVE: [JobState; 3] = [JobState::Claimed, JobState::Preparing, JobState::Running];

    /// The states that it does not leave by itself.
    pub const ENDED: [JobState; 4] =
        [JobState::Done, JobState::Failed, JobState::Cancelled, JobState::TimedOut];

    /// The word in the database, in addresses and in answers.
    pub const fn word(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Claimed => "claimed",
            JobState::Preparing => "preparing",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
            JobState::TimedOut => "timed_out",
        }
    }

    /// As said to people.
    pub const fn title(self) -> &'static str {
        match self {
            JobState::TimedOut => "timed out",
            other => other.word(),
        }
    }

    /// The state with this word.
    pub fn parse(word: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether an agent has it.
    pub fn is_live(self) -> bool {
        JobState::LIVE.contains(&self)
    }

    /// Whether it is over.
    pub fn is_ended(self) -> bool {
        JobState::ENDED.contains(&self)
    }
}

/// A revision to be measured. Of a commit that the service knows on one branch the digits are
/// enough; of another, what a report says of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AskedRevision {
    /// Commit id, 7 to 64 lower-case hex digits.
    pub commit: String,
    /// Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Position in the branch's first-parent order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// Committer time, RFC 3339 with an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
    /// Commit ids of the parents, first parent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// First line of the commit message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl From<Revision> for AskedRevision {
    fn from(revision: Revision) -> AskedRevision {
        AskedRevision {
            commit: revision.commit,
            branch: Some(revision.branch),
            position: revision.position,
            committed_at: revision.committed_at,
            parents: revision.parents,
            subject: Some(revision.subject),
        }
    }
}

/// Known revisions of a branch, each a job of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AskedRange {
    /// The last commit that is not in it.
    pub after: String,
    /// The last commit that is.
    pub upto: String,
    /// Branch; may be left out where both commits share one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// Body of `POST /api/v1/jobs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Project.
    pub project: String,
    /// What the project tests; may be left out where the project is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The revision to be measured; this or `range`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<AskedRevision>,
    /// A second one to take turns with it, base and head ABBA on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<AskedRevision>,
    /// Known revisions to be measured; this or `revision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<AskedRange>,
    /// What to measure.
    pub plan: Plan,
    /// Id or name of the machine; this or `label`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Any machine whose agent carries this label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Runs of each revision; 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Within the project the higher goes first; −100 to 100, 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Of no use later: RFC 3339 with an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Longest time from claim to end, seconds; a day where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<u32>,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Progress {
    /// Turns whose run is measured.
    pub turns_done: u32,
    /// Points measured in this turn.
    pub points_done: u32,
    /// Points of this turn; 0 where it is not known yet.
    pub points: u32,
    /// What is done just now, in words.
    pub words: String,
}

/// A job as answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Job {
    /// Number of the job.
    pub id: i64,
    /// Where it stands.
    pub state: JobState,
    /// Why it failed, was cancelled, timed out or went back into the queue.
    pub reason: Option<String>,
    /// Whose code.
    pub project: Project,
    /// What to measure.
    pub plan: Plan,
    /// Revisions; of two the first is the base.
    pub revisions: Vec<Revision>,
    /// Index of the revision of each turn, in order.
    pub turns: Vec<u32>,
    /// Id of the machine that has or had it, else of the one it is for.
    pub machine: Option<String>,
    /// Name of that machine.
    pub machine_name: Option<String>,
    /// Label of the machines it is for.
    pub label: Option<String>,
    /// The higher goes first within the project.
    pub priority: i32,
    /// RFC 3339.
    pub deadline: Option<String>,
    /// Longest time from claim to end, seconds.
    pub limit_s: u32,
    /// How often it was claimed.
    pub attempts: u32,
    /// How often it may be.
    pub attempts_most: u32,
    /// The incident whose suspect it measures again.
    pub incident: Option<i64>,
    /// Who asked for it.
    pub submitted_by: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub claimed_at: Option<String>,
    /// RFC 3339.
    pub ended_at: Option<String>,
    /// How far it is.
    pub progress: Progress,
    /// UUIDs of the runs that came of it, in order of the turns.
    pub runs: Vec<String>,
    /// Its page.
    pub url: String,
}

/// Answer to `POST /api/v1/jobs`: 201 when the jobs are new, 200 when this key asked for them before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Submitted {
    /// False when the same request had come under this key before.
    pub new: bool,
    /// The jobs, one a revision of a range.
    pub jobs: Vec<Job>,
}

/// Body of `POST /api/v1/jobs/claim`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Labels this machine carries.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Projects whose revisions this machine can prepare.
    pub projects: Vec<String>,
    /// Version of the runner.
    pub runner: String,
    /// How long to wait for a job, seconds, 0 to 5.
    #[serde(default)]
    pub wait_s: u32,
}

/// Answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Claimed {
    /// None when there is nothing to do now.
    pub job: Option<Assignment>,
}

/// A job that an agent has, as long as its heart beats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Assignment {
    /// Number of the job.
    pub id: i64,
    /// Names this claim; an agent whose lease ran out no longer has the job.
    pub lease: String,
    /// Seconds between heartbeats.
    pub heartbeat_s: u32,
    /// Whose code.
    pub project: Project,
    /// What to measure.
    pub plan: Plan,
    /// Revisions; of two the first is the base.
    pub revisions: Vec<Revision>,
    /// Index of the revision of each turn, in order.
    pub turns: Vec<u32>,
}

/// Body of `POST /api/v1/jobs/{id}/heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// The claim's name.
    pub lease: String,
    /// `claimed`, `preparing` or `running`.
    pub state: JobState,
    /// How far it is.
    pub progress: Progress,
    /// The end of the log, where it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The machine may be out of reach for so many seconds: it is about to boot anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away_s: Option<u32>,
}

/// Answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HeartbeatAnswer {
    /// Why to stop at once, in words; none: go on.
    pub stop: Option<String>,
}

/// Body of `POST /api/v1/jobs/{id}/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The claim's name.
    pub lease: String,
    /// Why it cannot be done; none: it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// UUIDs of its runs in order of the turns; the service holds them already.
    #[serde(default)]
    pub runs: Vec<String>,
    /// The end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}
