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
pub mod project;
pub mod scaling;
pub mod severity;
pub mod two_sides;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, Result};

use crate::db::due::Due;
use crate::db::noise::BuildNoise;
use crate::db::{self, Connection};
use crate::model::environment::Effect;
use crate::model::scaling::{Figure, Scaling};
use crate::model::step::{Found, HistoryRow};
use crate::model::{CurveId, EnvironmentId, NoiseFloor};
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

/// Judges the whole histories of some curves, all of one machine and project, in their order.
///
/// # Errors
/// When the database does not answer.
pub async fn judge(connection: &mut Connection, dues: &[Due]) -> Result<Vec<Judged>> {
    let work = load(connection, dues).await?;
    let judged = steps(work).await?;
    let mut all = Vec::with_capacity(dues.len());
    for (due, told) in dues.iter().zip(judged) {
        let Told { mut candidates, bends, known_laws, laws, noise, effects } = told;
        for i in 0..candidates.len() {
            if is_suspect(&candidates, i) {
                let candidate = &candidates[i];
                let tasks = candidate.found.tasks;
                let before =
                    db::step::list_cpu_shares(connection, *due, tasks, &candidate.before).await?;
                let after =
                    db::step::list_cpu_shares(connection, *due, tasks, &candidate.after).await?;
                candidates[i].found.evidence.neighbour =
                    neighbour::weigh(&before, &after, candidates[i].found.change);
            }
        }
        let mut found: Vec<Found> = candidates.into_iter().map(|one| one.found).collect();
        for (figure, step) in bends {
            let curve = (due.machine, due.curve);
            let series = db::scaling::series(connection, curve, step.tasks, figure).await?;
            found.push(Found { series, ..step });
        }
        all.push(Judged { found, noise, effects, known_laws, laws });
    }
    Ok(all)
}

/// All that the judgement of one curve rests on.
struct History {
    rows: Vec<HistoryRow>,
    samples: environments::Samples,
    facts: Arc<history::Environments>,
    /// But for those that the rows themselves tell.
    floors: Vec<NoiseFloor>,
    /// As they were stored.
    known_laws: Vec<Scaling>,
}

async fn load(connection: &mut Connection, dues: &[Due]) -> Result<Vec<History>> {
    let Some(first) = dues.first() else { return Ok(Vec::new()) };
    let curves: Vec<CurveId> = dues.iter().map(|due| due.curve).collect();
    let mut rows = db::step::list_histories(&mut *connection, first.machine, &curves).await?;
    let environments: BTreeSet<EnvironmentId> =
        rows.values().flatten().map(|row| row.environment).collect();
    let environments: Vec<EnvironmentId> = environments.into_iter().collect();
    let facts = db::environment::list(&mut *connection, &environments).await?;
    let facts = Arc::new(facts.into_iter().map(|one| (one.id, one.facts)).collect());
    let mut floors = db::noise::list_given(&mut *connection, first.machine, &curves).await?;
    let mut all = Vec::with_capacity(dues.len());
    for due in dues {
        let rows = rows.remove(&due.curve).unwrap_or_default();
        let known_laws = db::scaling::list(&mut *connection, due.machine, due.curve).await?;
        let mut wanted = environments::compared(&rows);
        wanted.extend(laws::lacking(&rows, &known_laws));
        let samples = db::step::list_samples(connection, *due, &wanted).await?;
        let floors = floors.remove(&due.curve).unwrap_or_default();
        all.push(History { rows, samples, facts: Arc::clone(&facts), floors, known_laws });
    }
    Ok(all)
}

/// What the history of a curve tells by itself.
struct Told {
    candidates: Vec<Candidate>,
    bends: Vec<(Figure, Found)>,
    known_laws: Vec<Scaling>,
    laws: Vec<Scaling>,
    noise: Vec<BuildNoise>,
    effects: Vec<Effect>,
}

/// On threads of their own: long histories must not hold up requests, nor a fault the worker.
async fn steps(work: Vec<History>) -> Result<Vec<Told>> {
    let all = move || {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = work.len().div_ceil(threads).max(1);
        let judged = std::thread::scope(|scope| {
            let threads: Vec<_> = work
                .chunks(share)
                .map(|some| scope.spawn(|| some.iter().map(steps_of).collect::<Vec<Told>>()))
                .collect();
            threads.into_iter().map(|one| one.join().ok()).collect::<Option<Vec<_>>>()
        });
        judged.map(|judged| judged.into_iter().flatten().collect())
    };
    let judged = tokio::task::spawn_blocking(all).await.context("the step test failed")?;
    judged.context("the step test failed")
}

fn steps_of(history: &History) -> Told {
    let History { rows, samples, facts, known_laws, .. } = history;
    let noise = floor::between_builds(rows);
    let mut floors = history.floors.clone();
    floors.extend(noise.iter().map(floor::as_floor));
    let effects = environments::effects(rows, samples);
    let laws = laws::of_history(rows, known_laws, samples);
    let metric = rows.iter().find(|row| row.primary).map(|row| row.metric.clone());
    let metric = metric.unwrap_or_default();
    let candidates = history::detect(rows.clone(), facts, &floors, &policy::steps());
    let beside = bends::Beside { facts, floors: &floors, metric: &metric, points: &candidates };
    let bends = bends::detect(&laws, beside, &policy::steps());
    Told { candidates, bends, known_laws: known_laws.clone(), laws, noise, effects }
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
