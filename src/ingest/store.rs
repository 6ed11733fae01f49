//! Rows → the database, in one transaction.

use time::OffsetDateTime;
use wire::Accepted;

use super::series::Ids;
use super::{Prepared, series};
use crate::app::App;
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::revision::short;
use crate::model::{
    Branch, BranchId, EnvironmentId, Machine, MachineId, OrderBy, Project, ProjectId, Revision,
    RevisionId,
};

/// Stores a report for a caller who may upload for `allowed`, or for any machine when none.
///
/// # Errors
/// `Invalid` (`unknown_machine`, `machine_identity_changed`, a missing order field), `Forbidden`
/// (another machine's token), `Conflict` (`run_reused`, `revision_moved`,
/// `project_subject_changed`, `metric_redefined`); nothing is kept then.
pub async fn store(app: &App, allowed: Option<MachineId>, report: &Prepared) -> Result<Accepted> {
    let _turn = app.gate.turn().await;
    match store_once(app, allowed, report).await {
        // A curve went with its only branch after this process learnt of it.
        Err(error) if error.is_lost_reference() => {
            app.known.forget();
            store_once(app, allowed, report).await
        }
        done => done,
    }
}

async fn store_once(app: &App, allowed: Option<MachineId>, report: &Prepared) -> Result<Accepted> {
    let now = app.clock.now();
    let mut tx = app.db.begin().await?;
    let machine = known_machine(&mut tx, allowed, report).await?;
    db::store::lock_run(&mut tx, report.run).await?;
    if already_stored(&mut tx, machine.id, report).await? {
        return Ok(accepted(report, false));
    }
    let project = project(&mut tx, report, now).await?;
    let branch = branch(&mut tx, &project, report).await?;
    let (revision, rank) = revision(&mut tx, &branch, report).await?;
    let environment = environment(&mut tx, report, now).await?;
    let run = db::store::Run {
        machine: machine.id,
        id: report.run,
        branch: branch.id,
        revision,
        rank,
        environment,
        digest: &report.digest,
        started_at: report.started_at,
        finished_at: report.finished_at,
        received_at: now,
    };
    db::store::insert_run(&mut tx, &run).await?;
    let recalled =
        app.known.recall(machine.id, project.id, &report.rows.curves, &report.rows.series);
    let is_new = recalled.is_none();
    let ids = match recalled {
        Some(ids) => ids,
        None => find_or_insert(&mut tx, &run, project.id, report).await?,
    };
    store_points(&mut tx, &run, &ids, report).await?;
    for artefact in &report.artefacts {
        db::store::insert_artefact(&mut tx, &run, artefact).await?;
    }
    db::machine::mark_seen(&mut *tx, machine.id, now).await?;
    tx.commit().await?;
    if is_new {
        let rows = (&*report.rows.curves, &*report.rows.series);
        app.known.keep(machine.id, project.id, rows, &ids);
    }
    app.due.notify_one();
    tracing::info!(
        run = %report.run, machine = machine.name, project = project.name,
        commit = short(&report.revision.commit), points = report.points, "run stored"
    );
    app.metrics.ingested(report.points, report.windows);
    Ok(accepted(report, true))
}

fn accepted(report: &Prepared, new: bool) -> Accepted {
    let (points, windows) = (report.points, report.windows);
    Accepted { run: report.run.to_string(), new, points, windows }
}

async fn known_machine(
    tx: &mut Connection,
    allowed: Option<MachineId>,
    report: &Prepared,
) -> Result<Machine> {
    let found = db::machine::find_by_public_id(&mut *tx, &report.machine.id).await?;
    let machine = found.ok_or_else(|| Error::Invalid {
        code: "unknown_machine",
        field: "machine.id".into(),
        problem: "no machine is registered under this id; register it first".into(),
    })?;
    if allowed.is_some_and(|allowed| allowed != machine.id) {
        return Err(Error::Forbidden("this token uploads for another machine"));
    }
    if machine.retired_at.is_some() {
        return Err(Error::Invalid {
            code: "machine_retired",
            field: "machine.id".into(),
            problem: "the machine was retired; register it again if it is back".into(),
        });
    }
    if machine.identity != report.machine.identity {
        return Err(Error::Invalid {
            code: "machine_identity_changed",
            field: "machine.identity".into(),
            problem: "differs from the identity this machine registered with; other hardware is \
                      another machine and registers under its own id"
                .into(),
        });
    }
    Ok(machine)
}

