//! What is known of how builds of one code differ when two revisions are compared: the runs of the
//! revisions before the base, back to the newest step.

use crate::db::history::EarlierRun;
use crate::db::{self, Failure, Pool};
use crate::model::incident::IncidentStep;
use crate::model::{Curve, Measurement, RevisionId};

/// Revisions before the base that are looked at: older ones tell of older machines.
pub const NEAREST_REVISIONS: i64 = 40;

/// The runs of earlier builds of one metric on the level of the base; none where nothing was
/// measured at the base.
///
/// # Errors
/// When the database does not answer.
pub async fn load(
    pool: &Pool,
    curve: &Curve,
    metric: &str,
    base: &[Measurement],
    head: &[Measurement],
) -> Result<Vec<EarlierRun>, Failure> {
    let Some(newest) = base.iter().max_by_key(|one| one.finished_at) else {
        return Ok(Vec::new());
    };
    let place = (newest.branch, newest.rank);
    let runs = db::history::list_before(pool, curve, metric, place, NEAREST_REVISIONS).await?;
    if runs.is_empty() {
        return Ok(runs);
    }
    let steps = db::incident_step::list_standing_of_curve(pool, curve.id).await?;
    let own: Vec<RevisionId> = base.iter().chain(head).map(|one| one.revision).collect();
    Ok(on_the_level(runs, &steps, newest.rank, &own))
}

/// Leaves out what lies before the newest step up to the base, and the sides' own revisions: a head
/// may be older, and a base may be a range.
fn on_the_level(
    runs: Vec<EarlierRun>,
    steps: &[IncidentStep],
    base: i64,
    own: &[RevisionId],
) -> Vec<EarlierRun> {
    let since = |run: &EarlierRun| {
        let of_run = steps.iter().filter(|step| {
            (step.series, step.environment) == (run.series, run.environment)
                && step.bad.rank <= base
        });
        of_run.map(|step| step.bad.rank).max().unwrap_or(i64::MIN)
    };
    let is_own = |run: &EarlierRun| own.contains(&run.revision);
    runs.into_iter().filter(|run| run.rank >= since(run) && !is_own(run)).collect()
}
