//! Comparisons drawn from a pool, and the shift that they find.

use stats::random::Random;
use stats::two_sides::{History, Policy, Sides, judge};
use stats::{Direction, Sample, Verdict};

use super::pool::{Pool, Run};

/// The power asked for.
const POWER: f64 = 0.95;
const DRAWS: usize = 200;
/// Fewest pairs before a budget that has run out ends a point, as `run` has it.
const LEAST_PAIRS: usize = 3;
/// Windows of a side of the plain comparison, and the level of its test.
const PLAIN: usize = 10;
const PLAIN_P: f64 = 0.01;
/// Shifts are looked for in this range, in steps of a thirtieth of themselves.
const SHIFTS: (f64, f64) = (0.0005, 1.0);
const STEP: f64 = 1.0 + 1.0 / 30.0;

/// Seconds that `run --budget` spends on a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget(pub f64);

/// What the drawn comparisons said.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drawn {
    /// Share that called a regression.
    pub regressions: f64,
    /// Share that called any change.
    pub changes: f64,
}

impl Drawn {
    pub fn is_found(&self) -> bool {
        self.regressions >= POWER
    }
}

/// The smallest shift that `found` finds with the power asked for; none within the range.
pub fn smallest(found: impl Fn(f64) -> Drawn) -> Option<f64> {
    let steps = ((SHIFTS.1 / SHIFTS.0).ln() / STEP.ln()).floor() as i32;
    let shift = |step: i32| SHIFTS.0 * STEP.powi(step);
    // What is found at one shift is found at every larger one.
    let (mut low, mut high) = (0, steps + 1);
    while low < high {
        let middle = (low + high) / 2;
        if found(shift(middle)).is_found() { high = middle } else { low = middle + 1 }
    }
    (low <= steps).then(|| shift(low))
}

/// Comparisons as `run --base --head --budget` makes and judges them: pairs until the time is up.
/// The heads of the pool are slowed down by `shift` before.
///
/// `even` draws each pair either way round, so that the pool's sides are the same by construction:
/// for a pool of two equal sides, which differ by chance.
pub fn ours(pool: &Pool, budget: Budget, shift: f64, even: bool) -> Drawn {
    let mut random = Random::new(1);
    let pairs = ((budget.0 / pool.pair_s).ceil() as usize).max(LEAST_PAIRS);
    let verdicts = (0..DRAWS).map(|_| {
        let (mut base, mut head) = (vec![], vec![]);
        for _ in 0..pairs {
            let at = random.below(pool.base.len());
            let turned = even && random.below(2) == 1;
            let (one, other) = match turned {
                true => (&pool.head[at], &pool.base[at]),
                false => (&pool.base[at], &pool.head[at]),
            };
            base.push(one.clone());
            head.push(slowed(other, shift));
        }
        let sides = Sides { history: History::OneBuild, paired: true, ..Sides::new(1, base, head) };
        judge(&[sides], Direction::Higher, &Policy::default()).points[0].verdict
    });
    tallied(verdicts)
}

fn slowed(run: &Run, shift: f64) -> Run {
    run.iter().map(|rate| rate / (1.0 + shift)).collect()
}

/// What most people do: ten windows of the base, then ten of the head, and Welch's test. Every
/// stretch of the pool that is long enough, with either side as the base.
pub fn plain(pool: &Pool, shift: f64) -> Drawn {
    let ten = |runs: &[Run], from: usize| -> Vec<f64> {
        runs[from..].iter().flatten().copied().take(PLAIN).collect()
    };
    let runs = PLAIN.div_ceil(pool.base.iter().map(Vec::len).min().unwrap_or(1));
    let stretches = 0..(pool.base.len() + 1).saturating_sub(2 * runs);
    let sides = [(&pool.base, &pool.head), (&pool.head, &pool.base)];
    let verdicts = stretches.flat_map(|at| {
        sides.map(|(base, head)| welch(&ten(base, at), &slowed(&ten(head, at + runs), shift)))
    });
    tallied(verdicts)
}

fn welch(base: &[f64], head: &[f64]) -> Verdict {
    let sides = Sample::new(base).zip(Sample::new(head));
    let test = sides.and_then(|(base, head)| stats::interval::welch(base, head, 1.0 - PLAIN_P));
    match test {
        Some(test) if test.p < PLAIN_P && test.t < 0.0 => Verdict::Regression,
        Some(test) if test.p < PLAIN_P => Verdict::Improvement,
        _ => Verdict::NoChange,
    }
}

fn tallied(verdicts: impl Iterator<Item = Verdict>) -> Drawn {
    let verdicts: Vec<Verdict> = verdicts.collect();
    let share = |wanted: fn(&Verdict) -> bool| {
        verdicts.iter().filter(|v| wanted(v)).count() as f64 / verdicts.len().max(1) as f64
    };
    Drawn { regressions: share(|v| *v == Verdict::Regression), changes: share(|v| v.is_change()) }
}
