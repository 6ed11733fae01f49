//! The laws of scaling of a whole history, one a revision and environment: rows in, laws out. Laws
//! through other task counts are never compared, so each history keeps to one set of them; what was
//! measured elsewhere is a gap with a reason.

use std::collections::BTreeMap;

use stats::curve::{Fit, LEAST_POINTS, LEAST_SPAN};
use stats::interval::Interval;

use super::environments::Samples;
use super::evidence::finite;
use super::scaling;
use crate::model::scaling::{Estimate, Figure, FittedLaw, Scaling};
use crate::model::step::HistoryRow;
use crate::model::{EnvironmentId, RevisionId, SeriesId};

/// Measurements of one revision in one environment by task count.
type ByTasks<'a> = BTreeMap<i32, Vec<&'a HistoryRow>>;

/// A law as far as the rows alone tell.
enum Law<'a> {
    /// Known, or refused for where it was measured.
    Settled(Scaling),
    /// To be laid through the samples of these rows.
    Open(Scaling, ByTasks<'a>),
}

/// The law of every revision in `rows`, which may stand in any order, by branch, environment and
/// rank; none where the first metric counts no work of all tasks together. One of `known` is kept
/// where its measurements are the same; else `samples` hold those of its runs. O(new revisions × fit).
pub fn of_history(rows: &[HistoryRow], known: &[Scaling], samples: &Samples) -> Vec<Scaling> {
    let of = |row: &&HistoryRow| samples.get(&(row.series, row.run)).cloned().unwrap_or_default();
    plan(rows, known)
        .into_iter()
        .map(|law| match law {
            Law::Settled(law) => law,
            Law::Open(blank, measured) => {
                let runs = measured
                    .iter()
                    .map(|(tasks, rows)| (*tasks, rows.iter().map(of).collect::<Vec<Vec<f64>>>()));
                let law = scaling::through(runs.collect());
                let law = law.map(FittedLaw::from).map_err(|refusal| refusal.words());
                Scaling { law, ..blank }
            }
        })
        .collect()
}

/// The rows whose samples [`of_history`] asks for.
pub fn lacking<'a>(rows: &'a [HistoryRow], known: &[Scaling]) -> Vec<&'a HistoryRow> {
    plan(rows, known)
        .into_iter()
        .flat_map(|law| match law {
            Law::Settled(_) => Vec::new(),
            Law::Open(_, measured) => measured.into_values().flatten().collect(),
        })
        .collect()
}

fn plan<'a>(rows: &'a [HistoryRow], known: &[Scaling]) -> Vec<Law<'a>> {
    let mut rows: Vec<&HistoryRow> = rows
        .iter()
        .filter(|row| row.primary && scaling::applies(row.unit, row.direction))
        .collect();
    rows.sort_by(|a, b| place(a).cmp(&place(b)));
    let known: BTreeMap<(EnvironmentId, RevisionId), &Scaling> =
        known.iter().map(|one| ((one.environment, one.revision), one)).collect();
    rows.chunk_by(|a, b| (a.branch, a.environment) == (b.branch, b.environment))
        .flat_map(|history| of_one_history(history, &known))
        .collect()
}

fn place<'a>(row: &'a HistoryRow) -> impl Ord + use<'a> {
    (row.branch, row.environment, row.rank, &row.commit, row.tasks, row.finished_at, row.run)
}

fn of_one_history<'a>(
    history: &[&'a HistoryRow],
    known: &BTreeMap<(EnvironmentId, RevisionId), &Scaling>,
) -> Vec<Law<'a>> {
    let revisions: Vec<ByTasks<'a>> = history
        .chunk_by(|a, b| a.revision == b.revision)
        .map(|rows| {
            let mut by_tasks = ByTasks::new();
            for &row in rows {
                by_tasks.entry(row.tasks).or_default().push(row);
            }
            by_tasks
        })
        .collect();
    let tasks = usual_tasks(&revisions);
    revisions.into_iter().filter_map(|one| of_revision(one, &tasks, known)).collect()
}

