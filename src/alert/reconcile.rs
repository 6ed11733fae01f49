//! Steps that stand against steps just found, both of one curve: what to keep, move, retract and
//! add. Late data move a step when it is found again nearby, and retract it otherwise.

use crate::model::StepId;
use crate::model::step::{Found, StandingStep};

/// What becomes of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Action<'a> {
    /// Found again between the same revisions: levels and evidence are renewed.
    Renew(&'a StandingStep, &'a Found),
    /// Found again between other revisions nearby.
    Move(&'a StandingStep, &'a Found),
    /// Not found any more.
    Retract(&'a StandingStep),
    /// Found for the first time.
    Add(&'a Found),
}

/// Every standing step and every found one appears in exactly one action. Retractions come first,
/// additions last, and nothing moves to a place that another step held: one place never holds two.
pub fn reconcile<'a>(standing: &'a [StandingStep], found: &'a [Found]) -> Vec<Action<'a>> {
    let mut taken: Vec<StepId> = Vec::new();
    let mut matched: Vec<Option<&StandingStep>> = vec![None; found.len()];
    // Exact matches first: a neighbour must not claim a step that was found again in place.
    for near in [false, true] {
        for (i, new) in found.iter().enumerate() {
            if matched[i].is_some() {
                continue;
            }
            let is_held = standing.iter().any(|old| is_same_place(old, new));
            if near && is_held {
                continue;
            }
            let partner = standing
                .iter()
                .filter(|old| !taken.contains(&old.id) && is_same_change(old, new))
                .filter(|old| if near { is_near(old, new) } else { old.bad == new.bad })
                .min_by_key(|old| (old.bad.rank.abs_diff(new.bad.rank), old.id));
            if let Some(old) = partner {
                taken.push(old.id);
                matched[i] = Some(old);
            }
        }
    }
    let retracted = standing.iter().filter(|old| !taken.contains(&old.id)).map(Action::Retract);
    let found_again = found.iter().zip(&matched).filter_map(|(new, old)| {
        old.map(|old| match old.good == new.good && old.bad == new.bad {
            true => Action::Renew(old, new),
            false => Action::Move(old, new),
        })
    });
    let added = found.iter().zip(&matched).filter(|(_, old)| old.is_none());
    retracted.chain(found_again).chain(added.map(|(new, _)| Action::Add(new))).collect()
}

fn is_same_place(old: &StandingStep, new: &Found) -> bool {
    (old.series, old.environment, old.bad.revision)
        == (new.series, new.environment, new.bad.revision)
}

fn is_same_change(old: &StandingStep, new: &Found) -> bool {
    (old.series, old.environment, old.branch, old.change)
        == (new.series, new.environment, new.branch, new.change)
}

fn is_near(old: &StandingStep, new: &Found) -> bool {
    old.range().is_near(new.range())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::step::{Change, Evidence, Place};
    use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, RevisionId, SeriesId};

    fn at(rank: i64) -> Place {
        Place { revision: RevisionId(rank), rank }
    }

    fn standing(id: i64, good: i64, bad: i64) -> StandingStep {
        StandingStep {
            id: StepId(id),
            machine: MachineId(1),
            curve: CurveId(1),
            series: SeriesId(1),
            tasks: 2,
            metric: "ops_per_s_total".into(),
            primary: true,
            derived: false,
            environment: EnvironmentId(1),
            branch: BranchId(1),
            good: at(good),
            bad: at(bad),
            bad_commit: format!("{bad:040}"),
            change: Change::Regression,
            before: 100.0,
            after: 70.0,
            ratio: Some(0.7),
            blamed_on_neighbour: false,
            incident: None,
        }
    }

    fn found(good: i64, bad: i64) -> Found {
        Found {
            series: SeriesId(1),
            tasks: 2,
            metric: "ops_per_s_total".into(),
            environment: EnvironmentId(1),
            branch: BranchId(1),
            good: at(good),
            bad: at(bad),
            change: Change::Regression,
            before: 100.0,
            after: 70.0,
            ratio: Some((0.7, 0.69, 0.71)),
            evidence: Evidence::default(),
        }
    }

    #[test]
    fn a_step_found_again_in_place_is_renewed() {
        let (old, new) = ([standing(1, 4, 5)], [found(4, 5)]);
        assert_eq!(reconcile(&old, &new), [Action::Renew(&old[0], &new[0])]);
    }

    #[test]
    fn a_revision_measured_late_inside_the_range_moves_the_step() {
        let (old, new) = ([standing(1, 4, 9)], [found(6, 9)]);
        assert_eq!(reconcile(&old, &new), [Action::Move(&old[0], &new[0])]);
        let (old, new) = ([standing(1, 4, 9)], [found(4, 6)]);
        assert_eq!(reconcile(&old, &new), [Action::Move(&old[0], &new[0])]);
    }

    #[test]
    fn a_step_that_is_not_found_any_more_is_retracted() {
        let old = [standing(1, 4, 5)];
        assert_eq!(reconcile(&old, &[]), [Action::Retract(&old[0])]);
    }

    #[test]
    fn a_step_far_away_is_another_step() {
        let (old, new) = ([standing(1, 4, 5)], [found(20, 21)]);
        assert_eq!(reconcile(&old, &new), [Action::Retract(&old[0]), Action::Add(&new[0])]);
    }

    #[test]
    fn a_neighbour_does_not_claim_a_step_that_was_found_in_place() {
        let (old, new) = ([standing(1, 4, 5)], [found(3, 4), found(4, 5)]);
        let actions = reconcile(&old, &new);
        assert_eq!(actions, [Action::Renew(&old[0], &new[1]), Action::Add(&new[0])]);
    }

    #[test]
    fn nothing_moves_to_a_place_that_another_step_leaves() {
        let better = Change::Improvement;
        let old = [standing(1, 4, 5), StandingStep { change: better, ..standing(2, 3, 4) }];
        let new = [Found { change: better, ..found(4, 5) }, found(5, 6)];
        let actions = reconcile(&old, &new);
        assert_eq!(
            actions,
            [Action::Retract(&old[1]), Action::Move(&old[0], &new[1]), Action::Add(&new[0]),]
        );
    }

    #[test]
    fn another_environment_or_direction_is_never_the_same_step() {
        let old = [standing(1, 4, 5)];
        let elsewhere = [Found { environment: EnvironmentId(2), ..found(4, 5) }];
        let better = [Found { change: Change::Improvement, ..found(4, 5) }];
        for new in [elsewhere, better] {
            assert_eq!(reconcile(&old, &new), [Action::Retract(&old[0]), Action::Add(&new[0])]);
        }
    }
}
