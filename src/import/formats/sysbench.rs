//! What sysbench 1.0 prints. The kind of test follows from the sections; `--workload` names a test of
//! SQL, whose script is not printed. Lines of `--report-interval` are samples of the rate of events or
//! transactions; without them the rate of the whole run is the one value.

use std::io::BufRead;

use wire::{Direction, Unit};

use super::super::format::Ask;
use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{self, Lines, number};

/// Reads an output, of one run after another.
///
/// # Errors
/// The line that is wrong.
pub fn read(file: &str, content: &mut dyn BufRead, ask: &Ask) -> Result<FoundRun> {
    let mut run = FoundRun::default();
    let mut test: Option<Test> = None;
    let mut lines = Lines::of(content);
    while let Some((at, line)) = lines.read()? {
        if line.starts_with("sysbench ") {
            finish(test.take(), file, ask, &mut run)?;
            test = Some(Test { at, ..Test::default() });
            if let Some(version) = line.split_whitespace().nth(1) {
                run.environment.insert("sysbench".into(), version.into());
            }
        }
        if let Some(test) = &mut test {
            test.line(&line).map_err(|problem| Problem::line(at, problem))?;
        }
    }
    finish(test, file, ask, &mut run)?;
    Ok(run)
}

#[derive(Default)]
struct Test {
    at: u64,
    kind: Option<&'static str>,
    section: String,
    tasks: Option<u32>,
    parameters: Vec<(String, String)>,
    /// Rates of the intervals.
    samples: Vec<f64>,
    /// Name, unit, direction and value of the whole run.
    totals: Vec<(String, Unit, Direction, f64)>,
}

/// Lines `key: value` that are rates a second.
const RATES: [(&str, &str); 4] = [
    ("events per second", "events_per_second"),
    ("reads/s", "reads_per_second"),
    ("writes/s", "writes_per_second"),
    ("fsyncs/s", "fsyncs_per_second"),
];

/// Lines `key: count (rate per sec.)`.
const COUNTS: [(&str, &str); 3] = [
    ("transactions", "transactions_per_second"),
    ("queries", "queries_per_second"),
    ("Total operations", "operations_per_second"),
];

impl Test {
    fn line(&mut self, line: &str) -> std::result::Result<(), String> {
        if line.starts_with('[') {
            return self.interval(line);
        }
        if let Some(rate) = line.split_once(" MiB transferred (").map(|(_, rest)| rest) {
            return self.total("throughput", Unit::MebibytesPerSecond, Direction::Higher, rate);
        }
        if line.starts_with("Running memory speed test") {
            self.kind = Some("memory");
        }
        let Some((key, value)) = line.split_once(':') else { return Ok(()) };
        let indented = key.starts_with(char::is_whitespace);
        let (key, value) = (key.trim(), value.trim());
        if !indented {
            self.section = key.to_owned();
            self.kind = match key {
                "SQL statistics" => Some("sql"),
                "File operations" | "File operation" => Some("fileio"),
                "Prime numbers limit" => Some("cpu"),
                _ => self.kind,
            };
        }
        match key {
            "Number of threads" => self.tasks = Some(text::tasks(value)?),
            "Prime numbers limit" => self.parameters.push(("prime_limit".into(), value.into())),
            "block size" | "total size" | "operation" | "scope" if indented => {
                self.parameters.push((key.replace(' ', "_"), value.into()));
            }
            "avg" if self.section.starts_with("Latency") => {
                self.total("latency_avg", Unit::Milliseconds, Direction::Lower, value)?;
            }
            _ => self.figure(key, value)?,
        }
        Ok(())
    }

    fn figure(&mut self, key: &str, value: &str) -> std::result::Result<(), String> {
        if let Some((_, name)) = RATES.iter().find(|(known, _)| *known == key) {
            return self.total(name, Unit::OpsPerSecond, Direction::Higher, value);
        }
        if let Some((_, name)) = COUNTS.iter().find(|(known, _)| *known == key) {
            let rate = value.split_once('(').map(|(_, rate)| rate);
            let rate = rate.ok_or_else(|| format!("`{key}` has no rate in brackets"))?;
            return self.total(name, Unit::OpsPerSecond, Direction::Higher, rate);
        }
        match key {
            "read, MiB/s" => self.total("read", Unit::MebibytesPerSecond, Direction::Higher, value),
            "written, MiB/s" => {
                self.total("written", Unit::MebibytesPerSecond, Direction::Higher, value)
            }
            _ => match key.strip_suffix("th percentile") {
                // 0 where the percentile was not counted.
                Some(percent) if value != "0.00" && self.section.starts_with("Latency") => {
                    let name = format!("latency_p{percent}");
                    self.total(&name, Unit::Milliseconds, Direction::Lower, value)
                }
                _ => Ok(()),
            },
        }
    }

    /// Of the first word of `value`.
    fn total(
        &mut self,
        name: &str,
        unit: Unit,
        direction: Direction,
        value: &str,
    ) -> std::result::Result<(), String> {
        let word = value.split_whitespace().next().unwrap_or_default();
        self.totals.push((name.to_owned(), unit, direction, number(word)?));
        Ok(())
    }

    /// `[ 1s ] thds: 8 tps: 1234.50 …`; `eps:` where there are no transactions.
    fn interval(&mut self, line: &str) -> std::result::Result<(), String> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            if word == "tps:" || word == "eps:" {
                self.samples.push(number(words.next().unwrap_or_default())?);
            }
        }
        Ok(())
    }

    fn metrics(&mut self) -> Vec<FoundMetric> {
        // A transaction is what a test of SQL is about, an event what every other test is.
        let primary = ["transactions_per_second", "events_per_second", "operations_per_second"];
        let rank =
            |name: &str| primary.iter().position(|one| *one == name).unwrap_or(primary.len());
        self.totals.sort_by_key(|(name, ..)| rank(name));
        let sampled = ["transactions_per_second", "events_per_second"];
        let metric = |(name, unit, direction, value): &(String, Unit, Direction, f64)| {
            let by_interval = !self.samples.is_empty() && sampled.contains(&name.as_str());
            let values = if by_interval { self.samples.clone() } else { vec![*value] };
            FoundMetric::new(name, *unit, *direction, values)
        };
        self.totals.iter().map(metric).collect()
    }
}

fn finish(test: Option<Test>, file: &str, ask: &Ask, run: &mut FoundRun) -> Result<()> {
    let Some(mut test) = test else { return Ok(()) };
    let problem = |problem: String| Problem::line(test.at, problem);
    if test.totals.is_empty() {
        return Err(problem(format!("the run that begins here has no result; {file} is cut off")));
    }
    let tasks = test.tasks;
    let tasks = tasks.ok_or_else(|| problem("its number of threads is not told".into()))?;
    let name = ask
        .workload
        .as_deref()
        .or(test.kind)
        .ok_or_else(|| problem("what it tested is not told: name it with --workload".into()))?;
    let metrics = test.metrics();
    let mut point =
        FoundPoint::new(format!("line {}", test.at), name, Outcome::Values(metrics)).tasks(tasks);
    point.parameters.extend(std::mem::take(&mut test.parameters));
    run.push(point)
}
