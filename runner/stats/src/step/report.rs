//! Steps with their levels, ratio and evidence.

use super::series::Series;
use super::test::{self, Numbers, REACH};
use super::{Policy, Step, modes, segments};
use crate::interval::hodges_lehmann;
use crate::{Direction, Evidence, Sample, Verdict, words};

pub(super) fn steps(
    series: &Series,
    splits: &[usize],
    direction: Direction,
    policy: &Policy,
) -> Vec<Step> {
    let factor = segments::deflation(series, splits);
    (0..splits.len())
        .map(|i| {
            let at = segments::bounds(splits, i, series.len());
            let mut step = step(series, at, direction, policy, factor);
            let (shown, asked) = modes::support(series, splits, i);
            if asked > 0.0 {
                let what = "−ln chance of so long a stay, among other stays at this level";
                step.evidence.require(what, shown, ">=", asked);
            }
            step
        })
        .collect()
}

fn step(
    series: &Series,
    at: (usize, usize, usize),
    direction: Direction,
    policy: &Policy,
    factor: f64,
) -> Step {
    let numbers = test::numbers(series, at, factor);
    let up = numbers.after > numbers.before;
    let better = up == (direction == Direction::Higher);
    Step {
        index: series.index[at.1],
        verdict: if better { Verdict::Improvement } else { Verdict::Regression },
        before: numbers.before,
        after: numbers.after,
        ratio: ratio(series, at, &numbers),
        evidence: evidence(series, at, &numbers, policy, factor),
    }
}

/// after ÷ before with the 95 % interval of the median of all pairwise ratios, inverted from the
/// rank test, or the widest that few values allow.
fn ratio(
    series: &Series,
    (start, k, end): (usize, usize, usize),
    numbers: &Numbers,
) -> Option<(f64, f64, f64)> {
    // Forty a side keep the pairs few; more would narrow an interval nobody needs narrower.
    let (a, b) = (start.max(k.saturating_sub(40)), end.min(k + 40));
    let ln = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().all(|&v| v > 0.0).then(|| values.iter().map(|v| v.ln()).collect())
    };
    let (left, right) = (ln(&series.values[a..k])?, ln(&series.values[k..b])?);
    let (left, right) = (Sample::new(&left)?, Sample::new(&right)?);
    let centre = numbers.after / numbers.before;
    let found = hodges_lehmann(left, right, 0.95)
        .interval
        .or_else(|| hodges_lehmann(left, right, 0.0).interval)?;
    Some((centre, found.low.exp().min(centre), found.high.exp().max(centre)))
}

fn evidence(
    series: &Series,
    (start, k, end): (usize, usize, usize),
    numbers: &Numbers,
    policy: &Policy,
    factor: f64,
) -> Evidence {
    let (a, b) = (start.max(k.saturating_sub(REACH)), end.min(k + REACH));
    let mut evidence = Evidence { used: series.values[a..b].to_vec(), ..Evidence::default() };
    if series.dropped > 0 {
        evidence.set_aside.push(format!("{} not finite", words::counted(series.dropped, "value")));
    }
    evidence.notes.push(format!(
        "{} before, {} after",
        words::counted(numbers.n, "value"),
        numbers.m
    ));
    if factor > 1.0 {
        evidence.notes.push(format!("log p divided by {factor:.2} for autocorrelation"));
    }
    for (what, left, relation, right) in numbers.lines(policy) {
        evidence.require(what, left, relation, right);
    }
    evidence
}
