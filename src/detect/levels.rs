//! The two levels around a step, as a mail shows them: the runs nearest to it on either side, in
//! its own environment. Means and deviations are computed as LKP prints them.

use stats::Sample;
use stats::lkp::{self, Options, Rule};

use super::history::direction_of;
use crate::model::EnvironmentId;
use crate::model::incident::IncidentStep;
use crate::model::range::Range;
use crate::model::step::HistoryRow;

/// Most runs of a level that are shown: older ones tell of older machines.
pub const NEAREST_RUNS: usize = 20;

/// One level as LKP prints it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Mean of the runs' means.
    pub mean: f64,
    /// Deviation between runs in percent of the mean, when above 2 %.
    pub noise_percent: Option<u32>,
    /// Number of runs.
    pub runs: usize,
}

/// Both levels of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Before the step.
    pub before: Level,
    /// After it.
    pub after: Level,
    /// Change of the means in percent; none from 0.
    pub percent: Option<f64>,
}

/// The levels of a step. `rows` is the history of its curve in any order, `steps` what stands on
/// the curve. None when a side has lost its runs.
pub fn around(rows: &[HistoryRow], step: &IncidentStep, steps: &[IncidentStep]) -> Option<Levels> {
    let reach = reach(step, steps);
    let range = Range { good: step.good.rank, bad: step.bad.rank };
    let (before, after) = sides(rows, range, reach, step.environment, |row| {
        row.series == step.series && same_branch(rows, row, step)
    });
    let means = |side: &[&HistoryRow]| side.iter().map(|row| row.mean).collect::<Vec<f64>>();
    let compared = lkp::compare(
        &means(&before),
        &means(&after),
        direction_of(step.direction),
        Rule::Overlap,
        Options::default(),
    );
    let level = |side: lkp::Side| Level {
        mean: side.mean,
        noise_percent: side.shown_percent(),
        runs: side.n,
    };
    Some(Levels {
        before: level(compared.base?),
        after: level(compared.head?),
        percent: compared.percent,
    })
}

/// Median with its 95 % interval, where there are runs enough, at one task count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveValue {
    /// Task count.
    pub tasks: i32,
    /// Median of the runs' medians.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

/// A metric against tasks, before and after the step, over every task count measured on both sides.
pub fn curves(
    rows: &[HistoryRow],
    step: &IncidentStep,
    metric: &str,
) -> (Vec<CurveValue>, Vec<CurveValue>) {
    let mut tasks: Vec<i32> = rows.iter().map(|row| row.tasks).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let range = Range { good: step.good.rank, bad: step.bad.rank };
    let reach = (i64::MIN, i64::MAX);
    tasks
        .into_iter()
        .filter_map(|tasks| {
            let (before, after) = sides(rows, range, reach, step.environment, |row| {
                row.tasks == tasks && row.metric == metric && same_branch(rows, row, step)
            });
            Some((curve_value(tasks, &before)?, curve_value(tasks, &after)?))
        })
        .unzip()
}

fn curve_value(tasks: i32, side: &[&HistoryRow]) -> Option<CurveValue> {
    let medians: Vec<f64> = side.iter().map(|row| row.median).collect();
    let sample = Sample::new(&medians)?;
    let interval = stats::interval::median_interval(sample, 0.95).map(|one| (one.low, one.high));
    Some(CurveValue { tasks, value: stats::summary::median(sample), interval })
}

/// Runs at or after the step before this one, and before the step after it.
fn reach(step: &IncidentStep, steps: &[IncidentStep]) -> (i64, i64) {
    let same = |other: &&IncidentStep| {
        (other.series, other.environment) == (step.series, step.environment)
    };
    let from = steps.iter().filter(same).map(|other| other.bad.rank);
    let to = steps.iter().filter(same).map(|other| other.bad.rank);
    (
        from.filter(|rank| *rank < step.bad.rank).max().unwrap_or(i64::MIN),
        to.filter(|rank| *rank > step.bad.rank).min().unwrap_or(i64::MAX),
    )
}

/// Ranks of two branches have no common order.
fn same_branch(rows: &[HistoryRow], row: &HistoryRow, step: &IncidentStep) -> bool {
    rows.iter().find(|one| one.revision == step.bad.revision).map(|one| one.branch)
        == Some(row.branch)
}

/// The nearest runs up to the good end and from the bad end on.
fn sides(
    rows: &[HistoryRow],
    range: Range,
    (from, to): (i64, i64),
    environment: EnvironmentId,
    keep: impl Fn(&HistoryRow) -> bool,
) -> (Vec<&HistoryRow>, Vec<&HistoryRow>) {
    let mut kept: Vec<&HistoryRow> = rows
        .iter()
        .filter(|row| row.environment == environment && from <= row.rank && row.rank < to)
        .filter(|row| keep(row))
        .collect();
    kept.sort_by(|a, b| (a.rank, &a.commit, a.run).cmp(&(b.rank, &b.commit, b.run)));
    let before: Vec<&HistoryRow> =
        kept.iter().copied().filter(|row| row.rank <= range.good).collect();
    let after = kept.iter().copied().filter(|row| row.rank >= range.bad);
    let first = before.len().saturating_sub(NEAREST_RUNS);
    (before[first..].to_vec(), after.take(NEAREST_RUNS).collect())
}
