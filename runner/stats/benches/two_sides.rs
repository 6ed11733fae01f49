//! How often the two-sided judgement is wrong, how much it finds, and how well its intervals cover,
//! beside the rules of others on the same simulated runs: five runs a side of deviation 1 %, in
//! four shapes of noise and one of rounded values, with builds of one code alike or as far apart as
//! runs, with 20 earlier builds and without.
//!
//! `BENCH_CURVES` sets the number of curves without a change [4000]; those with one are a fifth.
//! `BENCH_SEED` is the seed of the first shape [1000]; the others follow.

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "../tests/support/sides.rs"]
mod sides;

use scalewatch_stats::lkp::{self, Rule};
use scalewatch_stats::random::Random;
use scalewatch_stats::two_sides::{CurveJudgement, Policy, Sides, judge};
use scalewatch_stats::{Direction, Sample, Verdict, interval, rank, robust, summary};
use sides::{Curve, Setting};
use support::SHAPES;

const SHIFTS: [f64; 3] = [1.02, 1.03, 1.05];
const EARLIER_BUILDS: usize = 20;

/// Rules that look at one point; a curve is called when any of its points is.
type PointRule = fn(&Sides) -> bool;

const OTHERS: [(&str, PointRule); 5] = [
    ("LKP overlap, > 1 %", |sides| lkp_calls(sides, Rule::Overlap)),
    ("LKP gap, > 1 %", |sides| lkp_calls(sides, Rule::Distance(5.0))),
    ("Welch p < 0.01", welch_calls),
    ("Mann–Whitney p < 0.01", rank_calls),
    ("z > 3.5 against the history", z_calls),
];

fn main() {
    let (curves, seed) = (effort("BENCH_CURVES", 4000), effort("BENCH_SEED", 1000));
    println!(
        "{curves} curves without a change, {} with each; seed {seed}; shapes: {SHAPES:?}",
        curves / 5
    );
    for points in [1, 8] {
        for build_sd in [0.0, 1.0] {
            table(points, build_sd, curves as usize, seed);
        }
    }
}

/// A number from the environment.
fn effort(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: {text:?} is no number")),
        Err(_) => usual,
    }
}

/// Counts of one rule over one shape.
#[derive(Clone, Copy, Default)]
struct Counts {
    called: usize,
    covered: usize,
    intervals: usize,
}

/// Ours with history; ours alone, named or confirmed; then the others.
type Row = [Counts; 3 + OTHERS.len()];

fn table(points: u32, build_sd: f64, curves: usize, first_seed: u64) {
    println!("\n{points} points, deviation between builds {build_sd} times that of runs");
    println!(
        "{:<30}{:<34}{:<34}{:<34}{:<34}{:<34}",
        "",
        "false alarms, % of curves",
        "found at 2 %",
        "at 3 %",
        "at 5 %",
        "95 % interval covers, %"
    );
    let runs = |ratio: f64, curves: usize| -> Vec<Row> {
        SHAPES
            .iter()
            .zip(first_seed..)
            .map(|(&shape, seed)| {
                let setting = Setting { shape, build_sd, runs: 5, points, history: EARLIER_BUILDS };
                count(setting, ratio, curves, seed)
            })
            .collect()
    };
    let columns: Vec<Vec<Row>> = std::iter::once(runs(1.0, curves))
        .chain(SHIFTS.map(|ratio| runs(ratio, curves / 5)))
        .collect();
    let ours = ["ours, 20 builds of history", "ours, no history, named", "  of these confirmed"];
    for (i, name) in ours.into_iter().chain(OTHERS.map(|(name, _)| name)).enumerate() {
        let mut line = format!("{name:<30}");
        for (ratio, rows) in std::iter::once(1.0).chain(SHIFTS).zip(&columns) {
            let of = if ratio == 1.0 { curves } else { curves / 5 };
            let figures: Vec<String> = rows.iter().map(|row| percent(row[i].called, of)).collect();
            line += &format!("{:<34}", figures.join(" "));
        }
        let covers: Vec<String> = columns[0]
            .iter()
            .filter(|row| row[i].intervals > 0)
            .map(|row| percent(row[i].covered, row[i].intervals))
            .collect();
        println!("{}{}", line, covers.join(" "));
    }
}

