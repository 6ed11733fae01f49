//! An incident: the steps that have one cause, what became of it, and what was told about it.

use std::collections::BTreeMap;

use serde::Serialize;
use time::OffsetDateTime;

use super::step::{Change, Evidence, place_words};
use super::{
    BranchId, CurveId, EnvironmentId, IncidentId, MachineId, ProjectId, RevisionId, SeriesId,
    StepId,
};

pub use super::triage::{Reason, State};

/// A revision as an end of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
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
    /// Why it is invalid, where it is.
    pub reason: Option<Reason>,
    /// The commit that fixed it, where one did.
    pub fixed_by: Option<String>,
    /// The incident that took it over, where one did.
    pub merged_into: Option<IncidentId>,
    /// Last revision known to be without the cause.
    pub good: RangeEnd,
    /// First revision known to have it.
    pub bad: RangeEnd,
    /// When it was opened.
    pub opened_at: OffsetDateTime,
    /// When anything about it last changed.
    pub changed_at: OffsetDateTime,
    /// Steps that stand; where none does, those that stood.
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
    /// Whether the metric is a figure of the curve's law of scaling.
    pub derived: bool,
    /// after ÷ before with its 95 % interval, where before is positive.
    pub ratio: Option<(f64, f64, f64)>,
    /// Task counts of that curve and metric with a step of this incident, ascending.
    pub all_tasks: Vec<i32>,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
}

/// One of the two levels that a step lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepSide {
    /// Up to the last good revision.
    Before,
    /// From the first bad revision on.
    After,
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
    /// Whether the metric is a figure of the curve's law of scaling: then `tasks` is the largest task
    /// count.
    pub derived: bool,
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

impl IncidentStep {
    /// `ops_per_s_total at 16 tasks`, `coherency up to 16 tasks`.
    pub fn place_words(&self) -> String {
        place_words(&self.metric, self.derived, self.tasks)
    }

    /// Whether the levels are shares of the work, read as percentages.
    pub fn is_share(&self) -> bool {
        self.derived && self.unit == wire::Unit::Ratio
    }

    /// Task counts that have to be measured to see it again.
    pub fn measured_tasks(&self) -> Vec<i32> {
        self.evidence.bend.as_ref().map_or_else(|| vec![self.tasks], |bend| bend.tasks.clone())
    }
}

/// One line of an incident's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Row.
    pub id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// `opened`, `moved`, `step_joined`, `step_left`, `step_moved`, `step_retracted`,
    /// `state_changed` or `mailed`.
    pub kind: String,
    /// What exactly; a sentence for people under `words`.
    pub detail: serde_json::Value,
}

impl Event {
    /// The sentence for people.
    pub fn words(&self) -> &str {
        self.text("words").unwrap_or(&self.kind)
    }

    /// Who decided it, where somebody did.
    pub fn by(&self) -> Option<&str> {
        self.text("by")
    }

    /// Why, in the words of who decided it.
    pub fn note(&self) -> Option<&str> {
        self.text("note")
    }

    /// The state before, of a change of state.
    pub fn from(&self) -> Option<State> {
        State::parse(self.text("from")?)
    }

    /// The state after, of a change of state.
    pub fn to(&self) -> Option<State> {
        State::parse(self.text("to")?)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.detail.get(name).and_then(serde_json::Value::as_str)
    }
}

impl Incident {
    /// The state with what belongs to it: `invalid: noise`, `fixed by 8f2c3b7410`.
    pub fn state_words(&self) -> String {
        let title = self.state.title();
        match (self.reason, &self.fixed_by, self.merged_into) {
            (Some(reason), _, _) => format!("{title}: {}", reason.word()),
            (_, Some(commit), _) => format!("{title} by {}", super::revision::short(commit)),
            (_, _, Some(incident)) => format!("{title} into incident {incident}"),
            _ => title.to_owned(),
        }
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
