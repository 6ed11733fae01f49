//! The smallest shift that base against head detects with a power of 95 %, in 30 s and in 120 s,
//! beside a plain comparison of ten windows after ten.
//!
//! How: (1) a shift of known size is injected as nanoseconds spun at every operation; (2) pairs of
//! each shift are measured, interleaved over all shifts, into a pool; (3) comparisons of the given
//! length are drawn from the pool and judged as `run --base --head` judges; (4) the smallest shift
//! that 95 of 100 draws call a regression counts. What is injected is checked by what the pool
//! shows. `SCALEWATCH_BENCH_PAIRS` shortens the pool, and with it the time.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use scalewatch_runner::harness::{self, Mode, Placement, PointPlan};
use stats::random::Random;
use stats::two_sides::{Policy, Sides, judge};
use stats::{Direction, Sample, Verdict};
use wire::{Outcome, Source};

const WORKLOADS: [&str; 5] =
    ["sys/getppid", "file/dup", "file/open", "ipc/pipe", "fallocate/append-truncate"];
/// Injected, relative to the time of an operation.
const SHIFTS: [f64; 7] = [0.0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08];
const WINDOWS: u32 = 3;
const WINDOW: Duration = Duration::from_millis(200);
const TRIES: u32 = 10;
/// Fewest pairs of a pool that comparisons can be drawn from.
const LEAST_PAIRS: usize = 10;
const DRAWS: usize = 100;
const POWER: f64 = 0.95;
/// Windows of the plain comparison, and the level of its test.
const PLAIN: usize = 10;
const PLAIN_P: f64 = 0.01;

/// Operations per CPU-second, one a window, of each run of one shift, in order of time.
type Pool = Vec<Vec<f64>>;

fn main() -> anyhow::Result<()> {
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let pairs = match std::env::var("SCALEWATCH_BENCH_PAIRS") {
        Ok(text) => text.parse()?,
        Err(_) => 40,
    };
    anyhow::ensure!(pairs >= LEAST_PAIRS, "SCALEWATCH_BENCH_PAIRS: {pairs} is below {LEAST_PAIRS}");
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let dir = tempfile::tempdir_in(base)?;
    println!("smallest shift detected with a power of 95 %; pool of {pairs} pairs a shift");
    println!(
        "{:<28}{:>10}{:>12}{:>12}{:>14}{:>14}",
        "workload", "ns an op", "30 s", "120 s", "ten windows", "its alarms"
    );
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for id in WORKLOADS.iter().filter(|id| wanted.as_ref().is_none_or(|part| id.contains(part))) {
        one_workload(id, pairs, dir.path())?;
    }
    Ok(())
}

fn one_workload(id: &str, pairs: usize, dir: &Path) -> anyhow::Result<()> {
    let ns = 1e9 / mean(&run(id, 0, dir)?);
    let spins = SHIFTS.map(|shift| (shift * ns).round() as u64);
    let began = Instant::now();
    let (mut bases, mut heads) = (vec![Pool::new(); SHIFTS.len()], vec![Pool::new(); SHIFTS.len()]);
    for pair in 0..pairs {
        for (i, &spin) in spins.iter().enumerate() {
            for head in if (pair + i) % 2 == 0 { [false, true] } else { [true, false] } {
                let values = run(id, if head { spin } else { 0 }, dir)?;
                if head { heads[i].push(values) } else { bases[i].push(values) }
            }
        }
    }
    let pair_s = began.elapsed().as_secs_f64() / (pairs * SHIFTS.len()) as f64;
    let within = |seconds: f64| ((seconds / pair_s) as usize).max(3);
    let smallest = |detected: &dyn Fn(usize) -> f64| {
        (1..SHIFTS.len())
            .filter(|&i| spins[i] > 0)
            .find(|&i| detected(i) >= POWER)
            .map_or_else(|| "none".to_owned(), |i| format!("{:.2} %", seen(&bases[i], &heads[i])))
    };
    let paired = |pairs| smallest(&|i| power(&bases[i], &heads[i], pairs));
    let plain = |i: usize| plain_power(&bases[i], &heads[i]);
    println!(
        "{id:<28}{ns:>10.0}{:>12}{:>12}{:>14}{:>12.0} %",
        paired(within(30.0)),
        paired(within(120.0)),
        smallest(&plain),
        plain(0) * 100.0
    );
    std::io::stdout().flush()?;
    Ok(())
}

/// The shift that the whole pool shows, in percent.
fn seen(bases: &Pool, heads: &Pool) -> f64 {
    (mean(&bases.concat()) / mean(&heads.concat()) - 1.0) * 100.0
}

/// Share of drawn comparisons of so many pairs that call a regression.
fn power(bases: &Pool, heads: &Pool, pairs: usize) -> f64 {
    let mut random = Random::new(1);
    let found = (0..DRAWS).filter(|_| {
        let drawn: Vec<usize> = (0..pairs).map(|_| random.below(bases.len())).collect();
        let of = |pool: &Pool| drawn.iter().map(|&at| pool[at].clone()).collect();
        let sides = Sides { tasks: 1, base: of(bases), head: of(heads), noise_floor: 0.0 };
        let policy = Policy { least_effect: 0.0, ..Policy::default() };
        let judged = judge(&[sides], Direction::Higher, &policy);
        judged.points[0].verdict == Verdict::Regression
    });
    found.count() as f64 / DRAWS as f64
}

/// Share of plain comparisons, ten windows of the base and then ten of the head, that find the head
/// slower by Welch's test.
fn plain_power(bases: &Pool, heads: &Pool) -> f64 {
    let runs = PLAIN.div_ceil(WINDOWS as usize);
    let starts = bases.len().saturating_sub(2 * runs) + 1;
    let found = (0..starts).filter(|&at| {
        let ten = |pool: &Pool, from: usize| -> Vec<f64> {
            pool.iter().skip(from).take(runs).flatten().copied().take(PLAIN).collect()
        };
        let (base, head) = (ten(bases, at), ten(heads, at + runs));
        let test = Sample::new(&base)
            .zip(Sample::new(&head))
            .and_then(|(base, head)| stats::interval::welch(base, head, 1.0 - PLAIN_P));
        test.is_some_and(|test| test.p < PLAIN_P && test.t < 0.0)
    });
    found.count() as f64 / starts as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// One run's operations per CPU-second; where the machine left the task no CPU time, another.
fn run(id: &str, spin_ns: u64, dir: &Path) -> anyhow::Result<Vec<f64>> {
    for _ in 0..TRIES {
        let values = once(id, spin_ns, dir)?;
        if !values.is_empty() {
            return Ok(values);
        }
    }
    anyhow::bail!("{id} received no CPU time in {TRIES} runs: the machine is too busy")
}

fn once(id: &str, spin_ns: u64, dir: &Path) -> anyhow::Result<Vec<f64>> {
    let plan = PointPlan {
        workload: id.into(),
        parameters: BTreeMap::from([("spin_ns".to_owned(), spin_ns.to_string())]),
        mode: Mode::Process,
        tasks: 1,
        placement: Placement::Core,
        warmup_windows: 1,
        windows: WINDOWS,
        window: WINDOW,
        dir: dir.into(),
    };
    let measured = match harness::measure(&plan, &mut |_, _| {})?.outcome {
        Outcome::Measured(measured) => measured,
        Outcome::Failed(failure) => anyhow::bail!("{id}: {}", failure.detail),
    };
    let metric = measured.metrics.iter().find(|m| m.source == Source::OpsPerCpuSecond);
    Ok(measured.values(metric.expect("every point has ops per CPU-second")))
}
