//! Base against head over one metric of one curve: loaded rows in, one judgement out. Runs of
//! different environments are compared only when asked, and even then the verdict is that the
//! environment changed.

use std::collections::{BTreeMap, BTreeSet};

use stats::Verdict;
pub use stats::two_sides::PointJudgement;
use stats::two_sides::{CurveJudgement, History, Policy, Sides};

use super::history::{Environments, in_words};
use crate::db::history::EarlierRun;
use crate::model::environment::{Known, diff};
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
    /// What A/A runs and refuted suspects say that identical code differs by, relative; 0 when
    /// unknown.
    pub noise_floor: f64,
}

/// The verdict over the curve and what stood in its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// A verdict a point, and the curve in words.
    pub judgement: CurveJudgement,
    /// The environment both sides were judged in; none when they share none.
    pub environment: Option<EnvironmentId>,
    /// What differs where the sides were not judged in one environment; empty otherwise.
    pub environment_changes: Vec<Known>,
    /// How the sides compare all the same, in words, where somebody asked.
    pub all_the_same: Option<String>,
    /// Runs left out because they ran in another environment, in sentences.
    pub set_aside: Vec<String>,
}

/// Whether runs of different environments are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Across {
    /// Never.
    #[default]
    No,
    /// All runs are, as somebody asked.
    Asked,
}

impl Across {
    /// The word by which it is asked for.
    pub const WORD: &str = "across";

    /// As asked for in an address.
    pub fn parse(word: Option<&str>) -> Option<Across> {
        match word {
            None | Some("") => Some(Across::No),
            Some(Across::WORD) => Some(Across::Asked),
            Some(_) => None,
        }
    }
}

/// Pairs the measurements of one metric of a curve at two revisions by task count; what was measured
/// of earlier builds goes with its task count.
pub fn points(
    base: &[Measurement],
    head: &[Measurement],
    earlier: &[EarlierRun],
    noise_floor: f64,
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
                noise_floor,
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
    across: Across,
) -> Comparison {
    match shared_environment(points) {
        Some(environment) if across == Across::No || in_one_environment(points) => {
            within_one_environment(points, direction, environment, environments, policy)
        }
        _ => across_environments(points, direction, environments, policy, across),
    }
}

fn in_one_environment(points: &[PointSides]) -> bool {
    run_environments(points).collect::<BTreeSet<EnvironmentId>>().len() < 2
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
        all_the_same: None,
        set_aside,
    }
}

/// No point may be called. How the sides compare is shown only when asked.
fn across_environments(
    points: &[PointSides],
    direction: stats::Direction,
    environments: &Environments,
    policy: &Policy,
    across: Across,
) -> Comparison {
    let mut judgement = stats::two_sides::judge(&sides(points, |_| true), direction, policy);
    let newest = |side: fn(&PointSides) -> &[SideRun]| {
        let run = points.iter().filter_map(|point| side(point).last()).next_back()?;
        environments.get(&run.environment)
    };
    let sides_known = (newest(|point| &point.base), newest(|point| &point.head));
    let differences = match sides_known {
        (Some(base), Some(head)) => diff(base, head),
        _ => Vec::new(),
    };
    let unknown = |difference| Known { difference, changes: 0, moved: 0 };
    let mut comparison = Comparison {
        environment: None,
        environment_changes: differences.into_iter().map(unknown).collect(),
        all_the_same: None,
        set_aside: Vec::new(),
        judgement: CurveJudgement { points: Vec::new(), words: String::new() },
    };
    // A side without any run is "not enough data", which the judgement says by itself; so does one
    // whose newest runs share their environment, when all runs are asked for.
    if !comparison.environment_changes.is_empty() {
        for point in &mut judgement.points {
            point.verdict = Verdict::EnvironmentChanged;
            // That they ran in different environments decides, whatever the figures say.
            point.evidence.decided_by = None;
            if across == Across::No {
                (point.ratio, point.interval_95) = (None, None);
                point.evidence.inequalities.clear();
                point.evidence.notes.clear();
            }
        }
        comparison.all_the_same = (across == Across::Asked).then(|| judgement.words.clone());
    }
    comparison.judgement = judgement;
    comparison.say();
    comparison
}

impl Comparison {
    /// Puts the differences in another order, with what is known of each.
    pub fn rank(&mut self, ranked: Vec<Known>) {
        self.environment_changes = ranked;
        self.say();
    }

    fn say(&mut self) {
        if self.environment_changes.is_empty() {
            return;
        }
        let differences: Vec<_> =
            self.environment_changes.iter().map(|one| one.difference.clone()).collect();
        let all_the_same = self.all_the_same.as_ref();
        let rest = all_the_same.map_or(String::new(), |words| format!("; all the same: {words}"));
        self.judgement.words = format!("environment changed: {}{rest}", in_words(&differences));
    }
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
            noise_floor: point.noise_floor,
            ..Sides::new(point.tasks, kept(&point.base), kept(&point.head))
        })
        .collect()
}
