//! What a file tells, before anything is added to it.

use std::collections::BTreeMap;

use time::OffsetDateTime;
use wire::{Direction, Spread, Unit};

use super::limits;
use super::problem::{Problem, Result};

/// One run, as far as a file tells of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundRun {
    /// What the file calls the code that ran, e.g. the name of a kernel.
    pub name: Option<String>,
    /// What tells it from another run with the very same results, e.g. its number; empty where runs
    /// are told apart by their files.
    pub origin: String,
    /// What else it says about the code.
    pub revision: Told,
    /// When it ran, where the file says so with its zone.
    pub at: Option<OffsetDateTime>,
    /// Facts about its surroundings.
    pub environment: BTreeMap<String, String>,
    /// What was measured.
    pub points: Vec<FoundPoint>,
    /// Values that are there and are not results, such as those of monitors.
    pub left_out: usize,
}

/// What a file says about the code that ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Commit id.
    pub commit: Option<String>,
    /// Branch.
    pub branch: Option<String>,
    /// Position in the branch's first-parent order.
    pub position: Option<i64>,
    /// Committer time, RFC 3339.
    pub committed_at: Option<String>,
    /// First line of the commit message.
    pub subject: Option<String>,
}

/// One workload at one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPoint {
    /// Where in the file.
    pub place: String,
    /// Name of the workload, the tool's name left out.
    pub workload: String,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// Task count.
    pub tasks: Tasks,
    /// What came of it.
    pub outcome: Outcome,
}

/// How many tasks a point had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tasks {
    /// The file does not tell.
    Untold,
    /// So many.
    Count(u32),
    /// So many in a hundred of the machine's hardware threads.
    PercentOfThreads(f64),
}

/// What came of a point.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Values of one or more metrics.
    Values(Vec<FoundMetric>),
    /// It failed, in the tool's words.
    Failed(String),
}

/// One metric of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMetric {
    /// Name.
    pub name: String,
    /// Unit, where the format has one.
    pub unit: Option<Unit>,
    /// The file's own word for the unit, where it is none of ours.
    pub unit_word: Option<String>,
    /// Which way is better, where the format says so.
    pub direction: Option<Direction>,
    /// Samples, or the one value they are summed up in.
    pub values: Vec<f64>,
    /// Spread of samples that are summed up.
    pub spread: Option<Spread>,
}

impl FoundRun {
    /// Adds a point, within the limits of a run.
    ///
    /// # Errors
    /// When the run has too many points or values.
    pub fn push(&mut self, point: FoundPoint) -> Result<()> {
        if self.points.len() >= wire::limits::POINTS {
            let most = format!("a run has at most {} points", wire::limits::POINTS);
            return Err(Problem::at(point.place, most));
        }
        self.points.push(point);
        Ok(())
    }

    /// Checks that the values of all points together keep the limit.
    ///
    /// # Errors
    /// When they do not.
    pub fn check(&self) -> Result<()> {
        let of = |point: &FoundPoint| match &point.outcome {
            Outcome::Values(metrics) => metrics.iter().map(|metric| metric.values.len()).sum(),
            Outcome::Failed(_) => 0,
        };
        let values: usize = self.points.iter().map(of).sum();
        if values <= limits::VALUES {
            return Ok(());
        }
        Err(Problem::whole(format!("a run has at most {} values", limits::VALUES)))
    }
}

impl FoundPoint {
    /// A point without parameters, whose task count is not told.
    pub fn new(
        place: impl Into<String>,
        workload: impl Into<String>,
        outcome: Outcome,
    ) -> FoundPoint {
        FoundPoint {
            place: place.into(),
            workload: workload.into(),
            parameters: BTreeMap::new(),
            tasks: Tasks::Untold,
            outcome,
        }
    }

    /// With this many tasks.
    pub fn tasks(mut self, count: u32) -> FoundPoint {
        self.tasks = Tasks::Count(count);
        self
    }

    /// With one more parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> FoundPoint {
        self.parameters.insert(name.into(), value.into());
        self
    }
}

impl FoundMetric {
    /// A metric whose meaning the format tells.
    pub fn new(name: &str, unit: Unit, direction: Direction, values: Vec<f64>) -> FoundMetric {
        FoundMetric {
            unit: Some(unit),
            direction: Some(direction),
            ..FoundMetric::untold(name, values)
        }
    }

    /// A metric whose meaning the format does not tell.
    pub fn untold(name: impl Into<String>, values: Vec<f64>) -> FoundMetric {
        FoundMetric {
            name: name.into(),
            unit: None,
            unit_word: None,
            direction: None,
            values,
            spread: None,
        }
    }

    /// With the spread of what it sums up; none where nothing of it is told.
    pub fn with_spread(mut self, spread: Spread) -> FoundMetric {
        self.spread = (spread != Spread::default()).then_some(spread);
        self
    }
}
