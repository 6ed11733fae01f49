//! `hyperfine --export-json`: a result a command, with the time of every run. User and system time are
//! means over the runs. Parameters of a scan are parameters; `--tasks-from` makes one the task count.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use wire::{Direction, Spread, Unit};

use super::super::format::Ask;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::json;
use super::super::problem::{Problem, Result};

#[derive(Deserialize)]
struct Export {
    results: Vec<Command>,
}

#[derive(Deserialize)]
struct Command {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    times: Option<Vec<f64>>,
    memory_usage_byte: Option<Vec<u64>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

/// Reads a document.
///
/// # Errors
/// The path that is wrong.
pub fn read(content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let export: Export = json::read(content)?;
    let mut run = FoundRun::default();
    for (i, command) in export.results.into_iter().enumerate() {
        let place = format!("results[{i}]");
        if command.times.as_ref().is_some_and(Vec::is_empty) {
            return Err(Problem::at(format!("{place}.times"), "is empty"));
        }
        let name = ask.workload.clone().unwrap_or_else(|| command.command.clone());
        let mut point = FoundPoint::new(place, name, Outcome::Values(metrics(&command)));
        for (parameter, value) in command.parameters {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            point = point.with(parameter, text);
        }
        run.push(point)?;
    }
    Ok(run)
}

fn metrics(command: &Command) -> Vec<FoundMetric> {
    let seconds =
        |name: &str, values| FoundMetric::new(name, Unit::Seconds, Direction::Lower, values);
    let told = Spread {
        samples: None,
        sd: command.stddev.filter(|sd| *sd >= 0.0),
        low: command.min,
        high: command.max,
    };
    let mut metrics = vec![match &command.times {
        Some(times) => seconds("time", times.clone()),
        None => seconds("time", vec![command.mean]).with_spread(told),
    }];
    let samples = command.times.as_ref().map(|times| times.len() as u64);
    let mean = Spread { samples, ..Spread::default() };
    metrics.extend(command.user.map(|user| seconds("user", vec![user]).with_spread(mean)));
    metrics.extend(command.system.map(|system| seconds("system", vec![system]).with_spread(mean)));
    if let Some(bytes) = command.memory_usage_byte.as_ref().filter(|bytes| !bytes.is_empty()) {
        let bytes = bytes.iter().map(|&bytes| bytes as f64).collect();
        metrics.push(FoundMetric::new("peak_memory", Unit::Bytes, Direction::Lower, bytes));
    }
    metrics
}
