//! The smallest shift that `run --base --head` finds with a power of 95 % in 30 s and in 120 s,
//! beside a plain comparison of ten windows after ten.
//!
//! How, for each workload: (1) pairs of two equal sides are measured into a pool; (2) comparisons
//! are drawn from it, one side slowed down by calculation, and judged and stopped as `run` does
//! with that budget: the smallest shift found in 95 of 100 is what can be found; (3) shifts of that
//! size are injected for real, by work between operations, measured into a second pool and looked
//! for in the same way; one that is missed is raised and measured again. What is printed is the
//! injected shift as its pool shows it, and how often it was found; alarms are what is called a
//! change between the equal sides.
//!
//! A word on the command line chooses workloads; `BENCH_MINUTES` is the time of all of them.

mod shifts;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use scalewatch_runner::harness;
use shifts::{Budget, Drawn, Pool, measure, ours, plain, smallest};

const WORKLOADS: [&str; 5] =
    ["sys/getppid", "file/dup", "file/open", "ipc/pipe", "fallocate/append-truncate"];

const BUDGETS: [Budget; 2] = [Budget(30.0), Budget(120.0)];

/// Rounds of injecting at most.
const ROUNDS: u32 = 3;
/// By how much a missed shift is raised, beyond what it fell short of the expected one; and most of
/// that.
const RAISE: f64 = 1.2;
const MOST_SHORT: f64 = 2.0;

fn main() -> anyhow::Result<()> {
    harness::set_child_executable(env!("CARGO_BIN_EXE_scalewatch-runner"));
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let dir = tempfile::tempdir_in(base)?;
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |id: &&&str| part.as_ref().is_none_or(|part| id.contains(&**part));
    let chosen: Vec<&str> = WORKLOADS.iter().filter(wanted).copied().collect();
    anyhow::ensure!(!chosen.is_empty(), "there are {}", WORKLOADS.join(", "));
    // As long for the pool of equal sides as for each round of injecting.
    let part = Duration::from_secs(60 * minutes()?) / chosen.len() as u32 / (1 + ROUNDS);
    println!("smallest shift found with a power of 95 %, per CPU-second, 1 process");
    println!(
        "{:<27}{:>6} {:^36} {:^36} {:^19}",
        "", "ns", "run --budget 30s", "run --budget 120s", "ten after ten"
    );
    let columns =
        |first: &str| format!("{first:>10}{:>11}{:>8}{:>7}", "injected", "found", "alarms");
    println!(
        "{:<27}{:>6} {} {} {:>10}{:>9}",
        "workload",
        "an op",
        columns("expected"),
        columns("expected"),
        "expected",
        "alarms"
    );
    for id in chosen {
        one_workload(id, part, dir.path())?;
    }
    Ok(())
}

fn minutes() -> anyhow::Result<u64> {
    match std::env::var("BENCH_MINUTES") {
        Ok(text) => text.parse().with_context(|| format!("BENCH_MINUTES: {text:?} is no number")),
        Err(_) => Ok(12),
    }
}

fn one_workload(id: &str, length: Duration, dir: &Path) -> anyhow::Result<()> {
    let [equal] = measure(id, [0.0], length, dir)?;
    let alarms = BUDGETS.map(|budget| ours(&equal, budget, 0.0, true).changes);
    let expected = BUDGETS.map(|budget| smallest(|shift| ours(&equal, budget, shift, true)));
    let confirmed = confirm(id, &equal, expected, length, dir)?;
    print!("{id:<27}{:>6.0}", equal.ns());
    for ((expected, confirmed), alarms) in expected.iter().zip(confirmed).zip(alarms) {
        let (shift, found) = match confirmed {
            Some((shift, drawn)) => {
                (percent(Some(shift)), format!("{:.0} %", drawn.regressions * 100.0))
            }
            None => ("none".to_owned(), "—".to_owned()),
        };
        print!(" {:>10}{shift:>11}{found:>8}{:>5.0} %", percent(*expected), alarms * 100.0);
    }
    let alarms = plain(&equal, 0.0).changes * 100.0;
    println!(" {:>10}{alarms:>7.0} %", percent(smallest(|shift| plain(&equal, shift))));
    std::io::stdout().flush()?;
    Ok(())
}

fn percent(shift: Option<f64>) -> String {
    shift.map_or_else(|| "none".to_owned(), |shift| format!("{:.2} %", shift * 100.0))
}

/// Injects a shift of the expected size for each budget, raises what is missed, and says what was
/// injected and how often it was found in the end; none where nothing can be expected.
fn confirm(
    id: &str,
    equal: &Pool,
    expected: [Option<f64>; 2],
    length: Duration,
    dir: &Path,
) -> anyhow::Result<[Option<(f64, Drawn)>; 2]> {
    let mut spins = expected.map(|shift| shift.unwrap_or(0.0) * equal.ns());
    let mut confirmed = [None; 2];
    for _ in 0..ROUNDS {
        let pools = measure(id, spins, length, dir)?;
        let mut missed = false;
        for (i, pool) in pools.iter().enumerate().filter(|(i, _)| expected[*i].is_some()) {
            let drawn = ours(pool, BUDGETS[i], 0.0, false);
            let before: Option<(f64, Drawn)> = confirmed[i];
            if before.is_none_or(|(_, before)| !before.is_found()) {
                confirmed[i] = Some((pool.shift(), drawn));
            }
            if !drawn.is_found() {
                missed = true;
                let expected = expected[i].unwrap_or(0.0);
                spins[i] *= RAISE * (expected / pool.shift().max(expected / MOST_SHORT)).max(1.0);
            }
        }
        if !missed {
            break;
        }
    }
    Ok(confirmed)
}