/// The task counts that most revisions were measured at: of those that allow a law, where any do;
/// the more of them where as many were.
fn usual_tasks(revisions: &[ByTasks<'_>]) -> Vec<i32> {
    let mut counts: BTreeMap<Vec<i32>, usize> = BTreeMap::new();
    for revision in revisions {
        *counts.entry(revision.keys().copied().collect()).or_default() += 1;
    }
    let allows = |tasks: &[i32]| match tasks {
        [first, .., last] => {
            tasks.len() >= LEAST_POINTS && f64::from(*last) >= LEAST_SPAN * f64::from(*first)
        }
        _ => false,
    };
    let usual = counts
        .into_iter()
        .max_by(|(a, n), (b, m)| (allows(a), n, a.len(), a).cmp(&(allows(b), m, b.len(), b)));
    usual.map(|(tasks, _)| tasks).unwrap_or_default()
}

fn of_revision<'a>(
    mut measured: ByTasks<'a>,
    usual: &[i32],
    known: &BTreeMap<(EnvironmentId, RevisionId), &Scaling>,
) -> Option<Law<'a>> {
    let own: Vec<i32> = measured.keys().copied().collect();
    let complete = usual.iter().all(|tasks| measured.contains_key(tasks));
    if complete {
        measured.retain(|tasks, _| usual.contains(tasks));
    }
    let last = measured.values().flatten().max_by_key(|row| (row.finished_at, row.run))?;
    let tasks: Vec<i32> = measured.keys().copied().collect();
    let measurements = measured.values().map(Vec::len).sum::<usize>();
    let measurements = i32::try_from(measurements).unwrap_or(i32::MAX);
    let new = |law| Scaling {
        revision: last.revision,
        commit: last.commit.clone(),
        subject: String::new(),
        branch: last.branch,
        rank: last.rank,
        environment: last.environment,
        run: last.run,
        finished_at: last.finished_at,
        tasks: tasks.clone(),
        measurements,
        law,
    };
    if !complete {
        return Some(Law::Settled(new(Err(other_tasks(&own, usual)))));
    }
    let same = |one: &&&Scaling| {
        (&one.tasks, one.measurements, one.run) == (&tasks, measurements, last.run)
    };
    if let Some(kept) = known.get(&(last.environment, last.revision)).filter(same) {
        return Some(Law::Settled((*kept).clone()));
    }
    Some(Law::Open(new(Err(String::new())), measured))
}

fn other_tasks(own: &[i32], usual: &[i32]) -> String {
    let list =
        |tasks: &[i32]| tasks.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ");
    format!("measured at {} tasks, most of the history at {}", list(own), list(usual))
}

impl From<Fit> for FittedLaw {
    fn from(fit: Fit) -> FittedLaw {
        let estimate = |value: f64, interval: Interval| Estimate {
            value,
            low: finite(interval.low),
            high: finite(interval.high),
        };
        let maybe = |value: Option<f64>, interval: Option<Interval>| {
            value.zip(interval).map(|(value, interval)| estimate(value, interval))
        };
        FittedLaw {
            one: fit.law.one,
            contention: estimate(fit.law.contention, fit.contention),
            coherency: estimate(fit.law.coherency, fit.coherency),
            knee: maybe(fit.law.knee(), fit.knee),
            peak: maybe(fit.law.peak(), fit.peak),
            shape: fit.shape.word().to_owned(),
            misfit: fit.misfit,
            outliers: fit.outliers,
            largest: fit.largest,
        }
    }
}

/// The history of a figure as rows of a series, gaps left out, so that it is judged and shown as
/// one.
pub fn rows_of(laws: &[Scaling], figure: Figure, series: SeriesId) -> Vec<HistoryRow> {
    let row = |one: &Scaling| {
        let law = one.law.as_ref().ok()?;
        let value = figure.of(law)?.value;
        Some(HistoryRow {
            series,
            tasks: i32::try_from(law.largest).ok()?,
            metric: figure.word().to_owned(),
            unit: figure.unit(),
            direction: figure.direction(),
            primary: false,
            run: one.run,
            revision: one.revision,
            commit: one.commit.clone(),
            branch: one.branch,
            rank: one.rank,
            environment: one.environment,
            finished_at: one.finished_at,
            n: 1,
            scale: None,
            mean: value,
            median: value,
        })
    };
    laws.iter().filter_map(row).collect()
}
