//! Runs of a base and of heads that take turns, and what they gave.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use scalewatch_runner::harness::{self, Mode, Placement, PointPlan};
use stats::Sample;
use wire::{Outcome, Source};

/// As a turn of `run --base --head` has them.
const WINDOWS: u32 = 2;
const WINDOW: Duration = Duration::from_millis(20);
const TRIES: u32 = 10;
/// Fewest pairs that comparisons can be drawn from.
const LEAST_PAIRS: usize = 12;

/// One run: operations per CPU-second of each of its windows.
pub type Run = Vec<f64>;

/// Pairs of base and head, in order of time.
#[derive(Default)]
pub struct Pool {
    pub base: Vec<Run>,
    pub head: Vec<Run>,
    /// Time a pair takes, seconds.
    pub pair_s: f64,
}

impl Pool {
    /// How much slower the head is in the median pair, e.g. 0.01.
    pub fn shift(&self) -> f64 {
        let pairs = self.base.iter().zip(&self.head);
        median(pairs.map(|(base, head)| mean(base) / mean(head)).collect()) - 1.0
    }

    /// Nanoseconds of CPU time an operation of the base takes.
    pub fn ns(&self) -> f64 {
        1e9 / median(self.base.iter().map(|run| mean(run)).collect())
    }
}

fn mean(run: &[f64]) -> f64 {
    run.iter().sum::<f64>() / run.len() as f64
}

fn median(values: Vec<f64>) -> f64 {
    Sample::new(&values).map_or(f64::NAN, stats::summary::median)
}

/// Measures a base and one head for each of `spins`, the nanoseconds spun at its operations, in
/// turns, for so long. One pool a head; they share their base.
///
/// # Errors
/// A point that fails, or a machine too busy to measure at all.
pub fn measure<const N: usize>(
    id: &str,
    spins: [f64; N],
    length: Duration,
    dir: &Path,
) -> anyhow::Result<[Pool; N]> {
    let began = Instant::now();
    let (mut base, mut heads) = (vec![], spins.map(|_| vec![]));
    while began.elapsed() < length || base.len() < LEAST_PAIRS {
        // The order turns round with each pair, so that a drift favours nobody.
        let mut turns: Vec<Option<usize>> = std::iter::once(None).chain((0..N).map(Some)).collect();
        if base.len() % 2 == 1 {
            turns.reverse();
        }
        for turn in turns {
            let run = run(id, turn.map_or(0.0, |head| spins[head]), dir)?;
            match turn {
                None => base.push(run),
                Some(head) => heads[head].push(run),
            }
        }
    }
    let runs = (base.len() * (N + 1)) as f64;
    let pair_s = 2.0 * began.elapsed().as_secs_f64() / runs;
    Ok(heads.map(|head| Pool { base: base.clone(), head, pair_s }))
}

/// One run; where the machine left the task no CPU time, another.
fn run(id: &str, spin_ns: f64, dir: &Path) -> anyhow::Result<Run> {
    for _ in 0..TRIES {
        let values = once(id, spin_ns, dir)?;
        if !values.is_empty() {
            return Ok(values);
        }
    }
    anyhow::bail!("{id} received no CPU time in {TRIES} runs: the machine is too busy")
}

fn once(id: &str, spin_ns: f64, dir: &Path) -> anyhow::Result<Run> {
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
        Outcome::Imported(_) => anyhow::bail!("it brought values and no windows"),
    };
    let metric = measured.metrics.iter().find(|m| m.source == Source::OpsPerCpuSecond);
    Ok(measured.values(metric.expect("every point has ops per CPU-second")))
}
