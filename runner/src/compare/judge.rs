//! Our verdict on each curve, with LKP's and mmtests' rules beside it as they are written.
//!
//! Only runs of one environment are compared: the one in which the side with fewer runs has most.
//! Where the sides share none, the figures stand but no point is called, unless the caller says
//! that the environment is what he studies.

use std::collections::{BTreeMap, BTreeSet};

use stats::two_sides::{CurveJudgement, Policy, Sides};
use stats::{Sample, Verdict};
use wire::Environment;

use super::curves::{Cell, Curve, Run};
use super::earlier::Earlier;
use super::floors::{Aged, Floors};

/// How to judge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Compare although the environments differ.
    pub across_environments: bool,
    /// Relative noise floor of machine × workload × metric; 0 when unknown.
    pub noise_floor: f64,
    /// Floors that were measured here; the larger one counts.
    pub floors: Floors,
    /// Builds beside those compared.
    pub earlier: Earlier,
    /// Limits of the judgement.
    pub policy: Policy,
}

/// A curve and what is said of each other column against the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The curve.
    pub curve: Curve,
    /// The noise floor that was measured for it.
    pub floor: Option<Aged>,
    /// One per column after the base.
    pub against: Vec<Against>,
}

/// One column against the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Index of the column.
    pub column: usize,
    /// Our verdicts.
    pub judgement: CurveJudgement,
    /// Other people's, point by point.
    pub beside: Vec<Beside>,
    /// What differs between the environments, where the sides share none.
    pub changes: Vec<Change>,
    /// Runs left out because they ran in another environment, in sentences.
    pub set_aside: Vec<String>,
    /// Task counts that the base measured and this column could not.
    pub failed: Vec<u32>,
}

/// LKP and mmtests on one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// LKP: one value a run.
    pub lkp: stats::lkp::Comparison,
    /// mmtests: all values pooled; none where a side has no value.
    pub mmtests: Option<stats::mmtests::Comparison>,
}

/// One field of the environment that differs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// Dotted key.
    pub field: String,
    /// In the base.
    pub base: Option<String>,
    /// In the head.
    pub head: Option<String>,
}

impl Judged {
    /// Our direction type for `stats`.
    pub fn direction(&self) -> stats::Direction {
        direction(self.curve.direction)
    }
}

impl Against {
    /// The verdict in words, what changed first: `regression: −34.6 % at 2`; what is unconfirmed
    /// says so at its end.
    pub fn headline(&self) -> String {
        let mut kinds = Vec::new();
        for verdict in [Verdict::Regression, Verdict::Improvement] {
            if self.any(verdict) {
                kinds.push(verdict.words());
            }
        }
        match kinds.is_empty() {
            true => self.judgement.words.clone(),
            false => format!("{}: {}", kinds.join(" and "), self.judgement.words),
        }
    }

    /// Whether any point has this verdict.
    pub fn any(&self, verdict: Verdict) -> bool {
        self.judgement.points.iter().any(|point| point.verdict == verdict)
    }
}

/// Judges one curve, every column against the first.
pub fn judge(curve: Curve, options: &Options) -> Judged {
    let columns = curve.points.first().map_or(0, |point| point.cells.len());
    let floor = options.floors.of(&curve.key.machine, &curve.key.workload, &curve.metric);
    let measured = floor.as_ref().map_or(0.0, |aged| aged.floor.relative);
    let noise_floor = options.noise_floor.max(measured);
    let against = (1..columns)
        .filter(|&column| curve.points.iter().any(|point| !point.cells[column].is_empty()))
        .map(|column| one_side(&curve, column, noise_floor, options))
        .collect();
    Judged { curve, floor, against }
}

impl Cell {
    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.failures.is_empty()
    }
}

fn direction(wire: wire::Direction) -> stats::Direction {
    match wire {
        wire::Direction::Higher => stats::Direction::Higher,
        wire::Direction::Lower => stats::Direction::Lower,
    }
}