fn percent(n: usize, of: usize) -> String {
    format!("{:>5.1}", 100.0 * n as f64 / of as f64)
}

fn count(setting: Setting, ratio: f64, curves: usize, seed: u64) -> Row {
    let mut random = Random::new(seed);
    let mut row = Row::default();
    for _ in 0..curves {
        let Curve { points, ratio_of_builds } = setting.draw(&mut random, ratio);
        let alone: Vec<Sides> =
            points.iter().map(|p| Sides::new(p.tasks, p.base.clone(), p.head.clone())).collect();
        let policy = Policy::default();
        let with_history = judge(&points, Direction::Higher, &policy);
        let without = judge(&alone, Direction::Higher, &policy);
        row[0].called += usize::from(is_called(&with_history));
        row[1].called += usize::from(is_called(&without));
        row[2].called += usize::from(is_confirmed(&without));
        cover(&mut row[0], &with_history, &vec![ratio; points.len()]);
        cover(&mut row[1], &without, &ratio_of_builds);
        for (counts, (_, calls)) in row[3..].iter_mut().zip(OTHERS) {
            counts.called += usize::from(points.iter().any(calls));
        }
    }
    row
}

fn is_called(curve: &CurveJudgement) -> bool {
    curve.any(Verdict::Regression) || curve.any(Verdict::Improvement)
}

fn is_confirmed(curve: &CurveJudgement) -> bool {
    curve.any_confirmed(Verdict::Regression) || curve.any_confirmed(Verdict::Improvement)
}

fn cover(counts: &mut Counts, judged: &CurveJudgement, truth: &[f64]) {
    for (point, truth) in judged.points.iter().zip(truth) {
        if let Some((low, high)) = point.interval_95 {
            counts.intervals += 1;
            counts.covered += usize::from(low <= *truth && *truth <= high);
        }
    }
}

fn lkp_calls(sides: &Sides, rule: Rule) -> bool {
    let options = lkp::Options::default();
    lkp::compare(&sides.base.concat(), &sides.head.concat(), Direction::Higher, rule, options)
        .verdict
        .is_change()
}

fn with_samples<T>(sides: &Sides, rule: impl Fn(Sample<'_>, Sample<'_>) -> Option<T>) -> Option<T> {
    let (base, head) = (sides.base.concat(), sides.head.concat());
    rule(Sample::new(&base)?, Sample::new(&head)?)
}

fn welch_calls(sides: &Sides) -> bool {
    with_samples(sides, |base, head| interval::welch(base, head, 0.95)).is_some_and(|w| w.p < 0.01)
}

fn rank_calls(sides: &Sides) -> bool {
    with_samples(sides, |base, head| Some(rank::mann_whitney(base, head).p < 0.01)) == Some(true)
}

/// The mean of the head against the means of earlier builds, in the larger of their robust
/// deviation and within ÷ √runs.
fn z_calls(sides: &Sides) -> bool {
    let scalewatch_stats::two_sides::History::Builds(builds) = &sides.history else { return false };
    let mean = |runs: &[f64]| Sample::new(runs).map(summary::mean);
    let means: Vec<f64> = builds.iter().filter_map(|runs| mean(runs)).collect();
    let within: f64 = builds
        .iter()
        .filter_map(|runs| Sample::new(runs).and_then(summary::sd))
        .map(|sd| sd * sd / builds.len() as f64)
        .sum();
    let (Some(means), Some(head)) = (Sample::new(&means), mean(&sides.head.concat())) else {
        return false;
    };
    let floor = (within / sides.head.len() as f64).sqrt();
    let scale = robust::scale(means).unwrap_or(0.0).max(floor);
    (head - summary::median(means)).abs() > 3.5 * scale
}
