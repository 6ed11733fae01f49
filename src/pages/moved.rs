//! What moved, of an incident: its steps that stand, by curve.

use super::incidents::class;
use super::metric::Metric;
use super::view::{Value, parameter_words};
use crate::format;
use crate::model::CurveId;
use crate::model::incident::IncidentStep;

/// The steps of one curve that stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedGroup {
    /// Address of the curve.
    pub href: String,
    /// Workload id.
    pub workload: String,
    /// Parameters in words.
    pub parameters: String,
    /// The machine's id in addresses.
    pub machine_id: String,
    /// Its name.
    pub machine_name: String,
    /// Steps.
    pub rows: Vec<MovedRow>,
}

/// One step that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRow {
    /// Address of the curve's history at this step.
    pub href: String,
    /// Metric.
    pub metric: String,
    /// `ops/s, higher`.
    pub unit: String,
    /// Task count; `to 64` of what all up to there say.
    pub tasks: String,
    /// Level before.
    pub before: Value,
    /// Level after.
    pub after: Value,
    /// after ÷ before with its interval.
    pub change: String,
    /// Class of the style sheet.
    pub class: &'static str,
    /// First bad commit, shortened.
    pub bad: String,
}

/// Steps by curve, curves in the order of their first step.
pub(super) fn moved(steps: &[&IncidentStep]) -> Vec<MovedGroup> {
    let mut groups: Vec<(CurveId, MovedGroup)> = Vec::new();
    for step in steps {
        match groups.iter_mut().find(|(curve, _)| *curve == step.curve) {
            Some((_, group)) => group.rows.push(moved_row(step)),
            None => groups.push((step.curve, moved_group(step))),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn moved_group(step: &IncidentStep) -> MovedGroup {
    MovedGroup {
        href: format!("/curves/{}", step.curve),
        workload: step.workload.clone(),
        parameters: parameter_words(&step.parameters),
        machine_id: step.machine_public_id.clone(),
        machine_name: step.machine_name.clone(),
        rows: vec![moved_row(step)],
    }
}

fn moved_row(step: &IncidentStep) -> MovedRow {
    let metric = metric_of(step);
    let level = |value| match step.is_share() {
        true => Value { shown: format::share(value), ..Value::new(value) },
        false => Value::new(value),
    };
    MovedRow {
        href: address(step),
        metric: metric.title(),
        unit: format!("{}, {}", metric.unit.symbol(), metric.direction.word()),
        tasks: if step.derived { format!("to {}", step.tasks) } else { step.tasks.to_string() },
        before: level(step.before),
        after: level(step.after),
        change: step.ratio.map_or("no ratio".into(), format::change_with_interval),
        class: class(step.change),
        bad: format::commit(&step.bad.commit).to_owned(),
    }
}

/// Address of the history in which the step lies.
pub(super) fn address(step: &IncidentStep) -> String {
    match step.derived {
        true => format!("/curves/{}#laws", step.curve),
        false => format!("/curves/{}?tasks={}#history", step.curve, step.tasks),
    }
}

pub(super) fn metric_of(step: &IncidentStep) -> Metric {
    Metric { name: step.metric.clone(), unit: step.unit, direction: step.direction }
}
