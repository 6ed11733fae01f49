//! Google Benchmark's JSON: an entry for each repetition, and aggregates, which count only where the
//! repetitions are left out. Segments `key:value` of a name are parameters, `threads:N` is the task count.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use wire::{Direction, Spread, Unit};

use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::json;
use super::super::problem::{Problem, Result};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    context: BTreeMap<String, Value>,
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    threads: Option<u32>,
    repetitions: Option<u64>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    error_occurred: Option<bool>,
    error_message: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Numbers that are no counters.
const NO_COUNTERS: [&str; 9] = [
    "family_index",
    "per_family_instance_index",
    "repetition_index",
    "iterations",
    "cpu_coefficient",
    "real_coefficient",
    "complexity_n",
    "rms",
    "skipped",
];

/// Reads a document.
///
/// # Errors
/// The path that is wrong.
pub fn read(content: &mut dyn BufRead) -> Result<FoundRun> {
    let document: Document = json::read(content)?;
    let date = document.context.get("date").and_then(Value::as_str);
    let mut run = FoundRun {
        at: date.and_then(|date| OffsetDateTime::parse(date, &Rfc3339).ok()),
        ..FoundRun::default()
    };
    if let Some(build) = document.context.get("library_build_type").and_then(Value::as_str) {
        run.environment.insert("library_build_type".into(), build.into());
    }
    let mut points: Vec<((String, u32), FoundPoint)> = Vec::new();
    let plain = |entry: &Entry| entry.run_type.as_deref() != Some("aggregate");
    for (i, entry) in document.benchmarks.iter().enumerate().filter(|(_, entry)| plain(entry)) {
        take(&mut points, i, entry, None)?;
    }
    let repeated: Vec<(String, u32)> = points.iter().map(|(key, _)| key.clone()).collect();
    for (i, entry) in document.benchmarks.iter().enumerate().filter(|(_, entry)| !plain(entry)) {
        let is_mean = entry.aggregate_name.as_deref() == Some("mean");
        if is_mean && !repeated.contains(&key_of(entry)) {
            take(&mut points, i, entry, Some(&document.benchmarks))?;
        }
    }
    points.into_iter().try_for_each(|(_, point)| run.push(point))?;
    Ok(run)
}

fn key_of(entry: &Entry) -> (String, u32) {
    let name = entry.run_name.as_ref().unwrap_or(&entry.name);
    (name.clone(), entry.threads.unwrap_or(1))
}

/// Adds an entry to its point; the spread of a mean is among the other aggregates.
fn take(
    points: &mut Vec<((String, u32), FoundPoint)>,
    i: usize,
    entry: &Entry,
    aggregates: Option<&[Entry]>,
) -> Result<()> {
    let key = key_of(entry);
    let place = format!("benchmarks[{i}]");
    let outcome = match entry.error_occurred {
        Some(true) => Outcome::Failed(
            entry.error_message.clone().unwrap_or_else(|| "an error occurred".into()),
        ),
        _ => Outcome::Values(metrics(entry, &place, aggregates)?),
    };
    let Some((_, known)) = points.iter_mut().find(|(other, _)| *other == key) else {
        points.push((key.clone(), named(&key, &place, outcome)));
        return Ok(());
    };
    match (&mut known.outcome, outcome) {
        (Outcome::Failed(_), _) => {}
        (all, failed @ Outcome::Failed(_)) => *all = failed,
        (Outcome::Values(all), Outcome::Values(metrics)) => {
            for metric in metrics {
                match all.iter_mut().find(|one| one.name == metric.name) {
                    None => all.push(metric),
                    Some(same) if same.unit != metric.unit => {
                        let problem = "is in another unit than an earlier repetition";
                        return Err(Problem::at(format!("{place}.{}", metric.name), problem));
                    }
                    Some(same) => same.values.extend(metric.values),
                }
            }
        }
    }
    Ok(())
}

fn named((name, threads): &(String, u32), place: &str, outcome: Outcome) -> FoundPoint {
    let mut words = Vec::new();
    let mut parameters = BTreeMap::new();
    for segment in name.split('/') {
        match segment.split_once(':') {
            // `BM_Sort<std::string>` is a name.
            Some((key, value)) if !value.starts_with(':') && !key.contains('<') => {
                parameters.insert(key.to_owned(), value.to_owned());
            }
            _ => words.push(segment),
        }
    }
    parameters.remove("threads");
    let point = FoundPoint::new(place, words.join("/"), outcome).tasks(*threads);
    FoundPoint { parameters, ..point }
}

fn metrics(entry: &Entry, place: &str, aggregates: Option<&[Entry]>) -> Result<Vec<FoundMetric>> {
    let unit = match entry.time_unit.as_deref() {
        Some("ns") => Unit::Nanoseconds,
        Some("us") => Unit::Microseconds,
        Some("ms") => Unit::Milliseconds,
        Some("s") => Unit::Seconds,
        Some(other) => {
            let problem = format!("`{other}` is none of ns, us, ms, s");
            return Err(Problem::at(format!("{place}.time_unit"), problem));
        }
        None => return Err(Problem::at(format!("{place}.time_unit"), "is not there")),
    };
    let deviation = aggregates.and_then(|all| {
        let is_deviation = |one: &&Entry| one.aggregate_name.as_deref() == Some("stddev");
        all.iter().filter(is_deviation).find(|one| key_of(one) == key_of(entry))
    });
    let samples = aggregates.and(entry.repetitions).filter(|samples| *samples > 0);
    let spread =
        |sd: Option<f64>| Spread { samples, sd: sd.filter(|sd| *sd >= 0.0), ..Spread::default() };
    let time = |name: &str, value: f64, sd: Option<f64>| {
        FoundMetric::new(name, unit, Direction::Lower, vec![value]).with_spread(spread(sd))
    };
    let real = entry.real_time;
    let real = real.ok_or_else(|| Problem::at(format!("{place}.real_time"), "is not there"))?;
    let mut metrics = vec![time("real_time", real, deviation.and_then(|one| one.real_time))];
    if let Some(cpu) = entry.cpu_time {
        metrics.push(time("cpu_time", cpu, deviation.and_then(|one| one.cpu_time)));
    }
    for (name, value) in &entry.rest {
        let Some(value) = value.as_f64().filter(|_| !NO_COUNTERS.contains(&name.as_str())) else {
            continue;
        };
        let values = vec![value];
        let sd = deviation.and_then(|one| one.rest.get(name)).and_then(Value::as_f64);
        let metric = match name.as_str() {
            "items_per_second" => {
                FoundMetric::new(name, Unit::OpsPerSecond, Direction::Higher, values)
            }
            "bytes_per_second" => {
                FoundMetric::new(name, Unit::BytesPerSecond, Direction::Higher, values)
            }
            _ => FoundMetric::untold(name, values),
        };
        metrics.push(metric.with_spread(spread(sd)));
    }
    Ok(metrics)
}
