//! Groups steps by cause. Steps of one project, branch and direction whose ranges overlap are one
//! incident, whatever the point, metric, workload or machine. A step that was retracted or moved
//! away leaves; what becomes of the incidents then is [`super::outcome`]'s.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::json;
use time::OffsetDateTime;

use super::role::{Role, roles};
use super::{tell, words};
use crate::db::incident::Group;
use crate::db::{self, Connection};
use crate::model::incident::State;
use crate::model::range::{self, Range};
use crate::model::step::{Change, StandingStep};
use crate::model::triage::Target;
use crate::model::{BranchId, IncidentId, ProjectId, StepId};

/// Settles every branch and direction that the curve's steps, before or after, bear on.
pub async fn settle(
    connection: &mut Connection,
    project: ProjectId,
    before: &[StandingStep],
    after: &[StandingStep],
    now: OffsetDateTime,
) -> Result<()> {
    let branches: BTreeSet<BranchId> = before.iter().chain(after).map(|step| step.branch).collect();
    for branch in branches {
        // Both directions: a step one way can be the end of an incident the other way.
        for change in [Change::Regression, Change::Improvement] {
            let mut settling = Settling::load(connection, project, branch, change, now).await?;
            settling.release(connection).await?;
            settling.place(connection).await?;
            settling.merge(connection).await?;
            settling.close(connection).await?;
            settling.follow(connection).await?;
        }
    }
    Ok(())
}

/// The incidents and steps of one branch and direction while they are settled.
pub(super) struct Settling {
    project: ProjectId,
    branch: BranchId,
    pub(super) change: Change,
    pub(super) now: OffsetDateTime,
    /// As they become, oldest first.
    pub(super) groups: Vec<Group>,
    /// As they are stored.
    pub(super) stored: Vec<Group>,
    /// Strongest first: those that open, primary metrics, the larger change.
    pub(super) steps: Vec<StandingStep>,
    /// The branch's steps in the other direction.
    pub(super) opposite: Vec<StandingStep>,
    /// What each step of the branch may do.
    roles: BTreeMap<StepId, Role>,
    /// Where steps were that left their incident.
    left: BTreeMap<StepId, IncidentId>,
}

