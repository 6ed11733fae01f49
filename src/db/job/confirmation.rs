//! Suspects that are measured again before they are told, and what came of it.

use time::OffsetDateTime;

use crate::db::types::word;
use crate::db::{Connection, Failure, Pool};
use crate::model::job::{Confirmation, Outcome};
use crate::model::{CurveId, IncidentId, JobId, MachineId, RevisionId};

/// Locks the incident that waits longest to be told and was not asked about, until the transaction
/// ends; passes over those that another worker holds.
///
/// # Errors
/// When the database does not answer.
pub async fn claim_unasked(connection: &mut Connection) -> Result<Option<IncidentId>, Failure> {
    sqlx::query_scalar!(
        r#"select o.incident_id as "id: IncidentId" from outbox o
           where o.kind = 'incident_opened' and o.sent_at is null and o.withdrawn_at is null
             and not exists (select from confirmation c where c.incident_id = o.incident_id)
           order by o.id limit 1
           for update of o skip locked"#
    )
    .fetch_optional(connection)
    .await
}

/// Keeps that a suspect is measured again, or why it is not. Whoever asked first is kept.
///
/// # Errors
/// When the database refuses.
pub async fn insert(
    connection: &mut Connection,
    confirmation: &Confirmation,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "insert into confirmation (incident_id, job_id, outcome, words, asked_at, decided_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (incident_id) do nothing",
        confirmation.incident as IncidentId,
        confirmation.job as Option<JobId>,
        confirmation.outcome.map(Outcome::word),
        confirmation.words,
        now,
        confirmation.outcome.map(|_| now)
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Locks an undecided confirmation whose job is over, until the transaction ends.
///
/// # Errors
/// When the database does not answer.
pub async fn claim_measured(
    connection: &mut Connection,
) -> Result<Option<(IncidentId, JobId)>, Failure> {
    let row = sqlx::query!(
        r#"select c.incident_id as "incident: IncidentId", j.id as "job: JobId"
           from confirmation c join job j on j.id = c.job_id
           where c.outcome is null and j.ended_at is not null
           order by j.ended_at, j.id limit 1
           for update of c skip locked"#
    );
    Ok(row.fetch_optional(connection).await?.map(|row| (row.incident, row.job)))
}

/// Keeps what came of it.
///
/// # Errors
/// When the database does not answer.
pub async fn mark_decided(
    connection: &mut Connection,
    incident: IncidentId,
    outcome: Outcome,
    words: &str,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    sqlx::query!(
        "update confirmation set outcome = $2, words = $3, decided_at = $4
         where incident_id = $1 and outcome is null",
        incident as IncidentId,
        outcome.word(),
        words,
        now
    )
    .execute(connection)
    .await
    .map(drop)
}

/// What is known of an incident; none before its worker looked at it.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, incident: IncidentId) -> Result<Option<Confirmation>, Failure> {
    let row = sqlx::query!(
        r#"select job_id as "job: JobId", outcome, words from confirmation
           where incident_id = $1"#,
        incident as IncidentId
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        let outcome = row.outcome.as_deref();
        let outcome = outcome.map(|stored| word("outcome", stored, Outcome::parse)).transpose()?;
        Ok(Confirmation { incident, job: row.job, outcome, words: row.words })
    })
    .transpose()
}

/// How a curve was measured at a revision: windows thrown away first, windows, and their mean
/// length, ns; of the run that arrived last and has windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Windows thrown away first.
    pub warmup: i32,
    /// Windows.
    pub windows: i32,
    /// Their mean length, ns.
    pub dt_ns: i64,
}

/// See [`Manner`]; none where every point of it failed or came from another tool.
///
/// # Errors
/// When the database does not answer.
pub async fn find_manner(
    pool: &Pool,
    machine: MachineId,
    curve: CurveId,
    revision: RevisionId,
) -> Result<Option<Manner>, Failure> {
    sqlx::query_as!(
        Manner,
        r#"select coalesce(t.warmup_windows, 0) as "warmup!",
                  t.windows, (t.wall_ns / t.windows)::bigint as "dt_ns!"
           from point t join run r on r.machine_id = t.machine_id and r.id = t.run_id
           where t.machine_id = $1 and t.curve_id = $2 and r.revision_id = $3
             and t.windows > 0
           order by r.received_at desc, t.tasks limit 1"#,
        machine as MachineId,
        curve as CurveId,
        revision as RevisionId
    )
    .fetch_optional(pool)
    .await
}