/// Whether this very report is stored; refuses another report under the same UUID.
async fn already_stored(
    tx: &mut Connection,
    machine: MachineId,
    report: &Prepared,
) -> Result<bool> {
    match db::store::find_run_digest(tx, report.run).await? {
        None => Ok(false),
        Some((owner, digest)) if owner == machine && digest == report.digest => Ok(true),
        Some(_) => Err(Error::Conflict {
            code: "run_reused",
            field: "run".into(),
            detail: format!("run {} is stored with another report; nothing changed", report.run),
        }),
    }
}

async fn project(tx: &mut Connection, report: &Prepared, now: OffsetDateTime) -> Result<Project> {
    let wanted = &report.project;
    let project = match db::project::find_by_name(&mut *tx, &wanted.name).await? {
        Some(known) => known,
        None => db::store::insert_or_find_project(tx, wanted, now).await?,
    };
    if project.subject == wanted.subject {
        return Ok(project);
    }
    Err(Error::Conflict {
        code: "project_subject_changed",
        field: "project.subject".into(),
        detail: format!("project {} is known with another subject", project.name),
    })
}

async fn branch(tx: &mut Connection, project: &Project, report: &Prepared) -> Result<Branch> {
    let name = &report.revision.branch;
    match db::project::find_branch(&mut *tx, project.id, name).await? {
        Some(known) => Ok(known),
        None => {
            let by_position = report.revision.position.is_some();
            let order = if by_position { OrderBy::Position } else { OrderBy::CommittedAt };
            Ok(db::store::insert_or_find_branch(tx, project.id, name, order).await?)
        }
    }
}

async fn revision(
    tx: &mut Connection,
    branch: &Branch,
    report: &Prepared,
) -> Result<(RevisionId, i64)> {
    let rank = rank(branch, report)?;
    let wanted = &report.revision;
    let known = match db::revision::find_by_commit(&mut *tx, branch.id, &wanted.commit).await? {
        Some(known) => known,
        None => insert_revision(tx, branch.id, report, rank).await?,
    };
    if known.rank == rank {
        return Ok((known.id, rank));
    }
    Err(Error::Conflict {
        code: "revision_moved",
        field: format!("revision.{}", branch.order_by.word()),
        detail: format!(
            "commit {} is known on branch {} with another {}, or left it; a revision keeps its place \
             until the branch's order is told anew, by POST /api/v1/projects/{{project}}/branches/{{branch}}/order",
            short(&wanted.commit),
            branch.name,
            branch.order_by.word()
        ),
    })
}

async fn insert_revision(
    tx: &mut Connection,
    branch: BranchId,
    report: &Prepared,
    rank: i64,
) -> Result<Revision> {
    let new = db::store::NewRevision {
        branch,
        revision: &report.revision,
        committed_at: report.committed_at,
        rank,
    };
    Ok(db::store::insert_or_find_revision(tx, &new).await?)
}

/// The place of the revision within its branch, by what the branch is ordered by.
fn rank(branch: &Branch, report: &Prepared) -> Result<i64> {
    let rank = match branch.order_by {
        OrderBy::Position => report.revision.position,
        OrderBy::CommittedAt => report.committed_at.map(microseconds),
    };
    rank.ok_or_else(|| {
        let order = branch.order_by.word();
        Error::invalid(
            format!("revision.{order}"),
            format!(
                "must be given: the first report of branch {} ordered it by {order}",
                branch.name
            ),
        )
    })
}

/// Microseconds since 1970; a time of RFC 3339 fits.
fn microseconds(at: OffsetDateTime) -> i64 {
    (at.unix_timestamp_nanos() / 1_000) as i64
}

async fn environment(
    tx: &mut Connection,
    report: &Prepared,
    now: OffsetDateTime,
) -> Result<EnvironmentId> {
    let (facts, digest) = &report.environment;
    match db::store::find_environment(tx, digest).await? {
        Some(known) => Ok(known),
        None => Ok(db::store::insert_or_find_environment(tx, digest, &facts.0, now).await?),
    }
}

async fn find_or_insert(
    tx: &mut Connection,
    run: &db::store::Run<'_>,
    project: ProjectId,
    report: &Prepared,
) -> Result<Ids> {
    let rows = &report.rows;
    let curves = series::curve_ids(tx, run.machine, project, &rows.curves).await?;
    let series = series::series_ids(tx, run.machine, &curves, &rows.series).await?;
    Ok((curves, series))
}

async fn store_points(
    tx: &mut Connection,
    run: &db::store::Run<'_>,
    (curves, series): &Ids,
    report: &Prepared,
) -> Result<()> {
    db::store::insert_points(tx, run, curves, &report.rows.points).await?;
    db::store::insert_measurements(tx, run, series, &report.rows.measurements).await?;
    db::store::mark_due(tx, run, curves).await?;
    Ok(())
}
