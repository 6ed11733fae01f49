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
pub mod quality;
pub mod scaling;
pub mod severity;
pub mod two_sides;
pub mod windows;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use anyhow::{Context as _, Result};

use crate::db::due::{Changes, Due};
use crate::db::noise::BuildNoise;
use crate::db::{self, Connection};
use crate::model::environment::Effect;
use crate::model::scaling::{Figure, Scaling};
use crate::model::step::{CpuShare, Found, HistoryRow, Scope};
use crate::model::{BranchId, CurveId, EnvironmentId, MachineId, NoiseFloor, RevisionId, RunId};
use history::Candidate;
use windows::{Stretch, Window};

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
    /// Where steps and laws were looked for.
    pub scope: Scope,
}

impl Judged {
    /// Laws that hold no longer.
    pub fn laws_gone(&self) -> impl Iterator<Item = &Scaling> {
        let place = |one: &Scaling| (one.environment, one.revision);
        let kept: HashSet<_> = self.laws.iter().map(place).collect();
        self.known_laws.iter().filter(move |one| !kept.contains(&place(one)))
    }

    /// Laws that are not stored as they are.
    pub fn laws_new(&self) -> impl Iterator<Item = &Scaling> {
        let place = |one: &Scaling| (one.environment, one.revision);
        let known: HashMap<_, _> = self.known_laws.iter().map(|one| (place(one), one)).collect();
        self.laws.iter().filter(move |one| known.get(&place(one)) != Some(one))
    }
}

/// Judges the histories of some curves, all of one machine and project, in their order: whole, or,
/// where they are long, in the [`windows`] that changed.
///
/// # Errors
/// When the database does not answer.
pub async fn judge(connection: &mut Connection, dues: &[Due]) -> Result<Vec<Judged>> {
    let work = load(connection, dues).await?;
    let scopes: Vec<Scope> = work.iter().map(|history| history.scope.clone()).collect();
    let mut told = steps(work).await?;
    weigh_neighbours(connection, dues, &mut told).await?;
    let mut all = Vec::with_capacity(dues.len());
    for ((due, told), scope) in dues.iter().zip(told).zip(scopes) {
        let Told { candidates, bends, known_laws, laws, noise, effects } = told;
        let mut found: Vec<Found> = candidates.into_iter().map(|one| one.found).collect();
        for (figure, step) in bends {
            let curve = (due.machine, due.curve);
            let series = db::scaling::series(connection, curve, step.tasks, figure).await?;
            found.push(Found { series, ..step });
        }
        all.push(Judged { found, noise, effects, known_laws, laws, scope });
    }
    Ok(all)
}

/// Says of each change against wall time that ops per CPU-second does not show, whether others on
/// the machine explain it: one question for all curves.
async fn weigh_neighbours(
    connection: &mut Connection,
    dues: &[Due],
    told: &mut [Told],
) -> Result<()> {
    let Some(first) = dues.first() else { return Ok(()) };
    let suspects = |told: &Told| -> Vec<usize> {
        (0..told.candidates.len()).filter(|i| is_suspect(&told.candidates, *i)).collect()
    };
    let suspects: Vec<Vec<usize>> = told.iter().map(suspects).collect();
    let mut points = Vec::new();
    for ((due, told), suspects) in dues.iter().zip(&*told).zip(&suspects) {
        for candidate in suspects.iter().map(|i| &told.candidates[*i]) {
            let runs = candidate.before.iter().chain(&candidate.after);
            points.extend(runs.map(|run| (due.curve, candidate.found.tasks, *run)));
        }
    }
    let shares =
        db::step::list_cpu_shares(connection, first.machine, first.subject, &points).await?;
    for ((due, told), suspects) in dues.iter().zip(told).zip(suspects) {
        for i in suspects {
            let candidate = &mut told.candidates[i];
            let of = |runs: &[RunId]| -> Vec<CpuShare> {
                let share = |run| shares.get(&(due.curve, candidate.found.tasks, run)).copied();
                runs.iter().filter_map(|run| share(*run)).collect()
            };
            let (before, after) = (of(&candidate.before), of(&candidate.after));
            candidate.found.evidence.neighbour =
                neighbour::weigh(&before, &after, candidate.found.change);
        }
    }
    Ok(())
}

/// All that the judgement of one curve rests on.
#[derive(Default)]
struct History {
    /// Those of branches that are judged whole, then those of long ones, by branch and rank.
    rows: Vec<HistoryRow>,
    /// The rows that are judged together.
    parts: Vec<Part>,
    scope: Scope,
    /// The latest of every branch, where `rows` are not all there are.
    latest: Option<Vec<HistoryRow>>,
    /// Of all curves judged with it.
    samples: Arc<environments::Samples>,
    facts: Arc<history::Environments>,
    /// But for those that the rows themselves tell.
    floors: Vec<NoiseFloor>,
    /// As they were stored.
    known_laws: Vec<Scaling>,
}

