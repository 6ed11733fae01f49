//! Steps of what the laws of scaling say: contention, coherency, knee and peak are histories over
//! revisions, judged by the detector that judges every series. A change too small to matter to
//! throughput is none, and a step that may as well lie where the points of the curve stepped is
//! placed there: it has their cause.

use std::collections::BTreeMap;

use stats::step::Policy;

use super::floor::Floor;
use super::history::{self, Candidate, Environments};
use super::{laws, policy};
use crate::model::noise::Source;
use crate::model::range::Range;
use crate::model::scaling::{Bend, Figure, FittedLaw, Scaling};
use crate::model::step::{Found, HistoryRow, Inequality, Place};
use crate::model::{BranchId, EnvironmentId, NoiseFloor, RunId, SeriesId};

/// A figure of the law has no series before its first step.
const NO_SERIES: SeriesId = SeriesId(0);

/// What bears on the judgement besides the laws.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// Facts of each environment.
    pub facts: &'a Environments,
    /// Floors of the curve.
    pub floors: &'a [NoiseFloor],
    /// Metric the laws were fitted to.
    pub metric: &'a str,
    /// Steps of the curve's points.
    pub points: &'a [Candidate],
}

/// Every step of every figure. Their series are for the caller to name.
pub fn detect(laws: &[Scaling], beside: Beside<'_>, policy: &Policy) -> Vec<(Figure, Found)> {
    let by_run: BTreeMap<RunId, &FittedLaw> =
        laws.iter().filter_map(|one| Some((one.run, one.law.as_ref().ok()?))).collect();
    let mut anchors: Vec<Anchor> =
        beside.points.iter().filter_map(|point| Anchor::of_point(&point.found)).collect();
    let mut found = Vec::new();
    for figure in Figure::ALL {
        let rows = laws::rows_of(laws, figure, NO_SERIES);
        let refuted: Vec<NoiseFloor> = beside
            .floors
            .iter()
            .filter(|floor| floor.metric == figure.word() && floor.source == Source::Refuted)
            .cloned()
            .collect();
        let limit = least_effect(&refuted, beside);
        for candidate in history::detect(rows.clone(), beside.facts, &refuted, policy) {
            let Some(mut step) = bent(figure, candidate, &by_run, limit, laws) else { continue };
            place(&mut step, &rows, &anchors);
            anchors.push(Anchor::of(&step.found, figure.word()));
            found.push((figure, step.found));
        }
    }
    found
}

/// Least relative change of throughput that a step of a figure must make.
fn least_effect(refuted: &[NoiseFloor], beside: Beside<'_>) -> f64 {
    let measured = beside
        .floors
        .iter()
        .filter(|floor| floor.metric == beside.metric && floor.source == Source::Calibrated);
    let floor = Floor::widest(refuted.iter().chain(measured));
    floor.relative.max(policy::LEAST_BEND)
}

/// The candidate with what it does to the curve; none where that is too little.
fn bent(
    figure: Figure,
    mut candidate: Candidate,
    by_run: &BTreeMap<RunId, &FittedLaw>,
    limit: f64,
    laws: &[Scaling],
) -> Option<Candidate> {
    let of = |runs: &[RunId]| -> Vec<&FittedLaw> {
        runs.iter().filter_map(|run| by_run.get(run).copied()).collect()
    };
    let (before, after) = (of(&candidate.before), of(&candidate.after));
    let tasks = laws.iter().find(|one| Some(&one.run) == candidate.after.first())?.tasks.clone();
    let largest = *tasks.last()?;
    let throughput = throughput(figure, (&before, &after), largest)?;
    let (knee, peak) = (Figure::Knee, Figure::Peak);
    candidate.found.evidence.bend = Some(Bend {
        throughput,
        knee: (level(knee, &before), level(knee, &after)),
        peak: (level(peak, &before), level(peak, &after)),
        tasks,
    });
    let effect = (throughput - 1.0).abs();
    let alone = if figure.is_coefficient() { "this alone" } else { "both coefficients" };
    let line = Inequality {
        what: format!("relative change of throughput at {largest} tasks by {alone}"),
        left: Some(effect),
        relation: ">=".into(),
        right: Some(limit),
        holds: effect >= limit,
    };
    let evidence = &mut candidate.found.evidence;
    evidence.inequalities.push(line);
    evidence.decided_by = Some(evidence.inequalities.len() - 1);
    (effect >= limit).then_some(candidate)
}

