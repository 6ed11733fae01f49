//! Measurements of a curve at chosen revisions, as pages draw and compare them.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::topology_marks;
use super::metric::Metric;
use crate::app::App;
use crate::chart::{CurveLine, CurvePoint};
use crate::db;
use crate::detect::environments;
use crate::detect::floor::Floor;
use crate::detect::history::direction_of;
use crate::detect::two_sides::{Across, Comparison, PointSides, compare_curve, points};
use crate::detect::{earlier, policy};
use crate::error::Result;
use crate::format;
use crate::model::{Curve, Difference, EnvironmentId, Measurement, RevisionId, Series, SeriesId};

/// Everything measured on a curve at one revision, samples included.
pub async fn load(app: &App, curve: &Curve, revision: RevisionId) -> Result<Vec<Measurement>> {
    let revisions = [revision];
    let filter = db::history::Filter { revisions: Some(&revisions), ..Default::default() };
    Ok(db::history::list(&app.db, curve, &filter, true).await?)
}

/// Where parts of the curve's machine are full, to be marked on its plots.
pub async fn topology(app: &App, curve: &Curve) -> Result<Vec<(u32, String)>> {
    let machine = db::machine::find(&app.db, curve.machine).await?;
    Ok(machine.map(|machine| topology_marks(&machine.identity)).unwrap_or_default())
}

/// The metrics of a curve: the one people look at first, then that per CPU-second, then the rest.
pub fn metrics(series: &[Series]) -> Vec<Metric> {
    let mut found: Vec<Metric> = Vec::new();
    let mut by_rank: Vec<&Series> = series.iter().collect();
    by_rank.sort_by_key(|one| (!one.primary, one.metric != policy::PER_CPU_SECOND));
    for metric in by_rank.into_iter().map(Metric::of) {
        if !found.iter().any(|known| known.name == metric.name) {
            found.push(metric);
        }
    }
    found
}

/// The measurements of one metric.
pub fn of_metric(all: &[Measurement], series: &[Series], metric: &str) -> Vec<Measurement> {
    let ids: BTreeSet<SeriesId> =
        series.iter().filter(|one| one.metric == metric).map(|one| one.id).collect();
    all.iter().filter(|one| ids.contains(&one.series)).cloned().collect()
}

/// Every sample of one metric by task count, all runs together.
pub fn by_tasks(measurements: &[Measurement]) -> BTreeMap<u32, Vec<f64>> {
    let mut pooled: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for one in measurements {
        let tasks = u32::try_from(one.tasks).unwrap_or(0);
        pooled.entry(tasks).or_default().extend(&one.samples);
    }
    pooled
}

/// A line of a plot: medians of all samples, each scaled by a function of the task count.
pub fn line(
    label: impl Into<String>,
    pooled: &BTreeMap<u32, Vec<f64>>,
    scale: impl Fn(u32) -> f64,
) -> CurveLine {
    let point = |(tasks, samples): (&u32, &Vec<f64>)| {
        let scaled: Vec<f64> = samples.iter().map(|value| value * scale(*tasks)).collect();
        CurvePoint::of(*tasks, &scaled)
    };
    CurveLine { label: label.into(), points: pooled.iter().filter_map(point).collect() }
}

/// One metric at two revisions, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What was judged.
    pub points: Vec<PointSides>,
    /// What identical code differs by here.
    pub floor: Floor,
    /// The verdict.
    pub comparison: Comparison,
}

/// Judges one metric of head against base by the rule of the service.
pub async fn judge(
    app: &App,
    curve: &Curve,
    base: &[Measurement],
    head: &[Measurement],
    metric: &Metric,
    across: Across,
) -> Result<Judged> {
    let ids: BTreeSet<EnvironmentId> = base.iter().chain(head).map(|one| one.environment).collect();
    let ids: Vec<EnvironmentId> = ids.into_iter().collect();
    let environments = db::environment::list(&app.db, &ids).await?;
    let facts = environments.into_iter().map(|one| (one.id, one.facts)).collect();
    let floors = db::noise::list_of_curve(&app.db, curve.machine, curve.id).await?;
    let floor = Floor::of_sides(&floors, &metric.name);
    let earlier = earlier::load(&app.db, curve, &metric.name, base, head).await?;
    let points = points(base, head, &earlier, floor.relative);
    let direction = direction_of(metric.direction);
    let mut comparison = compare_curve(&points, direction, &facts, &policy::two_sides(), across);
    let differences: Vec<Difference> =
        comparison.environment_changes.iter().map(|one| one.difference.clone()).collect();
    comparison.rank(environments::ranked(&app.db, &differences).await?);
    Ok(Judged { points, floor, comparison })
}

impl Judged {
    /// The verdict over the curve: the word first, then the figures.
    pub fn words(&self) -> String {
        let words = &self.comparison.judgement.words;
        match self.class() {
            word @ ("regression" | "improvement") if !words.contains(word) => {
                format!("{word}, {words} tasks")
            }
            _ => words.clone(),
        }
    }

    /// Class of the style sheet for the verdict over the curve.
    pub fn class(&self) -> &'static str {
        use crate::model::step::Change;
        let has = |change| {
            let of = |point| crate::detect::evidence::change_of(point) == Some(change);
            self.comparison.judgement.points.iter().any(|point| of(point.verdict))
        };
        match (has(Change::Regression), has(Change::Improvement)) {
            _ if !self.comparison.environment_changes.is_empty() => "environment",
            (true, _) => "regression",
            (false, true) => "improvement",
            (false, false) => "undecided",
        }
    }
}

/// `8a1f0c2d3e ext4: …`, for a plot's label only the digits.
pub fn label(measurements: &[Measurement], fallback: &str) -> String {
    measurements.first().map_or(fallback.to_owned(), |one| format::commit(&one.commit).to_owned())
}
