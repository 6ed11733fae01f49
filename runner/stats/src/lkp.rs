//! The rules by which the kernel test robot (LKP) calls a change, as written, faults included and
//! named; formatting is the caller's. In: the runs of two sides, one number a run. Out: every
//! number the rules look at and whether they call it changed.
//!
//! LKP's "mean" inside the rules is the upper middle value; its printed figures are arithmetic
//! means. Direction and the words regression and improvement are ours.

use crate::{Direction, Sample, Verdict, order, summary};

/// What kind of key is compared: LKP has a rule for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Key {
    /// A measured number.
    #[default]
    Performance,
    /// A count of failures (`*.error`, `dmesg.*` …).
    Failure,
    /// A latency. Its rule is dead code in LKP: never changed (fault, kept).
    Latency,
}

/// How performance keys are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rule {
    /// Each side lies wholly beyond the other's middle value.
    #[default]
    Overlap,
    /// `distance D`, what automatic bisection uses with D = 5.
    Distance(f64),
    /// `gap G`: ranges disjoint and their gap more than G times the middle values' difference.
    Gap(f64),
    /// `variance V`: relative ranges differ by more than V times; needs ten runs a side.
    Variance(f64),
}

/// What LKP is told about a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Kind of key.
    pub key: Key,
    /// A program's own result or a counter on LKP's list: more than 1 % counts; else 5 %.
    pub perf_metric: bool,
    /// `--whole`: compare even when both sides have fewer than three runs.
    pub whole: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { key: Key::Performance, perf_metric: true, whole: false }
    }
}

/// What the rules look at on one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Runs given, missing (−1) ones dropped, before trimming.
    pub n: usize,
    /// Runs cut from each end.
    pub trimmed: usize,
    /// Least value left.
    pub min: f64,
    /// `sorted[n / 2]` of what is left: the upper middle for even n (fault, kept).
    pub middle: f64,
    /// Greatest value left.
    pub max: f64,
    /// Printed value: arithmetic mean of all runs.
    pub mean: f64,
    /// Population standard deviation of all runs.
    pub sd: f64,
}

impl Side {
    /// `max − min` of what is left.
    pub fn range(&self) -> f64 {
        self.max - self.min
    }

    /// Deviation in percent of the mean; none where the mean is 0.
    pub fn relative_sd_percent(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| 100.0 * self.sd / self.mean.abs())
    }

    /// The N of the printed ` ± N%`, cut to a whole number; only when the deviation is above 2 %.
    pub fn shown_percent(&self) -> Option<u32> {
        self.relative_sd_percent().filter(|&p| p > 2.0).map(|p| p.min(f64::from(u32::MAX)) as u32)
    }

    /// The display filter: a deviation above half the mean, or a negative mean, hides the key.
    pub fn hidden(&self) -> bool {
        self.mean < 0.0 || self.sd > self.mean.abs() / 2.0
    }
}

/// Base against head as LKP sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The base; none when no value is left.
    pub base: Option<Side>,
    /// The head; none when no value is left.
    pub head: Option<Side>,
    /// Both sides have fewer than three runs (one side may have one: fault, kept), or one has none.
    pub too_few: bool,
    /// The rule for the key holds.
    pub changed: bool,
    /// Larger middle value ÷ smaller, at most 5; none where either is not positive.
    pub ratio: Option<f64>,
    /// The ratio passes the size filter: above 1.01 and, unless a perf metric, above 1.05.
    pub large_enough: bool,
    /// Percent change of the means; none on a base of 0.
    pub percent: Option<f64>,
    /// Either side is hidden by the display filter.
    pub hidden: bool,
    /// What LKP would call it, with our direction.
    pub verdict: Verdict,
}

