//! What a step may do for an incident: open one, join one, or neither.

use std::collections::BTreeMap;

use crate::detect::policy;
use crate::model::StepId;
use crate::model::scaling::Figure;
use crate::model::step::StandingStep;

/// What a step may do for an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Open one, and join one.
    Opens,
    /// Join one: it tells how the change came about.
    Joins,
    /// Neither: it is put down to others on the machine.
    Stays,
}

/// The roles of the steps of a branch, both directions.
pub(super) fn roles(steps: &[StandingStep]) -> BTreeMap<StepId, Role> {
    steps.iter().map(|step| (step.id, role(step, steps))).collect()
}

fn role(step: &StandingStep, all: &[StandingStep]) -> Role {
    if step.derived {
        return role_of_bend(step, all);
    }
    match (step.blamed_on_neighbour, policy::opens_incident(&step.metric, step.primary)) {
        (true, _) => Role::Stays,
        (false, true) => Role::Opens,
        (false, false) => Role::Joins,
    }
}

/// A coefficient of the law of scaling opens an incident only where no point of its curve moved:
/// else it tells how the points moved, for better or worse, and is put down to whatever they are.
fn role_of_bend(step: &StandingStep, all: &[StandingStep]) -> Role {
    let beside: Vec<Role> = all
        .iter()
        .filter(|other| {
            !other.derived
                && (other.machine, other.curve, other.environment)
                    == (step.machine, step.curve, step.environment)
                && other.range().is_near(step.range())
        })
        .map(|point| role(point, all))
        .filter(|role| *role != Role::Joins)
        .collect();
    let is_coefficient = Figure::parse(&step.metric).is_some_and(Figure::is_coefficient);
    match (beside.is_empty(), beside.contains(&Role::Opens)) {
        (true, _) if is_coefficient => Role::Opens,
        (true, _) | (false, true) => Role::Joins,
        (false, false) => Role::Stays,
    }
}
