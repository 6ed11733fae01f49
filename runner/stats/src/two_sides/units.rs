//! What is counted at one point: run medians, or samples where there are too few runs.

use super::builds::{Builds, LEAST_BUILDS};
use super::{History, LEAST_UNITS, Runs, Sides};
use crate::{Sample, Verdict, order, summary, words};

/// What one value of a side stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Run,
    Sample,
}

/// The values that are compared, on the scale they are compared on.
pub(super) struct Units {
    pub unit: Unit,
    /// ln of the values where all are positive, else the values.
    pub base: Vec<f64>,
    pub head: Vec<f64>,
    pub logarithmic: bool,
    /// Standard error of the shift between the sides from the samples within runs alone.
    pub within_error: f64,
    /// The same from the spread between runs alone; none with one run a side.
    pub between_error: Option<f64>,
    /// What earlier builds tell; none with too few of them.
    pub builds: Option<Builds>,
    /// head − base of each pair of runs that were measured in turn; none where they were not.
    pub pairs: Option<Vec<f64>>,
}

impl Units {
    /// Deviation of what is counted on one side, and its degrees of freedom; none where both sides
    /// have one value. Of pairs, that of their differences ÷ √2.
    pub fn deviation(&self) -> Option<(f64, f64)> {
        let Some(pairs) = &self.pairs else { return pooled_sd(&self.base, &self.head) };
        let sd = summary::sd(Sample::new(pairs)?)?;
        Some((sd / 2f64.sqrt(), pairs.len() as f64 - 1.0))
    }
}

/// A point ready to be judged, or the verdict that it cannot be.
pub(super) struct Prepared {
    pub base: Option<f64>,
    pub head: Option<f64>,
    pub used: Vec<f64>,
    pub set_aside: Vec<String>,
    pub units: Option<Units>,
    /// What stands in the way when `units` is none.
    pub refusal: Verdict,
    pub notes: Vec<String>,
}

/// Median of a side: of its runs' medians.
fn side_median(runs: &[&[f64]]) -> Option<f64> {
    let mut medians: Vec<f64> = runs.iter().filter_map(|r| order::median(r)).collect();
    order::median_in_place(&mut medians)
}

/// Sorts a point's data: empty runs aside, NaN and infinities refused, too few values refused.
pub(super) fn prepare(sides: &Sides) -> Prepared {
    let mut prepared = Prepared {
        base: None,
        head: None,
        used: Vec::new(),
        set_aside: Vec::new(),
        units: None,
        refusal: Verdict::NotEnoughData,
        notes: Vec::new(),
    };
    let base = kept("base", &sides.base, &mut prepared.set_aside);
    let head = kept("head", &sides.head, &mut prepared.set_aside);
    let wild = base.iter().chain(&head).flat_map(|r| r.iter()).filter(|v| !v.is_finite()).count();
    if wild > 0 {
        prepared.set_aside.push(format!("{} not finite", words::counted(wild, "value")));
        prepared.refusal = Verdict::NotComparable;
        return prepared;
    }
    (prepared.base, prepared.head) = (side_median(&base), side_median(&head));
    let history = earlier(sides, &mut prepared.set_aside);
    let known = history.len() >= LEAST_BUILDS && !base.is_empty() && !head.is_empty();
    let unit = match base.len().min(head.len()) {
        _ if known => Unit::Run,
        runs if runs >= LEAST_UNITS => Unit::Run,
        _ => Unit::Sample,
    };
    let (b, h) = (values(unit, &base), values(unit, &head));
    prepared.used = [b.as_slice(), h.as_slice()].concat();
    if !known && b.len().min(h.len()) < LEAST_UNITS {
        prepared.notes.push(missing(&base, &head));
        return prepared;
    }
    prepared.notes.push(basis(unit, &base, &head));
    match on_scale(unit, (&base, &head), (b, h), &history) {
        Some(mut units) => {
            let whole = base.len() == sides.base.len() && head.len() == sides.head.len();
            if sides.paired && whole && unit == Unit::Run && base.len() == head.len() {
                let pairs = units.base.iter().zip(&units.head);
                units.pairs = Some(pairs.map(|(base, head)| head - base).collect());
                prepared.notes.push("the sides took turns: each pair of runs is compared".into());
            }
            prepared.units = Some(units);
        }
        None => {
            prepared.notes.push("differences of these values overflow".to_owned());
            prepared.refusal = Verdict::NotComparable;
        }
    }
    prepared
}

fn kept<'a>(side: &str, runs: &'a Runs, set_aside: &mut Vec<String>) -> Vec<&'a [f64]> {
    let kept: Vec<&[f64]> = runs.iter().map(Vec::as_slice).filter(|r| !r.is_empty()).collect();
    let empty = runs.len() - kept.len();
    if empty > 0 {
        set_aside.push(format!("{} of the {side} without samples", words::counted(empty, "run")));
    }
    kept
}

fn values(unit: Unit, runs: &[&[f64]]) -> Vec<f64> {
    match unit {
        Unit::Run => runs.iter().filter_map(|r| order::median(r)).collect(),
        Unit::Sample => runs.concat(),
    }
}

