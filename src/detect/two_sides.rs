//! Base against head over one metric of one curve: loaded rows in, one judgement out. Only runs of
//! one environment are ever compared; where the sides share none, that is the verdict.

use std::collections::{BTreeMap, BTreeSet};

use stats::Verdict;
use stats::two_sides::{CurveJudgement, Policy, Sides};

use super::environment::{Facts, FieldChange, differences, in_words};

/// One run of one side at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct SideRun {
    /// Where it ran; a key of the facts given beside.
    pub environment_id: i64,
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
    /// Noise floor, relative; 0 when unknown.
    pub noise_floor: f64,
}

/// The verdict over the curve and what stood in its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// A verdict a point, and the curve in words.
    pub judgement: CurveJudgement,
    /// The environment both sides were judged in; none when they share none.
    pub environment_id: Option<i64>,
    /// What differs where the sides share no environment; empty otherwise.
    pub environment_changes: Vec<FieldChange>,
    /// Runs left out because they ran in another environment, in sentences.
    pub set_aside: Vec<String>,
}

/// Judges head against base, one metric over a curve.
pub fn compare_curve(
    points: &[PointSides],
    direction: stats::Direction,
    environments: &BTreeMap<i64, Facts>,
    policy: &Policy,
) -> Comparison {
    match shared_environment(points) {
        Some(environment_id) => {
            within_one_environment(points, direction, environment_id, environments, policy)
        }
        None => across_environments(points, direction, environments, policy),
    }
}

fn within_one_environment(
    points: &[PointSides],
    direction: stats::Direction,
    environment_id: i64,
    environments: &BTreeMap<i64, Facts>,
    policy: &Policy,
) -> Comparison {
    let judgement = stats::two_sides::judge(
        &sides(points, |run| run.environment_id == environment_id),
        direction,
        policy,
    );
    let none = Facts::new();
    let here = environments.get(&environment_id).unwrap_or(&none);
    let set_aside = run_environments(points)
        .filter(|id| *id != environment_id)
        .collect::<BTreeSet<i64>>()
        .into_iter()
        .map(|id| {
            let runs = run_environments(points).filter(|other| *other == id).count();
            let changes = differences(here, environments.get(&id).unwrap_or(&none));
            format!("{runs} measurements set aside, environment differs: {}", in_words(&changes))
        })
        .collect();
    Comparison {
        judgement,
        environment_id: Some(environment_id),
        environment_changes: Vec::new(),
        set_aside,
    }
}

/// The figures are still shown, but no point may be called.
fn across_environments(
    points: &[PointSides],
    direction: stats::Direction,
    environments: &BTreeMap<i64, Facts>,
    policy: &Policy,
) -> Comparison {
    let mut judgement = stats::two_sides::judge(&sides(points, |_| true), direction, policy);
    let newest = |side: fn(&PointSides) -> &[SideRun]| {
        let run = points.iter().filter_map(|point| side(point).last()).next_back()?;
        environments.get(&run.environment_id)
    };
    let sides_known = (newest(|point| &point.base), newest(|point| &point.head));
    let environment_changes = match sides_known {
        (Some(base), Some(head)) => differences(base, head),
        _ => Vec::new(),
    };
    // A side without any run is "not enough data", which the judgement says by itself.
    if !environment_changes.is_empty() {
        for point in &mut judgement.points {
            point.verdict = Verdict::EnvironmentChanged;
        }
        judgement.words = format!("environment changed: {}", in_words(&environment_changes));
    }
    Comparison { judgement, environment_id: None, environment_changes, set_aside: Vec::new() }
}

/// The environment in which the side with fewer runs has most; the smaller id where equal.
fn shared_environment(points: &[PointSides]) -> Option<i64> {
    let count = |id: i64, side: fn(&PointSides) -> &[SideRun]| {
        points.iter().flat_map(side).filter(|run| run.environment_id == id).count()
    };
    run_environments(points)
        .collect::<BTreeSet<i64>>()
        .into_iter()
        .map(|id| (count(id, |point| &point.base).min(count(id, |point| &point.head)), id))
        .filter(|(runs, _)| *runs > 0)
        .max_by_key(|(runs, id)| (*runs, std::cmp::Reverse(*id)))
        .map(|(_, id)| id)
}

fn run_environments(points: &[PointSides]) -> impl Iterator<Item = i64> {
    points.iter().flat_map(|point| point.base.iter().chain(&point.head)).map(|r| r.environment_id)
}

fn sides(points: &[PointSides], keep: impl Fn(&SideRun) -> bool) -> Vec<Sides> {
    let kept = |runs: &[SideRun]| -> Vec<Vec<f64>> {
        runs.iter().filter(|run| keep(run)).map(|run| run.samples.clone()).collect()
    };
    points
        .iter()
        .map(|point| Sides {
            tasks: point.tasks,
            base: kept(&point.base),
            head: kept(&point.head),
            noise_floor: point.noise_floor,
        })
        .collect()
}
