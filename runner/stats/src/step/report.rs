//! Steps with their levels, ratio and evidence.

use super::regimes::{self, Regime};
use super::segments::{self, Found};
use super::series::Series;
use super::test::{Numbers, REACH, Values};
use super::{Kind, Policy, Step, returns};
use crate::interval::hodges_lehmann;
use crate::{Direction, Evidence, Sample, Verdict, words};

/// What a level that a series returns to must show.
pub(super) const SO_LONG_A_STAY: &str =
    "−ln chance of so long a stay, among other stays at this level";

/// Steps and changes of regime, in order.
pub(super) fn steps(
    series: &Series,
    found: &Found,
    direction: Direction,
    policy: &Policy,
) -> Vec<Step> {
    let levels = (0..found.splits.len()).filter(|&i| found.supported[i]).map(|i| {
        let at = segments::bounds(&found.splits, i, series.len());
        let numbers = &found.numbers[i];
        let of = series.values(found.deflation);
        let mut step = level(of, at, numbers, direction, policy);
        step.index = series.index[at.1];
        if series.dropped > 0 {
            let what = words::counted(series.dropped, "value");
            step.evidence.set_aside.push(format!("{what} not finite"));
        }
        if let Some((_, gap)) = &series.folded {
            step.evidence.notes.push(two_modes(*gap));
        }
        let (shown, asked) = returns::support(of.values, at, numbers);
        if series.folded.is_none() && asked > 0.0 {
            step.evidence.require(SO_LONG_A_STAY, shown, ">=", asked);
        }
        step
    });
    let regimes = found.regimes.iter().map(|change| regime(series, change, direction, policy));
    let mut steps: Vec<Step> = levels.chain(regimes).collect();
    steps.sort_by_key(|step| step.index);
    steps
}

/// What a step's evidence says of values that were taken down by the gap of two modes.
pub(super) fn two_modes(gap: f64) -> String {
    format!("noise has two modes {gap:.4} apart; values of the upper are taken down to the lower")
}

fn verdict(before: f64, after: f64, direction: Direction) -> Verdict {
    let better = (after > before) == (direction == Direction::Higher);
    if better { Verdict::Improvement } else { Verdict::Regression }
}

fn regime(series: &Series, change: &Regime, direction: Direction, policy: &Policy) -> Step {
    let (before, after) = change.means;
    let (start, end) = change.bounds;
    let mut evidence = Evidence { used: series.values[start..end].to_vec(), ..Evidence::default() };
    evidence.notes.push("a change of regime in a series that wanders: no level changed".into());
    evidence.require("relative change of mean", change.relative(), ">=", policy.floor());
    let rough = "half of von Neumann's ratio of the stretch";
    evidence.require(rough, change.roughness, "<=", regimes::LARGEST_ROUGHNESS);
    let errors = "how far that lies below independent values', in standard errors";
    evidence.require(errors, change.errors, ">=", regimes::LEAST_ERRORS);
    let share = "share of all squared variation that it explains";
    evidence.require(share, change.share, ">=", regimes::LEAST_SHARE);
    Step {
        index: series.index[change.split],
        kind: Kind::Regime,
        verdict: verdict(before, after, direction),
        before,
        after,
        ratio: None,
        evidence,
    }
}

/// A step of level at position `at.1` of the values, with the lines of its test.
pub(super) fn level(
    of: Values,
    at: (usize, usize, usize),
    numbers: &Numbers,
    direction: Direction,
    policy: &Policy,
) -> Step {
    Step {
        index: at.1,
        kind: Kind::Level,
        verdict: verdict(numbers.before, numbers.after, direction),
        before: numbers.before,
        after: numbers.after,
        ratio: ratio(of.values, at, numbers),
        evidence: evidence(of, at, numbers, policy),
    }
}

/// Values a side that the ratio's interval rests on. More would narrow an interval nobody needs
/// narrower; with one fewer on each the exact distribution, long to compute, would say the same.
const NEAREST: usize = 41;

/// after ÷ before with the 95 % interval of the median of all pairwise ratios, inverted from the
/// rank test, or the widest that few values allow.
fn ratio(
    values: &[f64],
    (start, k, end): (usize, usize, usize),
    numbers: &Numbers,
) -> Option<(f64, f64, f64)> {
    let (a, b) = (start.max(k.saturating_sub(NEAREST)), end.min(k + NEAREST));
    let ln = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().all(|&v| v > 0.0).then(|| values.iter().map(|v| v.ln()).collect())
    };
    let (left, right) = (ln(&values[a..k])?, ln(&values[k..b])?);
    let (left, right) = (Sample::new(&left)?, Sample::new(&right)?);
    let centre = numbers.after / numbers.before;
    let found = hodges_lehmann(left, right, 0.95)
        .interval
        .or_else(|| hodges_lehmann(left, right, 0.0).interval)?;
    Some((centre, found.low.exp().min(centre), found.high.exp().max(centre)))
}

fn evidence(
    of: Values,
    (start, k, end): (usize, usize, usize),
    numbers: &Numbers,
    policy: &Policy,
) -> Evidence {
    let (a, b) = (start.max(k.saturating_sub(REACH)), end.min(k + REACH));
    let mut evidence = Evidence { used: of.values[a..b].to_vec(), ..Evidence::default() };
    let before = words::counted(numbers.n, "value");
    evidence.notes.push(format!("{before} before, {} after", numbers.m));
    if of.deflation > 1.0 {
        let note = format!("log p divided by {:.2} for autocorrelation", of.deflation);
        evidence.notes.push(note);
    }
    let scale = words::digits(numbers.scale);
    evidence.notes.push(format!("robust scale {scale}: {}", numbers.scale_of));
    if numbers.is_of_few_points(policy) {
        let (t, df, error) = numbers.student;
        evidence.notes.push(format!(
            "Student's t of the shift is {} ÷ {} = {}, with {df} degrees of freedom",
            words::digits(numbers.shift()),
            words::digits(error),
            words::digits(t)
        ));
    }
    for (what, left, relation, right) in numbers.lines(policy) {
        evidence.require(what, left, relation, right);
    }
    evidence
}
