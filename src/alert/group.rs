//! Groups steps by cause. Steps of one project, branch and direction whose ranges overlap are one
//! incident, whatever the point, metric, workload or machine. A step that was retracted or moved
//! away leaves; an incident without a step that may open one is retracted.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::json;
use time::OffsetDateTime;

use super::words;
use crate::db::incident::Group;
use crate::db::outbox::Kind;
use crate::db::{self, Connection};
use crate::detect::policy;
use crate::model::incident::State;
use crate::model::range::{self, Range};
use crate::model::step::{Change, StandingStep};
use crate::model::{BranchId, IncidentId, ProjectId};

/// What a step may do for an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Open one, and join one.
    Opens,
    /// Join one: it tells how the change came about.
    Joins,
    /// Neither: it is put down to others on the machine.
    Stays,
}

fn role(step: &StandingStep) -> Role {
    match (step.blamed_on_neighbour, policy::opens_incident(&step.metric, step.primary)) {
        (true, _) => Role::Stays,
        (false, true) => Role::Opens,
        (false, false) => Role::Joins,
    }
}

/// Settles every branch and direction that the curve's steps, before or after, bear on.
pub async fn settle(
    connection: &mut Connection,
    project: ProjectId,
    before: &[StandingStep],
    after: &[StandingStep],
    now: OffsetDateTime,
) -> Result<()> {
    let places: BTreeSet<(BranchId, Change)> =
        before.iter().chain(after).map(|step| (step.branch, step.change)).collect();
    for (branch, change) in places {
        let mut settling = Settling::load(connection, project, branch, change, now).await?;
        settling.release(connection).await?;
        settling.place(connection).await?;
        settling.close(connection).await?;
    }
    Ok(())
}