impl Settling {
    async fn load(
        connection: &mut Connection,
        project: ProjectId,
        branch: BranchId,
        change: Change,
        now: OffsetDateTime,
    ) -> Result<Settling> {
        let groups = db::incident::list_groups(connection, project, branch, change).await?;
        let all = db::step::list_standing_of_branch(connection, project, branch).await?;
        let roles = roles(&all);
        let opens = |step: &StandingStep| roles.get(&step.id) == Some(&Role::Opens);
        let (mut steps, opposite): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|step| step.change == change);
        steps.sort_by(|a, b| {
            let key = |step: &StandingStep| (!opens(step), !step.primary, step.derived);
            key(a).cmp(&key(b)).then(b.size().total_cmp(&a.size())).then(a.id.cmp(&b.id))
        });
        let stored = groups.clone();
        let left = BTreeMap::new();
        Ok(Settling { project, branch, change, now, groups, stored, steps, opposite, roles, left })
    }

    fn role(&self, step: &StandingStep) -> Role {
        self.roles.get(&step.id).copied().unwrap_or(Role::Stays)
    }

    /// The steps that carry an incident, strongest first.
    pub(super) fn carriers(&self, incident: IncidentId) -> impl Iterator<Item = &StandingStep> {
        self.steps
            .iter()
            .filter(move |step| step.incident == Some(incident) && self.role(step) == Role::Opens)
    }

    /// Range of an incident by its steps.
    pub(super) fn range_of(&self, incident: IncidentId) -> Option<Range> {
        range::of_steps(self.carriers(incident).map(StandingStep::range))
    }

    /// The incident as it becomes.
    pub(super) fn group_mut(&mut self, incident: IncidentId) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.id == incident)
    }

    /// Takes steps out of incidents they do not belong to any more. An incident stays where it was
    /// while a step of it is still there; else its strongest step takes it along.
    async fn release(&mut self, connection: &mut Connection) -> Result<()> {
        let mut ranges: BTreeMap<IncidentId, Range> = BTreeMap::new();
        for group in &self.groups {
            let stays = |step: &&StandingStep| group.range.overlap(step.range()).is_some();
            let anchor = self.carriers(group.id).find(stays);
            if let Some(anchor) = anchor.or_else(|| self.carriers(group.id).next()) {
                ranges.insert(group.id, anchor.range());
            }
        }
        for i in 0..self.steps.len() {
            let step = &self.steps[i];
            let Some(incident) = step.incident else { continue };
            let place = ranges.get(&incident).copied().filter(|_| self.role(step) != Role::Stays);
            match place.filter(|range| range.is_near(step.range())) {
                Some(range) if self.role(step) == Role::Opens => {
                    ranges.insert(incident, range.overlap(step.range()).unwrap_or(range));
                }
                Some(_) => {}
                None => self.leave(connection, i, incident).await?,
            }
        }
        for group in self.groups.clone() {
            self.refresh(group.id);
        }
        Ok(())
    }

    /// Takes over the range that the incident's steps now leave.
    pub(super) fn refresh(&mut self, incident: IncidentId) {
        let range = self.range_of(incident);
        let group = self.groups.iter_mut().find(|group| group.id == incident);
        if let (Some(group), Some(range)) = (group, range) {
            group.range = range;
        }
    }

    async fn leave(
        &mut self,
        connection: &mut Connection,
        i: usize,
        incident: IncidentId,
    ) -> Result<()> {
        let step = &self.steps[i];
        let words = words::left(step, self.role(step) == Role::Stays);
        let detail = json!({ "words": words, "step": step.id });
        tell::note(connection, incident, "step_left", &detail, self.now).await?;
        self.left.insert(step.id, incident);
        self.put(connection, i, None).await
    }

    /// Puts a step into an incident, or into none.
    pub(super) async fn put(
        &mut self,
        connection: &mut Connection,
        i: usize,
        incident: Option<IncidentId>,
    ) -> Result<()> {
        let step = &mut self.steps[i];
        db::step::set_incident(connection, step.machine, step.id, incident).await?;
        step.incident = incident;
        Ok(())
    }

    /// Puts every step without an incident where it belongs, strongest first.
    async fn place(&mut self, connection: &mut Connection) -> Result<()> {
        for i in 0..self.steps.len() {
            let step = self.steps[i].clone();
            if step.incident.is_some() || self.role(&step) == Role::Stays {
                continue;
            }
            let opens = self.role(&step) == Role::Opens;
            let incident = match self.home_of(&step) {
                Some(group) if group.state == State::Retracted && !opens => continue,
                Some(group) if group.state == State::Retracted => {
                    self.reopen(connection, &group, &step).await?
                }
                Some(group) => {
                    let detail = json!({
                        "words": format!("{} joined{}", words::step(&step), self.whence(&step)),
                        "step": step.id,
                    });
                    tell::note(connection, group.id, "step_joined", &detail, self.now).await?;
                    group.id
                }
                None if opens => self.open(connection, &step).await?,
                None => continue,
            };
            self.put(connection, i, Some(incident)).await?;
            self.refresh(incident);
        }
        Ok(())
    }

    /// `, split from incident 12`, of a step that has just left it.
    fn whence(&self, step: &StandingStep) -> String {
        self.left
            .get(&step.id)
            .map_or(String::new(), |from| format!(", split from incident {from}"))
    }

    /// The incident whose cause the step's can be: an open one before a closed one, one that
    /// overlaps before one that touches, a retracted one last, the oldest of several. Two steps of
    /// one series have two causes.
    fn home_of(&self, step: &StandingStep) -> Option<Group> {
        let same_curve = |group: &Group| {
            self.steps.iter().any(|other| {
                other.incident == Some(group.id)
                    && (other.machine, other.curve) == (step.machine, step.curve)
            })
        };
        self.groups
            .iter()
            .filter(|group| admits(group, step) && !self.shares_series(group.id, step))
            .filter(|group| {
                let overlaps = group.range.overlap(step.range()).is_some();
                overlaps || (group.range.touches(step.range()) && same_curve(group))
            })
            .min_by_key(|group| {
                let apart = group.range.overlap(step.range()).is_none();
                (group.state == State::Retracted, apart, !group.state.is_open(), group.id)
            })
            .cloned()
    }

    /// Whether the incident has a step of the same series in the same environment.
    pub(super) fn shares_series(&self, incident: IncidentId, step: &StandingStep) -> bool {
        self.steps.iter().any(|other| {
            other.incident == Some(incident)
                && (other.machine, other.series, other.environment)
                    == (step.machine, step.series, step.environment)
        })
    }

    async fn open(
        &mut self,
        connection: &mut Connection,
        step: &StandingStep,
    ) -> Result<IncidentId> {
        let (range, project, branch) = (step.range(), self.project, self.branch);
        let id =
            db::incident::insert(connection, project, branch, self.change, range, self.now).await?;
        self.groups.push(Group { id, range, state: State::New, series: vec![step.series] });
        let detail = json!({
            "words": format!("opened by {}{}", words::step(step), self.whence(step)),
            "step": step.id,
        });
        tell::note(connection, id, "opened", &detail, self.now).await?;
        tell::opened(connection, id, self.change, self.now).await?;
        Ok(id)
    }

    async fn reopen(
        &mut self,
        connection: &mut Connection,
        group: &Group,
        step: &StandingStep,
    ) -> Result<IncidentId> {
        let words = format!("later runs found it again: {}", words::step(step));
        self.move_to(connection, group, Target::Plain(State::Reopened), &words).await?;
        let range = step.range();
        if let Some(group) = self.group_mut(group.id) {
            group.range = range;
        }
        Ok(group.id)
    }
}

/// What was refuted was refuted for its own series; another series in the same range may have a
/// cause of its own.
fn admits(group: &Group, step: &StandingStep) -> bool {
    match group.state {
        State::Merged => false,
        State::Invalid => group.series.contains(&step.series),
        _ => true,
    }
}

impl StandingStep {
    /// Size of the change, as a distance of logarithms; the largest there is where one level is
    /// not positive.
    fn size(&self) -> f64 {
        self.ratio.filter(|ratio| *ratio > 0.0).map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    }
}
