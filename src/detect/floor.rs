//! The noise floor in force: the widest of what A/A runs, the history between builds and refuted
//! suspects say. A change below it is not called.
//!
//! Between two sides and in a history the noise between builds already counts, as the scale of
//! either test; only while a series has fewer than [`policy::LEAST_BUILDS`] builds, and so
//! hardly knows its own scale, does the step test lean on what the curve showed in other
//! environments, at other task counts.

use std::collections::BTreeMap;

use crate::db::noise::BuildNoise;
use crate::model::noise::{NoiseFloor, Source};
use crate::model::step::HistoryRow;

use super::policy;

/// The floor of one metric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Floor {
    /// Relative, 0.01 is 1 %; 0 where nothing is known.
    pub relative: f64,
    /// Where it comes from; none where nothing is known.
    pub of: Option<NoiseFloor>,
}

impl Floor {
    /// The widest of these; nothing known below the least effect that is called anyway matters
    /// less, but is shown.
    pub fn widest<'a>(floors: impl IntoIterator<Item = &'a NoiseFloor>) -> Floor {
        let widest = floors.into_iter().max_by(|a, b| a.relative.total_cmp(&b.relative));
        widest.map_or_else(Floor::default, |one| Floor {
            relative: one.relative,
            of: Some(one.clone()),
        })
    }

    /// The floor for comparing two sides of a metric. What earlier builds differ by counts there by
    /// itself.
    pub fn of_sides(floors: &[NoiseFloor], metric: &str) -> Floor {
        let counts = |floor: &&NoiseFloor| floor.metric == metric && floor.source != Source::Builds;
        Floor::widest(floors.iter().filter(counts))
    }

    /// The floor of the step test on a series of a metric with this many builds.
    pub fn of_history(floors: &[NoiseFloor], metric: &str, builds: usize) -> Floor {
        let short = builds < policy::LEAST_BUILDS;
        let counts = |floor: &&NoiseFloor| {
            floor.metric == metric && (short || floor.source != Source::Builds)
        };
        Floor::widest(floors.iter().filter(counts))
    }

    /// `noise floor ±1.20 % from A/A runs, 10 pairs`; none where nothing is known.
    pub fn words(&self) -> Option<String> {
        let of = self.of.as_ref()?;
        let noun = of.source.observation();
        let plural = if of.observations == 1 { "" } else { "s" };
        Some(format!(
            "noise floor ±{:.2} % from {}, {} {noun}{plural}",
            self.relative * 100.0,
            of.source.title(),
            of.observations
        ))
    }
}

/// The noise between builds of every metric of a curve: the robust deviation of one build that the
/// distances of neighbouring builds tell, 1.4826 · median |ln(next ÷ one)| ÷ √2, over all task
/// counts, branches and environments, none of them compared with another. Steps are few among the
/// distances, so they hardly count. None with fewer than [`policy::LEAST_PAIRS`] pairs, and none
/// where a value is not positive.
pub fn between_builds(rows: &[HistoryRow]) -> Vec<BuildNoise> {
    let mut metrics: BTreeMap<&str, Vec<&HistoryRow>> = BTreeMap::new();
    for row in rows {
        metrics.entry(&row.metric).or_default().push(row);
    }
    metrics.into_iter().filter_map(|(metric, rows)| of_metric(metric, rows)).collect()
}

/// The noise between builds as one floor among others.
pub fn as_floor(noise: &BuildNoise) -> NoiseFloor {
    NoiseFloor {
        workload: String::new(),
        metric: noise.metric.clone(),
        source: Source::Builds,
        relative: noise.relative,
        observations: noise.builds.into(),
        at: noise.observed_at,
    }
}