fn one_side(curve: &Curve, column: usize, noise_floor: f64, options: &Options) -> Against {
    let shared = shared_environment(curve, column);
    let judged_in = if options.across_environments { None } else { shared };
    let keep = |run: &Run| judged_in.is_none_or(|here| run.environment == *here);
    let sides: Vec<Sides> = curve
        .points
        .iter()
        .map(|point| Sides {
            tasks: point.tasks,
            base: values(&point.cells[0], keep),
            head: values(&point.cells[column], keep),
            noise_floor,
            history: options.earlier.history(curve, (column, point.tasks), judged_in),
            paired: took_turns(&point.cells[0], &point.cells[column], keep),
        })
        .collect();
    let direction = direction(curve.direction);
    let mut judgement = stats::two_sides::judge(&sides, direction, &options.policy);
    let changes = if shared.is_some() { Vec::new() } else { changes(curve, column) };
    if !changes.is_empty() && !options.across_environments {
        for point in judgement.points.iter_mut().filter(|p| p.verdict != Verdict::NotEnoughData) {
            point.verdict = Verdict::EnvironmentChanged;
        }
        judgement.words =
            format!("{}: {}", Verdict::EnvironmentChanged.words(), in_words(&changes));
    }
    let failed = curve.points.iter().filter(|point| {
        let (base, head) = (&point.cells[0], &point.cells[column]);
        head.runs.is_empty() && !head.failures.is_empty() && !base.runs.is_empty()
    });
    Against {
        column,
        beside: sides.iter().map(|sides| beside(sides, direction)).collect(),
        failed: failed.map(|point| point.tasks).collect(),
        set_aside: judged_in.map_or_else(Vec::new, |here| set_aside(curve, column, here)),
        changes,
        judgement,
    }
}

/// `kernel.release 6.9 → 6.10, fs.type ext4 → xfs`.
pub fn in_words(changes: &[Change]) -> String {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "(not known)".into());
    let words: Vec<String> = changes
        .iter()
        .map(|c| format!("{} {} → {}", c.field, shown(&c.base), shown(&c.head)))
        .collect();
    words.join(", ")
}

fn beside(sides: &Sides, direction: stats::Direction) -> Beside {
    let means = |runs: &[Vec<f64>]| -> Vec<f64> {
        runs.iter().filter_map(|run| Sample::new(run)).map(stats::summary::mean).collect()
    };
    let (base, head) = (sides.base.concat(), sides.head.concat());
    Beside {
        lkp: stats::lkp::compare(
            &means(&sides.base),
            &means(&sides.head),
            direction,
            stats::lkp::Rule::default(),
            stats::lkp::Options::default(),
        ),
        mmtests: Sample::new(&base)
            .zip(Sample::new(&head))
            .map(|(base, head)| stats::mmtests::compare(base, head, direction)),
    }
}

fn values(cell: &Cell, keep: impl Fn(&Run) -> bool) -> Vec<Vec<f64>> {
    cell.runs.iter().filter(|run| keep(run)).map(|run| run.values.clone()).collect()
}

/// Whether every run of one side has its counterpart on the other, in the same order.
fn took_turns(base: &Cell, head: &Cell, keep: impl Fn(&Run) -> bool) -> bool {
    let pairs = |cell: &Cell| -> Option<Vec<usize>> {
        cell.runs.iter().filter(|run| keep(run)).map(|run| run.pair).collect()
    };
    pairs(base).is_some_and(|base| pairs(head).is_some_and(|head| base == head))
}

fn runs(curve: &Curve, column: usize) -> impl Iterator<Item = &Run> {
    curve.points.iter().flat_map(move |point| &point.cells[column].runs)
}

/// The environment in which the side with fewer runs has most; the smaller one where equal.
pub(super) fn shared_environment(curve: &Curve, column: usize) -> Option<&Environment> {
    let mut counts: BTreeMap<&BTreeMap<String, String>, (usize, usize, &Environment)> =
        BTreeMap::new();
    for run in runs(curve, 0) {
        counts.entry(&run.environment.0).or_insert((0, 0, &run.environment)).0 += 1;
    }
    for run in runs(curve, column) {
        counts.entry(&run.environment.0).or_insert((0, 0, &run.environment)).1 += 1;
    }
    let fewer = |(base, head, _): &(usize, usize, &Environment)| *base.min(head);
    let most = counts.values().map(fewer).max().filter(|&most| most > 0)?;
    counts.values().find(|count| fewer(count) == most).map(|(_, _, environment)| *environment)
}

/// What differs between the last runs of the two sides.
fn changes(curve: &Curve, column: usize) -> Vec<Change> {
    let (Some(base), Some(head)) = (runs(curve, 0).last(), runs(curve, column).last()) else {
        return Vec::new();
    };
    differences(&base.environment, &head.environment)
}

fn differences(base: &Environment, head: &Environment) -> Vec<Change> {
    let fields: BTreeSet<&String> = base.0.keys().chain(head.0.keys()).collect();
    fields
        .into_iter()
        .filter(|field| base.0.get(*field) != head.0.get(*field))
        .map(|field| Change {
            field: field.clone(),
            base: base.0.get(field).cloned(),
            head: head.0.get(field).cloned(),
        })
        .collect()
}

fn set_aside(curve: &Curve, column: usize, here: &Environment) -> Vec<String> {
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs(curve, 0).chain(runs(curve, column)).filter(|run| run.environment != *here) {
        *others.entry(in_words(&differences(here, &run.environment))).or_default() += 1;
    }
    others
        .into_iter()
        .map(|(words, n)| format!("{n} measurements set aside, environment differs: {words}"))
        .collect()
}
