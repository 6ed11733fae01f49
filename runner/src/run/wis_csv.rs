//! The csv of will-it-scale's `runtest.py`: for each task count the mean operations a second of
//! processes and of threads, the machine's idle share meanwhile, and the line of perfect scaling.

use std::io::Write;

use anyhow::Context;
use wire::{Failure, Measured, Outcome, Point};

use super::progress::Progress;
use crate::harness::{self, PointPlan};

/// The first two lines of every file.
const HEAD: &str = "tasks,processes,processes_idle,threads,threads_idle,linear\n0,0,100,0,100,0\n";
/// Stands in a field whose point failed.
const NONE: i128 = -1;

/// Measures the plans in pairs of processes and threads, and writes a row as each pair is done; the
/// column `linear` follows from the first pair, which is of 1 task. Answers what failed.
///
/// # Errors
/// When a plan cannot start, or `out` cannot be written.
pub fn run(
    pairs: &[(PointPlan, PointPlan)],
    out: &mut dyn Write,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Failure>> {
    let mut failures = vec![];
    let mut linear = None;
    write(out, HEAD)?;
    for (processes, threads) in pairs {
        let columns = [processes, threads].map(|plan| column(plan, progress, &mut failures));
        let [processes_column, threads_column] = columns;
        let (processes_column, threads_column) = (processes_column?, threads_column?);
        let linear = *linear.get_or_insert(processes_column.0.max(threads_column.0));
        write(out, &row(processes.tasks, processes_column, threads_column, linear))?;
    }
    Ok(failures)
}

/// Mean operations a second, and the idle share in percent.
type Column = (i128, f64);

fn column(
    plan: &PointPlan,
    progress: &mut Progress,
    failures: &mut Vec<Failure>,
) -> anyhow::Result<Column> {
    progress.begin(plan, None);
    let before = Ticks::now()?;
    let point = harness::measure(plan, &mut |_, _| progress.window())?;
    let idle = Ticks::now()?.idle_since(&before);
    progress.end(plan, &point, None);
    Ok((mean(point, failures), 100.0 * idle))
}

fn mean(point: Point, failures: &mut Vec<Failure>) -> i128 {
    match point.outcome {
        Outcome::Measured(measured) => mean_of(&measured),
        Outcome::Failed(failure) => {
            failures.push(failure);
            NONE
        }
        Outcome::Imported(_) => NONE,
    }
}

/// Operations of all tasks in a window, the mean cut to a whole number.
fn mean_of(measured: &Measured) -> i128 {
    let sum: i128 = measured.windows.iter().flat_map(|w| &w.ops).map(|&ops| i128::from(ops)).sum();
    sum / (measured.windows.len().max(1) as i128)
}

fn row(tasks: u32, processes: Column, threads: Column, linear: i128) -> String {
    format!(
        "{tasks},{},{:.2},{},{:.2},{}\n",
        processes.0,
        processes.1,
        threads.0,
        threads.1,
        linear * i128::from(tasks)
    )
}

fn write(out: &mut dyn Write, text: &str) -> anyhow::Result<()> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the csv")
}

/// Time of all CPUs as `runtest.py` sorts it, in clock ticks.
#[derive(Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    idle: u64,
}

impl Ticks {
    fn now() -> anyhow::Result<Ticks> {
        let text = std::fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        Ticks::of(&text).context("/proc/stat has no line of all CPUs")
    }

    /// Everything but idle time and waiting for input and output is busy; a guest's time, which
    /// counts as the user's as well, is added as it is there.
    fn of(stat: &str) -> Option<Ticks> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let idle = ticks.get(3)? + ticks.get(4)?;
        Some(Ticks { busy: ticks.iter().take(10).sum::<u64>() - idle, idle })
    }

    /// Share of idle time, 0 to 1; 0 where no time passed.
    fn idle_since(&self, earlier: &Ticks) -> f64 {
        let idle = self.idle.saturating_sub(earlier.idle);
        let all = idle + self.busy.saturating_sub(earlier.busy);
        if all == 0 { 0.0 } else { idle as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_script_with_minus_one_for_a_point_that_failed() {
        let linear = 352_000;
        assert_eq!(
            row(1, (352_000, 50.126), (290_001, 0.0), linear),
            "1,352000,50.13,290001,0.00,352000\n"
        );
        assert_eq!(row(2, (NONE, 99.999), (NONE, 7.0), linear), "2,-1,100.00,-1,7.00,704000\n");
        assert_eq!(row(3, (NONE, 1.0), (NONE, 1.0), NONE), "3,-1,1.00,-1,1.00,-3\n");
    }

    #[test]
    fn waiting_is_idle_and_stolen_and_guests_time_is_busy() {
        let stat = "cpu  100 1 20 500 7 2 3 11 4 1\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let now = Ticks::of(stat).expect("a line of all CPUs");
        assert_eq!(now, Ticks { busy: 142, idle: 507 });
        assert!((now.idle_since(&Ticks { busy: 139, idle: 506 }) - 0.25).abs() < 1e-9);
        assert!(now.idle_since(&now).abs() < f64::EPSILON, "no time passed");
        assert_eq!(Ticks::of("cpu  1 2 3\n"), None);
        assert!(Ticks::of("cpu  1 2 3 4 5 6 7\n").is_some(), "kernels without stolen time");
    }
}