fn of_metric(metric: &str, mut rows: Vec<&HistoryRow>) -> Option<BuildNoise> {
    let history = |row: &HistoryRow| (row.series, row.branch, row.environment);
    let place = |row: &HistoryRow| (history(row), row.rank, row.revision);
    rows.sort_by_key(|row| (place(row), row.run));
    let builds: Vec<_> = rows
        .chunk_by(|a, b| place(a) == place(b))
        .filter_map(|runs| {
            let medians: Vec<f64> = runs.iter().map(|row| row.median).collect();
            let level = stats::summary::median(stats::Sample::new(&medians)?);
            (level > 0.0).then(|| (history(runs[0]), level.ln()))
        })
        .collect();
    let distances: Vec<f64> = builds
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| (pair[1].1 - pair[0].1).abs())
        .collect();
    if distances.len() < policy::LEAST_PAIRS {
        return None;
    }
    let middle = stats::summary::median(stats::Sample::new(&distances)?);
    let scale = stats::robust::MAD_TO_SD * middle / std::f64::consts::SQRT_2;
    Some(BuildNoise {
        metric: metric.to_owned(),
        relative: scale.exp_m1(),
        builds: i32::try_from(distances.len()).unwrap_or(i32::MAX),
        observed_at: rows.iter().map(|row| row.finished_at).max()?,
    })
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::model::{BranchId, EnvironmentId, RevisionId, SeriesId};

    fn row(environment: i64, rank: i64, median: f64) -> HistoryRow {
        HistoryRow {
            series: SeriesId(1),
            tasks: 1,
            metric: "ops_per_s_total".into(),
            unit: wire::Unit::OpsPerSecond,
            direction: wire::Direction::Higher,
            primary: true,
            run: uuid::Uuid::from_u128(rank as u128),
            revision: RevisionId(rank),
            commit: format!("{rank:040}"),
            branch: BranchId(1),
            rank,
            environment: EnvironmentId(environment),
            finished_at: datetime!(2026-03-01 12:00 UTC),
            n: 1,
            scale: None,
            mean: median,
            median,
        }
    }

    fn floor(source: Source, relative: f64) -> NoiseFloor {
        NoiseFloor {
            workload: "file/open".into(),
            metric: "ops_per_s_total".into(),
            source,
            relative,
            observations: 10,
            at: datetime!(2026-03-01 12:00 UTC),
        }
    }

    #[test]
    fn the_noise_between_builds_is_that_of_neighbours_whatever_the_steps() {
        // Neighbours differ by 1 % throughout; one step and another environment are no noise.
        let rows: Vec<HistoryRow> = (0..20)
            .map(|rank| {
                let level = if rank < 10 { 100.0 } else { 50.0 };
                row(i64::from(rank >= 15), rank, level * if rank % 2 == 0 { 1.0 } else { 1.01 })
            })
            .collect();
        let seen = &between_builds(&rows)[0];
        // 1.4826 · ln 1.01 ÷ √2 = 0.010432.
        assert!((seen.relative - 0.010_487).abs() < 1e-5, "{seen:?}");
        assert_eq!(seen.builds, 18, "none across the two environments");
        let mut turned = rows.clone();
        turned.reverse();
        assert_eq!(between_builds(&turned), between_builds(&rows));
    }

    #[test]
    fn few_builds_and_values_without_ratio_tell_no_noise() {
        assert_eq!(between_builds(&[row(1, 1, 1.0), row(1, 2, 1.1)]), []);
        let zeros: Vec<HistoryRow> = (0..20).map(|rank| row(1, rank, 0.0)).collect();
        assert_eq!(between_builds(&zeros), []);
    }

    #[test]
    fn the_widest_counts_and_builds_only_while_a_history_is_short() {
        let floors = [
            floor(Source::Calibrated, 0.01),
            floor(Source::Builds, 0.03),
            floor(Source::Refuted, 0.02),
        ];
        let relative = |floor: Floor| floor.relative;
        assert_eq!(relative(Floor::of_sides(&floors, "ops_per_s_total")), 0.02);
        assert_eq!(relative(Floor::of_sides(&floors, "cpu_share")), 0.0);
        assert_eq!(relative(Floor::of_history(&floors, "ops_per_s_total", 14)), 0.03);
        let long = Floor::of_history(&floors, "ops_per_s_total", 15);
        let words = "noise floor ±2.00 % from refuted suspects, 10 steps";
        assert_eq!(long.words().as_deref(), Some(words));
    }
}
