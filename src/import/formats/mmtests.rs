//! A folder of mmtests logs: `<kernel>/iter-<n>/<benchmark>/…`, or `<kernel>/<benchmark>/…` as older
//! versions wrote it. Each iteration is a run, named for its kernel. Read are the logs of
//!
//! - will-it-scale: `wis-<test>-<processes|threads>-<tasks>.log`,
//! - `UnixBench`: `<test>-<copies>-<n>.log` below a folder `unixbench…`,
//! - re-AIM: `workfile.<name>/reaim.csv`,
//! - hackbench: `hackbench-<groups>-<n>`.
//!
//! Samples of one point are pooled over its logs, as mmtests does.

use std::collections::BTreeMap;

use wire::{Direction, Unit};

use super::super::format::Each;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::source::Source;
use super::super::text::{self, Lines, number};
use super::{reaim, unixbench, will_it_scale};

/// Points by kernel and iteration, then by workload, parameters and tasks.
type Runs = BTreeMap<(String, String), BTreeMap<Key, FoundPoint>>;
type Key = (String, BTreeMap<String, String>, u32);

/// Reads a folder: a run for each kernel and iteration.
///
/// # Errors
/// The file and line that is wrong.
pub fn read(source: &Source, each: &mut Each<'_>) -> Result<()> {
    let own = source.name();
    let mut runs = Runs::new();
    for file in source.files()? {
        let path: Vec<&str> = std::iter::once(own.as_str()).chain(file.split('/')).collect();
        let points = of_log(source, &file, &path).map_err(|e| e.of_file(&source.shown(&file)))?;
        let run = runs.entry(place_of(&path)).or_default();
        for (tasks, point) in points {
            let key = (point.workload.clone(), point.parameters.clone(), tasks);
            match run.get_mut(&key) {
                None => drop(run.insert(key, point.tasks(tasks))),
                Some(known) => pool(&mut known.outcome, point.outcome),
            }
        }
    }
    runs.retain(|_, points| !points.is_empty());
    if runs.is_empty() {
        let problem =
            "holds no log of will-it-scale, UnixBench, re-AIM or hackbench as mmtests names them";
        return Err(Problem::whole(problem).of_file(&source.shown));
    }
    for ((kernel, iteration), points) in runs {
        let mut run = FoundRun { name: Some(kernel), origin: iteration, ..FoundRun::default() };
        points.into_values().try_for_each(|point| run.push(point))?;
        each(run)?;
    }
    Ok(())
}

/// Kernel and iteration of a path whose first part is the folder that was given.
fn place_of(path: &[&str]) -> (String, String) {
    match path.iter().position(|part| part.starts_with("iter-")) {
        Some(at) if at > 0 => (path[at - 1].to_owned(), path[at].to_owned()),
        _ => (path[0].to_owned(), String::new()),
    }
}

fn pool(known: &mut Outcome, more: Outcome) {
    let (Outcome::Values(all), Outcome::Values(metrics)) = (known, more) else { return };
    for metric in metrics {
        match all.iter_mut().find(|one| one.name == metric.name) {
            None => all.push(metric),
            Some(same) => {
                same.values.extend(metric.values);
                // It was that of one pass alone.
                same.spread = None;
            }
        }
    }
}

/// The points of a log and their task counts; none of a file that is no log of ours.
fn of_log(source: &Source, file: &str, path: &[&str]) -> Result<Vec<(u32, FoundPoint)>> {
    let name = path.last().copied().unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let folder = path.len().checked_sub(2).map_or("", |at| path[at]);
    let log = name.strip_suffix(".log");
    if let Some((test, mode, tasks)) = log.and_then(wis) {
        let rates = will_it_scale::samples(&mut source.open(file)?)?;
        let metric =
            FoundMetric::new("ops_per_s_total", Unit::OpsPerSecond, Direction::Higher, rates);
        let point = FoundPoint::new(file, format!("wis/{test}"), Outcome::Values(vec![metric]));
        return Ok(vec![(tasks, point.with("mode", mode))]);
    }
    if let Some(workfile) = folder.strip_prefix("workfile.").filter(|_| name == "reaim.csv") {
        let loads = reaim::loads(&mut source.open(file)?)?;
        let point = |(at, tasks, metrics)| {
            let place = format!("line {at}");
            (tasks, FoundPoint::new(place, format!("reaim/{workfile}"), Outcome::Values(metrics)))
        };
        return Ok(loads.into_iter().map(point).collect());
    }
    let hackbench = name.strip_prefix("hackbench-").and_then(|rest| rest.split_once('-'));
    if let Some(groups) = hackbench.and_then(|(groups, _)| text::tasks(groups).ok()) {
        let config = path.iter().rfind(|part| part.starts_with("hackbench-") && **part != name);
        let workload = config.copied().unwrap_or("hackbench");
        let metric = hackbench_time(source, file)?;
        return Ok(vec![(groups, FoundPoint::new(file, workload, Outcome::Values(vec![metric])))]);
    }
    let in_unixbench = path.iter().any(|part| part.starts_with("unixbench"));
    match log.filter(|_| in_unixbench).and_then(copies) {
        None => Ok(Vec::new()),
        Some(copies) => {
            let found = unixbench::read(&mut source.open(file)?)?;
            let named = |point: FoundPoint| {
                (copies, FoundPoint { workload: format!("unixbench/{}", point.workload), ..point })
            };
            Ok(found.points.into_iter().map(named).collect())
        }
    }
}

/// `wis-read1-processes-8` → `read1`, `process`, 8.
fn wis(log: &str) -> Option<(&str, &'static str, u32)> {
    let (rest, tasks) = log.strip_prefix("wis-")?.rsplit_once('-')?;
    let (test, model) = rest.rsplit_once('-')?;
    let mode = match model {
        "processes" => "process",
        "threads" => "thread",
        _ => return None,
    };
    Some((test, mode, text::tasks(tasks).ok()?))
}

/// `syscall-8-1` → 8.
fn copies(log: &str) -> Option<u32> {
    let (rest, iteration) = log.rsplit_once('-')?;
    iteration.parse::<u32>().ok()?;
    text::tasks(rest.rsplit_once('-')?.1).ok()
}

fn hackbench_time(source: &Source, file: &str) -> Result<FoundMetric> {
    let mut content = source.open(file)?;
    let mut lines = Lines::of(&mut content);
    let mut values = Vec::new();
    while let Some((at, line)) = lines.read()? {
        let told =
            ["Time: ", "Total time: "].iter().find_map(|head| line.trim().strip_prefix(head));
        if let Some(word) = told.and_then(|rest| rest.split_whitespace().next()) {
            values.push(number(word).map_err(|problem| Problem::line(at, problem))?);
        }
    }
    match values.is_empty() {
        true => Err(Problem::whole("holds no line `Time: …`")),
        false => Ok(FoundMetric::new("time", Unit::Seconds, Direction::Lower, values)),
    }
}
