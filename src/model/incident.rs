//! An incident: the steps that have one cause, what became of it, and what was told about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::step::{Change, Evidence};
use super::{
    BranchId, CurveId, EnvironmentId, IncidentId, MachineId, ProjectId, RevisionId, SeriesId,
    StepId,
};

/// Where an incident stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody has looked at it yet.
    New,
    /// Somebody takes care of it.
    Acknowledged,
    /// Late data disproved every step of it.
    Retracted,
}

impl State {
    /// Every state.
    pub const ALL: [State; 3] = [State::New, State::Acknowledged, State::Retracted];

    /// The states in which it still asks for attention.
    pub const OPEN: [State; 2] = [State::New, State::Acknowledged];

    /// The word in the database, in addresses and shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            State::New => "new",
            State::Acknowledged => "acknowledged",
            State::Retracted => "retracted",
        }
    }

    /// The state with this word.
    pub fn parse(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A revision as an end of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RangeEnd {
    /// Row.
    pub revision: RevisionId,
    /// Order within the branch.
    pub rank: i64,
    /// Commit id.
    pub commit: String,
    /// First line of the commit message; from outside, never trusted.
    pub subject: String,
}

impl RangeEnd {
    /// The first ten hex digits of the commit.
    pub fn short(&self) -> &str {
        super::revision::short(&self.commit)
    }
}

/// An incident as lists show it, with its strongest step.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// Row, and its address.
    pub id: IncidentId,
    /// Whose code.
    pub project: ProjectId,
    /// The project's name.
    pub project_name: String,
    /// On which branch.
    pub branch: BranchId,
    /// The branch's name.
    pub branch_name: String,
    /// Bad or good.
    pub change: Change,
    /// Where it stands.
    pub state: State,
    /// Last revision known to be without the cause.
    pub good: RangeEnd,
    /// First revision known to have it.
    pub bad: RangeEnd,
    /// When it was opened.
    pub opened_at: OffsetDateTime,
    /// When anything about it last changed.
    pub changed_at: OffsetDateTime,
    /// Steps that stand; of a retracted incident, those that stood.
    pub steps: i64,
    /// Machines they were found on.
    pub machines: i64,
    /// The strongest step of the metric people look at first.
    pub headline: Headline,
}

/// What moved most.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Curve it lies on.
    pub curve: CurveId,
    /// Workload id.
    pub workload: String,
    /// Metric.
    pub metric: String,
    /// Task count.
    pub tasks: i32,
    /// after ÷ before with its 95 % interval, where before is positive.
    pub ratio: Option<(f64, f64, f64)>,
    /// Task counts of that curve and metric with a step of this incident, ascending.
    pub all_tasks: Vec<i32>,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
}

/// A step with everything its page and its mail say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct IncidentStep {
    /// Row.
    pub id: StepId,
    /// Incident it belongs to.
    pub incident: Option<IncidentId>,
    /// Where.
    pub machine: MachineId,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
    /// Curve.
    pub curve: CurveId,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Series.
    pub series: SeriesId,
    /// Task count.
    pub tasks: i32,
    /// Metric.
    pub metric: String,
    /// Unit of the levels.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// The workload's first metric.
    pub primary: bool,
    /// The one environment in which both levels were measured.
    pub environment: EnvironmentId,
    /// Last revision before.
    pub good: RangeEnd,
    /// First revision after.
    pub bad: RangeEnd,
    /// Bad or good.
    pub change: Change,
    /// Level before.
    pub before: f64,
    /// Level after.
    pub after: f64,
    /// after ÷ before with its 95 % interval, where before is positive.
    pub ratio: Option<(f64, f64, f64)>,
    /// Why.
    pub evidence: Evidence,
    /// When it was found.
    pub found_at: OffsetDateTime,
    /// When late data disproved it.
    pub retracted_at: Option<OffsetDateTime>,
}

/// One line of an incident's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub at: OffsetDateTime,
    /// `opened`, `step_joined`, `step_moved`, `step_retracted`, `state_changed` or `mailed`.
    pub kind: String,
    /// What exactly; a sentence for people under `words`.
    pub detail: serde_json::Value,
}

impl Event {
    /// The sentence for people.
    pub fn words(&self) -> &str {
        self.detail.get("words").and_then(serde_json::Value::as_str).unwrap_or(&self.kind)
    }
}

/// A message about an incident and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Unique name of the event it tells of.
    pub event: String,
    /// How often sending was tried.
    pub attempts: i32,
    /// When it went out.
    pub sent_at: Option<OffsetDateTime>,
    /// Where it went: a file or the recipients.
    pub sent_to: Option<String>,
    /// When it was withdrawn unsent.
    pub withdrawn_at: Option<OffsetDateTime>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}
