//! What changes of environment did to results: seen in every history that crosses one, counted by
//! field, and said beside the fields in which two sides differ.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::policy;
use super::two_sides::{self, Across, PointSides, SideRun};
use crate::db::{self, Pool};
use crate::detect::history::{Environments, direction_of};
use crate::model::environment::{Difference, Effect, Known};
use crate::model::step::HistoryRow;
use crate::model::{EnvironmentId, RunId, SeriesId};

/// Runs on either side of a change that are compared: the nearest ones.
const NEAREST_RUNS: usize = 20;

/// The samples of some runs, by series.
pub type Samples = HashMap<(SeriesId, RunId), Vec<f64>>;

/// The runs whose samples [`effects`] compares.
pub fn compared(rows: &[HistoryRow]) -> Vec<&HistoryRow> {
    changes(rows).into_iter().flat_map(|change| [change.before, change.after].concat()).collect()
}

/// Whether each change of environment in the histories of the first metric moved its level, by the
/// rule of two sides. Changes with too few runs on a side tell nothing.
pub fn effects(rows: &[HistoryRow], samples: &Samples) -> Vec<Effect> {
    let mut found: Vec<Effect> = Vec::new();
    for change in changes(rows) {
        let Some(effect) = effect(&change, samples) else { continue };
        let same = |known: &&mut Effect| {
            (known.series, known.from, known.to) == (effect.series, effect.from, effect.to)
        };
        match found.iter_mut().find(same) {
            Some(known) => known.moved |= effect.moved,
            None => found.push(effect),
        }
    }
    found
}

/// The nearest runs on either side of a change of environment.
struct Change<'a> {
    before: Vec<&'a HistoryRow>,
    after: Vec<&'a HistoryRow>,
}

fn changes(rows: &[HistoryRow]) -> Vec<Change<'_>> {
    let mut rows: Vec<&HistoryRow> = rows.iter().filter(|row| row.primary).collect();
    rows.sort_by(|a, b| {
        (a.series, a.branch, a.rank, &a.commit, a.finished_at, a.run).cmp(&(
            b.series,
            b.branch,
            b.rank,
            &b.commit,
            b.finished_at,
            b.run,
        ))
    });
    let mut found = Vec::new();
    for history in rows.chunk_by(|a, b| (a.series, a.branch) == (b.series, b.branch)) {
        let stretches: Vec<&[&HistoryRow]> =
            history.chunk_by(|a, b| a.environment == b.environment).collect();
        for pair in stretches.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            if before.len().min(after.len()) >= stats::two_sides::LEAST_UNITS {
                found.push(Change {
                    before: before[before.len().saturating_sub(NEAREST_RUNS)..].to_vec(),
                    after: after[..after.len().min(NEAREST_RUNS)].to_vec(),
                });
            }
        }
    }
    found
}

fn effect(change: &Change<'_>, samples: &Samples) -> Option<Effect> {
    let (last, first) = (change.before.last()?, change.after.first()?);
    let runs = |rows: &[&HistoryRow]| {
        rows.iter()
            .map(|row| SideRun {
                environment: EnvironmentId(0),
                samples: samples.get(&(row.series, row.run)).cloned().unwrap_or_default(),
            })
            .collect()
    };
    let sides = PointSides {
        tasks: 1,
        base: runs(&change.before),
        head: runs(&change.after),
        earlier: Vec::new(),
        noise_floor: 0.0,
    };
    let direction = direction_of(first.direction);
    let judged = two_sides::compare_curve(
        &[sides],
        direction,
        &Environments::new(),
        &policy::two_sides(),
        Across::No,
    );
    let verdict = judged.judgement.points.first()?.verdict;
    let moved = match verdict {
        stats::Verdict::NoChange => false,
        verdict if verdict.is_change() => true,
        _ => return None,
    };
    Some(Effect { series: first.series, from: last.environment, to: first.environment, moved })
}

/// The differences with what is known of such changes, those that moved results most often first:
/// by (moved + 1) ÷ (changes + 2), so that once of once is less sure than nine of ten.
///
/// # Errors
/// When the database does not answer.
pub async fn ranked(pool: &Pool, differences: &[Difference]) -> Result<Vec<Known>, db::Failure> {
    let fields: Vec<String> = differences.iter().map(|one| one.field.clone()).collect();
    let counts = db::environment::count_effects(pool, &fields).await?;
    let known = |difference: &Difference| {
        let (changes, moved) = counts.get(&difference.field).copied().unwrap_or((0, 0));
        Known { difference: difference.clone(), changes, moved }
    };
    Ok(in_order(differences.iter().map(known).collect()))
}

fn in_order(mut known: Vec<Known>) -> Vec<Known> {
    let share = |one: &Known| (one.moved + 1) as f64 / (one.changes + 2) as f64;
    known.sort_by(|a, b| {
        share(b)
            .total_cmp(&share(a))
            .then_with(|| Reverse(a.changes).cmp(&Reverse(b.changes)))
            .then_with(|| a.difference.field.cmp(&b.difference.field))
    });
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(field: &str, changes: i64, moved: i64) -> Known {
        let difference =
            Difference { field: field.into(), before: Some("a".into()), after: Some("b".into()) };
        Known { difference, changes, moved }
    }

    #[test]
    fn what_moved_results_most_often_stands_first() {
        let ranked = in_order(vec![
            known("never.moved", 10, 0),
            known("unknown", 0, 0),
            known("once.of.once", 1, 1),
            known("nine.of.ten", 10, 9),
            known("another.unknown", 0, 0),
        ]);
        let order: Vec<&str> = ranked.iter().map(|one| one.difference.field.as_str()).collect();
        assert_eq!(
            order,
            ["nine.of.ten", "once.of.once", "another.unknown", "unknown", "never.moved"]
        );
        assert_eq!(ranked[0].words(), "moved results in 9 of 10 earlier changes");
        assert_eq!(ranked[2].words(), "no earlier change of it is known");
        assert_eq!(ranked[1].words(), "moved results in the 1 earlier change");
    }
}
