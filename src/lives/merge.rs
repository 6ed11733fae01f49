//! Two machines that are one: the same hardware registered twice, for instance since its id was lost.

use serde_json::json;

use crate::account::By;
use crate::alert;
use crate::db::merge::{Merge, Moved};
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::step::StandingStep;
use crate::model::{Machine, ProjectId};

/// Makes everything that `from` measured `into`'s; its id and its tokens are the other's from then on.
/// Hardware that differs in more than its id is refused unless `force` says that it is the same.
/// There is no way back. The caller commits, and rings the worker.
///
/// # Errors
/// `NotFound`; `Conflict` where they are one already, differ in hardware, both have a job in hand,
/// hold the same run, or measure a metric in two ways. Nothing is changed then.
pub async fn merge(
    connection: &mut Connection,
    by: &By<'_>,
    from: &str,
    into: &str,
    force: bool,
) -> Result<Moved> {
    let (from, into) = (find(connection, from).await?, find(connection, into).await?);
    if from.id == into.id {
        return Err(conflict("machine_merged", "they are one machine already".into()));
    }
    let merge = Merge { from: from.id, into: into.id, at: by.now };
    merge.lock(connection).await?;
    for machine in [&from, &into] {
        // Another merge may have been faster.
        let found = db::machine::find(&mut *connection, machine.id).await?;
        found.ok_or(Error::NotFound("machine"))?;
    }
    let differences = differences(&from.identity, &into.identity);
    if !differences.is_empty() && !force {
        let detail = format!(
            "their hardware differs in {}; say `force` where it is the same all the same",
            differences.join(", ")
        );
        return Err(conflict("machine_hardware_differs", detail));
    }
    refuse_contradictions(connection, &merge).await?;
    let joined = merge.pair(connection).await?;
    withdraw_doubles(connection, by, &merge, &into).await?;
    let runs = merge.move_runs(connection).await?;
    let curves = merge.move_curves(connection).await?.len() as u64;
    let tokens = merge.move_work(connection).await?;
    merge.finish(connection).await?;
    let about = format!("machine {} ({})", into.name, into.public_id);
    let was = json!({ "name": from.name, "id": from.public_id });
    let became = json!({
        "runs": runs, "curves": curves, "joined": joined, "tokens": tokens,
        "differs_in": differences,
    });
    by.did(connection, "machine_merged", &about, (Some(was), Some(became))).await?;
    Ok(Moved { runs, joined, curves, tokens })
}

async fn find(connection: &mut Connection, id: &str) -> Result<Machine> {
    let found = db::machine::find_by_public_id(&mut *connection, id).await?;
    let found = found.ok_or(Error::NotFound("machine"))?;
    // An id that was merged before comes with the identity it was registered with.
    db::machine::find(connection, found.id).await?.ok_or(Error::NotFound("machine"))
}

async fn refuse_contradictions(connection: &mut Connection, merge: &Merge) -> Result<()> {
    if merge.are_both_busy(connection).await? {
        let detail = "both have a job in hand; cancel one, or wait until it is over".into();
        return Err(conflict("machines_busy", detail));
    }
    if let Some(run) = merge.find_run_of_both(connection).await? {
        return Err(conflict("run_reused", format!("both hold a run {run}")));
    }
    if let Some((workload, metric)) = merge.find_other_metric(connection).await? {
        let detail = format!("they measure {metric} of {workload} in another unit or direction");
        return Err(conflict("metric_redefined", detail));
    }
    Ok(())
}

/// A step that both have stays once.
async fn withdraw_doubles(
    connection: &mut Connection,
    by: &By<'_>,
    merge: &Merge,
    into: &Machine,
) -> Result<()> {
    let doubles = merge.list_steps_of_both(connection).await?;
    let mut projects: Vec<ProjectId> = doubles.iter().map(|(project, ..)| *project).collect();
    projects.dedup();
    let why = format!("its machine was merged into {}, which has the same step", into.name);
    for project in projects {
        let of = doubles.iter().filter(|(of, ..)| *of == project);
        let curves: Vec<_> = of.map(|(_, curve, _)| *curve).collect();
        let standing =
            db::step::list_standing_of_curves(connection, merge.from, project, &curves).await?;
        let is_double = |step: &StandingStep| doubles.iter().any(|(.., id)| *id == step.id);
        alert::withdraw(connection, project, &standing, is_double, &why, by.now).await?;
    }
    Ok(())
}

fn conflict(code: &'static str, detail: String) -> Error {
    Error::Conflict { code, field: "from".into(), detail }
}

/// What differs between two pieces of hardware, their ids left out.
fn differences(one: &wire::Identity, other: &wire::Identity) -> Vec<&'static str> {
    [
        ("architecture", one.architecture == other.architecture),
        ("CPU model", one.cpu_model == other.cpu_model),
        ("sockets", one.sockets == other.sockets),
        ("cores", one.cores == other.cores),
        ("threads", one.threads == other.threads),
        ("NUMA nodes", one.numa_nodes == other.numa_nodes),
        ("caches", one.caches == other.caches),
        ("memory", one.memory_class == other.memory_class),
    ]
    .into_iter()
    .filter_map(|(what, same)| (!same).then_some(what))
    .collect()
}
