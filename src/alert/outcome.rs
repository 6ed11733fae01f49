//! What becomes of incidents once every step has its place: two that turn out to be one are
//! merged, one that no step carries is retracted, one whose level came back is closed as returned.

use anyhow::Result;

use super::group::Settling;
use super::{tell, words};
use crate::db::incident::Group;
use crate::db::{self, Connection};
use crate::detect::policy;
use crate::model::IncidentId;
use crate::model::incident::State;
use crate::model::step::StandingStep;
use crate::model::triage::Target;

/// The last of these steps that is later in the step's series, when its level makes up for it.
pub(super) fn step_back<'a>(
    step: &StandingStep,
    steps: impl Iterator<Item = &'a StandingStep>,
) -> Option<&'a StandingStep> {
    let later = |other: &&StandingStep| {
        (other.machine, other.series, other.environment)
            == (step.machine, step.series, step.environment)
            && other.bad.rank > step.bad.rank
    };
    let last = steps.filter(later).max_by_key(|other| other.bad.rank)?;
    let share = (last.after - step.after) / (step.before - step.after);
    (share >= policy::RETURNED_SHARE).then_some(last)
}

impl Settling {
    /// Merges open incidents whose ranges late data made overlap, the younger into the older one.
    /// Two that have a step of the same series have two causes.
    pub(super) async fn merge(&mut self, connection: &mut Connection) -> Result<()> {
        while let Some((older, younger)) = self.two_of_one() {
            for i in 0..self.steps.len() {
                if self.steps[i].incident == Some(younger.id) {
                    self.put(connection, i, Some(older.id)).await?;
                }
            }
            self.refresh(older.id);
            let detail = serde_json::json!({
                "words": format!("took over the steps of incident {}", younger.id),
                "incident": younger.id,
            });
            tell::note(connection, older.id, "step_joined", &detail, self.now).await?;
            let words = format!(
                "later runs narrowed it to the range of incident {}, which took over its steps",
                older.id
            );
            self.move_to(connection, &younger, Target::Merged(older.id), &words).await?;
        }
        Ok(())
    }

    fn two_of_one(&self) -> Option<(Group, Group)> {
        let carried: Vec<&Group> = self
            .groups
            .iter()
            .filter(|group| group.state.is_open() && self.carriers(group.id).next().is_some())
            .collect();
        let one_cause = |older: &Group, younger: &Group| {
            older.range.overlap(younger.range).is_some()
                && !self.of(younger.id).any(|step| self.shares_series(older.id, step))
        };
        carried.iter().enumerate().find_map(|(i, older)| {
            let younger = carried[i + 1..].iter().find(|younger| one_cause(older, younger))?;
            Some(((*older).clone(), (*younger).clone()))
        })
    }

    fn of(&self, incident: IncidentId) -> impl Iterator<Item = &StandingStep> {
        self.steps.iter().filter(move |step| step.incident == Some(incident))
    }

    /// Stores ranges, and retracts incidents that no step carries any more. What people closed
    /// stays as they closed it.
    pub(super) async fn close(&mut self, connection: &mut Connection) -> Result<()> {
        for group in self.groups.clone() {
            match self.range_of(group.id) {
                Some(range) => {
                    let known = self.stored.iter().find(|known| known.id == group.id);
                    let Some(known) = known.filter(|known| known.range != range) else { continue };
                    db::incident::set_range(connection, group.id, range, self.now).await?;
                    // Narrower is no news; elsewhere makes what was told untrue.
                    if group.state.is_open() && known.range.overlap(range) != Some(range) {
                        self.tell_moved(connection, group.id).await?;
                    }
                }
                None if group.state.is_open() || group.state == State::Returned => {
                    self.retract(connection, &group).await?;
                }
                None => {}
            }
        }
        Ok(())
    }

    async fn tell_moved(&self, connection: &mut Connection, incident: IncidentId) -> Result<()> {
        let first = self.carriers(incident).min_by_key(|step| step.bad.rank);
        let words = first.map(|step| words::moved_to(&step.bad_commit)).unwrap_or_default();
        tell::moved(connection, incident, self.change, &words, self.now).await
    }

    async fn retract(&mut self, connection: &mut Connection, group: &Group) -> Result<()> {
        for i in 0..self.steps.len() {
            if self.steps[i].incident == Some(group.id) {
                self.put(connection, i, None).await?;
            }
        }
        let words = "retracted: later runs disproved every step of it";
        self.move_to(connection, group, Target::Plain(State::Retracted), words).await
    }

    /// Closes incidents whose every series is back at the level before, and opens those again that
    /// were closed for it and are not.
    pub(super) async fn follow(&mut self, connection: &mut Connection) -> Result<()> {
        for group in self.groups.clone() {
            let back: Option<Vec<&StandingStep>> =
                self.carriers(group.id).map(|step| self.step_back(step)).collect();
            // The last to come back closes it; nothing is told of an incident without steps.
            let last = back.as_ref().and_then(|back| back.iter().max_by_key(|step| step.bad.rank));
            match (group.state.is_open(), group.state == State::Returned, last) {
                (true, _, Some(last)) => {
                    let words = words::returned(last);
                    self.move_to(connection, &group, Target::Plain(State::Returned), &words)
                        .await?;
                }
                (_, true, None) if self.carriers(group.id).next().is_some() => {
                    let words = "later runs show that the level did not come back";
                    self.move_to(connection, &group, Target::Plain(State::Reopened), words).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The last later step of the series, when its level makes up for this one.
    fn step_back(&self, step: &StandingStep) -> Option<&StandingStep> {
        step_back(step, self.steps.iter().chain(&self.opposite))
    }

    /// Takes an incident to another state, as data ask.
    pub(super) async fn move_to(
        &mut self,
        connection: &mut Connection,
        group: &Group,
        to: Target,
        words: &str,
    ) -> Result<()> {
        let shift = tell::Shift {
            incident: group.id,
            change: self.change,
            from: group.state,
            to: &to,
            words,
            by: None,
            note: None,
        };
        tell::change_state(connection, &shift, self.now).await?;
        if let Some(group) = self.group_mut(group.id) {
            group.state = to.state();
        }
        Ok(())
    }
}
