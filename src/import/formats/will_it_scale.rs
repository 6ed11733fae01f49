//! will-it-scale: the csv of `runtest.py`, and what a test prints.
//!
//! The csv has the mean operations a second of processes and of threads at each number of tasks. The
//! idle shares and the line of perfect scaling are no results. −1 is a point that had no average.
//! A test prints the total of all tasks for every second; those after `measurement` are the samples.

use std::io::BufRead;

use wire::{Direction, Unit};

use super::super::format::Ask;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{self, Lines, number};

const HEADER: &str = "tasks,processes,processes_idle,threads,threads_idle,linear";

/// Reads the csv. The test is named by `--workload` or by the file.
///
/// # Errors
/// The line that is wrong.
pub fn read_csv(file: &str, content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let mut lines = Lines::of(content);
    let header = lines.read()?.ok_or_else(|| Problem::whole("is empty"))?.1;
    if header.trim() != HEADER {
        return Err(Problem::line(1, format!("is not `{HEADER}`")));
    }
    let test = ask.workload.as_deref().unwrap_or_else(|| text::stem(file));
    let mut run = FoundRun::default();
    while let Some((at, line)) = lines.read()? {
        if line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split(',').collect();
        let [count, processes, processes_idle, threads, threads_idle, linear] = columns[..] else {
            return Err(Problem::line(at, format!("has {} columns, not 6", columns.len())));
        };
        for other in [processes_idle, threads_idle, linear] {
            number(other).map_err(|problem| Problem::line(at, problem))?;
        }
        // The origin of a plot.
        if count.trim() == "0" {
            continue;
        }
        let count = text::tasks(count).map_err(|problem| Problem::line(at, problem))?;
        for (mode, value) in [("process", processes), ("thread", threads)] {
            let value = number(value).map_err(|problem| Problem::line(at, problem))?;
            let outcome = match value {
                -1.0 => Outcome::Failed("no average was printed".into()),
                value if value < 0.0 => {
                    let problem = format!("`{value}` is no number of operations a second");
                    return Err(Problem::line(at, problem));
                }
                value => Outcome::Values(vec![rate(vec![value])]),
            };
            let point = FoundPoint::new(format!("line {at}, {mode}"), test, outcome);
            run.push(point.tasks(count).with("mode", mode))?;
        }
    }
    Ok(run)
}

fn rate(values: Vec<f64>) -> FoundMetric {
    FoundMetric::new("ops_per_s_total", Unit::OpsPerSecond, Direction::Higher, values)
}

/// Reads what a test printed. The test is named by `--workload` or by the file; `read1_processes-8.txt`
/// also tells the mode and the number of tasks.
///
/// # Errors
/// The line that is wrong, and an output that breaks off in its warm-up.
pub fn read_output(file: &str, content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let values = samples(content)?;
    let (test, mode, count) = parts_of(text::stem(file));
    let name = ask.workload.as_deref().unwrap_or(test);
    let mut point = FoundPoint::new("its samples", name, Outcome::Values(vec![rate(values)]));
    if let Some(mode) = mode {
        point = point.with("mode", mode);
    }
    let mut run = FoundRun::default();
    run.push(match count {
        Some(count) => point.tasks(count),
        None => point,
    })?;
    Ok(run)
}

/// `read1_processes-8` → `read1`, `process`, 8.
fn parts_of(stem: &str) -> (&str, Option<&'static str>, Option<u32>) {
    let numbered = stem
        .rsplit_once(['-', '.'])
        .and_then(|(name, count)| Some((name, text::tasks(count).ok()?)));
    let (name, count) = numbered.map_or((stem, None), |(name, count)| (name, Some(count)));
    for (suffix, mode) in [("_processes", "process"), ("_threads", "thread")] {
        if let Some(test) = name.strip_suffix(suffix) {
            return (test, Some(mode), count);
        }
    }
    (name, None, count)
}

/// Totals of the seconds that count. Where the word `measurement` was cut away with the warm-up before
/// it, as mmtests does, all of them.
///
/// # Errors
/// The line that is wrong, and where there is none.
pub fn samples(content: &mut dyn BufRead) -> Result<Vec<f64>> {
    let (mut totals, mut warming) = (Vec::new(), false);
    let mut lines = Lines::of(content);
    while let Some((at, line)) = lines.read()? {
        match line.trim() {
            "warmup" => warming = true,
            "measurement" => {
                totals.clear();
                warming = false;
            }
            line if line.starts_with("min:") => {
                let total = line.split_whitespace().find_map(|word| word.strip_prefix("total:"));
                let total = total.ok_or_else(|| Problem::line(at, "has no `total:`"))?;
                totals.push(number(total).map_err(|problem| Problem::line(at, problem))?);
            }
            _ => {}
        }
    }
    match (warming, totals.is_empty()) {
        (true, _) => Err(Problem::whole("breaks off in its warm-up: no sample counts")),
        (false, true) => Err(Problem::whole("holds no line `min:… max:… total:…`")),
        (false, false) => Ok(totals),
    }
}
