//! Incidents: written by alert under the project's lock, read by pages, API and mail.

use serde_json::Value;
use sqlx::types::Json;
use time::OffsetDateTime;

use super::types::word;
use super::{Connection, Pool};

use crate::model::incident::{Event, Headline, Incident, Message, RangeEnd, Reason, State};
use crate::model::range::Range;
use crate::model::step::Change;
use crate::model::triage::Target;
use crate::model::{
    BranchId, CurveId, IncidentId, MachineId, ProjectId, RevisionId, SeriesId, Visible,
};

/// An incident as far as grouping needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Row.
    pub id: IncidentId,
    /// Where its cause lies.
    pub range: Range,
    /// Where it stands.
    pub state: State,
    /// Series that ever had a step of it.
    pub series: Vec<SeriesId>,
}

/// An incident as far as a decision about it needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whose code.
    pub project: ProjectId,
    /// On which branch.
    pub branch: BranchId,
    /// Bad or good.
    pub change: Change,
    /// Where it stands.
    pub state: State,
    /// Where its cause lies.
    pub range: Range,
}

/// Holds the project's row until the transaction ends: one worker at a time groups its steps, so
/// two workers never open two incidents for one cause. Uploads do not wait for it.
pub async fn lock_project(connection: &mut Connection, project: ProjectId) -> sqlx::Result<()> {
    sqlx::query!("select id from project where id = $1 for no key update", project.0)
        .fetch_one(connection)
        .await?;
    Ok(())
}

/// Incidents of a branch with the given change, retracted ones too, oldest first.
pub async fn list_groups(
    connection: &mut Connection,
    project: ProjectId,
    branch: BranchId,
    change: Change,
) -> sqlx::Result<Vec<Group>> {
    let rows = sqlx::query!(
        r#"select id, good_rank, bad_rank, state,
                  array(select distinct series_id from step where incident_id = i.id)
                      as "series!: Vec<SeriesId>"
           from incident i
           where project_id = $1 and branch_id = $2 and direction = $3 order by id"#,
        project.0,
        branch.0,
        change.word()
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Group {
                id: IncidentId(row.id),
                range: Range { good: row.good_rank, bad: row.bad_rank },
                state: word("state", &row.state, State::parse)?,
                series: row.series,
            })
        })
        .collect()
}

/// One incident for a decision.
pub async fn find_standing(
    connection: &mut Connection,
    incident: IncidentId,
) -> sqlx::Result<Option<Standing>> {
    let row = sqlx::query!(
        "select project_id, branch_id, direction, state, good_rank, bad_rank from incident
         where id = $1",
        incident.0
    )
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        Ok(Standing {
            project: ProjectId(row.project_id),
            branch: BranchId(row.branch_id),
            change: word("direction", &row.direction, Change::parse)?,
            state: word("state", &row.state, State::parse)?,
            range: Range { good: row.good_rank, bad: row.bad_rank },
        })
    })
    .transpose()
}

/// Opens an incident.
pub async fn insert(
    connection: &mut Connection,
    project: ProjectId,
    branch: BranchId,
    change: Change,
    range: Range,
    now: OffsetDateTime,
) -> sqlx::Result<IncidentId> {
    sqlx::query_scalar!(
        "insert into incident (project_id, branch_id, direction, state, good_rank, bad_rank,
                               opened_at, changed_at)
         values ($1, $2, $3, 'new', $4, $5, $6, $6) returning id",
        project.0,
        branch.0,
        change.word(),
        range.good,
        range.bad,
        now
    )
    .fetch_one(connection)
    .await
    .map(IncidentId)
}

