//! Whether steps that were judged again leave their incidents as they are: most runs only renew a
//! level, and then nothing of the branch is looked at.

use super::outcome::step_back;
use crate::model::step::{Found, Place, StandingStep};
use crate::model::{IncidentId, StepId};

/// Whether the step stands with the same levels, to the last digit, and the same blame.
pub fn is_unchanged(old: &StandingStep, new: &Found) -> bool {
    let blamed = new.evidence.neighbour.as_ref().is_some_and(|one| one.blamed);
    (old.before, old.after, old.ratio, old.blamed_on_neighbour)
        == (new.before, new.after, new.ratio.map(|ratio| ratio.0), blamed)
}

/// Whether incidents, settled with `before`, are settled with `after`: the same steps in the same
/// places, blamed or not as they were, and back at an earlier level or not as they were. Both hold
/// all standing steps of the same curves.
pub fn is_settled(before: &[StandingStep], after: &[StandingStep]) -> bool {
    let bears = |steps: &[StandingStep]| -> Vec<Bearing> {
        steps
            .iter()
            .map(|step| {
                let back = step_back(step, steps.iter()).map(|last| last.id);
                (step.id, step.good, step.bad, step.blamed_on_neighbour, step.incident, back)
            })
            .collect()
    };
    bears(before) == bears(after)
}

/// What of a step bears on its incident.
type Bearing = (StepId, Place, Place, bool, Option<IncidentId>, Option<StepId>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::step::Change;
    use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, SeriesId};

    fn step(id: i64, rank: i64, before: f64, after: f64) -> StandingStep {
        let at = |rank| Place { revision: RevisionId(rank), rank };
        StandingStep {
            id: StepId(id),
            machine: MachineId(1),
            curve: CurveId(1),
            series: SeriesId(1),
            tasks: 1,
            metric: "ops_per_s_total".into(),
            primary: true,
            derived: false,
            environment: EnvironmentId(1),
            branch: BranchId(1),
            good: at(rank - 1),
            bad: at(rank),
            bad_commit: String::new(),
            change: if after < before { Change::Regression } else { Change::Improvement },
            before,
            after,
            ratio: Some(after / before),
            blamed_on_neighbour: false,
            incident: Some(IncidentId(id)),
        }
    }

    #[test]
    fn a_level_that_is_renewed_changes_nothing_until_it_makes_up_for_an_earlier_step() {
        let before = [step(1, 5, 100.0, 80.0), step(2, 9, 80.0, 95.0)];
        assert!(is_settled(&before, &[step(1, 5, 100.0, 80.0), step(2, 9, 80.0, 95.9)]));
        assert!(!is_settled(&before, &[step(1, 5, 100.0, 80.0), step(2, 9, 80.0, 96.5)]));
    }

    #[test]
    fn another_place_another_blame_and_another_step_are_to_be_settled() {
        let before = [step(1, 5, 100.0, 80.0)];
        let blamed = StandingStep { blamed_on_neighbour: true, ..step(1, 5, 100.0, 80.0) };
        assert!(!is_settled(&before, &[step(1, 6, 100.0, 80.0)]));
        assert!(!is_settled(&before, &[blamed]));
        assert!(!is_settled(&before, &[]));
        assert!(!is_settled(&[], &before));
        assert!(is_settled(&[], &[]));
    }
}