/// Rows that are judged together: all of the short branches, or a window of a long one.
#[derive(Debug, Clone)]
struct Part {
    rows: Range<usize>,
    /// What of it counts; all of it where none is said.
    own: Option<Range<i64>>,
}

impl History {
    fn latest(&self) -> &[HistoryRow] {
        self.latest.as_deref().unwrap_or(&self.rows)
    }
}

async fn load(connection: &mut Connection, dues: &[Due]) -> Result<Vec<History>> {
    let Some(first) = dues.first() else { return Ok(Vec::new()) };
    let machine = first.machine;
    let curves: Vec<CurveId> = dues.iter().map(|due| due.curve).collect();
    let most = windows::LONG as i64 + 1;
    let mut latest = db::history_rows::list_latest(connection, machine, &curves, most).await?;
    let mut changes = db::due::list_changes(connection, machine, &curves).await?;
    let mut all = Vec::with_capacity(dues.len());
    for curve in &curves {
        let latest = latest.remove(curve).unwrap_or_default();
        let change = changes.remove(curve).unwrap_or_default();
        all.push(gather(connection, (machine, *curve), latest, &change).await?);
    }
    let rows = || all.iter().flat_map(|one| one.rows.iter().chain(one.latest.iter().flatten()));
    let environments: BTreeSet<EnvironmentId> = rows().map(|row| row.environment).collect();
    let environments: Vec<EnvironmentId> = environments.into_iter().collect();
    let revisions: BTreeSet<RevisionId> =
        all.iter().flat_map(|one| &one.rows).map(|row| row.revision).collect();
    let revisions: Vec<RevisionId> = revisions.into_iter().collect();
    let facts = db::environment::list(&mut *connection, &environments).await?;
    let facts = Arc::new(facts.into_iter().map(|one| (one.id, one.facts)).collect());
    let mut floors = db::noise::list_given(&mut *connection, machine, &curves).await?;
    let mut known =
        db::scaling::list_at(&mut *connection, machine, &curves, &environments, &revisions).await?;
    let mut wanted = Vec::new();
    for (curve, one) in curves.iter().zip(&mut all) {
        one.known_laws = known.remove(curve).unwrap_or_default();
        one.floors = floors.remove(curve).unwrap_or_default();
        one.facts = Arc::clone(&facts);
        let lacking = |part: &Part| laws::lacking(&one.rows[part.rows.clone()], &one.known_laws);
        let lacking = one.parts.iter().flat_map(lacking);
        let compared = environments::compared(one.latest()).into_iter();
        wanted.extend(compared.chain(lacking).map(|row| (*curve, row.clone())));
    }
    wanted.sort_by_key(|(_, row)| (row.series, row.run));
    wanted.dedup_by_key(|(_, row)| (row.series, row.run));
    let samples = Arc::new(db::step::list_samples(connection, machine, &wanted).await?);
    all.iter_mut().for_each(|one| one.samples = Arc::clone(&samples));
    Ok(all)
}

/// The rows of a curve that are to be judged, of which these are the latest of every branch.
async fn gather(
    connection: &mut Connection,
    (machine, curve): (MachineId, CurveId),
    latest: Vec<HistoryRow>,
    change: &Changes,
) -> Result<History> {
    let long = windows::long_branches(&latest);
    if !long.iter().eq(&change.long) {
        db::due::put_long(connection, (machine, curve), &long).await?;
    }
    if long.is_empty() {
        let parts = vec![Part { rows: 0..latest.len(), own: None }];
        return Ok(History { rows: latest, parts, ..History::default() });
    }
    let whole = change.whole || !long.iter().eq(&change.long);
    let short = |row: &&HistoryRow| !long.contains(&row.branch);
    let mut rows: Vec<HistoryRow> = latest.iter().filter(short).cloned().collect();
    let mut parts = vec![Part { rows: 0..rows.len(), own: None }];
    let mut scope = Scope { long: long.clone(), windows: Vec::new() };
    for branch in long {
        let everything = i64::MIN..=i64::MAX;
        let changed = change.ranges.get(&branch).cloned();
        let changed = if whole { Some(everything) } else { changed };
        let Some(changed) = changed else { continue };
        let of_branch: Vec<HistoryRow> =
            latest.iter().filter(|row| row.branch == branch).cloned().collect();
        let place = (machine, curve, branch);
        let (mut some, windows) = around(connection, place, of_branch, &changed).await?;
        some.sort_by_key(|row| row.rank);
        let begin = rows.len();
        for window in windows {
            let from = some.partition_point(|row| row.rank < *window.context.start());
            let to = some.partition_point(|row| row.rank <= *window.context.end());
            parts.push(Part { rows: begin + from..begin + to, own: Some(window.own.clone()) });
            scope.windows.push((branch, window.own));
        }
        rows.append(&mut some);
    }
    let latest = Some(newest(latest));
    Ok(History { rows, parts, scope, latest, ..History::default() })
}

