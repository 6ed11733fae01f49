//! Finds steps. A due curve comes in, every step of its series goes out with its evidence; the
//! same rows give the same answer in any order of arrival, and nothing here reads a clock.

pub mod bends;
pub mod beside;
pub mod counters;
pub mod earlier;
pub mod environments;
pub mod evidence;
pub mod explain;
pub mod floor;
pub mod history;
pub mod laws;
pub mod levels;
pub mod middle;
pub mod modes;
pub mod neighbour;
pub mod offline;
pub mod policy;
pub mod scaling;
pub mod severity;
pub mod two_sides;

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use crate::db::noise::BuildNoise;
use crate::db::{self, Connection};
use crate::model::environment::Effect;
use crate::model::noise::Source;
use crate::model::scaling::{Figure, Scaling};
use crate::model::step::{Found, HistoryRow};
use crate::model::{EnvironmentId, NoiseFloor};
use history::Candidate;

/// What the whole history of a curve tells.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Its steps.
    pub found: Vec<Found>,
    /// Its noise between builds.
    pub noise: Vec<BuildNoise>,
    /// What changes of environment did to it.
    pub effects: Vec<Effect>,
    /// Its laws of scaling as they were stored.
    pub known_laws: Vec<Scaling>,
    /// Its laws of scaling as they are.
    pub laws: Vec<Scaling>,
}

/// Judges the whole history of a curve.
///
/// # Errors
/// When the database does not answer.
pub async fn judge(connection: &mut Connection, due: db::due::Due) -> Result<Judged> {
    let rows = db::step::list_history(&mut *connection, due.machine, due.curve).await?;
    let environments: BTreeSet<EnvironmentId> = rows.iter().map(|row| row.environment).collect();
    let environments: Vec<EnvironmentId> = environments.into_iter().collect();
    let facts = db::environment::list(&mut *connection, &environments).await?;
    let facts = facts.into_iter().map(|one| (one.id, one.facts)).collect();
    let mut floors = db::noise::list_of_curve(&mut *connection, due.machine, due.curve).await?;
    // What the builds tell is told by the rows at hand, not by those of the last judgement.
    floors.retain(|floor| floor.source != Source::Builds);
    let known_laws = db::scaling::list(&mut *connection, due.machine, due.curve).await?;
    let told = steps(rows, facts, floors, known_laws.clone()).await?;
    let Told { mut candidates, bends, laws, noise, effects } = told;
    for i in 0..candidates.len() {
        if is_suspect(&candidates, i) {
            let candidate = &candidates[i];
            let tasks = candidate.found.tasks;
            let before =
                db::step::list_cpu_shares(connection, due, tasks, &candidate.before).await?;
            let after = db::step::list_cpu_shares(connection, due, tasks, &candidate.after).await?;
            candidates[i].found.evidence.neighbour =
                neighbour::weigh(&before, &after, candidates[i].found.change);
        }
    }
    let mut found: Vec<Found> = candidates.into_iter().map(|candidate| candidate.found).collect();
    for (figure, step) in bends {
        let curve = (due.machine, due.curve);
        let series = db::scaling::series(connection, curve, step.tasks, figure).await?;
        found.push(Found { series, ..step });
    }
    Ok(Judged { found, noise, effects, known_laws, laws })
}

/// What rows tell by themselves.
struct Told {
    candidates: Vec<Candidate>,
    bends: Vec<(Figure, Found)>,
    laws: Vec<Scaling>,
    noise: Vec<BuildNoise>,
    effects: Vec<Effect>,
}

/// On a thread of its own: a long history must not hold up requests, nor a fault the worker.
async fn steps(
    rows: Vec<HistoryRow>,
    facts: history::Environments,
    mut floors: Vec<NoiseFloor>,
    known_laws: Vec<Scaling>,
) -> Result<Told> {
    let work = move || {
        let noise = floor::between_builds(&rows);
        floors.extend(noise.iter().map(floor::as_floor));
        let effects = environments::effects(&rows);
        let laws = laws::of_history(&rows, &known_laws);
        let metric = rows.iter().find(|row| row.primary).map(|row| row.metric.clone());
        let metric = metric.unwrap_or_default();
        let candidates = history::detect(rows, &facts, &floors, &policy::steps());
        let beside =
            bends::Beside { facts: &facts, floors: &floors, metric: &metric, points: &candidates };
        let bends = bends::detect(&laws, beside, &policy::steps());
        Told { candidates, bends, laws, noise, effects }
    };
    tokio::task::spawn_blocking(work).await.context("the step test failed")
}

/// A change against wall time that ops per CPU-second of the same point does not show.
fn is_suspect(candidates: &[Candidate], i: usize) -> bool {
    let suspect = &candidates[i];
    let agrees = |other: &Candidate| {
        let (one, two) = (&suspect.found, &other.found);
        two.metric == policy::PER_CPU_SECOND
            && (one.tasks, one.branch, one.environment, one.change)
                == (two.tasks, two.branch, two.environment, two.change)
            && one.range().is_near(two.range())
    };
    policy::AGAINST_WALL_TIME.contains(&suspect.unit) && !candidates.iter().any(agrees)
}
