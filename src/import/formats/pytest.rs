//! pytest-benchmark's JSON: a benchmark each with its statistics, and the time of every round where
//! `--benchmark-save-data` was given. The commit it ran at is in it.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Iso8601;
use time::format_description::well_known::Rfc3339;
use wire::{Direction, Spread, Unit};

use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome, Told};
use super::super::json;
use super::super::problem::{Problem, Result};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    machine_info: BTreeMap<String, Value>,
    commit_info: Option<Commit>,
    benchmarks: Vec<Benchmark>,
    datetime: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    id: Option<String>,
    time: Option<String>,
    branch: Option<String>,
    dirty: Option<bool>,
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    fullname: Option<String>,
    params: Option<BTreeMap<String, Value>>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
    rounds: u64,
    data: Option<Vec<f64>>,
}

/// Reads a document.
///
/// # Errors
/// The path that is wrong, and results of code that no commit holds.
pub fn read(content: &mut dyn BufRead) -> Result<FoundRun> {
    let document: Document = json::read(content)?;
    let mut run = FoundRun {
        at: document.datetime.as_deref().and_then(time),
        revision: document.commit_info.map_or_else(|| Ok(Told::default()), told)?,
        ..FoundRun::default()
    };
    for fact in ["python_version", "python_implementation", "release", "system"] {
        if let Some(Value::String(text)) = document.machine_info.get(fact) {
            run.environment.insert(fact.into(), text.clone());
        }
    }
    for (i, benchmark) in document.benchmarks.into_iter().enumerate() {
        let place = format!("benchmarks[{i}]");
        let stats = &benchmark.stats;
        let summed = Spread {
            samples: Some(stats.rounds).filter(|rounds| *rounds > 0),
            sd: Some(stats.stddev).filter(|sd| *sd >= 0.0),
            low: Some(stats.min),
            high: Some(stats.max),
        };
        let time = |values| FoundMetric::new("time", Unit::Seconds, Direction::Lower, values);
        let metric = match &stats.data {
            Some(data) if !data.is_empty() => time(data.clone()),
            _ => time(vec![stats.mean]).with_spread(summed),
        };
        // `test_sort[100]`: what stands in brackets is the parameters, which follow by name.
        let name = benchmark.fullname.as_deref().unwrap_or(&benchmark.name);
        let parameters = benchmark.params.unwrap_or_default();
        let name =
            if parameters.is_empty() { name } else { name.split('[').next().unwrap_or(name) };
        let mut point = FoundPoint::new(place, name, Outcome::Values(vec![metric]));
        for (parameter, value) in parameters {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            point = point.with(parameter, text);
        }
        run.push(point)?;
    }
    Ok(run)
}

fn told(commit: Commit) -> Result<Told> {
    if commit.dirty == Some(true) {
        return Err(Problem::at(
            "commit_info.dirty",
            "is true: the code that ran is in no commit, so its result has no place in history",
        ));
    }
    let time = commit.time.as_deref().and_then(time);
    Ok(Told {
        commit: commit.id,
        branch: commit.branch.filter(|branch| !branch.starts_with('(')),
        committed_at: time.and_then(|time| time.format(&Rfc3339).ok()),
        ..Told::default()
    })
}

/// A time with its offset; one without tells no moment.
fn time(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| OffsetDateTime::parse(text, &Iso8601::DEFAULT))
        .ok()
}