/// Throughput at so many tasks after ÷ before, relative to one task's: by the figure alone where
/// it is a coefficient, else by both coefficients.
fn throughput(
    figure: Figure,
    (before, after): (&[&FittedLaw], &[&FittedLaw]),
    tasks: i32,
) -> Option<f64> {
    let law = |coefficient: Figure, laws: &[&FittedLaw]| level(coefficient, laws);
    let at = |contention: f64, coherency: f64| {
        stats::curve::Law { one: 1.0, contention, coherency }.throughput(f64::from(tasks))
    };
    let (sigma, kappa) = (law(Figure::Contention, before)?, law(Figure::Coherency, before)?);
    let (later_sigma, later_kappa) =
        (law(Figure::Contention, after)?, law(Figure::Coherency, after)?);
    let later = match figure {
        Figure::Contention => at(later_sigma, kappa),
        Figure::Coherency => at(sigma, later_kappa),
        Figure::Knee | Figure::Peak => at(later_sigma, later_kappa),
    };
    Some(later / at(sigma, kappa))
}

/// Median of a figure over laws; those that have none count as beyond any number.
fn level(figure: Figure, laws: &[&FittedLaw]) -> Option<f64> {
    let mut values: Vec<f64> = laws
        .iter()
        .map(|law| figure.of(law).map_or(f64::INFINITY, |estimate| estimate.value))
        .collect();
    values.sort_by(f64::total_cmp);
    let middle = values.get(values.len() / 2)?;
    let other = values.get((values.len() - 1) / 2)?;
    let median = (middle + other) / 2.0;
    median.is_finite().then_some(median)
}

/// A step that others may have the cause of.
#[derive(Debug, Clone)]
struct Anchor {
    branch: BranchId,
    environment: EnvironmentId,
    range: Range,
    words: String,
}

impl Anchor {
    fn of(found: &Found, words: &str) -> Anchor {
        Anchor {
            branch: found.branch,
            environment: found.environment,
            range: found.range(),
            words: words.to_owned(),
        }
    }

    fn of_point(found: &Found) -> Option<Anchor> {
        let words = format!(
            "{} at {}",
            found.metric,
            stats::words::counted(found.tasks.unsigned_abs() as usize, "task",)
        );
        policy::opens_incident(&found.metric, false).then(|| Anchor::of(found, &words))
    }
}

/// Places the step with the nearest of the anchors where that is as likely as its own place, up to
/// [`policy::PLACE_NATS`].
fn place(step: &mut Candidate, rows: &[HistoryRow], anchors: &[Anchor]) {
    let found = &step.found;
    let mut history: Vec<&HistoryRow> = rows
        .iter()
        .filter(|row| (row.branch, row.environment) == (found.branch, found.environment))
        .collect();
    history.sort_by(|a, b| (a.rank, &a.commit).cmp(&(b.rank, &b.commit)));
    let at = |run: Option<&RunId>| history.iter().position(|row| Some(&row.run) == run);
    let (Some(start), Some(own), Some(last)) =
        (at(step.before.first()), at(step.after.first()), at(step.after.last()))
    else {
        return;
    };
    let values: Vec<f64> = history[start..=last].iter().map(|row| row.median).collect();
    let cost = |split: usize| -> f64 {
        let off = |(i, value): (usize, &f64)| {
            (value - if i < split { found.before } else { found.after }).abs()
        };
        values.iter().enumerate().map(off).sum()
    };
    let own_cost = cost(own - start);
    let spread = own_cost / values.len() as f64;
    let here = anchors
        .iter()
        .filter(|one| (one.branch, one.environment) == (found.branch, found.environment));
    if here.clone().any(|one| one.range.overlap(found.range()).is_some()) {
        return;
    }
    let nearest = here
        .filter_map(|anchor| {
            let index = history.iter().position(|row| row.rank >= anchor.range.bad)?;
            let good = history.get(index.checked_sub(1)?)?;
            let inside = start < index && index <= last && good.rank < history[index].rank;
            let more = (cost(index.checked_sub(start)?) - own_cost) / spread;
            (inside && more <= policy::PLACE_NATS).then_some((more, index, anchor))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((more, index, anchor)) = nearest else { return };
    let end = |row: &HistoryRow| Place { revision: row.revision, rank: row.rank };
    let (good, bad) = (end(history[index - 1]), end(history[index]));
    let note = format!(
        "placed with the step of {}: of all places that one is {:.1} nats less likely than the best",
        anchor.words,
        more.max(0.0)
    );
    step.found.evidence.notes.push(note);
    (step.found.good, step.found.bad) = (good, bad);
}
