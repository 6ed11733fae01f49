//! What `go test -bench` prints: `BenchmarkName-8  1000  1234 ns/op  56 B/op`. The number behind the
//! name is GOMAXPROCS, here the task count. `/key=value` in a name is a parameter. Lines of one benchmark
//! are samples of one point. `Unit x better=higher` lines say which way a unit of their own is better.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use wire::{Direction, Unit};

use super::super::found::{FoundMetric, FoundPoint, FoundRun, Outcome};
use super::super::problem::{Problem, Result};
use super::super::text::{Lines, number};

/// Reads an output line by line.
///
/// # Errors
/// The line that is wrong.
pub fn read(content: &mut dyn BufRead) -> Result<FoundRun> {
    let mut reading = Reading::default();
    let mut lines = Lines::of(content);
    while let Some((at, line)) = lines.read()? {
        reading.line(at, &line)?;
    }
    reading.run.check()?;
    Ok(reading.run)
}

#[derive(Default)]
struct Reading {
    run: FoundRun,
    package: Option<String>,
    better: HashMap<String, Direction>,
    places: HashMap<(String, BTreeMap<String, String>, u32), usize>,
}

impl Reading {
    fn line(&mut self, at: u64, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["pkg:", package] => self.package = Some((*package).to_owned()),
            ["goos:" | "goarch:" | "cpu:", fact @ ..] if !fact.is_empty() => {
                let key = words[0].trim_end_matches(':');
                self.run.environment.insert(key.into(), fact.join(" "));
            }
            ["Unit", unit, settings @ ..] => self.unit(at, unit, settings)?,
            // A name alone is followed by what the benchmark printed, and by its result later on.
            [name, count, figures @ ..] if is_result(name) && count.parse::<u64>().is_ok() => {
                self.result(at, name, figures)?;
            }
            [name, count, ..]
                if is_result(name) && count.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                return Err(Problem::line(at, format!("`{count}` is not a number of iterations")));
            }
            _ => {}
        }
        Ok(())
    }

    fn unit(&mut self, at: u64, unit: &str, settings: &[&str]) -> Result<()> {
        for word in settings.iter().filter_map(|setting| setting.strip_prefix("better=")) {
            let direction = Direction::parse(word).ok_or_else(|| {
                Problem::line(at, format!("better={word}: is neither higher nor lower"))
            })?;
            self.better.insert(unit.to_owned(), direction);
        }
        Ok(())
    }

    fn result(&mut self, at: u64, name: &str, figures: &[&str]) -> Result<()> {
        if figures.is_empty() || !figures.len().is_multiple_of(2) {
            let problem = "has not a number and a unit after the number of iterations";
            return Err(Problem::line(at, problem));
        }
        let (name, parameters, tasks) = self.name(name);
        let mut metrics = Vec::new();
        for pair in figures.chunks_exact(2) {
            let value = number(pair[0]).map_err(|problem| Problem::line(at, problem))?;
            metrics.push(self.metric(pair[1], value));
        }
        let key = (name, parameters, tasks);
        if let Some(&known) = self.places.get(&key) {
            let Outcome::Values(all) = &mut self.run.points[known].outcome else { return Ok(()) };
            for metric in metrics {
                match all.iter_mut().find(|one| one.name == metric.name) {
                    Some(same) => same.values.extend(metric.values),
                    None => all.push(metric),
                }
            }
            return Ok(());
        }
        self.places.insert(key.clone(), self.run.points.len());
        let (name, parameters, tasks) = key;
        let point = FoundPoint::new(format!("line {at}"), name, Outcome::Values(metrics));
        self.run.push(FoundPoint { parameters, ..point }.tasks(tasks))
    }

    /// `BenchmarkSort/size=10/stable-8` → `Sort/stable`, size 10, 8 tasks.
    fn name(&self, text: &str) -> (String, BTreeMap<String, String>, u32) {
        let text = text.strip_prefix("Benchmark").unwrap_or(text);
        let procs = text.rsplit_once('-').and_then(|(name, procs)| {
            let count = procs.parse::<u32>().ok().filter(|count| *count > 0)?;
            Some((name, count))
        });
        let (text, tasks) = procs.unwrap_or((text, 1));
        let mut parameters = BTreeMap::new();
        parameters.extend(self.package.iter().map(|package| ("pkg".to_owned(), package.clone())));
        let mut words = Vec::new();
        for (i, part) in text.split('/').enumerate() {
            match part.split_once('=').filter(|(key, _)| i > 0 && !key.is_empty()) {
                Some((key, value)) => drop(parameters.insert(key.to_owned(), value.to_owned())),
                None => words.push(part),
            }
        }
        (words.join("/"), parameters, tasks)
    }

    fn metric(&self, unit: &str, value: f64) -> FoundMetric {
        let (known, direction) = match unit {
            "ns/op" => (Some(Unit::Nanoseconds), Some(Direction::Lower)),
            "B/op" => (Some(Unit::Bytes), Some(Direction::Lower)),
            "allocs/op" => (Some(Unit::CountPerOp), Some(Direction::Lower)),
            "MB/s" => (Some(Unit::MegabytesPerSecond), Some(Direction::Higher)),
            own => (Unit::parse(own), self.better.get(own).copied()),
        };
        FoundMetric {
            unit: known,
            unit_word: known.is_none().then(|| unit.to_owned()),
            direction,
            ..FoundMetric::untold(unit, vec![value])
        }
    }
}

/// `BenchmarkSort`, not `Benchmarking`.
fn is_result(word: &str) -> bool {
    let rest = word.strip_prefix("Benchmark");
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
}