/// Rows of a branch around what changed, and the windows it bears on: the latest where they do,
/// else as few as do.
async fn around(
    connection: &mut Connection,
    (machine, curve, branch): (MachineId, CurveId, BranchId),
    latest: Vec<HistoryRow>,
    changed: &RangeInclusive<i64>,
) -> Result<(Vec<HistoryRow>, Vec<Window>)> {
    let first = |full: Vec<RangeInclusive<i64>>| full.iter().map(|ranks| *ranks.start()).max();
    let last = |full: Vec<RangeInclusive<i64>>| full.iter().map(|ranks| *ranks.end()).min();
    let before = first(windows::full(&latest, windows::LONG + 1, |_| true));
    let stretch = Stretch::of(&latest, (before, None));
    if let Some(windows) = stretch.touched(changed) {
        return Ok((latest, windows));
    }
    let most = 4 * windows::LONG;
    let place = (machine, curve, branch);
    let rows = db::history_rows::list_around(connection, place, changed, Some(most as i64)).await?;
    let before = first(windows::full(&rows, most, |rank| rank < *changed.start()));
    let behind = last(windows::full(&rows, most, |rank| rank > *changed.end()));
    if let Some(windows) = Stretch::of(&rows, (before, behind)).touched(changed) {
        return Ok((rows, windows));
    }
    let rows = db::history_rows::list_around(connection, place, changed, None).await?;
    let windows = Stretch::of(&rows, (None, None)).touched(changed);
    Ok((rows, windows.unwrap_or_default()))
}

/// Of every series on every branch the latest [`windows::LONG`] of these rows.
fn newest(mut rows: Vec<HistoryRow>) -> Vec<HistoryRow> {
    let place = |row: &HistoryRow| (row.rank, row.finished_at, row.run);
    rows.sort_by(|a, b| {
        (a.series, a.branch).cmp(&(b.series, b.branch)).then_with(|| place(b).cmp(&place(a)))
    });
    rows.chunk_by(|a, b| (a.series, a.branch) == (b.series, b.branch))
        .flat_map(|rows| rows.iter().take(windows::LONG).cloned())
        .collect()
}

/// What the history of a curve tells by itself.
#[derive(Default)]
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
    let noise = floor::between_builds(history.latest());
    let effects = environments::effects(history.latest(), &history.samples);
    let known_laws = history.known_laws.clone();
    let mut told = Told { noise, effects, ..Told::default() };
    let mut judged: HashSet<(EnvironmentId, RevisionId)> = HashSet::new();
    for part in &history.parts {
        let (candidates, bends, laws) = steps_of_part(history, part, &told.noise);
        let is_own = |rank: i64| part.own.as_ref().is_none_or(|own| own.contains(&rank));
        told.candidates.extend(candidates.into_iter().filter(|one| is_own(one.found.bad.rank)));
        told.bends.extend(bends.into_iter().filter(|(_, found)| is_own(found.bad.rank)));
        told.laws.extend(laws.into_iter().filter(|law| is_own(law.rank)));
        let own = history.rows[part.rows.clone()].iter().filter(|row| is_own(row.rank));
        judged.extend(own.map(|row| (row.environment, row.revision)));
    }
    let is_judged = |law: &Scaling| judged.contains(&(law.environment, law.revision));
    told.known_laws = known_laws.into_iter().filter(is_judged).collect();
    told
}

type OfPart = (Vec<Candidate>, Vec<(Figure, Found)>, Vec<Scaling>);

fn steps_of_part(history: &History, part: &Part, noise: &[BuildNoise]) -> OfPart {
    let rows = &history.rows[part.rows.clone()];
    let mut floors = history.floors.clone();
    match part.own {
        None => floors.extend(noise.iter().map(floor::as_floor)),
        // A window knows its own runs alone, else it would change with runs far away.
        Some(_) => floors.extend(floor::between_builds(rows).iter().map(floor::as_floor)),
    }
    let laws = laws::of_history(rows, &history.known_laws, &history.samples);
    let metric = rows.iter().find(|row| row.primary).map(|row| row.metric.clone());
    let metric = metric.unwrap_or_default();
    let (facts, policy) = (&*history.facts, &policy::steps());
    let candidates = history::detect(rows.to_vec(), facts, &floors, policy);
    let beside = bends::Beside { facts, floors: &floors, metric: &metric, points: &candidates };
    let bends = bends::detect(&laws, beside, policy);
    (candidates, bends, laws)
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
