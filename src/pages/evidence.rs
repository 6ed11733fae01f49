//! What moved with a step: counters per operation, and the profiles of both sides.

use super::profile;
use super::view::Value;
use crate::app::App;
use crate::db;
use crate::detect::counters;
use crate::error::Result;
use crate::format;
use crate::model::incident::IncidentStep;

/// Counters listed.
const LISTED: usize = 12;

/// One counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRow {
    /// Name.
    pub name: String,
    /// Mean of the runs before.
    pub before: Value,
    /// Mean of the runs after.
    pub after: Value,
    /// By how much, in words.
    pub change: String,
    /// How sure.
    pub sure: &'static str,
}

/// What stands beside one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepEvidence {
    /// Counters that moved, the surest and largest first.
    pub counters: Vec<CounterRow>,
    /// Address of the difference of the two profiles, where both sides have one.
    pub flame: Option<String>,
}

/// Looks for it.
pub(super) async fn of(app: &App, step: &IncidentStep) -> Result<StepEvidence> {
    let mut moved = counters::of_step(&app.db, step).await?;
    moved.truncate(LISTED);
    Ok(StepEvidence { counters: moved.iter().map(row).collect(), flame: flame(app, step).await? })
}

fn row(moved: &counters::Moved) -> CounterRow {
    CounterRow {
        name: moved.name.clone(),
        before: Value::new(moved.base),
        after: Value::new(moved.head),
        change: moved.ratio.map_or("from 0".into(), format::change),
        sure: counters::sure(moved),
    }
}

async fn flame(app: &App, step: &IncidentStep) -> Result<Option<String>> {
    let (Ok(version), Ok(tasks)) = (u32::try_from(step.version), u32::try_from(step.tasks)) else {
        return Ok(None);
    };
    let name = wire::profile_name(&step.workload, version, &step.parameters, tasks);
    let find = |revision| db::run::find_with_artefact(&app.db, step.machine, revision, &name);
    let (good, bad) = (find(step.good.revision).await?, find(step.bad.revision).await?);
    Ok(good.zip(bad).map(|(good, bad)| format!("{}?base={good}", profile::address(&bad, &name))))
}
