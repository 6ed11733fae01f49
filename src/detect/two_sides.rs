//! Base against head over one metric of one curve: loaded rows in, one judgement out. Only runs of
//! one environment are ever compared; where the sides share none, that is the verdict.

use std::collections::{BTreeMap, BTreeSet};

use stats::Verdict;
pub use stats::two_sides::PointJudgement;
use stats::two_sides::{CurveJudgement, History, Policy, Sides};

use super::history::{Environments, in_words};
use crate::db::history::EarlierRun;
use crate::model::environment::{Difference, diff};
use crate::model::{EnvironmentId, Measurement};

/// One run of one side at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct SideRun {
    /// Where it ran; a key of the facts given beside.
    pub environment: EnvironmentId,
    /// Every value of the metric in this run.
    pub samples: Vec<f64>,
}

/// One task count of the curve, both sides; runs in order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSides {
    /// Task count.
    pub tasks: u32,
    /// Runs of the base revision.
    pub base: Vec<SideRun>,
    /// Runs of the head revision.
    pub head: Vec<SideRun>,
    /// Runs of earlier builds on the level of the base, by revision.
    pub earlier: Vec<EarlierRun>,
}

/// The verdict over the curve and what stood in its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// A verdict a point, and the curve in words.
    pub judgement: CurveJudgement,
    /// The environment both sides were judged in; none when they share none.
    pub environment: Option<EnvironmentId>,
    /// What differs where the sides share no environment; empty otherwise.
    pub environment_changes: Vec<Difference>,
    /// Runs left out because they ran in another environment, in sentences.
    pub set_aside: Vec<String>,
}

/// Pairs the measurements of one metric of a curve at two revisions by task count; what was measured
/// of earlier builds goes with its task count.
pub fn points(
    base: &[Measurement],
    head: &[Measurement],
    earlier: &[EarlierRun],
) -> Vec<PointSides> {
    let mut points: BTreeMap<i32, PointSides> = BTreeMap::new();
    for (side, measurements) in [(0, base), (1, head)] {
        for measurement in measurements {
            let tasks = u32::try_from(measurement.tasks).unwrap_or(0);
            let point = points.entry(measurement.tasks).or_insert_with(|| PointSides {
                tasks,
                base: Vec::new(),
                head: Vec::new(),
                earlier: earlier
                    .iter()
                    .filter(|run| run.tasks == measurement.tasks)
                    .cloned()
                    .collect(),
            });
            let runs = if side == 0 { &mut point.base } else { &mut point.head };
            runs.push(SideRun {
                environment: measurement.environment,
                samples: measurement.samples.clone(),
            });
        }
    }
    points.into_values().collect()
}

/// Judges head against base, one metric over a curve.
pub fn compare_curve(
    points: &[PointSides],
    direction: stats::Direction,
    environments: &Environments,
    policy: &Policy,
) -> Comparison {
    match shared_environment(points) {
        Some(environment) => {
            within_one_environment(points, direction, environment, environments, policy)
        }
        None => across_environments(points, direction, environments, policy),
    }
}

fn within_one_environment(
    points: &[PointSides],
    direction: stats::Direction,
    environment: EnvironmentId,
    environments: &Environments,
    policy: &Policy,
) -> Comparison {
    let judgement =
        stats::two_sides::judge(&sides(points, |other| other == environment), direction, policy);
    let none = BTreeMap::new();
    let here = environments.get(&environment).unwrap_or(&none);
    let set_aside = run_environments(points)
        .filter(|id| *id != environment)
        .collect::<BTreeSet<EnvironmentId>>()
        .into_iter()
        .map(|id| {
            let runs = run_environments(points).filter(|other| *other == id).count();
            let changes = diff(here, environments.get(&id).unwrap_or(&none));
            format!("{runs} measurements set aside, environment differs: {}", in_words(&changes))
        })
        .collect();
    Comparison {
        judgement,
        environment: Some(environment),
        environment_changes: Vec::new(),
        set_aside,
    }
}

/// The figures are still shown, but no point may be called.
fn across_environments(
    points: &[PointSides],
    direction: stats::Direction,
    environments: &Environments,
    policy: &Policy,
) -> Comparison {
    let mut judgement = stats::two_sides::judge(&sides(points, |_| true), direction, policy);
    let newest = |side: fn(&PointSides) -> &[SideRun]| {
        let run = points.iter().filter_map(|point| side(point).last()).next_back()?;
        environments.get(&run.environment)
    };
    let sides_known = (newest(|point| &point.base), newest(|point| &point.head));
    let environment_changes = match sides_known {
        (Some(base), Some(head)) => diff(base, head),
        _ => Vec::new(),
    };
    // A side without any run is "not enough data", which the judgement says by itself.
    if !environment_changes.is_empty() {
        for point in &mut judgement.points {
            point.verdict = Verdict::EnvironmentChanged;
        }
        judgement.words = format!("environment changed: {}", in_words(&environment_changes));
    }
    Comparison { judgement, environment: None, environment_changes, set_aside: Vec::new() }
}

/// The environment in which the side with fewer runs has most; the smaller id where equal.
fn shared_environment(points: &[PointSides]) -> Option<EnvironmentId> {
    let count = |id: EnvironmentId, side: fn(&PointSides) -> &[SideRun]| {
        points.iter().flat_map(side).filter(|run| run.environment == id).count()
    };
    run_environments(points)
        .collect::<BTreeSet<EnvironmentId>>()
        .into_iter()
        .map(|id| (count(id, |point| &point.base).min(count(id, |point| &point.head)), id))
        .filter(|(runs, _)| *runs > 0)
        .max_by_key(|(runs, id)| (*runs, std::cmp::Reverse(*id)))
        .map(|(_, id)| id)
}

fn run_environments(points: &[PointSides]) -> impl Iterator<Item = EnvironmentId> {
    points.iter().flat_map(|point| point.base.iter().chain(&point.head)).map(|r| r.environment)
}

fn sides(points: &[PointSides], keep: impl Fn(EnvironmentId) -> bool) -> Vec<Sides> {
    let kept = |runs: &[SideRun]| -> Vec<Vec<f64>> {
        runs.iter().filter(|run| keep(run.environment)).map(|run| run.samples.clone()).collect()
    };
    let builds = |runs: &[EarlierRun]| -> Vec<Vec<f64>> {
        runs.chunk_by(|a, b| a.revision == b.revision)
            .map(|build| {
                build.iter().filter(|run| keep(run.environment)).map(|run| run.median).collect()
            })
            .filter(|runs: &Vec<f64>| !runs.is_empty())
            .collect()
    };
    points
        .iter()
        .map(|point| Sides {
            history: History::Builds(builds(&point.earlier)),
            ..Sides::new(point.tasks, kept(&point.base), kept(&point.head))
        })
        .collect()
}