/// The incidents and steps of one branch and direction while they are settled.
struct Settling {
    project: ProjectId,
    branch: BranchId,
    change: Change,
    now: OffsetDateTime,
    /// As they become.
    groups: Vec<Group>,
    /// As they are stored.
    stored: Vec<Group>,
    /// Strongest first: primary metrics, then the larger change.
    steps: Vec<StandingStep>,
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
        let mut steps = db::step::list_standing_of_branch(connection, project, branch).await?;
        steps.retain(|step| step.change == change);
        steps.sort_by(|a, b| {
            let key = |step: &StandingStep| (role(step) != Role::Opens, !step.primary);
            key(a).cmp(&key(b)).then(b.size().total_cmp(&a.size())).then(a.id.cmp(&b.id))
        });
        let stored = groups.clone();
        Ok(Settling { project, branch, change, now, groups, stored, steps })
    }

    /// Range of an incident by its steps, one of them left out when asked.
    fn range_of(&self, incident: IncidentId, without: Option<&StandingStep>) -> Option<Range> {
        range::of_steps(
            self.steps
                .iter()
                .filter(|step| step.incident == Some(incident) && role(step) == Role::Opens)
                .filter(|step| without.is_none_or(|without| without.id != step.id))
                .map(StandingStep::range),
        )
    }

    /// Takes steps out of incidents they do not belong to any more.
    async fn release(&mut self, connection: &mut Connection) -> Result<()> {
        for i in 0..self.steps.len() {
            let step = &self.steps[i];
            let Some(incident) = step.incident else { continue };
            let belongs = match role(step) {
                Role::Stays => false,
                Role::Opens | Role::Joins => match self.range_of(incident, Some(step)) {
                    Some(range) => range.is_near(step.range()),
                    // The only one that carries the incident takes it along.
                    None => role(step) == Role::Opens,
                },
            };
            if !belongs {
                db::step::set_incident(connection, step.machine, step.id, None).await?;
                self.steps[i].incident = None;
            }
        }
        Ok(())
    }

    /// Puts every step without an incident where it belongs, strongest first.
    async fn place(&mut self, connection: &mut Connection) -> Result<()> {
        for i in 0..self.steps.len() {
            let step = self.steps[i].clone();
            if step.incident.is_some() || role(&step) == Role::Stays {
                continue;
            }
            let incident = match self.home_of(&step) {
                Some(group) if group.state == State::Retracted => {
                    if role(&step) != Role::Opens {
                        continue;
                    }
                    self.reopen(connection, group, &step).await?
                }
                Some(group) => {
                    let detail = json!({ "words": format!("{} joined", words::step(&step)), "step": step.id });
                    self.note(connection, group.id, "step_joined", &detail).await?;
                    group.id
                }
                None if role(&step) == Role::Opens => self.open(connection, &step).await?,
                None => continue,
            };
            db::step::set_incident(connection, step.machine, step.id, Some(incident)).await?;
            self.steps[i].incident = Some(incident);
            self.refresh(incident);
        }
        Ok(())
    }

    /// The incident whose cause the step's can be: one that overlaps before one that touches, one
    /// that stands before a retracted one, the oldest of several. Two steps of one series have two
    /// causes.
    fn home_of(&self, step: &StandingStep) -> Option<Group> {
        let free = |group: &&Group| {
            !self.steps.iter().any(|other| {
                other.incident == Some(group.id)
                    && (other.machine, other.series, other.environment)
                        == (step.machine, step.series, step.environment)
            })
        };
        let same_curve = |group: &Group| {
            self.steps.iter().any(|other| {
                other.incident == Some(group.id)
                    && (other.machine, other.curve) == (step.machine, step.curve)
            })
        };
        self.groups
            .iter()
            .filter(free)
            .filter(|group| {
                let overlaps = group.range.overlap(step.range()).is_some();
                overlaps || (group.range.touches(step.range()) && same_curve(group))
            })
            .min_by_key(|group| {
                let apart = group.range.overlap(step.range()).is_none();
                (group.state == State::Retracted, apart, group.id)
            })
            .copied()
    }

    async fn open(
        &mut self,
        connection: &mut Connection,
        step: &StandingStep,
    ) -> Result<IncidentId> {
        let range = step.range();
        let id = db::incident::insert(
            connection,
            self.project,
            self.branch,
            self.change,
            range,
            self.now,
        )
        .await?;
        self.groups.push(Group { id, range, state: State::New });
        let detail = json!({
            "words": format!("opened by {}", words::step(step)),
            "step": step.id,
        });
        self.note(connection, id, "opened", &detail).await?;
        self.tell(connection, id, Kind::IncidentOpened).await?;
        Ok(id)
    }

    async fn reopen(
        &mut self,
        connection: &mut Connection,
        group: Group,
        step: &StandingStep,
    ) -> Result<IncidentId> {
        for known in self.groups.iter_mut().filter(|known| known.id == group.id) {
            *known = Group { state: State::New, range: step.range(), ..group };
        }
        let words = format!("later runs found it again: {}", words::step(step));
        self.change_state(connection, group.id, State::Retracted, State::New, &words).await?;
        self.tell(connection, group.id, Kind::IncidentOpened).await?;
        Ok(group.id)
    }

    /// Takes over the range that the incident's steps now leave.
    fn refresh(&mut self, incident: IncidentId) {
        if let Some(range) = self.range_of(incident, None) {
            for group in self.groups.iter_mut().filter(|group| group.id == incident) {
                group.range = range;
            }
        }
    }

    /// Stores ranges, and retracts incidents that no step carries any more.
    async fn close(&mut self, connection: &mut Connection) -> Result<()> {
        for group in self.groups.clone() {
            match self.range_of(group.id, None) {
                Some(range) if self.stored.contains(&Group { range, ..group }) => {}
                Some(range) => {
                    db::incident::update(connection, group.id, range, group.state, self.now)
                        .await?;
                }
                None if group.state == State::Retracted => {}
                None => self.retract(connection, group).await?,
            }
        }
        Ok(())
    }

    async fn retract(&mut self, connection: &mut Connection, group: Group) -> Result<()> {
        let left = self.steps.iter_mut().filter(|step| step.incident == Some(group.id));
        for step in left {
            db::step::set_incident(connection, step.machine, step.id, None).await?;
            step.incident = None;
        }
        db::incident::update(connection, group.id, group.range, State::Retracted, self.now).await?;
        let words = "retracted: later runs disproved every step of it";
        self.change_state(connection, group.id, group.state, State::Retracted, words).await?;
        if db::outbox::withdraw(connection, group.id, self.now).await? {
            self.tell(connection, group.id, Kind::IncidentRetracted).await?;
        }
        Ok(())
    }

    async fn change_state(
        &self,
        connection: &mut Connection,
        incident: IncidentId,
        from: State,
        to: State,
        words: &str,
    ) -> Result<()> {
        let detail = json!({ "words": words, "from": from, "to": to });
        self.note(connection, incident, "state_changed", &detail).await
    }

    async fn note(
        &self,
        connection: &mut Connection,
        incident: IncidentId,
        kind: &str,
        detail: &serde_json::Value,
    ) -> Result<()> {
        Ok(db::incident::insert_event(connection, incident, self.now, kind, detail).await?)
    }

    /// Queues a message of a regression; an improvement is shown on the pages alone.
    async fn tell(
        &self,
        connection: &mut Connection,
        incident: IncidentId,
        kind: Kind,
    ) -> Result<()> {
        if self.change == Change::Improvement {
            return Ok(());
        }
        let verb = match kind {
            Kind::IncidentOpened => "opened",
            Kind::IncidentRetracted => "retracted",
        };
        // The first is `incident/12/opened`; after a retraction it may be opened a second time.
        let event = match db::outbox::count(connection, incident, kind).await? {
            0 => format!("incident/{incident}/{verb}"),
            n => format!("incident/{incident}/{verb}/{}", n + 1),
        };
        Ok(db::outbox::insert(connection, &event, kind, incident, self.now).await?)
    }
}

impl StandingStep {
    /// Size of the change, as a distance of logarithms; the largest there is where one level is
    /// not positive.
    fn size(&self) -> f64 {
        self.ratio.filter(|ratio| *ratio > 0.0).map_or(f64::INFINITY, |ratio| ratio.ln().abs())
    }
}
