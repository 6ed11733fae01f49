//! fio's JSON. A job each; entries of one job (`numjobs` without `group_reporting`) are one point of so
//! many tasks: rates are added, mean latencies weighed by their number, percentiles left out. Options are
//! parameters but for where the files lie. Text before the document, such as fio's warnings, is passed over.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;
use time::OffsetDateTime;
use wire::{Direction, Spread, Unit};

use super::super::format::Ask;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::{json, text};

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: Option<String>,
    timestamp: Option<i64>,
    #[serde(rename = "global options", default)]
    options: BTreeMap<String, String>,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: Option<Side>,
    write: Option<Side>,
    trim: Option<Side>,
}

#[derive(Deserialize)]
struct Side {
    #[serde(default)]
    iops: f64,
    /// KiB/s.
    #[serde(default)]
    bw: f64,
    bw_bytes: Option<f64>,
    clat_ns: Option<Latency>,
    /// In microseconds, before fio 3.
    clat: Option<Latency>,
}

#[derive(Deserialize)]
struct Latency {
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    stddev: f64,
    #[serde(rename = "N")]
    samples: Option<u64>,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// Options that do not make another series.
const NO_PARAMETERS: [&str; 6] =
    ["numjobs", "name", "description", "group_reporting", "filename", "directory"];

/// Reads a document.
///
/// # Errors
/// The path that is wrong.
pub fn read(content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let bytes = json::bytes(content)?;
    let document: Document = json::parse(from_brace(&bytes)?)?;
    let at = document.timestamp.and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    let mut run = FoundRun { at, ..FoundRun::default() };
    run.environment.extend(document.version.map(|version| ("fio".to_owned(), version)));
    let mut names: Vec<&str> = Vec::new();
    for job in &document.jobs {
        if !names.contains(&job.jobname.as_str()) {
            names.push(&job.jobname);
        }
    }
    for name in names {
        let same = document.jobs.iter().enumerate().filter(|(_, job)| job.jobname == name);
        let (places, jobs): (Vec<usize>, Vec<&Job>) = same.unzip();
        let place = format!("jobs[{}]", places[0]);
        run.push(point(place, &jobs, &document.options, ask)?)?;
    }
    Ok(run)
}

/// From the first line that begins with a brace.
fn from_brace(bytes: &[u8]) -> Result<&[u8]> {
    let starts = std::iter::once(0)
        .chain(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
    let mut starts = starts.filter(|start| bytes.get(*start) == Some(&b'{'));
    let start = starts.next().ok_or_else(|| Problem::whole("no line of it begins with `{`"))?;
    Ok(&bytes[start..])
}

fn point(
    place: String,
    jobs: &[&Job],
    global: &BTreeMap<String, String>,
    ask: &Ask,
) -> Result<FoundPoint> {
    let first = jobs[0];
    let mut parameters = global.clone();
    parameters.extend(first.options.clone());
    let numjobs = match parameters.get("numjobs") {
        Some(count) => text::tasks(count)
            .map_err(|problem| Problem::at(format!("{place}.job options.numjobs"), problem))?,
        None => 1,
    };
    let tasks = if jobs.len() > 1 { jobs.len() as u32 } else { numjobs };
    parameters.retain(|key, _| !NO_PARAMETERS.contains(&key.as_str()));
    let name = ask.workload.clone().unwrap_or_else(|| first.jobname.clone());
    let outcome = match jobs.iter().find(|job| job.error != 0) {
        Some(job) => Outcome::Failed(format!("the job ended with error {}", job.error)),
        None => Outcome::Values(metrics(jobs)),
    };
    if matches!(&outcome, Outcome::Values(metrics) if metrics.is_empty()) {
        return Err(Problem::at(place, "did no input or output"));
    }
    Ok(FoundPoint { parameters, ..FoundPoint::new(place, name, outcome).tasks(tasks) })
}

/// One of a job's directions of data.
type SideOf = fn(&Job) -> Option<&Side>;

fn metrics(jobs: &[&Job]) -> Vec<FoundMetric> {
    let mut metrics = Vec::new();
    let sides: [(&str, SideOf); 3] = [
        ("read", |job| job.read.as_ref()),
        ("write", |job| job.write.as_ref()),
        ("trim", |job| job.trim.as_ref()),
    ];
    for (name, of) in sides {
        let sides: Vec<&Side> = jobs.iter().filter_map(|job| of(job)).collect();
        let sum = |of: fn(&Side) -> f64| sides.iter().map(|side| of(side)).sum::<f64>();
        if sum(|side| side.iops) > 0.0 || sum(|side| side.bw) > 0.0 {
            metrics.extend(of_side(name, &sides));
        }
    }
    metrics
}

fn of_side(name: &str, sides: &[&Side]) -> Vec<FoundMetric> {
    let higher = |what: &str, unit, value| {
        FoundMetric::new(&format!("{name}_{what}"), unit, Direction::Higher, vec![value])
    };
    let bytes: Option<f64> = sides.iter().map(|side| side.bw_bytes).sum();
    let mut metrics = vec![
        higher("iops", Unit::OpsPerSecond, sides.iter().map(|side| side.iops).sum()),
        match bytes {
            Some(bytes) => higher("bw", Unit::BytesPerSecond, bytes),
            None => higher("bw", Unit::KibibytesPerSecond, sides.iter().map(|side| side.bw).sum()),
        },
    ];
    for (unit, of) in [
        (Unit::Nanoseconds, (|side| side.clat_ns.as_ref()) as fn(&Side) -> Option<&Latency>),
        (Unit::Microseconds, |side| side.clat.as_ref()),
    ] {
        let told: Option<Vec<&Latency>> = sides.iter().map(|side| of(side)).collect();
        metrics.extend(told.iter().flat_map(|told| latencies(name, unit, told)));
    }
    metrics
}

fn latencies(name: &str, unit: Unit, told: &[&Latency]) -> Vec<FoundMetric> {
    let lower = |what: &str, value| {
        FoundMetric::new(&format!("{name}_clat_{what}"), unit, Direction::Lower, vec![value])
    };
    if let [one] = told {
        let spread = Spread {
            samples: one.samples.filter(|samples| *samples > 0),
            sd: Some(one.stddev).filter(|sd| *sd >= 0.0),
            low: Some(one.min),
            high: Some(one.max),
        };
        let percentile = |(text, value): (&String, &f64)| {
            let percent = text.trim_end_matches('0').trim_end_matches('.');
            let wanted = ["50", "95", "99", "99.9"].contains(&percent);
            wanted.then(|| lower(&format!("p{}", percent.replace('.', "_")), *value))
        };
        let percentiles = one.percentile.iter().filter_map(percentile);
        return std::iter::once(lower("mean", one.mean).with_spread(spread))
            .chain(percentiles)
            .collect();
    }
    let samples: Option<u64> = told.iter().map(|one| one.samples).sum();
    let weighed = |samples: u64| {
        let sum: f64 = told.iter().map(|one| one.mean * one.samples.unwrap_or(0) as f64).sum();
        lower("mean", sum / samples as f64)
    };
    samples.filter(|samples| *samples > 0).map(weighed).into_iter().collect()
}
