//! From rows to steps, purely. A series is judged once per branch and environment: another
//! environment splits the baseline, and each step says which runs were left out for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use stats::step::{Observation, Policy};

use super::evidence::change_of;
use super::floor::Floor;
use crate::model::environment::{Difference, diff};
use crate::model::step::{Evidence, Found, HistoryRow, Place};
use crate::model::{EnvironmentId, NoiseFloor, RunId};

/// Facts of each environment.
pub type Environments = BTreeMap<EnvironmentId, BTreeMap<String, String>>;

/// A step and the runs of the two levels it lies between.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The step.
    pub found: Found,
    /// Unit of its metric.
    pub unit: wire::Unit,
    /// Runs of the level before.
    pub before: Vec<RunId>,
    /// Runs of the level after.
    pub after: Vec<RunId>,
}

/// Every step of every series in `rows`, which may stand in any order.
pub fn detect(
    mut rows: Vec<HistoryRow>,
    facts: &Environments,
    floors: &[NoiseFloor],
    policy: &Policy,
) -> Vec<Candidate> {
    sort(&mut rows);
    rows.chunk_by(|a, b| a.series == b.series)
        .flat_map(|series| {
            series.chunk_by(|a, b| (a.branch, a.environment) == (b.branch, b.environment)).flat_map(
                move |history| steps(history, policy, floors, &left_out(series, history, facts)),
            )
        })
        .collect()
}

/// Rows of one series, branch and environment stand together, in the order of revisions; runs of
/// one revision are neighbours. The order of arrival plays no part.
fn sort(rows: &mut [HistoryRow]) {
    rows.sort_by(|a, b| {
        (a.series, a.branch, a.environment, a.rank, &a.commit, a.run).cmp(&(
            b.series,
            b.branch,
            b.environment,
            b.rank,
            &b.commit,
            b.run,
        ))
    });
}

fn steps(
    history: &[HistoryRow],
    policy: &Policy,
    floors: &[NoiseFloor],
    left_out: &[String],
) -> Vec<Candidate> {
    let Some(first) = history.first() else { return Vec::new() };
    let builds = history.chunk_by(|a, b| a.revision == b.revision).count();
    let floor = Floor::of_history(floors, &first.metric, builds);
    let policy = &Policy { noise_floor: floor.relative, ..policy.clone() };
    let observations: Vec<Observation> = history
        .iter()
        .map(|row| Observation {
            rank: row.rank,
            value: row.median,
            // Robust: one disturbed window must not hide a step of the run's median.
            within: row.scale,
            n: row.n,
        })
        .collect();
    let direction = direction_of(first.direction);
    let mut steps = stats::step::detect(&observations, direction, policy);
    // A series that wanders changes its regime without anybody's doing: no incident.
    steps.retain(|step| step.kind == stats::step::Kind::Level);
    let ends: Vec<usize> = steps.iter().map(|step| step.index).collect();
    steps
        .iter()
        .enumerate()
        .filter_map(|(i, step)| {
            let start = if i == 0 { 0 } else { ends[i - 1] };
            let end = ends.get(i + 1).copied().unwrap_or(history.len());
            let mut candidate = candidate(history, step, start..end, left_out)?;
            if policy.noise_floor > policy.least_effect {
                candidate.found.evidence.notes.extend(floor.words());
            }
            Some(candidate)
        })
        .collect()
}

fn candidate(
    history: &[HistoryRow],
    step: &stats::step::Step,
    levels: Range<usize>,
    left_out: &[String],
) -> Option<Candidate> {
    let good = history.get(step.index.checked_sub(1)?)?;
    let bad = history.get(step.index)?;
    // Revisions of equal rank have no order: nothing can be said to lie between them.
    if good.rank >= bad.rank {
        return None;
    }
    let mut evidence = Evidence::from(&step.evidence);
    evidence.set_aside.extend_from_slice(left_out);
    let runs = |range: Range<usize>| history[range].iter().map(|row| row.run).collect();
    Some(Candidate {
        found: Found {
            series: bad.series,
            tasks: bad.tasks,
            metric: bad.metric.clone(),
            environment: bad.environment,
            branch: bad.branch,
            good: Place { revision: good.revision, rank: good.rank },
            bad: Place { revision: bad.revision, rank: bad.rank },
            change: change_of(step.verdict)?,
            before: step.before,
            after: step.after,
            ratio: step.ratio,
            evidence,
        },
        unit: bad.unit,
        before: runs(levels.start..step.index),
        after: runs(step.index..levels.end),
    })
}

/// One sentence for each other environment of the series on this branch.
fn left_out(series: &[HistoryRow], history: &[HistoryRow], facts: &Environments) -> Vec<String> {
    let Some(here) = history.first() else { return Vec::new() };
    let elsewhere =
        |row: &&HistoryRow| row.branch == here.branch && row.environment != here.environment;
    let others: BTreeSet<EnvironmentId> =
        series.iter().filter(elsewhere).map(|row| row.environment).collect();
    others
        .into_iter()
        .map(|other| {
            let runs = series.iter().filter(elsewhere).filter(|r| r.environment == other).count();
            let differences = match (facts.get(&here.environment), facts.get(&other)) {
                (Some(here), Some(other)) => in_words(&diff(here, other)),
                _ => String::new(),
            };
            format!("{runs} of its runs judged apart, in another environment: {differences}")
        })
        .collect()
}

/// `kernel.release 6.9 → 6.10, cpu.governor powersave → performance`.
pub fn in_words(differences: &[Difference]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "not recorded".into());
    let parts: Vec<String> = differences
        .iter()
        .map(|one| format!("{} {} → {}", one.field, value(&one.before), value(&one.after)))
        .collect();
    parts.join(", ")
}

/// The direction as the pure numbers know it.
pub fn direction_of(direction: wire::Direction) -> stats::Direction {
    match direction {
        wire::Direction::Higher => stats::Direction::Higher,
        wire::Direction::Lower => stats::Direction::Lower,
    }
}
