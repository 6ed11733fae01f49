//! A tree of criterion results, `target/criterion`: a folder a benchmark, in it one a measurement (`new`,
//! or `--baseline`) with `benchmark.json`, and `sample.json` or `estimates.json`. A sample is the time of
//! a number of iterations; the value is the time of one.

use serde::Deserialize;
use wire::{Direction, Spread, Unit};

use super::super::format::{Ask, Each};
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::json;
use super::super::problem::{Problem, Result};
use super::super::source::Source;

#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
}

#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Estimates {
    mean: Estimate,
    std_dev: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Option<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// Reads a tree: one run.
///
/// # Errors
/// The file and path that is wrong.
pub fn read(source: &Source, ask: &Ask, each: &mut Each<'_>) -> Result<()> {
    let measurement = ask.baseline.as_deref().unwrap_or("new");
    let files = source.files()?;
    let mut run = FoundRun::default();
    for file in &files {
        let Some(folder) = file.strip_suffix("benchmark.json") else { continue };
        let last = folder.trim_end_matches('/').rsplit('/').next();
        if last == Some(measurement) && !folder.is_empty() {
            point(source, &files, folder, &mut run)?;
        }
    }
    if run.points.is_empty() {
        let problem = format!("holds no folder `{measurement}` with a benchmark.json");
        return Err(Problem::whole(problem).of_file(&source.shown));
    }
    each(run)
}

fn point(source: &Source, files: &[String], folder: &str, run: &mut FoundRun) -> Result<()> {
    let benchmark: Benchmark = document(source, &format!("{folder}benchmark.json"))?;
    let [samples, estimates] =
        ["sample.json", "estimates.json"].map(|name| format!("{folder}{name}"));
    let metric = if files.contains(&samples) {
        let found = document(source, &samples)?;
        time(of_samples(&found).map_err(|problem| problem.of_file(&source.shown(&samples)))?)
    } else {
        of_estimates(&document(source, &estimates)?)
    };
    let name = match benchmark.function_id.filter(|name| !name.is_empty()) {
        Some(function) => format!("{}/{function}", benchmark.group_id),
        None => benchmark.group_id,
    };
    let mut point =
        FoundPoint::new(folder.trim_end_matches('/'), name, Outcome::Values(vec![metric]));
    if let Some(value) = benchmark.value_str {
        point = point.with("value", value);
    }
    run.push(point)
}

fn document<T: serde::de::DeserializeOwned>(source: &Source, file: &str) -> Result<T> {
    let read = || json::read(&mut source.open(file)?);
    read().map_err(|problem| problem.of_file(&source.shown(file)))
}

fn time(values: Vec<f64>) -> FoundMetric {
    FoundMetric::new("time", Unit::Nanoseconds, Direction::Lower, values)
}

fn of_samples(samples: &Samples) -> Result<Vec<f64>> {
    if samples.iters.is_empty() || samples.iters.len() != samples.times.len() {
        return Err(Problem::at("times", "has not one number for each of iters"));
    }
    let value = |(i, (iterations, time)): (usize, (&f64, &f64))| match *iterations > 0.0 {
        true => Ok(time / iterations),
        false => Err(Problem::at(format!("iters[{i}]"), "must be more than 0")),
    };
    samples.iters.iter().zip(&samples.times).enumerate().map(value).collect()
}

fn of_estimates(estimates: &Estimates) -> FoundMetric {
    let interval = estimates.mean.confidence_interval.as_ref();
    time(vec![estimates.mean.point_estimate]).with_spread(Spread {
        samples: None,
        sd: estimates.std_dev.as_ref().map(|sd| sd.point_estimate).filter(|sd| *sd >= 0.0),
        low: interval.map(|interval| interval.lower_bound),
        high: interval.map(|interval| interval.upper_bound),
    })
}
