//! A step: a change found in a series, and why it is believed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::range::Range;
use super::scaling::Bend;
use super::{
    BranchId, CurveId, EnvironmentId, IncidentId, MachineId, RevisionId, RunId, SeriesId, StepId,
};

/// Whether a change is bad or good, by the direction of its metric.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Worse.
    Regression,
    /// Better.
    Improvement,
}

impl Change {
    /// The word in the database, in addresses and shown to people.
    pub const fn word(self) -> &'static str {
        match self {
            Change::Regression => "regression",
            Change::Improvement => "improvement",
        }
    }

    /// The change with this word.
    pub fn parse(word: &str) -> Option<Change> {
        [Change::Regression, Change::Improvement].into_iter().find(|change| change.word() == word)
    }
}

/// Why a verdict is what it is, as stored with a step and shown on its page: every inequality
/// evaluated, in order, and the one that decided. A number that is not finite is null.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Evidence {
    /// Values that were used, in order.
    pub used: Vec<Option<f64>>,
    /// What was set aside, and why, in sentences.
    pub set_aside: Vec<String>,
    /// What a reader must know to trust the verdict or not, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The inequalities in the order they were evaluated.
    pub inequalities: Vec<Inequality>,
    /// Index into `inequalities` of the line that decided.
    pub decided_by: Option<usize>,
    /// What the machine did meanwhile, where that bears on the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Neighbour>,
    /// What it does to the curve, of a step of what its law of scaling says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bend: Option<Bend>,
}

/// One line of a judgement: `left relation right`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Inequality {
    /// What is compared.
    pub what: String,
    /// Left side.
    pub left: Option<f64>,
    /// `>`, `>=`, `<` or `<=`.
    pub relation: String,
    /// Right side.
    pub right: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// Whether CPU time went to others just when a wall-clock metric changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Neighbour {
    /// True: the change is put down to others on the machine, and opens no incident.
    pub blamed: bool,
    /// The reasoning as one sentence with its numbers.
    pub words: String,
    /// The inequalities in the order they were evaluated.
    pub inequalities: Vec<Inequality>,
}

/// One run of one series as the detector reads it, in the order of revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    /// Series.
    pub series: SeriesId,
    /// Task count of the series.
    pub tasks: i32,
    /// Metric of the series.
    pub metric: String,
    /// Unit of the metric.
    pub unit: wire::Unit,
    /// Which way is better.
    pub direction: wire::Direction,
    /// The workload's first metric.
    pub primary: bool,
    /// Run.
    pub run: RunId,
    /// Revision it ran at.
    pub revision: RevisionId,
    /// Its commit.
    pub commit: String,
    /// Branch of the revision.
    pub branch: BranchId,
    /// Order of the revision within its branch.
    pub rank: i64,
    /// Environment of the run.
    pub environment: EnvironmentId,
    /// When the run ended.
    pub finished_at: OffsetDateTime,
    /// Number of its samples.
    pub n: usize,
    /// Their robust scale; none for one sample.
    pub scale: Option<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub median: f64,
}

/// Where the history of a curve was judged: all of it but on long branches, and there in windows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// Branches whose histories are judged in windows.
    pub long: BTreeSet<BranchId>,
    /// Ranks of those that were judged now; what stands elsewhere goes on standing.
    pub windows: Vec<(BranchId, std::ops::Range<i64>)>,
}

impl Scope {
    /// Whether steps to this rank of a branch were looked for.
    pub fn holds(&self, branch: BranchId, rank: i64) -> bool {
        !self.long.contains(&branch)
            || self.windows.iter().any(|(of, own)| *of == branch && own.contains(&rank))
    }
}

/// CPU time of one point of a run: what its tasks received and what others took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuShare {
    /// Run.
    pub run: RunId,
    /// Wall time of all windows, ns.
    pub wall_ns: f64,
    /// CPU time the tasks received, ns.
    pub received_ns: f64,
    /// CPU time that went to others (a hypervisor, other programs), ns; none when not recorded.
    pub taken_ns: Option<f64>,
}

/// An end of a step's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Row of the revision.
    pub revision: RevisionId,
    /// Its order within the branch.
    pub rank: i64,
}

/// A step that stands, as far as grouping needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct StandingStep {
    /// Row.
    pub id: StepId,
    /// Where.
    pub machine: MachineId,
    /// Curve.
    pub curve: CurveId,
    /// Series.
    pub series: SeriesId,
    /// Task count of the series.
    pub tasks: i32,
    /// Metric of the series.
    pub metric: String,
    /// Whether it is the workload's first metric.
    pub primary: bool,
    /// Whether the metric is a figure of the curve's law of scaling.
    pub derived: bool,
    /// Environment of both levels.
    pub environment: EnvironmentId,
    /// Branch of both revisions.
    pub branch: BranchId,
    /// Last revision before.
    pub good: Place,
    /// First revision after.
    pub bad: Place,
    /// Its commit.
    pub bad_commit: String,
    /// Bad or good.
    pub change: Change,
    /// Level before.
    pub before: f64,
    /// Level after.
    pub after: f64,
    /// after ÷ before, where before is positive.
    pub ratio: Option<f64>,
    /// Whether the change is put down to others on the machine.
    pub blamed_on_neighbour: bool,
    /// Incident it belongs to.
    pub incident: Option<IncidentId>,
}

/// A step as found, before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Series.
    pub series: SeriesId,
    /// Task count of the series.
    pub tasks: i32,
    /// Metric of the series.
    pub metric: String,
    /// Environment of both levels.
    pub environment: EnvironmentId,
    /// Branch of both revisions.
    pub branch: BranchId,
    /// Last revision before.
    pub good: Place,
    /// First revision after.
    pub bad: Place,
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
}

/// Where a step lies: `ops_per_s_total at 16 tasks`; of a figure of the law `coherency up to 16
/// tasks`.
pub fn place_words(metric: &str, derived: bool, tasks: i32) -> String {
    let at = if derived { "up to" } else { "at" };
    let noun = if tasks == 1 { "task" } else { "tasks" };
    format!("{metric} {at} {tasks} {noun}")
}

impl StandingStep {
    /// Where its cause lies.
    pub fn range(&self) -> Range {
        Range { good: self.good.rank, bad: self.bad.rank }
    }
}

impl Found {
    /// Where its cause lies.
    pub fn range(&self) -> Range {
        Range { good: self.good.rank, bad: self.bad.rank }
    }
}