/// Run values of each earlier build, those that are not finite left out.
fn earlier(sides: &Sides, set_aside: &mut Vec<String>) -> Vec<Vec<f64>> {
    let History::Builds(builds) = &sides.history else { return Vec::new() };
    let finite =
        |runs: &Vec<f64>| -> Vec<f64> { runs.iter().copied().filter(|v| v.is_finite()).collect() };
    let kept: Vec<Vec<f64>> = builds.iter().map(finite).filter(|runs| !runs.is_empty()).collect();
    let empty = builds.len() - kept.len();
    if empty > 0 {
        set_aside.push(format!("{} without a value", words::counted(empty, "earlier build")));
    }
    kept
}

fn on_scale(
    unit: Unit,
    (base_runs, head_runs): (&[&[f64]], &[&[f64]]),
    (base, head): (Vec<f64>, Vec<f64>),
    history: &[Vec<f64>],
) -> Option<Units> {
    let positive = |values: &[f64]| values.iter().all(|&v| v > 0.0);
    let logarithmic = base_runs.iter().chain(head_runs).all(|run| positive(run))
        && history.iter().all(|build| positive(build));
    let scaled = |runs: &[&[f64]]| -> Vec<Vec<f64>> {
        runs.iter().map(|r| to_scale(r, logarithmic)).collect()
    };
    let (b, h) = (scaled(base_runs), scaled(head_runs));
    let within_error = (side_within(&b).powi(2) + side_within(&h).powi(2)).sqrt();
    let (base, head) = (to_scale(&base, logarithmic), to_scale(&head, logarithmic));
    let between_error = between(&b, &h);
    let history: Vec<Vec<f64>> = history.iter().map(|b| to_scale(b, logarithmic)).collect();
    let builds = Builds::learn(&history, &base, &head);
    let sound = within_error.is_finite() && between_error.is_none_or(f64::is_finite);
    let pairs = None;
    sound.then_some(Units {
        unit,
        base,
        head,
        logarithmic,
        within_error,
        between_error,
        builds,
        pairs,
    })
}

fn to_scale(values: &[f64], logarithmic: bool) -> Vec<f64> {
    values.iter().map(|&v| if logarithmic { v.ln() } else { v }).collect()
}

/// Standard error of a side's mean over runs, if only the samples within its runs varied.
fn side_within(runs: &[Vec<f64>]) -> f64 {
    let variance: f64 = runs
        .iter()
        .filter_map(|r| Sample::new(r).and_then(summary::sd).map(|sd| sd * sd / r.len() as f64))
        .sum();
    variance.sqrt() / runs.len() as f64
}

/// Standard error of the shift from the runs' means: pooled deviation · sqrt(1/r₁ + 1/r₂).
fn between(base: &[Vec<f64>], head: &[Vec<f64>]) -> Option<f64> {
    let centre = |runs: &[Vec<f64>]| -> Vec<f64> {
        runs.iter().filter_map(|r| Sample::new(r).map(summary::mean)).collect()
    };
    pooled_sd(&centre(base), &centre(head))
        .map(|(sd, _)| sd * (1.0 / base.len() as f64 + 1.0 / head.len() as f64).sqrt())
}

/// Pooled standard deviation of two sides and its degrees of freedom; none where both have one value.
pub(super) fn pooled_sd(base: &[f64], head: &[f64]) -> Option<(f64, f64)> {
    let df = (base.len() + head.len()).saturating_sub(2) as f64;
    let squares = |side: &[f64]| {
        Sample::new(side).map_or(0.0, |s| summary::population_sd(s).powi(2) * side.len() as f64)
    };
    (df > 0.0).then(|| (((squares(base) + squares(head)) / df).sqrt(), df))
}

/// Median over the curve's points of the runs' deviation; none below three points that have runs
/// on a ratio scale, for then there is no curve to lean on.
pub(super) fn typical_sd(points: &[Prepared]) -> Option<f64> {
    let mut deviations: Vec<f64> = points
        .iter()
        .filter_map(|p| p.units.as_ref())
        .filter(|u| u.unit == Unit::Run && u.logarithmic)
        .filter_map(|u| u.deviation().map(|(sd, _)| sd))
        .collect();
    (deviations.len() >= 3).then(|| order::median_in_place(&mut deviations)).flatten()
}

/// `1 value a side, 3 needed`, or both counts where they differ.
fn missing(base: &[&[f64]], head: &[&[f64]]) -> String {
    let samples = |runs: &[&[f64]]| runs.iter().map(|r| r.len()).sum::<usize>();
    match (samples(base), samples(head)) {
        (b, h) if b == h => format!("{} a side, {LEAST_UNITS} needed", words::counted(b, "value")),
        (b, h) => format!("{} against {h}, {LEAST_UNITS} needed", words::counted(b, "value")),
    }
}

fn basis(unit: Unit, base: &[&[f64]], head: &[&[f64]]) -> String {
    match unit {
        Unit::Run => format!("unit: the run, {} against {}", base.len(), head.len()),
        Unit::Sample if base.len() == head.len() => {
            format!(
                "within-run samples only: {} of one build a side",
                words::counted(base.len(), "run")
            )
        }
        Unit::Sample => format!(
            "within-run samples only: {} against {} of one build",
            words::counted(base.len(), "run"),
            head.len()
        ),
    }
}