/// Sets where the cause lies.
pub async fn set_range(
    connection: &mut Connection,
    incident: IncidentId,
    range: Range,
    now: OffsetDateTime,
) -> sqlx::Result<()> {
    sqlx::query!(
        "update incident set good_rank = $2, bad_rank = $3, changed_at = $4 where id = $1",
        incident.0,
        range.good,
        range.bad,
        now
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes an incident from one state to another. False when it no longer stands there: somebody
/// else was first.
pub async fn set_state(
    connection: &mut Connection,
    incident: IncidentId,
    from: State,
    to: &Target,
    now: OffsetDateTime,
) -> sqlx::Result<bool> {
    let done = sqlx::query!(
        "update incident set state = $3, reason = $4, fixed_by = $5, merged_into = $6,
                changed_at = $7
         where id = $1 and state = $2",
        incident.0,
        from.word(),
        to.state().word(),
        to.reason().map(Reason::word),
        to.fixed_by(),
        to.merged_into().map(|into| into.0),
        now
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Adds a line to an incident's history, which is thereby changed. Returns its number.
pub async fn insert_event(
    connection: &mut Connection,
    incident: IncidentId,
    at: OffsetDateTime,
    kind: &str,
    detail: &Value,
) -> sqlx::Result<i64> {
    let event = sqlx::query_scalar!(
        "insert into incident_event (incident_id, at, kind, detail) values ($1, $2, $3, $4)
         returning id",
        incident.0,
        at,
        kind,
        Json(detail) as _
    )
    .fetch_one(&mut *connection)
    .await?;
    sqlx::query!("update incident set changed_at = $2 where id = $1", incident.0, at)
        .execute(connection)
        .await?;
    Ok(event)
}

/// Which incidents a list holds; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// In one of these states.
    pub states: Option<Vec<State>>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// On this branch.
    pub branch: Option<BranchId>,
    /// With a step on this machine.
    pub machine: Option<MachineId>,
    /// With a step of this workload.
    pub workload: Option<String>,
    /// Bad or good.
    pub change: Option<Change>,
    /// Opened then or later.
    pub since: Option<OffsetDateTime>,
    /// Opened earlier.
    pub until: Option<OffsetDateTime>,
    /// That stand behind this one: the last one of the page before.
    pub after: Option<IncidentId>,
}

impl Filter {
    /// Those in one of these states.
    pub fn of_states(states: &[State]) -> Filter {
        Filter { states: Some(states.to_vec()), ..Filter::default() }
    }
}

/// Incidents of what is visible, newest first; at most `limit`.
pub async fn list(
    db: &Pool,
    visible: &Visible,
    filter: &Filter,
    limit: i64,
) -> sqlx::Result<Vec<Incident>> {
    read(db, visible, None, filter, limit).await
}

/// One incident.
pub async fn find(db: &Pool, incident: IncidentId) -> sqlx::Result<Option<Incident>> {
    Ok(read(db, &Visible::ALL, Some(incident), &Filter::default(), 1).await?.pop())
}

/// Incidents of a branch whose cause may be the revision of this rank, retracted ones left out.
pub async fn list_over(db: &Pool, branch: BranchId, rank: i64) -> sqlx::Result<Vec<IncidentId>> {
    sqlx::query_scalar!(
        r#"select id as "id: IncidentId" from incident
           where branch_id = $1 and good_rank < $2 and $2 <= bad_rank
             and state not in ('retracted', 'merged') order by id desc"#,
        branch as BranchId,
        rank
    )
    .fetch_all(db)
    .await
}

/// Standing steps speak for an incident; where none stands, the steps it had do; where it has none
/// any more, the one that opened it does.
async fn read(
    db: &Pool,
    visible: &Visible,
    incident: Option<IncidentId>,
    filter: &Filter,
    limit: i64,
) -> sqlx::Result<Vec<Incident>> {
    let words = |states: &Vec<State>| states.iter().map(|one| one.word().to_owned()).collect();
    let states: Option<Vec<String>> = filter.states.as_ref().map(words);
    let rows = sqlx::query_as!(
        Row,
        r#"select i.id, i.project_id, p.name as project_name, i.branch_id, b.name as branch_name,
                  i.direction, i.state, i.reason, i.fixed_by, i.merged_into, i.good_rank,
                  i.bad_rank, i.opened_at, i.changed_at,
                  good.id as "good_id!", good.commit_id as "good_commit!", good.subject as "good_subject!",
                  bad.id as "bad_id!", bad.commit_id as "bad_commit!", bad.subject as "bad_subject!",
                  counts.steps as "steps!", counts.machines as "machines!",
                  c.id as curve_id, c.workload, s.metric, s.tasks, s.derived,
                  top.ratio as "ratio?",
                  top.ratio_low as "ratio_low?", top.ratio_high as "ratio_high?",
                  m.public_id as machine_public_id, m.name as machine_name,
                  array(select distinct s2.tasks from step t2 join series s2 on s2.id = t2.series_id
                        where t2.incident_id = i.id and s2.curve_id = c.id and s2.metric = s.metric
                              and s2.derived = s.derived
                              and (t2.retracted_at is null or not stands.any)
                        order by 1) as "all_tasks!"
           from incident i
           join project p on p.id = i.project_id
           join branch b on b.id = i.branch_id
           cross join lateral (
               select exists (select from step where incident_id = i.id and retracted_at is null)
                   as any
           ) stands
           cross join lateral (
               (select id, commit_id, subject from revision
                where branch_id = i.branch_id and rank = i.good_rank order by commit_id limit 1)
               union all
               (select v.id, v.commit_id, v.subject
                from step t join revision v on v.id = t.good_revision_id
                where t.incident_id = i.id order by t.id desc limit 1)
               limit 1
           ) good
           cross join lateral (
               (select id, commit_id, subject from revision
                where branch_id = i.branch_id and rank = i.bad_rank order by commit_id limit 1)
               union all
               (select v.id, v.commit_id, v.subject
                from step t join revision v on v.id = t.bad_revision_id
                where t.incident_id = i.id order by t.id desc limit 1)
               limit 1
           ) bad
           cross join lateral (
               select count(*) as steps, count(distinct machine_id) as machines from step
               where incident_id = i.id and (retracted_at is null or not stands.any)
           ) counts
           cross join lateral (
               select t.series_id, t.machine_id, t.ratio, t.ratio_low, t.ratio_high
               from step t join series s on s.id = t.series_id
               where t.incident_id = i.id and (t.retracted_at is null or not stands.any)
                     or t.id = (select (e.detail->>'step')::bigint from incident_event e
                                where e.incident_id = i.id and e.kind = 'opened'
                                order by e.id limit 1)
               order by t.incident_id is distinct from i.id, s.is_primary desc,
                        s.derived, abs(ln(case when t.ratio > 0 then t.ratio end)) desc nulls last, t.id
               limit 1
           ) top
           join series s on s.id = top.series_id
           join curve c on c.id = s.curve_id
           join machine m on m.id = top.machine_id
           where ($1::text[] is null or i.state = any($1)) and ($2::bigint is null or i.id = $2)
                 and ($3::bigint is null or i.id < $3)
                 and ($5::bigint is null or i.project_id = $5)
                 and ($6::bigint is null or i.branch_id = $6)
                 and ($7::bigint is null or exists (
                     select from step where incident_id = i.id and machine_id = $7))
                 and ($8::text is null or exists (
                     select from step t3 join series s3 on s3.id = t3.series_id
                                         join curve c3 on c3.id = s3.curve_id
                     where t3.incident_id = i.id and c3.workload = $8))
                 and ($9::text is null or i.direction = $9)
                 and ($10::timestamptz is null or i.opened_at >= $10)
                 and ($11::timestamptz is null or i.opened_at < $11)
                 and ($12::bigint[] is null or i.project_id = any($12))
           order by i.id desc
           limit $4"#,
        states as Option<Vec<String>>,
        incident.map(|incident| incident.0),
        filter.after.map(|after| after.0),
        limit,
        filter.project.map(|project| project.0),
        filter.branch.map(|branch| branch.0),
        filter.machine.map(|machine| machine.0),
        filter.workload,
        filter.change.map(Change::word),
        filter.since,
        filter.until,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(Incident::try_from).collect()
}

/// An incident with its strongest step, as joined.
struct Row {
    id: i64,
    project_id: i64,
    project_name: String,
    branch_id: i64,
    branch_name: String,
    direction: String,
    state: String,
    reason: Option<String>,
    fixed_by: Option<String>,
    merged_into: Option<i64>,
    good_rank: i64,
    bad_rank: i64,
    opened_at: OffsetDateTime,
    changed_at: OffsetDateTime,
    good_id: i64,
    good_commit: String,
    good_subject: String,
    bad_id: i64,
    bad_commit: String,
    bad_subject: String,
    steps: i64,
    machines: i64,
    curve_id: i64,
    workload: String,
    metric: String,
    tasks: i32,
    derived: bool,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    machine_public_id: String,
    machine_name: String,
    all_tasks: Vec<i32>,
}

impl TryFrom<Row> for Incident {
    type Error = sqlx::Error;

    fn try_from(row: Row) -> sqlx::Result<Incident> {
        Ok(Incident {
            id: IncidentId(row.id),
            project: ProjectId(row.project_id),
            project_name: row.project_name,
            branch: BranchId(row.branch_id),
            branch_name: row.branch_name,
            change: word("direction", &row.direction, Change::parse)?,
            state: word("state", &row.state, State::parse)?,
            reason: row
                .reason
                .as_deref()
                .map(|reason| word("reason", reason, Reason::parse))
                .transpose()?,
            fixed_by: row.fixed_by,
            merged_into: row.merged_into.map(IncidentId),
            good: RangeEnd {
                revision: RevisionId(row.good_id),
                rank: row.good_rank,
                commit: row.good_commit,
                subject: row.good_subject,
            },
            bad: RangeEnd {
                revision: RevisionId(row.bad_id),
                rank: row.bad_rank,
                commit: row.bad_commit,
                subject: row.bad_subject,
            },
            opened_at: row.opened_at,
            changed_at: row.changed_at,
            steps: row.steps,
            machines: row.machines,
            headline: Headline {
                curve: CurveId(row.curve_id),
                workload: row.workload,
                metric: row.metric,
                tasks: row.tasks,
                derived: row.derived,
                ratio: ratio(row.ratio, row.ratio_low, row.ratio_high),
                all_tasks: row.all_tasks,
                machine_public_id: row.machine_public_id,
                machine_name: row.machine_name,
            },
        })
    }
}

/// A ratio is stored whole or not at all.
pub(super) fn ratio(
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
) -> Option<(f64, f64, f64)> {
    Some((ratio?, low?, high?))
}

/// What happened to an incident, oldest first.
pub async fn list_events(db: &Pool, incident: IncidentId) -> sqlx::Result<Vec<Event>> {
    sqlx::query_as!(
        Event,
        "select id, at, kind, detail from incident_event where incident_id = $1 order by id",
        incident.0
    )
    .fetch_all(db)
    .await
}

/// Messages about an incident, oldest first.
pub async fn list_messages(db: &Pool, incident: IncidentId) -> sqlx::Result<Vec<Message>> {
    sqlx::query_as!(
        Message,
        "select event, attempts, sent_at, sent_to, withdrawn_at, last_error
         from outbox where incident_id = $1 order by id",
        incident.0
    )
    .fetch_all(db)
    .await
}