/// Compares two sides, one value a run, in any order; −1 means missing. Values that are not finite
/// are dropped like missing ones. O(n log n).
pub fn compare(
    base: &[f64],
    head: &[f64],
    direction: Direction,
    rule: Rule,
    options: Options,
) -> Comparison {
    let (b, h) = (present(base), present(head));
    let base_runs = b.len();
    let sides = (side(&b, base_runs, options.key), side(&h, base_runs, options.key));
    let mut result = Comparison {
        base: sides.0,
        head: sides.1,
        too_few: true,
        changed: false,
        ratio: None,
        large_enough: false,
        percent: None,
        hidden: false,
        verdict: Verdict::NotEnoughData,
    };
    let (Some(base), Some(head)) = sides else { return result };
    result.too_few = base.n < 3 && head.n < 3 && !options.whole;
    result.changed = !result.too_few && changed(&base, &head, rule, options.key);
    result.ratio = size_ratio(&base, &head);
    let limit = if options.perf_metric { 1.01 } else { 1.05 };
    // Where a middle value is 0 or negative LKP's ratio is infinite or meaningless; it lets it pass.
    result.large_enough = match result.ratio {
        Some(ratio) => ratio > limit,
        None => base.middle != head.middle,
    };
    result.percent = (base.mean != 0.0).then(|| 100.0 * (head.mean - base.mean) / base.mean.abs());
    result.hidden = base.hidden() || head.hidden();
    result.verdict = verdict(&result, head.middle > base.middle, direction);
    result
}

fn verdict(result: &Comparison, higher: bool, direction: Direction) -> Verdict {
    if result.too_few {
        Verdict::NotEnoughData
    } else if !(result.changed && result.large_enough) {
        Verdict::NoChange
    } else if higher == (direction == Direction::Higher) {
        Verdict::Improvement
    } else {
        Verdict::Regression
    }
}

fn present(runs: &[f64]) -> Vec<f64> {
    let kept: Vec<f64> = runs.iter().copied().filter(|&v| v != -1.0 && v.is_finite()).collect();
    order::sorted(&kept)
}

/// Trims n/32 values from each end: at most 3, at most 1 if the base has three or fewer, none for
/// failures.
fn side(sorted: &[f64], base_runs: usize, key: Key) -> Option<Side> {
    let most = match key {
        Key::Failure => 0,
        _ if base_runs <= 3 => 1,
        _ => 3,
    };
    let trimmed = (sorted.len() >> 5).min(most);
    let kept = &sorted[trimmed..sorted.len() - trimmed];
    let all = Sample::new(sorted)?;
    Some(Side {
        n: sorted.len(),
        trimmed,
        min: kept[0],
        middle: kept[kept.len() / 2],
        max: kept[kept.len() - 1],
        mean: summary::mean(all),
        sd: summary::population_sd(all),
    })
}

fn size_ratio(base: &Side, head: &Side) -> Option<f64> {
    let (low, high) = (base.middle.min(head.middle), base.middle.max(head.middle));
    (low > 0.0).then(|| (high / low).min(5.0))
}

fn changed(base: &Side, head: &Side, rule: Rule, key: Key) -> bool {
    match key {
        Key::Failure => base.max != head.max,
        Key::Latency => false,
        Key::Performance => match rule {
            Rule::Overlap => overlap(base, head),
            Rule::Distance(d) => distance(base, head, d),
            Rule::Gap(g) => gap_between(base, head).is_some_and(|gap| gap > g * shift(base, head)),
            Rule::Variance(v) => variance(base, head, v),
        },
    }
}

fn overlap(base: &Side, head: &Side) -> bool {
    let above = |low: &Side, high: &Side| high.min > low.middle && high.middle > low.max;
    above(base, head) || above(head, base)
}

/// `distance D`: with three or more runs on both sides D is unused (fault, kept) and the gap
/// between the ranges must exceed half the middle values' difference.
fn distance(base: &Side, head: &Side, d: f64) -> bool {
    let Some(gap) = gap_between(base, head) else { return false };
    let whole = [base.min, base.max, head.min, head.max].iter().all(|v| v.fract() == 0.0);
    if whole && gap == 1.0 {
        return false;
    }
    if base.n < 3 || head.n < 3 {
        return gap > d * base.range().max(head.range());
    }
    gap > shift(base, head) / 2.0
}

fn variance(base: &Side, head: &Side, v: f64) -> bool {
    if base.n < 10 || head.n < 10 {
        return false;
    }
    // Products instead of quotients: a middle value of 0 makes no infinity.
    let (b, h) = (base.range() * head.middle.abs(), head.range() * base.middle.abs());
    b > v * h || h > v * b
}

/// Distance between two disjoint ranges; none when they touch or overlap.
fn gap_between(base: &Side, head: &Side) -> Option<f64> {
    let gap = (head.min - base.max).max(base.min - head.max);
    (gap > 0.0).then_some(gap)
}

fn shift(base: &Side, head: &Side) -> f64 {
    (base.middle - head.middle).abs()
}
